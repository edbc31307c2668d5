"""A million documents in little memory: their paths, sizes and times as columns."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, repeat
from typing import overload


@dataclass(frozen=True, slots=True)
class Document:
    """A text file: ``path`` relative to the root, surrogate-escaped; ``size`` in bytes."""

    path: str
    size: int
    mtime_ns: int


class Paths(Sequence[str]):
    """Paths that are not empty, kept as ``packed``: their bytes with a NUL between each two."""

    def __init__(self, packed: bytes) -> None:
        self.packed = packed

    @classmethod
    def of(cls, paths: Iterable[str]) -> Paths:
        """Pack ``paths``."""
        return cls(b"\0".join(map(os.fsencode, paths)))

    def split(self) -> list[bytes]:
        """The bytes of every path."""
        return self.packed.split(b"\0") if self.packed else []

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...

    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        return os.fsdecode(self.packed[self._starts[place] : self._starts[place + 1] - 1])

    def __iter__(self) -> Iterator[str]:
        return map(os.fsdecode, self.split())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Paths):
            return self.packed == other.packed
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal ones may be large: nobody should hash them

    @cached_property
    def _count(self) -> int:
        return self.packed.count(b"\0") + 1 if self.packed else 0

    @cached_property
    def _starts(self) -> array[int]:
        """Where each path begins, and where one more would."""
        return array("q", accumulate(map(int.__add__, map(len, self.split()), repeat(1)), initial=0))


class Documents(Sequence[Document]):
    """Documents by columns: ``paths``, ``sizes`` in bytes and ``times`` (``mtime_ns``), equally long."""

    def __init__(self, paths: Paths, sizes: array[int], times: array[int]) -> None:
        self.paths = paths
        self.sizes = sizes
        self.times = times

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, at: int) -> Document: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Document]: ...

    def __getitem__(self, at: int | slice) -> Document | Sequence[Document]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        return Document(self.paths[at], self.sizes[at], self.times[at])

    def __iter__(self) -> Iterator[Document]:
        return map(Document, self.paths, self.sizes, self.times)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Documents):
            return (self.paths, self.sizes, self.times) == (other.paths, other.sizes, other.times)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as for paths
