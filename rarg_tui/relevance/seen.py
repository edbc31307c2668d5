"""Of which documents a ranker has seen only a part, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rarg_tui.relevance.table import Table


@dataclass(frozen=True, slots=True)
class PartlySeen:
    """Vectors cover ``seen`` of the ``total`` characters of a document."""

    path: str
    seen: int
    total: int


def partly_seen(table: Table, positions: NDArray[np.int64]) -> list[PartlySeen]:
    """The rows of ``table`` that were seen in part, the least share first, then by path. ``positions`` (shape
    ``(len(table),)``) is -1 for a row that no document stands for any more."""
    rows = table.rows
    at = np.flatnonzero((rows["seen"] < rows["total"]) & (positions >= 0)).tolist()
    found = [PartlySeen(table.paths[row], int(rows["seen"][row]), int(rows["total"][row])) for row in at]
    return sorted(found, key=lambda one: (one.seen / one.total, one.path))
