"""The ordered engine: ripgrep over a list of paths, in their order, at the speed of many processes.

:func:`scan` gives matches, :func:`~rarg_tui.search.raw.raw` bytes. Both give what ONE
``rg -j1 --no-config --no-mmap -H OPTIONS -e PATTERN -- PATH…`` over the whole list would.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO

from rarg_tui.search.batches import DEFAULT_SIZES, Batch, BatchSizes, batches, in_order
from rarg_tui.search.problems import Problems, pattern_error
from rarg_tui.search.process import ENOUGH, Children, Drain, Stopped, kill
from rarg_tui.search.records import END, MATCH, read_end, read_match
from rarg_tui.search.rg import Rg
from rarg_tui.search.rg_options import RgCall
from rarg_tui.trace.events import Match

#: How much of a record is read: one line of a file, what JSON adds to it, and the first spans.
LONGEST_RECORD = 32 * 1_024 * 1_024

#: Options that say how a line is printed; with --json they do nothing, or take the line number away.
_PRINTING = {
    *("-n", "--line-number", "-N", "--no-line-number", "-H", "--with-filename", "--no-heading"),
    *("-M", "--max-columns", "--max-columns-preview", "--no-max-columns-preview"),
}


@dataclass(frozen=True, slots=True)
class ScanResult:
    """``matches`` in traversal order; ``full``: there are more than were wanted. ``error`` is rg's own
    message when it did not accept the pattern or an option. ``stopped``: ``cancelled``, ``timed_out`` or
    empty."""

    matches: tuple[Match, ...]
    full: bool
    problems: Problems
    error: str = ""
    stopped: str = ""


@dataclass(slots=True)
class _Found:
    matches: list[Match] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    failed: bool = False


def scan(
    rg: Rg,
    call: RgCall,
    paths: Iterable[str],
    *,
    root: str,
    children: Children,
    pool: int,
    line_length: int,
    ranks: Mapping[str, int] | None = None,
    refusal: Callable[[str], str] = lambda path: "",
    on_matches: Callable[[Sequence[Match]], None] | None = None,
    sizes: BatchSizes = DEFAULT_SIZES,
) -> ScanResult:
    """The first ``pool`` matching lines of ``paths`` (relative to ``root``), in their order.

    ``refusal(path)`` says why a path may not be read, or ``""``. ``on_matches`` is given new matches as
    soon as their place in the order is known.
    """
    problems = Problems()
    matches: list[Match] = []
    full = tried = False
    error = ""
    argv = [rg.path, "--json", "-j1", "--no-config", "--no-mmap", *_arguments(call)]
    admitted = problems.admitted(paths, refusal)
    with Children(parent=children) as flight:

        def work(batch: Batch) -> _Found:
            return _search(
                [*argv, "--", *as_operands(batch)], root, flight, line_length, pool + 1 - len(matches)
            )

        results = in_order(work, batches(admitted, sizes), sizes, lambda: flight.stop(ENOUGH))
        with contextlib.closing(results):
            for found in results:
                problems.add(found.problems)
                fresh = [
                    replace(match, position=at, document_rank=(ranks or {}).get(match.path))
                    for at, match in enumerate(found.matches[: pool - len(matches)], len(matches) + 1)
                ]
                full = len(found.matches) > len(fresh)
                matches += fresh
                if fresh and on_matches is not None:
                    on_matches(fresh)
                if found.failed and not matches and not tried:
                    tried = True
                    error = pattern_error(rg, call, root, children)
                if full or error or children.stopped:
                    break
    problems = Problems(problems.given) if error else problems
    return ScanResult(tuple(matches), full, problems, error, children.reason)


def as_operands(paths: Iterable[str]) -> Iterator[str]:
    """Paths as rg is given them: a document called ``-`` must not be read as stdin."""
    return ("./-" if path == "-" else path for path in paths)


def _arguments(call: RgCall) -> list[str]:
    options = tuple(option for option in call.options if option.name not in _PRINTING)
    return replace(call, options=options).arguments()


def _search(argv: Sequence[str], root: str, flight: Children, line_length: int, limit: int) -> _Found:
    """One call of rg, read until it ends or ``limit`` matches have come."""
    found = _Found()
    try:
        process = flight.start(argv, cwd=root)
    except Stopped:
        return found
    except OSError as error:
        found.problems.add_stderr(f"rg: it cannot be started: {error.strerror}")
        return found
    assert process.stdout is not None
    assert process.stderr is not None
    errors = Drain(process.stderr)
    with process.stdout as stdout:
        for record in _records(stdout):
            if record.startswith(MATCH):
                try:
                    found.matches.append(read_match(record, line_length))
                except ValueError:
                    found.problems.lost += 1
                if len(found.matches) >= limit:
                    kill(process)
                    break
            elif record.startswith(END):
                found.problems.note_binary(*read_end(record))
    code = flight.wait(process)
    found.failed = code == 2
    found.problems.add_stderr(errors.text())
    return found


def _records(stdout: IO[bytes]) -> Iterator[bytes]:
    """The lines of ``stdout``, each up to the longest that is read."""
    while record := stdout.readline(LONGEST_RECORD):
        yield record
        while len(record) == LONGEST_RECORD and not record.endswith(b"\n"):
            record = stdout.readline(LONGEST_RECORD)
