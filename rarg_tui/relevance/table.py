"""The documents of one published part: which, in which state, and how much of each was seen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: One row a document. ``digest`` is the BLAKE2b-128 of its bytes, all zero when it could not be read.
#: ``vectors`` is how many vectors it has, ``seen`` of ``total`` characters are covered by them.
ROW = np.dtype(
    [
        ("size", "<i8"),
        ("mtime_ns", "<i8"),
        ("digest", "V16"),
        ("vectors", "<i4"),
        ("seen", "<i8"),
        ("total", "<i8"),
    ]
)

UNREAD = bytes(16)

_PATHS = "paths.bin"
_ROWS = "documents.npy"
FILES = (_PATHS, _ROWS)


@dataclass(frozen=True, slots=True)
class Table:
    """``paths[i]`` is described by ``rows[i]`` (dtype :data:`ROW`, shape ``(len(paths),)``)."""

    paths: list[str]
    rows: NDArray[np.void]

    def __len__(self) -> int:
        return len(self.paths)

    def write(self, directory: Path) -> None:
        """Write into ``directory``, which is not yet visible to readers."""
        (directory / _PATHS).write_bytes(b"\0".join(os.fsencode(path) for path in self.paths))
        np.save(directory / _ROWS, self.rows, allow_pickle=False)

    @classmethod
    def read(cls, directory: Path) -> Table:
        """Raises ``OSError`` or ``ValueError`` for a missing or broken table."""
        packed = (directory / _PATHS).read_bytes()
        rows = np.load(directory / _ROWS, allow_pickle=False)
        paths = [os.fsdecode(path) for path in packed.split(b"\0")] if len(rows) else []
        if rows.dtype != ROW or rows.ndim != 1 or len(rows) != len(paths):
            raise ValueError("the table of documents does not fit its paths")
        return cls(paths, rows)

    def take(self, keep: NDArray[np.bool_]) -> Table:
        """The rows where ``keep`` (shape ``(len(self),)``) holds."""
        return Table([path for path, kept in zip(self.paths, keep, strict=True) if kept], self.rows[keep])


def rows(values: Sequence[tuple[int, int, bytes, int, int, int]]) -> NDArray[np.void]:
    """Rows from tuples in the order of :data:`ROW`."""
    made = np.empty(len(values), dtype=ROW)
    for column, name in enumerate(ROW.names or ()):
        if name == "digest":
            packed = b"".join(value[2] for value in values)
            made[name] = np.frombuffer(packed, dtype="V16") if values else made[name]
        else:
            made[name] = [value[column] for value in values]
    return made


def concatenate(tables: Sequence[Table]) -> Table:
    """All rows, one table after the other."""
    paths = [path for table in tables for path in table.paths]
    joined = np.concatenate([table.rows for table in tables]) if tables else np.empty(0, dtype=ROW)
    return Table(paths, joined)
