"""A list of paths cut into batches: the first small, so that something is found soon, later ones larger."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Batch = Sequence[str]


@dataclass(frozen=True, slots=True)
class BatchSizes:
    """How many paths a call of rg is given: ``first`` in the first one, so that something can be shown
    soon, then ``growth`` times more each time up to ``most``; and never more than ``most_bytes`` of
    names, which the system limits. ``workers`` calls run at a time, ``ahead`` may wait to be merged."""

    first: int = 64
    growth: int = 4
    most: int = 1_024
    most_bytes: int = 128 * 1_024
    workers: int = max(2, min(16, os.cpu_count() or 1))
    ahead: int = 4


DEFAULT_SIZES = BatchSizes()
#: For a search that ends when it has found enough: batches are big where that is still far.
SEARCH_SIZES = BatchSizes(growth=8, most=65_536, most_bytes=768 * 1_024)


def batches(paths: Iterable[str], sizes: BatchSizes) -> Iterator[list[str]]:
    """``paths`` in order, cut into batches."""
    size, batch, weight = sizes.first, list[str](), 0
    for path in paths:
        bytes_of_name = len(os.fsencode(path)) + 1
        if batch and (len(batch) >= size or weight + bytes_of_name > sizes.most_bytes):
            yield batch
            size, batch, weight = min(sizes.most, size * sizes.growth), [], 0
        batch.append(path)
        weight += bytes_of_name
    if batch:
        yield batch


class Batches:
    """``paths`` in order, cut into batches as they are asked for, by what was found until then.

    ``wanted`` matches end the search. When they are common, a batch is one worker's part of the paths
    that are likely to hold the rest of them; when they are rare, its part of all that are left.
    """

    def __init__(self, paths: Sequence[str], wanted: int, sizes: BatchSizes) -> None:
        self._paths = paths
        self._wanted = wanted
        self._sizes = sizes
        self._grown = sizes.first
        self._given = self._searched = self._found = self._part = 0

    @property
    def rare(self) -> bool:
        """Whether everything will have to be read, as it seems."""
        return self._searched > 0 and self._needed() >= self._left

    def next(self) -> Batch:
        """The next batch; empty when there is none."""
        size = min(self._size(), self._sizes.most)
        batch = self._paths[self._given : self._given + size]
        while _bytes(batch) > self._sizes.most_bytes and len(batch) > 1:
            batch = batch[: len(batch) // 2]
        self._given += len(batch)
        return batch

    def note(self, searched: int, found: int) -> None:
        """A batch is done: how many paths it had, how many matches it gave."""
        self._searched += searched
        self._found += found

    @property
    def _left(self) -> int:
        return len(self._paths) - self._given

    def _needed(self) -> float:
        """How many more paths it is likely to take; below zero when those at work will do."""
        if not self._found:
            return math.inf
        running = self._given - self._searched
        return (self._wanted - self._found) * self._searched / self._found - running

    def _size(self) -> int:
        if not self._searched:
            size, self._grown = self._grown, self._grown * self._sizes.growth
            return size
        if not self.rare:
            return max(self._sizes.first, math.ceil(self._needed() / self._sizes.workers))
        self._part = self._part or math.ceil(self._left / self._sizes.workers)
        return self._part


def _bytes(names: Sequence[str]) -> int:
    """How much room the names take as arguments of a program."""
    return len(os.fsencode("\0".join(names))) + 1
