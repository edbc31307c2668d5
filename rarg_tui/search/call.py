"""One call of ``rg --json`` on a batch of paths, read as its output comes."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO

from rarg_tui.search.batches import Batch
from rarg_tui.search.problems import Problems
from rarg_tui.search.process import Children, Stopped, kill
from rarg_tui.search.records import END, MATCH, read_end, read_match
from rarg_tui.trace.events import Match

#: How much of a record is read: one line of a file, what JSON adds to it, and the first spans.
LONGEST_RECORD = 32 * 1_024 * 1_024
_CHUNK = 65_536
#: How much is kept of what rg says on stderr.
_ERRORS = 65_536
#: The last record: how many files were searched in all.
SUMMARY, _SEARCHES = b'{"data":{"elapsed_total"', re.compile(rb'"searches":(\d+)')


class Call:
    """``argv`` is rg with its options, ``batch`` what it searches below ``root``; ``refused`` of these are
    not given to it, with a reason each. It is started as one of ``flight``; ``ready`` calls for a read when
    there is something. Reading ends after ``limit`` matches.

    ``rare``: few matches are expected. Then rg works with two threads, which is faster (it also looks
    only once at each file, not three times), and what it finds is put in order at the end. If there are
    more than ``limit`` after all, it starts again with one.

    ``done``: there is nothing more to come. ``failed``: rg ended with an error.
    """

    def __init__(
        self,
        argv: Sequence[str],
        batch: Batch,
        refused: Mapping[str, str],
        *,
        root: str,
        flight: Children,
        ready: selectors.BaseSelector,
        limit: int,
        line_length: int,
        rare: bool,
    ) -> None:
        self.batch = batch
        self.done = self.failed = False
        self.found = 0
        self._argv = argv
        # Of a path that is listed twice only rg's own order tells the two apart.
        self._rare = rare and len(set(batch)) == len(batch)
        self._root = root
        self._flight = flight
        self._ready = ready
        self._limit = limit
        self._line_length = line_length
        self._refused = dict(refused)
        self._taken = 0
        self._reset()

    def _reset(self) -> None:
        self.problems = Problems()
        self.found = 0
        self._matches: list[Match] = []
        self._lines = Lines()
        self._errors = bytearray()
        self._open = 0
        self._killed = False

    def start(self) -> None:
        """Start rg on what is not refused."""
        names = [path for path in self.batch if path not in self._refused] if self._refused else self.batch
        for path, reason in self._refused.items():
            self.problems.refuse(path, reason)
        if not names:
            self.done = True
            return
        try:
            threads = "-j2" if self._rare else "-j1"
            argv = [*self._argv, threads, "--", *as_operands(names)]
            self._process = self._flight.start(argv, cwd=self._root)
        except Stopped:
            self.done = True
            return
        except OSError as error:
            self.done = self.failed = True
            self.problems.broke(len(names), f"cannot be started: {error.strerror}")
            return
        for pipe, read in ((self._process.stdout, self._read), (self._process.stderr, self._read_error)):
            assert pipe is not None
            self._ready.register(pipe, selectors.EVENT_READ, partial(read, pipe))
            self._open += 1

    def take(self) -> list[Match]:
        """The matches that have come since the last time, as far as their order is known."""
        if self._rare:
            if not self.done:
                return []
            place = {path: at for at, path in enumerate(self.batch)}
            self._matches.sort(key=lambda match: place.get(match.path, 0))
        taken, self._matches = self._matches, []
        self._taken += len(taken)
        return taken

    def look(self) -> None:
        """After a while without output: start again without what is no regular file by now, such as a
        pipe, at which rg waits."""
        odd = not_files(self.batch, self._root) - self._refused.keys()
        if odd:
            self._refused.update(dict.fromkeys(odd, "no regular file"))
            self._again()

    def _again(self) -> None:
        self._end()
        self.done = False
        self._reset()
        self.start()

    def _read(self, pipe: IO[bytes]) -> None:
        if pipe.closed:  # by the event before this one
            return
        chunk = os.read(pipe.fileno(), _CHUNK)
        if not chunk:
            self._close(pipe)
            return
        for record in self._lines.feed(chunk):
            if record.startswith(MATCH):
                self._add(record)
                if self.found >= self._limit:
                    self._enough()
                    return
            elif record.startswith(END):
                self.problems.note_binary(*read_end(record))
            elif record.startswith(SUMMARY):
                self._account(record)

    def _account(self, record: bytes) -> None:
        """Count what rg says nothing of: with --max-depth=0 it does not look into a directory."""
        found = _SEARCHES.search(record)
        if found and int(found[1]) < len(self.batch) - len(self._refused):
            for path in sorted(not_files(self.batch, self._root) - self._refused.keys()):
                self.problems.refuse(path, "no regular file")

    def _add(self, record: bytes) -> None:
        try:
            match = read_match(record, self._line_length)
        except ValueError:
            self.problems.lost += 1
            return
        self.found += 1
        # Once started again, it gives again what was taken before.
        if self.found > self._taken:
            self._matches.append(match)

    def _enough(self) -> None:
        if self._rare:
            self._rare = False
            self._again()
        else:
            self._end()

    def _read_error(self, pipe: IO[bytes]) -> None:
        if pipe.closed:
            return
        chunk = os.read(pipe.fileno(), _CHUNK)
        if not chunk:
            self._close(pipe)
        self._errors += chunk[: _ERRORS - len(self._errors)]

    def _close(self, pipe: IO[bytes]) -> None:
        self._ready.unregister(pipe)
        pipe.close()
        self._open -= 1
        if not self._open:
            code = self._flight.wait(self._process)
            self.failed = code == 2
            self.problems.add_stderr(self._errors.decode("utf-8", "surrogateescape"))
            self.done = True
            if code not in (0, 1, 2) and not self._killed and not self._flight.stopped:
                self.problems.broke(len(self.batch) - len(self._refused), f"was ended by signal {-code}")

    def _end(self) -> None:
        self._killed = True
        kill(self._process)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                self._close(pipe)


class Lines:
    """Cuts a stream into lines, of each as much as is read."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end in ``chunk``."""
        first, *others = chunk.split(b"\n")
        if others:
            yield b"".join([*self._parts, first])
            *whole, first = others
            yield from whole
            self._parts, self._size = [], 0
        if self._size < LONGEST_RECORD:
            self._parts.append(first)
            self._size += len(first)


def as_operands(paths: Iterable[str]) -> Iterator[str]:
    """Paths as rg is given them: a document called ``-`` must not be read as stdin."""
    return ("./-" if path == "-" else path for path in paths)


def not_files(paths: Batch, root: str) -> set[str]:
    """Those of ``paths`` that are there and no regular files."""
    odd = set()
    for path in paths:
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(os.stat(os.path.join(root, path)).st_mode):
                odd.add(path)
    return odd
