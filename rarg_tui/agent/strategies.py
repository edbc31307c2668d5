"""Strategies: which tools the agent has and how much relevance guides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rarg_tui.agent.profiles import unknown
from rarg_tui.errors import RargError

_SCOPED = ("embed_recall", "bash", "read")


@dataclass(frozen=True, slots=True)
class Strategy:
    """An interface to the corpus.

    ``tools`` names what the model may call. ``entry_points`` adds paragraphs to a scope, ``reranks`` reorders
    the pool of a plain search, ``rerank_query`` lets the model say what for; ``whole_corpus`` allows searches
    outside a scope, ``workspace`` confines them to what was brought in. ``opening`` is a tool that is called
    with the question before the first turn, ``closing`` the one that ends the run. ``limits`` take the place
    of the profile's, ``published`` are the settings of the paper that it comes from, ``source``.
    """

    name: str
    description: str
    source: str
    tools: tuple[str, ...] = _SCOPED
    entry_points: bool = False
    reranks: bool = False
    rerank_query: bool = False
    whole_corpus: bool = False
    workspace: bool = False
    opening: str = ""
    closing: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    published: Mapping[str, Any] = field(default_factory=dict)


_RARG = "RARG, arXiv 2607.24223"
_DENSE: Mapping[str, Any] = {"ranker": "dense", "rerank": "paper", "match_model": "dense", "quota": 0}

STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("rarg", "searches files in relevance order", _RARG, published=_DENSE),
        Strategy(
            "rarg+", "and starts from the scope's entry points", _RARG, entry_points=True, published=_DENSE
        ),
        Strategy(
            "rarg++", "and reranks the matches", _RARG, entry_points=True, reranks=True, published=_DENSE
        ),
        Strategy(
            "rarg++gen",
            "and reranks them by the model's own words",
            _RARG,
            entry_points=True,
            reranks=True,
            rerank_query=True,
            published={**_DENSE, "rerank": "generative"},
        ),
        Strategy(
            "dci",
            "searches all files in path order, without relevance",
            "DCI, arXiv 2605.05242",
            tools=("bash", "read"),
            whole_corpus=True,
            limits={"max_turns": 300, "force_answer_turn": 300},
        ),
        Strategy(
            "rise",
            "adds the best documents of several queries to a working set, and searches that",
            "RISE-BM25, arXiv 2606.06880",
            tools=("search_more", "bash", "read"),
            workspace=True,
            limits={
                "max_turns": 100,
                "force_answer_turn": 100,
                "scope_cap": 1_000,
                "output_bytes": 4_000,
            },
            published={"ranker": "lexical"},
        ),
        Strategy(
            "dr-dci",
            "pulls hundreds of documents into a workspace that starts empty, and searches that",
            "DR-DCI, arXiv 2606.14885",
            tools=("pull", "bash", "read_characters"),
            workspace=True,
            limits={
                "max_turns": 300,
                "force_answer_turn": 300,
                "scope_cap": 600,
                "output_bytes": 10_240,
            },
            published={"ranker": "dense"},
        ),
        Strategy(
            "nemo",
            "thinks, retrieves documents not seen yet, and ends with ten of them",
            "NeMo agentic retrieval, github.com/NVIDIA/NeMo-Retriever",
            tools=("think", "retrieve", "final_results"),
            opening="retrieve",
            closing="final_results",
            limits={
                "max_turns": 200,
                "force_answer_turn": 200,
                "scope_cap": 500,
                "answer_form": "ranking",
            },
            published={"ranker": "dense"},
        ),
        Strategy(
            "embedding",
            "is shown the five documents nearest to each query",
            "the embedding agent of arXiv 2607.24223",
            tools=("search",),
            limits={
                "max_turns": 100,
                "force_answer_turn": 100,
                "scope_cap": 500,
                "keep_results": 50,
            },
            published={"ranker": "dense"},
        ),
    )
}


def strategy(name: str) -> Strategy:
    """The strategy called ``name``; ``RargError`` with the nearest name when there is none."""
    if name not in STRATEGIES:
        raise RargError(unknown("strategy", name, STRATEGIES))
    return STRATEGIES[name]
