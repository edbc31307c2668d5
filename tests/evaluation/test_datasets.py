from __future__ import annotations

import json
from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.evaluation import datasets


def beir(directory: Path) -> Path:
    directory.mkdir()
    rows = [
        {"_id": "A/B: c", "title": "A", "text": "first"},
        {"_id": "a\\b* C", "title": "", "text": "second"},
        {"_id": "日本 " * 60, "title": "T", "text": ""},
        {"_id": "..", "title": "dots", "text": "x"},
    ]
    (directory / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (directory / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "Which?"}) + "\n")
    (directory / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tA/B: c\t2\nq1\t..\t1\n")
    return directory


def test_a_beir_folder_becomes_files_with_questions(tmp_path: Path) -> None:
    assert datasets.prepare(beir(tmp_path / "beir"), tmp_path / "set") == 4
    files = sorted(file.name for file in (tmp_path / "set" / "documents").iterdir())
    assert len(files) == 4
    assert "A B c.txt" in files
    assert "a b C (2).txt" in files
    assert all(len(name.encode()) < 255 and not name.startswith((".", "-")) for name in files)
    (question,) = datasets.questions_of(tmp_path / "set")
    assert question.text == "Which?"
    assert question.gold == {"A B c.txt": 2, "document.txt": 1}


def test_preparing_twice_is_refused(tmp_path: Path) -> None:
    source = beir(tmp_path / "beir")
    datasets.prepare(source, tmp_path / "set")
    with pytest.raises(RargError, match="new directory"):
        datasets.prepare(source, tmp_path / "set")


def test_what_is_no_beir_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RargError, match="BEIR"):
        datasets.prepare(tmp_path, tmp_path / "set")


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
    "line", ["q1\t0\ta b.txt\t1\n", "q1 Q0 a.txt 0\n# a comment\n\n", "q1 0.5 a/b.txt -1"]
)
def test_qrels_with_tabs_or_blanks(tmp_path: Path, line: str) -> None:
    (question,) = datasets.questions_of(dataset(tmp_path, '{"id": "q1", "question": "?"}', line))
    assert len(question.gold) == 1


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
