"""The sample corpus is sound, and hard enough to show something."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from rarg_tui.config import Settings
from rarg_tui.corpus.decoding import read_text
from rarg_tui.evaluation.datasets import Question
from rarg_tui.paths import resource_dir
from rarg_tui.workbench import Workbench

ROOT = resource_dir("sample_corpus")


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    workbench = Workbench(Settings(corpus=ROOT))
    yield workbench
    workbench.close()


@pytest.fixture(scope="module")
def questions(bench: Workbench) -> list[Question]:
    return bench.questions()


def test_its_size(bench: Workbench, questions: list[Question]) -> None:
    listing = bench.corpus.listing()
    assert listing.problems == ()
    assert listing.binary == 0
    assert 240 <= len(listing.documents) <= 270
    assert len(questions) >= 30
    assert len({question.id for question in questions}) == len(questions)
    words = [len(read_text(bench.corpus, document.path).split()) for document in listing.documents]
    assert min(words) >= 60
    assert max(words) <= 1_700
    assert sum(count >= 1_100 for count in words) >= 5


def test_its_file_names_are_of_several_kinds(bench: Workbench) -> None:
    paths = bench.corpus.paths()
    assert {Path(path).suffix for path in paths} == {".txt", ".md", ".html"}
    assert sum(" " in path for path in paths) >= 20
    assert sum(not path.isascii() for path in paths) >= 8
    assert sum("'" in path or "’" in path for path in paths) >= 3
    assert any("[" in path for path in paths)
    assert all(unicodedata.normalize("NFC", path) == path for path in paths)


def test_every_question_has_a_chain_whose_documents_hold_its_evidence(
    bench: Workbench, questions: list[Question]
) -> None:
    paths = set(bench.corpus.paths())
    for question in questions:
        assert 2 <= len(question.gold) <= 4, question.id
        assert set(question.evidence) == set(question.gold) <= paths, question.id
        for document, evidence in question.evidence.items():
            lines = read_text(bench.corpus, document).splitlines()
            assert sum(evidence in line for line in lines) == 1, (question.id, document)


def test_every_answer_stands_in_a_gold_document(bench: Workbench, questions: list[Question]) -> None:
    for question in questions:
        assert question.answer, question.id
        texts = [read_text(bench.corpus, document) for document in question.gold]
        assert any(question.answer in text for text in texts), question.id


@pytest.mark.parametrize("ranker", ["lexical", "lexical+static"])
def test_no_ranker_alone_puts_all_gold_documents_in_front_of_more_than_half_of_the_questions(
    bench: Workbench, questions: list[Question], ranker: str
) -> None:
    solved = [
        set(question.gold) <= set(bench.index.recall(question.text, top=10, ranker=ranker).paths)
        for question in questions
    ]
    assert sum(solved) <= len(solved) / 2
