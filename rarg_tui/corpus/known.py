"""What the last walk found out about files by reading them, so that the next one need not read them."""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rarg_tui.corpus.documents import Paths

#: How a file is marked.
BINARY, TEXT, UNKNOWN = 0, 1, 2

_MAGIC = b"rarg-1" + sys.byteorder[:1].encode()
_HEADER = struct.Struct("<8sQI")


@dataclass(frozen=True, slots=True)
class Known:
    """The files of one walk by columns. A file is the same as then if its path, its size and its
    ``ctime_ns`` are: that time changes with the content, and with the right to read it."""

    paths: Paths
    sizes: array[int]
    ctimes: array[int]
    marks: bytes

    def of(self, paths: Sequence[bytes], sizes: array[int], ctimes: array[int]) -> bytearray:
        """The mark of each of these files."""
        if self.sizes == sizes and self.ctimes == ctimes and self.paths.split() == paths:
            return bytearray(self.marks)
        places = dict(zip(self.paths.split(), range(len(self.marks)), strict=True))
        marks = bytearray()
        for path, size, ctime in zip(paths, sizes, ctimes, strict=True):
            at = places.get(path)
            same = at is not None and self.sizes[at] == size and self.ctimes[at] == ctime
            marks.append(self.marks[at] if same and at is not None else UNKNOWN)
        return marks


def load(file: Path) -> Known | None:
    """What :func:`save` wrote; ``None`` if there is nothing of use."""
    try:
        data = file.read_bytes()
        magic, count, checksum = _HEADER.unpack_from(data)
    except (OSError, struct.error):
        return None
    body = memoryview(data)[_HEADER.size :]
    if magic.rstrip(b"\0") != _MAGIC or zlib.crc32(body) != checksum:
        return None
    sizes, ctimes = array("q"), array("q")
    sizes.frombytes(body[: 8 * count])
    ctimes.frombytes(body[8 * count : 16 * count])
    return Known(Paths(bytes(body[17 * count :])), sizes, ctimes, bytes(body[16 * count : 17 * count]))


def save(known: Known, file: Path) -> None:
    """Write ``file``, where that can be done. Two that write at once leave what :func:`load` refuses."""
    body = b"".join((known.sizes.tobytes(), known.ctimes.tobytes(), known.marks, known.paths.packed))
    fresh = file.with_suffix(".new")
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_bytes(_HEADER.pack(_MAGIC, len(known.marks), zlib.crc32(body)) + body)
        os.replace(fresh, file)
