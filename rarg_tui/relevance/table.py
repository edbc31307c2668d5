"""The documents of one published part: which, in which state, and how much of each was seen.

Rows are never changed in their order or taken out while a part is only updated: what is new comes behind
them, and a row whose document is gone or has changed stays, dead. A path may so stand in several rows;
the last one counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rarg_tui.corpus.documents import Documents, Paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: One row a document. ``size`` and ``mtime_ns`` are those of the file when it was read, ``digest`` is the
#: BLAKE2b-128 of its bytes, all zero when it could not be read. ``vectors`` is how many vectors it has,
#: ``seen`` of ``total`` characters are covered by them.
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


class Table:
    """``paths[i]`` is described by ``rows[i]`` (dtype :data:`ROW`, shape ``(len(paths),)``)."""

    def __init__(self, paths: Sequence[str], rows: NDArray[np.void]) -> None:
        self.paths = paths if isinstance(paths, Paths) else Paths.of(paths)
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def write(self, directory: Path) -> None:
        """Write into ``directory``, which is not yet visible to readers."""
        (directory / _PATHS).write_bytes(self.paths.packed)
        np.save(directory / _ROWS, self.rows, allow_pickle=False)

    @classmethod
    def read(cls, directory: Path) -> Table:
        """Raises ``OSError`` or ``ValueError`` for a missing or broken table."""
        paths = Paths((directory / _PATHS).read_bytes())
        rows = np.load(directory / _ROWS, allow_pickle=False)
        if rows.dtype != ROW or rows.ndim != 1 or len(rows) != len(paths):
            raise ValueError("the table of documents does not fit its paths")
        return cls(paths, rows)

    def take(self, keep: NDArray[np.bool_]) -> Table:
        """The rows where ``keep`` (shape ``(len(self),)``) holds."""
        if keep.all():
            return self
        return Table(Paths(b"\0".join(compress(self.paths.split(), keep.tolist()))), self.rows[keep])

    def places(self, documents: Documents) -> NDArray[np.int64]:
        """For each row the place of its path among ``documents``, shape ``(len(self),)``; -1 where it is
        not there, or where a later row has the same path."""
        if self.paths == documents.paths:
            return np.arange(len(self), dtype=np.int64)
        known = dict(zip(documents.paths.split(), range(len(documents)), strict=True))
        found = np.fromiter(map(known.get, self.paths.split(), repeat(-1)), np.int64, len(self))
        rows = np.arange(len(self))
        last = np.full(len(documents) + 1, -1)  # one more, for the rows at -1
        np.maximum.at(last, found, rows)
        return np.where(last[found] == rows, found, -1)

    def same_state(self, documents: Documents, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows have size and time of the document at their place; shape ``(len(self),)``."""
        there = np.flatnonzero(places >= 0)
        at = places[there]
        sizes, times = column(documents.sizes)[at], column(documents.times)[at]
        same = np.zeros(len(self), np.bool_)
        same[there] = (self.rows["size"][there] == sizes) & (self.rows["mtime_ns"][there] == times)
        return same

    def unread(self) -> NDArray[np.bool_]:
        """Which rows stand for a file that could not be read; shape ``(len(self),)``."""
        halves = np.ascontiguousarray(self.rows["digest"]).view("<u8").reshape(-1, 2)
        return np.asarray((halves == 0).all(axis=1))


def column(values: object) -> NDArray[np.int64]:
    """A column of :class:`Documents` without a copy."""
    return np.frombuffer(values, np.int64)  # type: ignore[call-overload, no-any-return]


def rows(values: Sequence[tuple[int, int, bytes, int, int, int]]) -> NDArray[np.void]:
    """Rows from tuples in the order of :data:`ROW`."""
    return np.array(values, dtype=ROW)


def concatenate(tables: Sequence[Table]) -> Table:
    """All rows, one table after the other."""
    filled = [table for table in tables if len(table)]
    if len(filled) == 1:
        return filled[0]
    joined = np.concatenate([table.rows for table in filled]) if filled else np.empty(0, dtype=ROW)
    return Table(Paths(b"\0".join(table.paths.packed for table in filled)), joined)
