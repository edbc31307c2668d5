from __future__ import annotations

from rarg_tui.evaluation.batch import outcome, summary
from rarg_tui.evaluation.datasets import Question
from rarg_tui.trace.reducer import replay
from tests.trace import scripted

QUESTION = Question("q1", "?", gold={scripted.GOLD: 1, "x.txt": 2, "not.txt": 0})


def test_recall_counts_only_the_first_citations_and_only_relevant_documents() -> None:
    state = replay(scripted.events())
    found = outcome(QUESTION, state, ["x.txt", scripted.GOLD, "not.txt"])
    assert (found.cited, found.plain, found.calls, found.ended) == (0.5, 1.0, 2, "answered")
    assert outcome(QUESTION, state, ["x.txt", scripted.GOLD], most=1).plain == 0.5


def test_a_summary_is_the_mean() -> None:
    state = replay(scripted.events())
    half = outcome(QUESTION, state, [])
    whole = outcome(Question("q2", "?", gold={scripted.GOLD: 1}), state, ["y.txt"])
    total = summary([half, whole])
    assert (total.questions, total.cited, total.plain, total.all_cited) == (2, 0.75, 0.0, 0.5)
