"""Putting the pool's matches in a better order than the one in which they were found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rarg_tui.errors import RargError
from rarg_tui.relevance.rerank_orders import (
    OTHER_WORDS,
    TRAVERSAL,
    Embed,
    Rarity,
    fused,
    in_rounds,
    rarities,
    similarity,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rarg_tui.trace.events import Match

KINDS = ("fused", "paper", "generative", "cross")
MODELS = ("static", "dense")

#: So many of the pool, the best by the cheap order, are looked at by a slow model.
CASCADE = 100


@dataclass(frozen=True, slots=True)
class Sources:
    """What a reranker asks. ``static`` and ``dense`` give one unit vector a text, ``cross`` the relevance of
    each text to a query, ``title`` a document's title, ``rarity`` a word's weight."""

    static: Embed
    dense: Embed
    cross: Callable[[str, Sequence[str]], NDArray[np.float64]]
    title: Callable[[str], str]
    rarity: Rarity


class MatchReranker:
    """``paper`` and ``generative`` sort by the similarity of query and line, by the static table or, with
    ``model`` dense, by the sentence model.

    ``fused`` is the reciprocal rank fusion of three orders: similarity of the line with its document's
    title in front, by the static table; summed rarity of the words of pattern and query in line or title;
    traversal order. With ``model`` dense it is a cascade: for its first :data:`CASCADE` lines the order by
    the sentence model's similarity joins the fusion, and the others follow as they were. ``cross`` is the
    same cascade with a cross-encoder's scores alone in the last stage.

    With a ``quota`` n > 0 the result comes in rounds: in each, the next n best lines of a document.
    """

    def __init__(
        self, kind: str, sources: Sources, model: str = "static", quota: int = 0, cascade: int = CASCADE
    ) -> None:
        if kind not in KINDS:
            raise RargError(f"There is no reranker {kind!r}; choose one of {', '.join(KINDS)}.")
        if model not in MODELS:
            raise RargError(f"There is no model for matches {model!r}; choose one of {', '.join(MODELS)}.")
        self.kind = kind
        self.model = model
        self._sources = sources
        self._quota = quota
        self._cascade = cascade
        self._last = "cross" if kind == "cross" else "dense" if (kind, model) == ("fused", "dense") else ""

    def rerank(self, query: str, keywords: Sequence[str], matches: Sequence[Match]) -> list[Match]:
        """All ``matches``, best first; equal ones in traversal order.

        Each gets its ``score`` (more than 1 where a cross-encoder decided) and ``parts`` as raw values:
        ``similarity`` (cosine), ``keywords`` and ``words`` (summed rarity of the pattern's and of the query's
        other words), ``traversal`` (position), and from a last stage ``dense`` (cosine) or ``cross``.
        """
        if not matches:
            return []
        sources = self._sources
        alone = self.kind in ("paper", "generative")
        texts = [match.text if alone else _titled(sources.title(match.path), match.text) for match in matches]
        embed = sources.dense if alone and self.model == "dense" else sources.static
        similar = similarity(embed, query, texts)
        of_keywords, of_others = rarities(sources.rarity, query, keywords, texts)
        traversal = np.array([match.position for match in matches], np.float64)
        parts = {"similarity": similar, "keywords": of_keywords, "words": of_others, "traversal": traversal}
        rare = of_keywords + OTHER_WORDS * of_others
        score = similar if alone else fused([(1.0, -similar), (1.0, -rare), (TRAVERSAL, traversal)])
        if self._last:
            best = self._order(matches, score, traversal)[: self._cascade]
            found = self._look(query, [texts[at] for at in best])
            # A cross-encoder decides alone, above all others; the sentence model has one voice more.
            score[best] = fused([(1.0, -found)]) + (1.0 if self._last == "cross" else score[best])
            parts[self._last] = np.full(len(matches), np.nan)
            parts[self._last][best] = found
        return [
            replace(
                matches[at],
                score=float(score[at]),
                parts={name: float(values[at]) for name, values in parts.items() if not np.isnan(values[at])},
            )
            for at in self._order(matches, score, traversal)
        ]

    def _look(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """What the last stage finds."""
        if self._last == "cross":
            return self._sources.cross(query, texts)
        return similarity(self._sources.dense, query, texts)

    def _order(
        self, matches: Sequence[Match], score: NDArray[np.float64], traversal: NDArray[np.float64]
    ) -> list[int]:
        order = np.lexsort((np.arange(len(matches)), traversal, -np.round(score, 12))).tolist()
        return in_rounds([match.path for match in matches], order, self._quota)


def _titled(title: str, text: str) -> str:
    return f"{title}: {text}" if title else text
