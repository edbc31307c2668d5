"""The ordered engine's other half: rg's own output over a list of paths, byte for byte."""

from __future__ import annotations

import os
import queue
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rarg_tui.search.batches import DEFAULT_SIZES, Batch, BatchSizes, batches
from rarg_tui.search.problems import Problems, pattern_error
from rarg_tui.search.process import Children, Drain, Stopped
from rarg_tui.search.rg import Rg
from rarg_tui.search.rg_options import RgCall
from rarg_tui.search.ripgrep import as_operands

_CHUNK = 65_536
#: How much of a batch's output waits in memory until it is its turn: chunks.
_WAITING = 64
#: How often a thread that waits looks whether the scan was stopped, seconds.
_LOOK = 0.05
_CONTEXT = {
    **dict.fromkeys(("-A", "--after-context"), ("after",)),
    **dict.fromkeys(("-B", "--before-context"), ("before",)),
    **dict.fromkeys(("-C", "--context"), ("before", "after")),
}
_LINE_ENDS = {"--crlf": b"\r\n", "--no-crlf": b"\n", "--null-data": b"\0"}
#: Modes that print one line a file, or none.
_NO_SEPARATOR = ("-c", "--count", "--count-matches", "-l", "--files-with-matches", "--files-without-match",
                 "-q", "--quiet")  # fmt: skip
#: rg puts no separator before the notice of a binary file, which is all that it prints of such a file.
_BINARY_NOTICE = re.compile(rb'(?:[^\n]*: )?binary file matches \(found "\\0" byte around offset \d+\)\n')


@dataclass(frozen=True, slots=True)
class RawScan:
    """``found``: something matched. ``error`` and ``stopped`` as in
    :class:`~rarg_tui.search.ripgrep.ScanResult`; ``cut``: the reader of the output wanted no more."""

    found: bool
    problems: Problems
    error: str = ""
    stopped: str = ""
    cut: bool = False


def raw(
    rg: Rg,
    call: RgCall,
    paths: Iterable[str],
    *,
    root: str,
    children: Children,
    write: Callable[[bytes], object],
    refusal: Callable[[str], str] = lambda path: "",
    sizes: BatchSizes = DEFAULT_SIZES,
) -> RawScan:
    """Give ``write`` the output of one ordered rg over ``paths``.

    A ``BrokenPipeError`` from ``write`` ends the scan. The separators that rg puts between files are put
    between the batches too. Memory is bounded: calls whose turn has not come are held up.
    """
    problems = Problems()
    separator = file_separator(call)
    quiet = call.has("-q", "--quiet")
    found = wrote = tried = cut = False
    error = ""
    argv = [rg.path, "-j1", "--no-config", "--no-mmap", "-H", "--color=never", *call.arguments(), "--"]
    admitted = problems.admitted(paths, refusal)
    with Children(parent=children) as flight:
        outputs = _started(argv, batches(admitted, sizes), root, flight, sizes.workers)
        try:
            for output in outputs:
                for at, chunk in enumerate(output.read()):
                    if at == 0 and wrote and separator and not _BINARY_NOTICE.match(chunk):
                        write(separator)
                    write(chunk)
                    wrote = True
                problems.add_stderr(output.errors)
                found = found or output.code == 0 or (output.code != 1 and wrote)
                if output.code == 2 and not wrote and not found and not tried:
                    tried = True
                    error = pattern_error(rg, call, root, children)
                if error or children.stopped or (quiet and found):
                    break
        except BrokenPipeError:
            cut = found = True
    problems = Problems(problems.given) if error else problems
    return RawScan(found, problems, error, children.reason, cut)


class _Output:
    """What one call of rg prints, as it comes, and then how it ended."""

    def __init__(self, argv: list[str], root: str, flight: Children) -> None:
        self.code = 0
        self.errors = ""
        self._chunks: queue.Queue[bytes | None] = queue.Queue(maxsize=_WAITING)
        self._flight = flight
        thread = threading.Thread(target=self._run, args=(argv, root), name="rarg-raw", daemon=True)
        thread.start()

    def read(self) -> Iterator[bytes]:
        """The chunks up to the end, or up to where the scan was stopped."""
        while True:
            try:
                chunk = self._chunks.get(timeout=_LOOK)
            except queue.Empty:
                if self._flight.stopped:
                    return
                continue
            if chunk is None:
                return
            yield chunk

    def _run(self, argv: list[str], root: str) -> None:
        try:
            process = self._flight.start(argv, cwd=root)
        except Stopped:
            return
        except OSError as error:
            self.code, self.errors = 2, f"rg: it cannot be started: {error.strerror}"
            self._put(None)
            return
        assert process.stdout is not None
        assert process.stderr is not None
        errors = Drain(process.stderr)
        with process.stdout as stdout:
            while chunk := os.read(stdout.fileno(), _CHUNK):
                if not self._put(chunk):
                    break
        self.code = self._flight.wait(process)
        self.errors = errors.text()
        self._put(None)

    def _put(self, chunk: bytes | None) -> bool:
        while not self._flight.stopped:
            try:
                self._chunks.put(chunk, timeout=_LOOK)
            except queue.Full:
                continue
            return True
        return False


def _started(
    argv: list[str], every: Iterable[Batch], root: str, flight: Children, workers: int
) -> Iterator[_Output]:
    """The outputs in order, ``workers`` more calls of rg running ahead of the one that is read."""
    ahead: deque[_Output] = deque()
    for batch in every:
        ahead.append(_Output([*argv, *as_operands(batch)], root, flight))
        if len(ahead) > workers:
            yield ahead.popleft()
    yield from ahead


def file_separator(call: RgCall) -> bytes:
    """What rg prints between the output of two files: a blank line under headings, the context separator
    where there is context, else nothing."""
    heading = False
    around = {"before": 0, "after": 0}
    context: str | None = "--"
    line_end = b"\n"
    for option in call.options:
        name, value = option.name, option.value or ""
        if name in ("--heading", "--no-heading"):
            heading = name == "--heading"
        elif name in _CONTEXT:
            for side in _CONTEXT[name]:
                around[side] = int(value) if value.isdigit() else 0
        elif name in ("--passthru", "--passthrough"):
            around = dict.fromkeys(around, 0)
        elif name == "--context-separator":
            context = value
        elif name == "--no-context-separator":
            context = None
        elif name in _LINE_ENDS:
            line_end = _LINE_ENDS[name]
    if call.has(*_NO_SEPARATOR):
        return b""
    if heading:
        return b"" if call.has("--vimgrep") else line_end
    if context is None or not any(around.values()):
        return b""
    return _unescaped(context) + line_end


def _unescaped(text: str) -> bytes:
    """A separator's escapes (``\\n``, ``\\t``, ``\\x2d``, …) as rg reads them."""
    data = os.fsencode(text)
    named = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}
    return re.sub(
        rb"\\(?:x([0-9A-Fa-f]{2})|([ntr0\\]))",
        lambda found: bytes([int(found[1], 16)]) if found[1] else named[found[2]],
        data,
    )
