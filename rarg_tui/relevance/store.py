"""Where vectors are kept and searched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FILE = "index.faiss"


class VectorStore(Protocol):
    """Unit vectors in rows 0, 1, …; similarity is the inner product."""

    dimension: int

    def __len__(self) -> int:
        """How many vectors there are."""

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows and similarities of the best ``k`` vectors (fewer if there are fewer), best first.
        ``vector`` has shape ``(dimension,)``."""

    def vectors(self, first: int, count: int) -> NDArray[np.float32]:
        """Rows ``first`` to ``first + count``, shape ``(count, dimension)``."""


class FaissStore:
    """All vectors in one flat FAISS index: exact search, one file, opened whole."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self.dimension: int = index.d

    @classmethod
    def write(cls, directory: Path, dimension: int, batches: Iterable[NDArray[np.float32]]) -> int:
        """Write ``batches`` (each of shape ``(n, dimension)``) and return how many vectors came. Raises
        ``OSError`` when there is no room."""
        import faiss

        index = faiss.IndexFlatIP(dimension)
        for batch in batches:
            index.add(np.ascontiguousarray(batch, np.float32))
        try:
            faiss.write_index(index, str(directory / _FILE))
        except RuntimeError as error:
            raise OSError(str(error).strip().splitlines()[-1]) from None
        return int(index.ntotal)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Raises ``OSError`` or ``ValueError`` when there is no readable index."""
        import faiss

        try:
            return cls(faiss.read_index(str(directory / _FILE)))
        except RuntimeError as error:
            raise ValueError(str(error).strip().splitlines()[-1]) from None

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        k = min(k, len(self))
        if k <= 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        scores, rows = self._index.search(np.ascontiguousarray(vector[None, :], np.float32), k)
        found = rows[0] >= 0
        return rows[0][found].astype(np.int64), scores[0][found].astype(np.float32)

    def vectors(self, first: int, count: int) -> NDArray[np.float32]:
        if not count:
            return np.empty((0, self.dimension), np.float32)
        return np.asarray(self._index.reconstruct_n(first, count), np.float32)
