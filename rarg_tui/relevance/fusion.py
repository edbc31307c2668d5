"""Weighted reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The constant of reciprocal rank fusion (Cormack et al. 2009).
K = 60

#: What each ranker's vote weighs, in the order in which rankers are named.
WEIGHTS: Mapping[str, float] = {"lexical": 1.0, "static": 0.5, "dense": 1.0}


def fuse(
    rankings: Mapping[str, NDArray[np.int64]], weights: Mapping[str, float], top: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best ``top`` items and their scores ``Σ weight / (K + rank)``; ties by item number.

    ``rankings`` hold item numbers, best first, each item at most once in a ranking.
    """
    import numpy as np

    size = 1 + max((int(items.max()) for items in rankings.values() if len(items)), default=-1)
    scores = np.zeros(size, np.float64)
    named = np.zeros(size, np.bool_)
    for name, items in rankings.items():
        scores[items] += weights[name] / (K + np.arange(1, len(items) + 1, dtype=np.float64))
        named[items] = True
    found = np.flatnonzero(named)
    order = np.lexsort((found, -np.round(scores[found], 12)))[:top]
    return found[order], scores[found][order]


def placed(
    items: NDArray[np.int64], ranking: NDArray[np.int64], scores: NDArray[np.float64]
) -> list[tuple[int, float] | None]:
    """The rank (from 1) and score that ``ranking``, best first, gives each of ``items``; ``None`` where it
    gives none."""
    import numpy as np

    size = 1 + max((int(numbers.max()) for numbers in (items, ranking) if len(numbers)), default=-1)
    ranks = np.zeros(size, np.int32)
    ranks[ranking] = np.arange(1, len(ranking) + 1)
    given = ranks[items].tolist()
    values = scores.tolist()
    return [(rank, values[rank - 1]) if rank else None for rank in given]
