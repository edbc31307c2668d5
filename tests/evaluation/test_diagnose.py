from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rarg_tui.config import Settings
from rarg_tui.evaluation.datasets import Question
from rarg_tui.evaluation.diagnose import Diagnosis, Row
from rarg_tui.evaluation.metrics import measured
from rarg_tui.workbench import Workbench
from tests import small

QUESTION = Question(
    "q1",
    "Which shop did the last pupil of Ilse Brandt open?",
    gold={"letters/b.txt": 1, "notes/c d.txt": 1},
    evidence={"letters/b.txt": "the last was Matthias Ohlendorf", "notes/c d.txt": "opened his shop"},
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    workbench = Workbench(Settings(corpus=small.write(tmp_path / "corpus")))
    workbench.prepare()
    yield workbench
    workbench.close()


def diagnosis(bench: Workbench, shown: int = 30) -> Diagnosis:
    return Diagnosis(bench.corpus, bench.index, [QUESTION], shown=shown)


def test_the_pattern_is_the_rarest_content_words_that_exist(bench: Workbench) -> None:
    assert diagnosis(bench).pattern_words("Which shop did the zzz of Ilse open in May?") == [
        "shop",
        "ilse",
        "open",
    ]
    assert diagnosis(bench).pattern_words("?!") == []


def test_rows_say_what_each_order_shows(bench: Workbench) -> None:
    rows = diagnosis(bench, shown=1).rows(["lexical+static"])
    assert [(row.ranker, row.order, row.quota) for row in rows] == [
        ("path", "path", 0),
        ("lexical+static", "scope", 0),
        ("lexical+static", "paper", 0),
        ("lexical+static", "fused", 0),
        ("lexical+static", "fused", 1),
        ("lexical+static", "fused", 3),
    ]
    path, scope = rows[0], rows[1]
    assert path.shown == 0.0  # letters/a.txt comes first in path order and is not gold
    assert scope.shown == 0.5
    assert scope.lines_shown == 0.5
    assert scope.first == scope.lines_first == 1.0
    assert scope.ranking["recall@10"] == 1.0
    assert scope.entry_points == 1.0


def test_without_marked_lines_nothing_is_said_of_lines(bench: Workbench) -> None:
    plain = Question("q1", QUESTION.text, gold=QUESTION.gold)
    row: Row = Diagnosis(bench.corpus, bench.index, [plain]).rows(["lexical"])[1]
    assert row.lines_first is None
    assert row.lines_shown is None


def test_measures_count_every_judged_question() -> None:
    gold = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    found = measured(gold, {"q1": ["a", "x"]})
    assert found["recall@10"] == pytest.approx(0.25)


def test_measures_are_those_of_trec_eval(real_data: Path) -> None:
    gold: dict[str, dict[str, int]] = {}
    for line in (real_data / "trec_eval" / "qrels.test").read_text().splitlines():
        question, _, document, relevance = line.split()
        gold.setdefault(question, {})[document] = int(relevance)
    scored: dict[str, list[tuple[float, str]]] = {}
    for line in (real_data / "trec_eval" / "results.test").read_text().splitlines():
        question, _, document, _, score, _ = line.split()
        scored.setdefault(question, []).append((float(score), document))
    # trec_eval breaks ties by document, descending.
    rankings = {
        question: [document for _, document in sorted(rows, reverse=True)]
        for question, rows in scored.items()
    }
    judged = {question: gold[question] for question in rankings if question in gold}
    found = measured(judged, rankings)
    assert found["ndcg@10"] == pytest.approx(0.3016, abs=5e-5)
    assert found["recall@100"] == pytest.approx(0.4980, abs=5e-5)
