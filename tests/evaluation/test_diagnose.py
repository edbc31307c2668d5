from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rarg_tui.config import Settings
from rarg_tui.errors import RargError
from rarg_tui.evaluation import diagnose, report
from rarg_tui.evaluation.datasets import Question
from rarg_tui.evaluation.diagnose import Diagnosis, Row
from rarg_tui.evaluation.pools import Pools
from rarg_tui.search.grep import grep
from rarg_tui.search.shell import ShellLimits
from rarg_tui.trace.events import Match
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


def diagnosis(bench: Workbench, *questions: Question, shown: int = 30) -> Diagnosis:
    return Diagnosis(bench.corpus, bench.index, questions or [QUESTION], shown=shown)


def measured(bench: Workbench, question: Question = QUESTION, shown: int = 30) -> list[Row]:
    found = diagnosis(bench, question, shown=shown).outcomes(["lexical+static"])
    return diagnose.rows(found)


def test_the_pattern_is_the_rarest_content_words_that_exist(bench: Workbench) -> None:
    assert diagnosis(bench).pattern_words("Which shop did the zzz of Ilse open in May?") == [
        "shop",
        "ilse",
        "open",
    ]
    assert diagnosis(bench).pattern_words("?!") == []


def test_rows_say_what_each_order_shows(bench: Workbench) -> None:
    rows = measured(bench, shown=1)
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
    row = measured(bench, plain)[1]
    assert row.lines_first is None
    assert row.lines_shown is None


def test_the_lines_of_a_document_are_those_that_rg_counts(bench: Workbench, tmp_path: Path) -> None:
    text = "A form feed\x0c and a separator\u2028 end no line.\nMatthias Ohlendorf is the last pupil.\n"
    (tmp_path / "corpus" / "odd.txt").write_text(text)
    bench.prepare()
    asked = Question("q1", QUESTION.text, gold={"odd.txt": 1}, evidence={"odd.txt": "is the last pupil"})
    row = measured(bench, asked)[1]
    assert (row.first, row.lines_first) == (1.0, 1.0)


def test_what_is_not_there_is_never_found(bench: Workbench) -> None:
    gold = {"letters/b.txt": 1, "gone.txt": 1, "letters/a.txt": 0}
    asked = Question(
        "q1", QUESTION.text, gold=gold, evidence={"gone.txt": "x", "letters/b.txt": "no such line"}
    )
    (_, outcome) = diagnosis(bench, asked).outcomes(["lexical"])
    assert outcome.ranks == {"letters/b.txt": 1, "gone.txt": None}
    assert outcome.matched["gone.txt"] is None
    assert outcome.ranking["recall@1000"] == 0.5
    row = diagnose.rows([outcome])[0]
    assert (row.first, row.lines_first, row.median_rank) == (0.5, 0.0, None)


def test_an_excluded_document_counts_as_not_there(bench: Workbench) -> None:
    asked = Question("q1", QUESTION.text, gold={"notes/c d.txt": 1}, excluded=frozenset({"letters/b.txt"}))
    by_path, outcome = diagnosis(bench, asked).outcomes(["lexical"])
    assert outcome.ranks == {"notes/c d.txt": 1}
    assert by_path.ranks == {"notes/c d.txt": 2}


def test_a_question_without_words_of_the_corpus_has_no_matches(bench: Workbench) -> None:
    _, row = measured(bench, Question("q1", "zzz", gold=QUESTION.gold))[:2]
    assert (row.first, row.shown) == (0.0, 0.0)


def test_the_pool_is_the_first_matches_of_the_scope(bench: Workbench) -> None:
    pools = Pools(bench.corpus.root, ["ILSE", "matthias"])
    for paths in (["letters/b.txt", "letters/a.txt", "notes/c d.txt"], ["notes/c d.txt", "letters/b.txt"]):
        for most in (1, 2, 3, 500):
            whole = grep(
                bench.corpus.root,
                paths,
                ["-i", "-e", "ILSE|matthias"],
                scope_query=None,
                ranked=True,
                limits=ShellLimits(pool=most, shown=most),
                reorder=None,
            )
            assert [_plain(match) for match in pools.first(paths, most)] == [
                _plain(match) for match in whole.pool
            ]


def _plain(match: Match) -> Match:
    return replace(match, shown_at=None)


def test_a_search_that_fails_stops_the_measurement(bench: Workbench) -> None:
    with pytest.raises(RargError, match="failed"):
        Pools(bench.corpus.root, ["("]).first(bench.corpus.paths(), 10)


@pytest.mark.parametrize(("ranker", "reranker"), [("lexicle", "fused"), ("lexical", "fuzed")])
def test_an_unknown_name_is_refused_before_anything_is_measured(
    bench: Workbench, ranker: str, reranker: str
) -> None:
    done: list[int] = []
    with pytest.raises(RargError, match=r"There is no (ranker|reranker)"):
        diagnosis(bench).outcomes([ranker], diagnose.orders([reranker]), lambda at, _: done.append(at))
    assert done == []


def test_the_worst_questions_come_with_what_to_type(bench: Workbench) -> None:
    easy = Question("easy", QUESTION.text, gold=QUESTION.gold)
    hard = Question("hard", "What's price?", gold={"letters/a.txt": 1, "gone.txt": 1})
    outcomes = diagnosis(bench, easy, hard).outcomes(["lexical"])
    text = list(report.worst(outcomes, 1, bench.directory, None))
    assert text[1].startswith("hard  nDCG@10 0.000")
    assert text[2:4] == [
        "    not in the scope, no match in the pool: letters/a.txt",
        "    not in the scope, no match in the pool: gone.txt",
    ]
    where = f"-C {bench.directory}"
    assert text[4] == f"    rarg recall {where} --ranker lexical --top 30 --explain -- 'What'\"'\"'s price?'"
    assert text[5].endswith("-- -i -e price")
    assert len(list(report.worst(outcomes, 9, bench.directory, None))) == 12
