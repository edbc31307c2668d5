"""The orders that a pool can be put in, and their fusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rarg_tui.relevance.fusion import K
from rarg_tui.relevance.rerank_query import WORD, other_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a place in traversal order weighs, beside 1 for each other order.
TRAVERSAL = 0.5

#: What the rarity of a word of the query weighs that is no keyword of the pattern.
OTHER_WORDS = 0.5

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
Rarity = Callable[[Sequence[str]], Sequence[float]]


def similarity(embed: Embed, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """The cosine of ``query`` and each text, rounded to 6 places. ``embed`` gives one unit vector a text."""
    vectors = embed([query, *texts])
    cosines: NDArray[np.float64] = np.round((vectors[1:] @ vectors[0]).astype(np.float64), 6)
    return cosines


def rarities(
    rarity: Rarity, query: str, keywords: Sequence[str], texts: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each text the summed rarity of the ``keywords`` that stand anywhere in it, as a pattern finds them,
    and of the query's other words that are words of it; case ignored."""
    wanted = list(dict.fromkeys(word.casefold() for word in keywords if word))
    others = other_words(query, wanted)
    weights = list(rarity([*wanted, *others])) if wanted or others else []
    of_keywords = list(zip(wanted, weights, strict=False))
    of_others = list(zip(others, weights[len(wanted) :], strict=True))
    made = np.zeros((2, len(texts)))
    for at, text in enumerate(texts):
        folded = text.casefold()
        present = set(WORD.findall(folded)) if others else ()
        made[0, at] = sum(weight for word, weight in of_keywords if word in folded)
        made[1, at] = sum(weight for word, weight in of_others if word in present)
    return np.round(made[0], 6), np.round(made[1], 6)


def fused(orders: Sequence[tuple[float, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """The sum of ``weight / (K + rank)`` over weighted orders, each given as values of which the smallest is
    the best."""
    score: NDArray[np.float64] = np.sum([weight / (K + ranks(order)) for weight, order in orders], axis=0)
    return score


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1, smallest value first; equal values share the best rank of their group, so that a
    tie gives no vote."""
    ordered = np.sort(values)
    return np.searchsorted(ordered, values, side="left").astype(np.float64) + 1.0


def in_rounds(paths: Sequence[str], order: Sequence[int], quota: int) -> list[int]:
    """``order`` (places in ``paths``) with the next ``quota`` of each path in every round; 0: as it is."""
    if quota <= 0:
        return list(order)
    taken: dict[str, int] = {}
    rounds: list[tuple[int, int, int]] = []
    for rank, at in enumerate(order):
        before = taken.get(paths[at], 0)
        rounds.append((before // quota, rank, at))
        taken[paths[at]] = before + 1
    return [at for _, _, at in sorted(rounds)]
