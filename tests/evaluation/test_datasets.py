from __future__ import annotations

import json
from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.evaluation import datasets


def dataset(directory: Path, questions: str, qrels: str | None = None) -> Path:
    (directory / "documents").mkdir()
    (directory / "questions.jsonl").write_text(questions)
    if qrels is not None:
        (directory / "qrels.txt").write_text(qrels)
    return directory


def test_a_chain_is_gold_where_there_are_no_qrels(tmp_path: Path) -> None:
    chain = [{"document": "a b.txt", "evidence": "the line"}, {"document": "c.txt"}]
    row = json.dumps({"id": "q1", "question": "Who?", "answer": "Ilse", "chain": chain})
    (question,) = datasets.questions_of(dataset(tmp_path, row + "\n\n"))
    assert question.gold == {"a b.txt": 1, "c.txt": 1}
    assert question.evidence == {"a b.txt": "the line"}
    assert question.answer == "Ilse"


@pytest.mark.parametrize(
    ("line", "relevant"),
    [
        ("q1\t0\ta b.txt\t1\n", {"a b.txt"}),
        ("q1 Q0 a.txt 0\n# a comment\n\n", set()),
        ("q1 0.5 a/b.txt -1", set()),
    ],
)
def test_judgements_say_what_is_relevant(tmp_path: Path, line: str, relevant: set[str]) -> None:
    (question,) = datasets.questions_of(dataset(tmp_path, '{"id": "q1", "question": "?"}', line))
    assert len(question.gold) == 1
    assert question.relevant == relevant


def test_some_documents_count_as_not_there(tmp_path: Path) -> None:
    row = json.dumps({"id": "q1", "question": "?", "excluded": ["a.txt"]})
    (question,) = datasets.questions_of(dataset(tmp_path, row, "q1 0 b.txt 1"))
    assert question.excluded == {"a.txt"}


@pytest.mark.parametrize(
    ("questions", "qrels", "where"),
    [
        ("{oops\n", None, "questions.jsonl, line 1: not JSON"),
        ('\n{"id": "q1"}\n', None, "questions.jsonl, line 2: not a question"),
        ('{"id": "q1", "question": "?"}', "q1 0 a b.txt 1\n", "qrels.txt, line 1: not a judgement"),
        ('{"id": "q1", "question": "?"}', "q1\t0\ta.txt\thigh\n", "qrels.txt, line 1: not a judgement"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, questions: str, qrels: str | None, where: str) -> None:
    with pytest.raises(RargError, match=where):
        datasets.questions_of(dataset(tmp_path, questions, qrels))


def test_a_plain_directory_is_no_data_set(tmp_path: Path) -> None:
    assert datasets.documents_of(tmp_path) == tmp_path
    with pytest.raises(RargError, match="no data set"):
        datasets.questions_of(tmp_path)
