"""Where the vectors of a part are kept and searched: one byte a number, on disk, never read whole.

A vector is kept as integers from -127 to 127 and the size of their unit, chosen so that its largest number
is 127. They lie in ``vectors-000001.bin``, ``vectors-000002.bin``, … in the order of the table; a build
appends a file and links the earlier ones.
"""

from __future__ import annotations

import math
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rarg_tui.corpus.progress import check
from rarg_tui.relevance.manifest import carry, damaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rarg_tui.relevance.manifest import Part

#: What a vector's numbers are counted in is itself counted in this, so that a vector that was read and is
#: written again stays the same to the last bit.
_GRAIN = 2.0**-23
_LARGEST = 127
#: Sums of so many are exact in float32, whatever their order.
_EXACT = 1 << 24

#: Vectors whose numbers, as float32, stay in a core's cache; and vectors of one task.
_BLOCK = 512
_TASK = 32 * _BLOCK
_THREADS = 2
#: Every search goes through all files; more of them than this become one.
_MOST_FILES = 16


class VectorStore(Protocol):
    """The unit vectors of one part; row ``r`` of the part's table has ``counts[r]`` of them, at least one.
    Similarity is the inner product."""

    dimension: int

    def __len__(self) -> int:
        """How many vectors there are."""

    def search(
        self, vector: NDArray[np.float32], k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Table rows and similarities (rounded to 6 places): the best ``k`` rows by their best vector, and
        all that tie with the last, best first, ties by row. ``vector`` has shape ``(dimension,)``."""

    def vectors(self, first: int, last: int) -> NDArray[np.float32]:
        """The vectors of the table rows from ``first`` to before ``last``, one after the other, shape
        ``(n, dimension)``: what a rewrite needs."""

    def close(self) -> None:
        """Let go of files and connections."""


class VectorStorage(Protocol):
    """Where a ranker's vectors are kept."""

    name: str

    def settings(self) -> Mapping[str, Any]:
        """What joins the ranker's settings: a part with other ones is not opened."""

    def write(
        self,
        directory: Path,
        old: Part | None,
        dimension: int,
        batches: Iterable[tuple[NDArray[np.int32], NDArray[np.float32]]],
        cancel: threading.Event | None,
    ) -> Mapping[str, Any]:
        """Append ``batches`` (how many vectors each row has, and the vectors) behind the rows of ``old``,
        or begin afresh where it is ``None``; returns what the part's facts must keep. Raises ``OSError``
        when there is no room."""

    def open(self, part: Part, counts: NDArray[np.int32]) -> VectorStore:
        """Raises ``IndexProblem`` when the vectors are damaged, ``MissingPart`` when they cannot be
        reached."""

    def sweep(self, directory: Path, facts: Mapping[str, Any]) -> None:
        """Let go of what earlier parts kept elsewhere, now that a part with ``facts`` is published in the
        index's ``directory``; called with the build lock held."""

    def close(self) -> None:
        """Let go of connections."""


class DiskStorage:
    """Vectors lie in the part's own directory."""

    name = "disk"

    def settings(self) -> Mapping[str, Any]:
        return {}

    def write(
        self,
        directory: Path,
        old: Part | None,
        dimension: int,
        batches: Iterable[tuple[NDArray[np.int32], NDArray[np.float32]]],
        cancel: threading.Event | None,
    ) -> Mapping[str, Any]:
        earlier = _files(old.directory) if old is not None else []
        joined: list[Path] = []
        if len(earlier) >= _MOST_FILES:
            joined, earlier = earlier, joined
        for file in earlier:
            carry(file, directory)
        fresh = directory / f"vectors-{len(earlier) + 1:06d}.bin"
        with open(fresh, "wb") as out:
            for file in joined:
                check(cancel)
                with open(file, "rb") as opened:
                    shutil.copyfileobj(opened, out, 1 << 20)
            for _, vectors in batches:
                check(cancel)
                for at in range(0, len(vectors), _TASK):
                    quantise(vectors[at : at + _TASK]).tofile(out)
        if not fresh.stat().st_size:
            fresh.unlink()
        return {}

    def open(self, part: Part, counts: NDArray[np.int32]) -> DiskStore:
        try:
            dimension = int(part.facts["dimension"])
            files = [np.memmap(file, _record(dimension), "r") for file in _files(part.directory)]
        except (OSError, ValueError, KeyError) as error:
            raise damaged("vector", part.directory, str(error)) from None
        if sum(map(len, files)) != int(counts.sum()) or (len(counts) and counts.min() < 1):
            raise damaged("vector", part.directory, "vectors and documents do not fit")
        return DiskStore(dimension, files, counts)

    def sweep(self, directory: Path, facts: Mapping[str, Any]) -> None:
        pass

    def close(self) -> None:
        pass


class DiskStore:
    """Files of records, mapped into memory: a search is the similarity of every vector, exact on what is
    stored, so that equal documents tie."""

    def __init__(self, dimension: int, files: Sequence[NDArray[np.void]], counts: NDArray[np.int32]) -> None:
        self.dimension = dimension
        self._files = files
        self._ends = np.cumsum(counts, dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def search(
        self, vector: NDArray[np.float32], k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        if k <= 0 or not len(self):
            return np.empty(0, np.int64), np.empty(0, np.float64)
        whole, unit = whole_numbers(vector)
        similarities = np.empty(len(self), np.float32)

        def task(part: tuple[int, NDArray[np.void]]) -> None:
            check(cancel)
            at, records = part
            _similarities(records, whole, similarities[at : at + len(records)])

        with ThreadPoolExecutor(_THREADS) as threads:
            for _ in threads.map(task, self._tasks()):
                pass
        starts = np.concatenate([[0], self._ends[:-1]])
        best = np.maximum.reduceat(similarities, starts).astype(np.float64)
        return _best(np.round(best * unit, 6), k)

    def vectors(self, first: int, last: int) -> NDArray[np.float32]:
        begin, end = (int(self._ends[row - 1]) if row else 0 for row in (first, last))
        found = [np.empty((0, self.dimension), np.float32)]
        at = 0
        for records in self._files:
            inside = records[max(0, begin - at) : max(0, end - at)]
            found.append(restored(inside))
            at += len(records)
        return np.concatenate(found)

    def close(self) -> None:
        self._files = ()

    def _tasks(self) -> Iterator[tuple[int, NDArray[np.void]]]:
        at = 0
        for records in self._files:
            for first in range(0, len(records), _TASK):
                yield at + first, records[first : first + _TASK]
            at += len(records)


def quantise(vectors: NDArray[np.float32]) -> NDArray[np.void]:
    """Records of ``vectors``, shape ``(n, dimension)``."""
    made = np.zeros(len(vectors), _record(vectors.shape[1]))
    largest = np.abs(vectors).max(axis=1, initial=0)
    unit = np.maximum(np.ceil(largest / np.float32(_LARGEST) / _GRAIN), 1).astype(np.float32)
    unit *= np.float32(_GRAIN)
    made["unit"] = unit
    made["numbers"] = np.round(vectors / unit[:, None])
    return made


def whole_numbers(vector: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
    """``vector`` in whole numbers, as large as leave every sum of products exact (Cauchy-Schwarz: the
    two lengths bound it), and the size of their unit. The rounding is far finer than that of what is
    stored."""
    length = max(float(np.linalg.norm(vector)), 1e-9)
    room = _EXACT / (_LARGEST * math.sqrt(len(vector))) - math.sqrt(len(vector))
    return np.round(vector * (room / length)), length / room


def restored(records: NDArray[np.void]) -> NDArray[np.float32]:
    """The vectors that ``records`` hold."""
    made: NDArray[np.float32] = records["numbers"] * records["unit"][:, None]
    return made


def _similarities(records: NDArray[np.void], whole: NDArray[np.float32], into: NDArray[np.float32]) -> None:
    numbers = np.empty((min(_BLOCK, len(records)), len(whole)), np.float32)
    for at in range(0, len(records), _BLOCK):
        block = records[at : at + _BLOCK]
        room = numbers[: len(block)]
        np.copyto(room, block["numbers"])
        np.dot(room, whole, out=into[at : at + len(block)])
    into *= records["unit"]


def _best(scores: NDArray[np.float64], k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    rows = np.arange(len(scores))
    if k < len(scores):
        rows = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    rows = rows[np.argsort(-scores[rows], kind="stable")]
    return rows, scores[rows]


def _record(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("unit", "<f4"), ("numbers", "i1", (dimension,))])


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob("vectors-*.bin"))
