"""What a run does with the settings of reranking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rarg_tui.config import Settings
from rarg_tui.errors import MissingPart
from rarg_tui.trace.state import CallState
from rarg_tui.workbench import Workbench
from tests.agent.conftest import Start, bash, recall

SEARCH = "cat scope_1.txt | xargs -d '\\n' rg -n -i 'the|of'"
QUERY = "who mended the orrery?"


def searched(start: Start, strategy: str = "rarg++", **settings: Any) -> CallState:
    """The state of a search that finds more than is shown."""
    session = start(recall(), bash(SEARCH), settings={"show": 1, **settings}, strategy=strategy)
    for _ in range(4):
        session.step()
    return session.state.calls[1]


def test_fused_says_what_decided(start: Start) -> None:
    call = searched(start)
    assert call.reranked
    assert call.rerank_query == f"{QUERY}\n\nRG focus: the of"
    assert not call.message
    assert {"similarity", "keywords", "words", "traversal"} == set(call.pool[0].parts or {})


@pytest.mark.parametrize(("strategy", "rerank"), [("rarg++", "off"), ("rarg", "fused")])
def test_nothing_is_reranked(start: Start, strategy: str, rerank: str) -> None:
    call = searched(start, strategy, rerank=rerank)
    assert not call.reranked
    assert not call.rerank_query
    assert [match.score for match in call.pool] == [None] * len(call.pool)


def test_generative_without_words_of_the_model_says_so(start: Start) -> None:
    call = searched(start, rerank="generative")
    assert call.reranked
    assert call.rerank_query.startswith(QUERY)
    assert "constructed" in call.message


def test_a_run_remembers_its_model_for_matches(start: Start) -> None:
    assert start(settings={"match_model": "dense"}).state.match_model == "dense"
    assert start().state.match_model == "static"


def test_a_missing_cross_encoder_is_said_before_a_run(small_corpus: Path) -> None:
    bench = Workbench(Settings(corpus=small_corpus, rerank="cross"))
    with pytest.raises(MissingPart, match="cross_encoder"):
        bench.check()
    bench.close()
