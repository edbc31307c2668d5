"""Ordered work on a list of paths: batches that grow, run side by side, and come back in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

Batch = Sequence[str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchSizes:
    """How many paths a call of rg is given: ``first`` in the first one, so that something can be shown
    soon, then ``growth`` times more each time up to ``most``; and never more than ``most_bytes`` of
    names, which the system limits. ``workers`` calls run at a time, ``ahead`` may wait to be merged."""

    first: int = 64
    growth: int = 4
    most: int = 1_024
    most_bytes: int = 128 * 1_024
    workers: int = max(2, min(4, os.cpu_count() or 1))
    ahead: int = 4


DEFAULT_SIZES = BatchSizes()


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


def in_order(
    work: Callable[[Batch], T], items: Iterable[Batch], sizes: BatchSizes, stop: Callable[[], None]
) -> Generator[T, None, None]:
    """``work`` done on every item by a few threads; the results come in the order of the items.

    ``stop`` must make running work return soon: it is called when the caller wants no more results.
    """
    pending: deque[Future[T]] = deque()
    finished = False
    pool = ThreadPoolExecutor(sizes.workers, thread_name_prefix="rarg-scan")
    try:
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) >= sizes.workers + sizes.ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
        finished = True
    finally:
        # Also when nothing is pending: the one that was waited for, by a Ctrl-C say, still works.
        if not finished:
            for future in pending:
                future.cancel()
            stop()
        pool.shutdown(wait=True)
