"""Putting the pool's matches in a better order than the one in which they were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rarg_tui.errors import RargError
from rarg_tui.relevance.fusion import K

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rarg_tui.trace.events import Match

KINDS = ("fused", "paper")


class MatchReranker:
    """``paper`` sorts by the similarity of query and line. ``fused`` is the reciprocal rank fusion of
    three orders: similarity of the line with its document's title in front; summed rarity of the
    keywords that line or title holds; traversal order.

    With a ``quota`` n > 0 the result comes in rounds: in each, the next n best lines of a document.
    ``embed`` gives one unit vector a text, ``title`` a document's title, ``rarity`` a word's weight.
    """

    def __init__(
        self,
        name: str,
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        title: Callable[[str], str],
        rarity: Callable[[Sequence[str]], Sequence[float]],
        quota: int = 0,
    ) -> None:
        if name not in KINDS:
            raise RargError(f"There is no reranker {name!r}; choose one of {', '.join(KINDS)}.")
        self.name = name
        self._embed = embed
        self._title = title
        self._rarity = rarity
        self._quota = quota

    def rerank(self, query: str, keywords: Sequence[str], matches: Sequence[Match]) -> list[Match]:
        """All ``matches``, best first; equal ones in traversal order.

        Each gets its ``score`` (fused score or similarity) and ``parts``: ``similarity`` (cosine),
        ``keywords`` (summed rarity) and ``traversal`` (position), as raw values.
        """
        if not matches:
            return []
        titles = {match.path: "" for match in matches}
        if self.name == "fused":
            titles = {path: self._title(path) for path in titles}
        texts = [f"{titles[m.path]}: {m.text}" if titles[m.path] else m.text for m in matches]
        vectors = self._embed([query, *texts])
        similarity = np.round((vectors[1:] @ vectors[0]).astype(np.float64), 6)
        words = list(dict.fromkeys(word.casefold() for word in keywords if word))
        weights = list(self._rarity(words)) if words else []
        rarity = np.zeros(len(matches))
        for at, text in enumerate(texts):
            folded = text.casefold()
            rarity[at] = sum(w for word, w in zip(words, weights, strict=True) if word in folded)
        traversal = np.array([match.position for match in matches], np.float64)
        if self.name == "fused":
            orders = (-similarity, -np.round(rarity, 9), traversal)
            score = np.sum([1.0 / (K + _ranks(order)) for order in orders], axis=0)
        else:
            score = similarity
        order = np.lexsort((np.arange(len(matches)), traversal, -np.round(score, 12)))
        return [
            replace(
                matches[at],
                score=float(score[at]),
                parts={
                    "similarity": float(similarity[at]),
                    "keywords": float(rarity[at]),
                    "traversal": float(traversal[at]),
                },
            )
            for at in self._rounds(matches, order.tolist())
        ]

    def _rounds(self, matches: Sequence[Match], order: list[int]) -> list[int]:
        if self._quota <= 0:
            return order
        taken: defaultdict[str, int] = defaultdict(int)
        rounds: list[tuple[int, int, int]] = []
        for rank, at in enumerate(order):
            rounds.append((taken[matches[at].path] // self._quota, rank, at))
            taken[matches[at].path] += 1
        return [at for _, _, at in sorted(rounds)]


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1, smallest value first; equal values share the best rank of their group, so that a
    tie gives no vote."""
    ordered = np.sort(values)
    return np.searchsorted(ordered, values, side="left").astype(np.float64) + 1.0
