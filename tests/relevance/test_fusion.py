"""Weighted reciprocal rank fusion."""

from __future__ import annotations

import numpy as np
import pytest

from rarg_tui.relevance.fusion import WEIGHTS, fuse, placed


def ranking(*items: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(items, np.int64)


def test_scores() -> None:
    items, scores = fuse({"a": ranking(3, 1), "b": ranking(1)}, {"a": 1.0, "b": 0.5}, 10)
    assert items.tolist() == [1, 3]
    assert scores.tolist() == pytest.approx([1 / 62 + 0.5 / 61, 1 / 61])


def test_ties_by_item_and_top() -> None:
    items, _ = fuse({"a": ranking(5, 2), "b": ranking(2, 5)}, {"a": 1.0, "b": 1.0}, 10)
    assert items.tolist() == [2, 5]
    items, _ = fuse({"a": ranking(5, 2), "b": ranking(2, 5)}, {"a": 1.0, "b": 1.0}, 1)
    assert items.tolist() == [2]


def test_nothing_found() -> None:
    items, scores = fuse({"a": ranking(), "b": ranking()}, {"a": 1.0, "b": 1.0}, 10)
    assert len(items) == len(scores) == 0


def test_every_ranker_has_a_weight() -> None:
    assert list(WEIGHTS) == ["lexical", "static", "dense"]


def test_ranks_and_scores_of_items() -> None:
    scores = np.array([0.9, 0.5])
    assert placed(ranking(7, 3, 1), ranking(3, 7), scores) == [(2, 0.5), (1, 0.9), None]
    assert placed(ranking(), ranking(3, 7), scores) == []
    assert placed(ranking(1), ranking(), np.empty(0)) == [None]
