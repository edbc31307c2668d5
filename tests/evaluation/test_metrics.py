"""Our measures, against figures worked out by hand and against trec_eval's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rarg_tui.evaluation import trec
from rarg_tui.evaluation.metrics import NAMES, by_question, means

#: trec_eval's names for what it prints.
_THEIRS = {
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "recall@1000": "recall_1000",
    "ndcg@10": "ndcg_cut_10",
}


def of(gold: Mapping[str, int], *ranking: str) -> dict[str, float]:
    return by_question({"q": gold}, {"q": ranking})["q"]


def test_graded_relevance_is_the_gain() -> None:
    # (1/log2(2) + 3/log2(4)) / (3/log2(2) + 1/log2(3)) = 2.5 / 3.63093
    found = of({"a": 3, "b": 1, "c": 0}, "b", "c", "a")
    assert found["ndcg@10"] == pytest.approx(0.688529, abs=1e-6)
    assert found["recall@10"] == 1.0


def test_negative_relevance_is_no_relevance() -> None:
    assert of({"a": 1, "b": -2}, "b", "a") == of({"a": 1}, "x", "a")
    assert of({"a": -1}, "a") == dict.fromkeys(NAMES, 0.0)


def test_a_document_that_nobody_judged_is_not_relevant() -> None:
    assert of({"a": 1}, "x", "y", "a")["ndcg@10"] == pytest.approx(0.5)


def test_depth_counts() -> None:
    ranking = [f"x{at}" for at in range(10)]
    found = of({"a": 1, "b": 1}, *ranking, "a", *[f"y{at}" for at in range(90)], "b")
    assert (found["recall@10"], found["recall@100"], found["recall@1000"]) == (0.0, 0.5, 1.0)
    assert found["ndcg@10"] == 0.0


def test_every_judged_question_counts_and_no_other() -> None:
    gold = {
        "found": {"a": 1, "b": 1},
        "without a ranking": {"c": 1},
        "empty": {"d": 1},
        "nothing relevant": {"e": 0},
    }
    found = by_question(gold, {"found": ["a"], "empty": [], "nothing relevant": ["e"], "unjudged": ["z"]})
    assert list(found) == list(gold)
    assert [one["recall@10"] for one in found.values()] == [0.5, 0.0, 0.0, 0.0]
    assert means(list(found.values()))["recall@10"] == 0.125


def test_a_ranking_is_measured_in_its_order_whatever_the_names_are() -> None:
    # trec_eval would break a tie of scores by name, the later one first.
    assert of({"z": 1}, "a", "z") == of({"a": 1}, "z", "a")
    assert of({"caf\udce9": 1}, "caf\udce9")["ndcg@10"] == 1.0


def test_measures_are_those_of_trec_eval(real_data: Path) -> None:
    folder = real_data / "trec_eval"
    gold = trec.qrels(folder / "qrels.test")
    rankings = run(folder / "results.test")
    found = by_question(gold, rankings)
    theirs = printed(folder / "out.test.aq")
    for question, ours in (*found.items(), ("all", means(list(found.values())))):
        for name, measure in _THEIRS.items():
            assert f"{ours[name]:.4f}" == theirs[measure, question]
    # With -c, of a shorter run that has nothing for 302.
    shorter = by_question(gold, {"301": rankings["301"]})
    theirs = printed(folder / "out.test.aqc")
    for question in ("301", "302"):
        for name, measure in _THEIRS.items():
            assert f"{shorter[question][name]:.4f}" == theirs[measure, question]


def printed(file: Path) -> dict[tuple[str, str], str]:
    rows = (line.split() for line in file.read_text().splitlines())
    return {(measure, question): value for measure, question, value in rows}


def run(file: Path) -> dict[str, list[str]]:
    scored: dict[str, list[tuple[float, str]]] = {}
    for line in file.read_text().splitlines():
        question, _, document, _, score, _ = line.split()
        scored.setdefault(question, []).append((float(score), document))
    # trec_eval breaks ties by document, descending.
    return {
        question: [document for _, document in sorted(rows, reverse=True)]
        for question, rows in scored.items()
    }
