"""Vectors from a file that FAISS wrote for a flat index.

Read without FAISS: the size is compared with what the header says before anything is reserved for it, and
nothing foreign reaches native code.
The layout (``faiss/impl/index_write.cpp``, little-endian): four letters; dimension (int32); vectors
(int64); two numbers that are no longer used (int64); trained (one byte); metric (int32), and its argument
(float32) where the metric is above 1; how many numbers follow (uint64); the numbers (float32), a vector after
the other.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEAD = struct.Struct("<4siqqqBiQ")
_INNER_PRODUCT = 0
_MOST_NUMBERS = 1 << 16
_BLOCK = 1 << 22


def read_head(file: Path) -> tuple[int, int]:
    """How many vectors there are, and their dimension; no vector is read. Raises ``ValueError`` for a file
    that is no flat index of inner products, whole and of the size that it says; ``OSError`` when it cannot be
    read."""
    with open(file, "rb") as opened:
        head = opened.read(_HEAD.size)
        size = os.fstat(opened.fileno()).st_size
    if len(head) < _HEAD.size:
        raise ValueError("it is too short")
    letters, dimension, count, _, _, trained, metric, numbers = _HEAD.unpack(head)
    if letters not in (b"IxFI", b"IxFl") or metric != _INNER_PRODUCT or trained != 1:
        raise ValueError("it is no IndexFlatIP")
    if not 0 < dimension <= _MOST_NUMBERS or count < 0 or numbers != dimension * count:
        raise ValueError(f"its header says {count} vectors of {dimension} numbers, {numbers} in all")
    if size != _HEAD.size + 4 * numbers:
        raise ValueError(f"it has {size} bytes in place of {_HEAD.size + 4 * numbers}")
    return count, dimension


def read_vectors(file: Path) -> NDArray[np.float32]:
    """All vectors, shape ``(n, dimension)``. Raises as :func:`read_head`, and for numbers that are none."""
    count, dimension = read_head(file)
    vectors = np.fromfile(file, "<f4", count * dimension, offset=_HEAD.size)
    if len(vectors) != count * dimension:
        raise ValueError("it became shorter while it was read")
    if not all(np.isfinite(vectors[at : at + _BLOCK]).all() for at in range(0, len(vectors), _BLOCK)):
        raise ValueError("it holds numbers that are none")
    return vectors.reshape(count, dimension)
