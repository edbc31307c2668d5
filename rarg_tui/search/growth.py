"""What rg carries from one file to the next: a reading buffer that a long line made larger.

rg notices a NUL byte when it reads it, and prints no line of that file from then on. It reads 64 KB at a
time, and more, for good, once a line was longer than that. So which lines before a late NUL byte are
printed depends on the files before, and a call that begins in the middle of a list has to read those with
long lines first. (``crates/searcher/src/line_buffer.rs`` of ripgrep.)
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import threading
from collections.abc import Sequence

#: What rg reads at a time, at first, bytes.
ROOM = 65_536
#: No smaller file fills the buffer: two bytes of UTF-16 become at most three of UTF-8.
_SMALL = ROOM * 2 // 3
#: Whatever fills the buffer holds one of these whole, counted from the start of the file.
_BLOCK = _SMALL // 2
#: How much of a block is looked at first: most lines are shorter.
_PROBE = 1_024
_CHUNK = 1 << 20
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NOTICE = re.compile(rb'binary file matches \(found "\\0" byte around offset (\d+)\)\n')


class Growth:
    """The files below ``root`` that may have made the buffer larger, in a list given as ``batches``.

    ``context``: how many lines before the one that it looks at rg keeps in the buffer too.
    """

    def __init__(self, root: str, context: int) -> None:
        self._root = root
        self._line_ends = context + 2 if context else 1
        self._batches: list[Sequence[str]] = []
        self._long: list[list[str]] = []
        self._lock = threading.Lock()

    def add(self, batch: Sequence[str]) -> int:
        """The number of the batch that comes next in the list."""
        self._batches.append(batch)
        return len(self._batches) - 1

    def before(self, number: int) -> list[str]:
        """What must be read before a batch, so that it is printed as behind those before it. They are
        looked at only now: that takes longer than to search them, and is seldom needed."""
        with self._lock:
            for batch in self._batches[len(self._long) : number]:
                self._long.append([path for path in batch if self._has_long_lines(path)])
            return [path for long in self._long[:number] for path in long]

    def _has_long_lines(self, path: str) -> bool:
        """Whether a part of the file lacks the line ends that leave the buffer as it is."""
        if not _is_large(self._root, path):
            return False
        with contextlib.suppress(OSError), open(os.path.join(self._root, path), "rb", buffering=0) as file:
            fd = file.fileno()
            starts = range(0, os.fstat(fd).st_size - _BLOCK + 1, _BLOCK)
            return os.pread(fd, 2, 0) in _UTF_16 or any(self._is_poor(fd, start) for start in starts)
        return False

    def _is_poor(self, fd: int, start: int) -> bool:
        return all(os.pread(fd, size, start).count(b"\n") < self._line_ends for size in (_PROBE, _BLOCK))


def tells_late_nul(output: bytes) -> bool:
    """Whether rg says in its ``output`` that it read something of a file before the first NUL byte."""
    return any(int(offset) >= ROOM for offset in _NOTICE.findall(output))


def holds_late_nul(root: str, paths: Sequence[str]) -> bool:
    """Whether rg may read something of one of ``paths`` before the first NUL byte."""
    return any(_is_large(root, path) and nul(root, path) >= ROOM for path in paths)


def nul(root: str, path: str) -> int:
    """Where the first NUL byte of a file is, or -1. In UTF-16, where a NUL is a character like others, one
    counts as far behind."""
    at = 0
    with contextlib.suppress(OSError), open(os.path.join(root, path), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            if at == 0 and chunk.startswith(_UTF_16):
                text = (chunk + file.read()).decode("utf-16", "replace")
                return ROOM if "\0" in text else -1
            found = chunk.find(b"\0")
            if found >= 0:
                return at + found
            at += len(chunk)
    return -1


def _is_large(root: str, path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.stat(os.path.join(root, path)).st_size > _SMALL
    return False
