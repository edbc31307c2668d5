"""Strategies: which tools the agent has and how much relevance guides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rarg_tui.agent.profiles import unknown
from rarg_tui.errors import RargError


@dataclass(frozen=True, slots=True)
class Strategy:
    """An interface to the corpus. ``tools`` names what the model may call; ``entry_points`` adds
    paragraphs to a scope, ``reranks`` reorders the pool of a plain search, ``whole_corpus`` allows
    searches outside a scope."""

    name: str
    description: str
    tools: tuple[str, ...] = ("embed_recall", "bash", "read")
    entry_points: bool = False
    reranks: bool = False
    whole_corpus: bool = False


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("rarg", "searches files in relevance order"),
        Strategy("rarg+", "and starts from the scope's entry points", entry_points=True),
        Strategy("rarg++", "and reranks the matches", entry_points=True, reranks=True),
    )
}


def strategy(name: str) -> Strategy:
    """The strategy called ``name``; ``RargError`` with the nearest name when there is none."""
    if name not in STRATEGIES:
        raise RargError(unknown("strategy", name, STRATEGIES))
    return STRATEGIES[name]
