"""The ordered engine's other half: rg's own output over a list of paths, byte for byte."""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

from rarg_tui.search.batches import DEFAULT_SIZES, Batch, BatchSizes, batches
from rarg_tui.search.call import as_operands
from rarg_tui.search.growth import Growth, holds_late_nul, tells_late_nul
from rarg_tui.search.problems import Problems, pattern_error
from rarg_tui.search.process import Children, Drain, Stopped, kill
from rarg_tui.search.rg import Rg
from rarg_tui.search.rg_options import RgCall
from rarg_tui.search.separators import (
    begins_with_notice,
    context_lines,
    file_separator,
    lists_lines,
    may_be_cut,
)

_CHUNK = 65_536
#: How much of a batch's output waits in memory until it is its turn, and before that until it is known
#: what it depends on: chunks.
_WAITING = 32
#: How often a thread that waits looks whether the scan was stopped, seconds.
_LOOK = 0.05
#: Options with which it prints lines of a file without saying that it is binary.
_SAYS_LESS = ("-m", "--max-count", "--stop-on-nonmatch", "--passthru", "--passthrough")
#: Everything in one call, as far as the system takes it.
_WHOLE = BatchSizes(first=1 << 30, growth=1, most=1 << 30, most_bytes=512 * 1_024)


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
    argv = [rg.path, "-j1", "--no-config", "--no-mmap", "-H", "--color=never", *call.arguments()]
    every = batches(problems.admitted(paths, refusal), sizes if may_be_cut(call) else _WHOLE)
    growth = Growth(root, max(context_lines(call)))
    with Children(parent=children) as flight:
        calls = (_Output(call, argv, batch, growth, root, flight) for batch in every)
        try:
            for output in _ahead(calls, sizes.workers):
                for at, chunk in enumerate(output.read()):
                    if at == 0 and wrote and separator and not output.is_separated(chunk):
                        write(separator)
                    write(chunk)
                    wrote = True
                problems.add_stderr(output.errors)
                if output.code not in (0, 1, 2) and not flight.stopped:
                    problems.broke(output.files, f"was ended by signal {-output.code}")
                found = found or output.code == 0
                if output.code == 2 and not found:
                    error = "" if tried else pattern_error(rg, call, root, children)
                    tried = True
                    found = not error and output.has_match()
                if error or children.stopped or (quiet and found):
                    break
        except BrokenPipeError:
            cut = found = True
    problems = Problems(problems.given) if error else problems
    return RawScan(found, problems, error, children.reason, cut)


class _Output:
    """What one call of rg prints of a ``batch``, as it comes, and then how it ended. What it prints of
    files that have to be read before is left out."""

    def __init__(
        self, call: RgCall, argv: list[str], batch: Batch, growth: Growth, root: str, flight: Children
    ) -> None:
        self.code = 0
        self.errors = ""
        self._call = call
        self._argv = argv
        self._batch = list(as_operands(batch))
        self.files = len(batch)
        self._growth = growth
        self._number = growth.add(batch)
        self._root = root
        self._flight = flight
        self._left_out = 0
        self._chunks: queue.Queue[bytes | None] = queue.Queue(maxsize=_WAITING)
        threading.Thread(target=self._run, name="rarg-raw", daemon=True).start()

    def is_separated(self, first: bytes) -> bool:
        """Whether the ``first`` chunk has its separator, from rg, or needs none."""
        return self._left_out > 0 or begins_with_notice(first, self._root, self._batch)

    def has_match(self) -> bool:
        """Whether something matched, which the exit status for a file that cannot be read does not say."""
        try:
            for _ in self._printed("--quiet", "--", *self._batch):
                pass
        except (Stopped, OSError):
            return False
        return self.code == 0

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

    def _run(self) -> None:
        try:
            for chunk in self._output():
                if not self._put(chunk):
                    return
        except Stopped:
            return
        except OSError as error:
            self.code, self.errors = 2, f"rg: it cannot be started: {error.strerror}"
        self._put(None)

    def _output(self) -> Iterator[bytes]:
        printed = self._printed("--", *self._batch)
        if self._number == 0 or not lists_lines(self._call):
            yield from printed
            return
        held = list(itertools.islice(printed, _WAITING))
        before = self._growth.before(self._number) if self._may_depend(held) else []
        if not before:
            yield from held
            yield from printed
            return
        printed.close()
        operands = list(as_operands(before))
        rest = self._left_out = sum(map(len, self._printed("--", *operands)))
        said = self.errors
        for chunk in self._printed("--", *operands, *self._batch):
            if len(chunk) > rest:
                yield chunk[rest:]
            rest = max(0, rest - len(chunk))
        self.errors = self.errors.removeprefix(said)

    def _may_depend(self, held: list[bytes]) -> bool:
        """Whether what is printed may depend on the files of earlier batches; ``held`` is all of it, or
        the beginning. rg tells of a late NUL byte, unless it did not come so far or found no match."""
        if len(held) < _WAITING and not self._call.has(*_SAYS_LESS):
            return tells_late_nul(b"".join(held))
        return holds_late_nul(self._root, self._batch)

    def _printed(self, *words: str) -> Generator[bytes, None, None]:
        process = self._flight.start([*self._argv, *words], cwd=self._root)
        assert process.stdout is not None
        assert process.stderr is not None
        errors = Drain(process.stderr)
        try:
            with process.stdout as stdout:
                while chunk := os.read(stdout.fileno(), _CHUNK):
                    yield chunk
        except GeneratorExit:
            kill(process)
            raise
        finally:
            self.code = self._flight.wait(process)
            self.errors = errors.text()

    def _put(self, chunk: bytes | None) -> bool:
        while not self._flight.stopped:
            try:
                self._chunks.put(chunk, timeout=_LOOK)
            except queue.Full:
                continue
            return True
        return False


def _ahead(calls: Iterator[_Output], number: int) -> Iterator[_Output]:
    """``calls`` in order, ``number`` more of them running ahead of the one that is read."""
    started: deque[_Output] = deque()
    for call in calls:
        started.append(call)
        if len(started) > number:
            yield started.popleft()
    yield from started
