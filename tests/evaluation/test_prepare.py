from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.evaluation import datasets, placed
from rarg_tui.evaluation.prepare import prepare, ready
from rarg_tui.evaluation.records import records
from tests.evaluation import forms

ROWS = [{"_id": "d1", "title": "One", "text": "first"}, {"_id": "d2", "text": "second"}]


def test_a_beir_folder_becomes_files_with_questions(tmp_path: Path) -> None:
    made = prepare(forms.beir(tmp_path / "beir"), tmp_path / "set")
    assert made.documents == len(forms.AWKWARD)
    paths = Corpus(datasets.documents_of(tmp_path / "set")).paths()
    assert len(paths) == len(forms.AWKWARD)
    texts = sorted((tmp_path / "set" / "documents" / path).read_text() for path in paths)
    assert texts == sorted(f"A title\n{text}\n" for text in forms.AWKWARD.values())
    (question,) = datasets.questions_of(tmp_path / "set")
    assert question.text == "Which comes first?"
    assert question.gold == {"A B c.txt": 2, "document.txt": 1}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["beir", "set"]


def test_every_awkward_id_leads_to_its_document(tmp_path: Path) -> None:
    rows = [{"_id": name, "text": f"text {n}"} for n, name in enumerate(forms.AWKWARD)]
    asked = [{"_id": f"q{n}", "text": "?", "gold_ids": [name]} for n, name in enumerate(forms.AWKWARD)]
    place = tmp_path / "bright"
    place.mkdir()
    (place / "documents.jsonl").write_text(forms.lines(rows))
    (place / "examples.jsonl").write_text(forms.lines(asked))
    made = ready(place, tmp_path / "cache")
    for n, question in enumerate(datasets.questions_of(made.directory)):
        (path,) = question.gold
        assert (made.directory / "documents" / path).read_text() == f"text {n}\n"


def test_a_compressed_corpus_and_splits(tmp_path: Path) -> None:
    place = forms.packed(tmp_path / "beir")
    (question,) = datasets.questions_of(ready(place, tmp_path / "cache").directory)
    assert question.gold == {"A B c.txt": 2, "document.txt": 1}
    (question,) = datasets.questions_of(ready(place, tmp_path / "cache", "dev").directory)
    assert question.gold == {"a b C (2).txt": 1}
    with pytest.raises(RargError, match="no judgements called 'train'; there are: dev, test"):
        ready(place, tmp_path / "cache", "train")
    (place / "qrels" / "test.tsv").rename(place / "qrels" / "train.tsv")
    with pytest.raises(RargError, match="choose one with --split: dev, train"):
        ready(place, tmp_path / "cache")


@pytest.mark.parametrize("folder", [True, False])
def test_trec_files_beside_an_archive_or_a_folder(tmp_path: Path, folder: bool) -> None:
    made = ready(forms.trec(tmp_path / "trec", folder), tmp_path / "cache")
    (question,) = datasets.questions_of(made.directory)
    assert question.id == "1"
    assert question.text == "What is known of rounding & numbers?"
    assert question.gold == {"news/A-1.html": 1, "missing/A-9.txt": 1, "old/A-3.txt": 0}
    assert made.notes == (
        "Judged but not in the corpus, and so never found: 1 documents, such as 'A-9'.",
        "Judged but not among the questions, and so left out: 1.",
    )
    corpus = Corpus(datasets.documents_of(made.directory))
    assert corpus.paths() == sorted(forms.PAGES)
    if folder:
        assert corpus.root == tmp_path / "trec" / "pages"


def test_a_prepared_folder_is_a_copy(tmp_path: Path) -> None:
    assert prepare(forms.trec(tmp_path / "trec", folder=True), tmp_path / "set").documents == 3
    corpus = Corpus(datasets.documents_of(tmp_path / "set"))
    assert corpus.root == tmp_path / "set" / "documents"
    assert corpus.paths() == sorted(forms.PAGES)


def test_excluded_and_gold_documents_named_by_the_questions(tmp_path: Path) -> None:
    row = {"id": 7, "query": "?", "gold_ids": ["d1"], "excluded_ids": ["d2", "d9"], "gold_answer": "yes"}
    other = {"id": 8, "query": "?", "gold_ids": ["d1"], "excluded_ids": ["N/A"]}
    place = tmp_path / "bright"
    place.mkdir()
    (place / "documents.jsonl").write_text(
        forms.lines([{"id": "d1", "content": "a\0b"}, {"id": "d2", "content": ""}])
    )
    (place / "examples.jsonl").write_text(forms.lines([row, other]))
    made = ready(place, tmp_path / "cache")
    first, second = datasets.questions_of(made.directory)
    assert (first.id, first.gold, first.excluded, first.answer) == ("7", {"d1.txt": 1}, {"d2.txt"}, "yes")
    assert second.excluded == frozenset()
    assert Corpus(made.directory / "documents").paths() == ["d1.txt", "d2.txt"]
    assert (made.directory / "documents" / "d1.txt").read_text() == "a b\n"


def test_what_has_rargs_own_form_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "questions.jsonl").write_text("")
    assert ready(tmp_path, tmp_path / "cache").directory == tmp_path
    assert not (tmp_path / "cache").exists()


def test_a_source_is_written_once_and_anew_when_it_changes(tmp_path: Path) -> None:
    place = forms.beir(tmp_path / "beir")
    made = ready(place, tmp_path / "cache")
    assert made.directory.name == "beir"
    inode = made.directory.stat().st_ino
    assert ready(place, tmp_path / "cache") == made
    assert made.directory.stat().st_ino == inode
    with (place / "corpus.jsonl").open("a") as out:
        out.write('{"_id": "new", "text": "more"}\n')
    again = ready(place, tmp_path / "cache")
    assert again.directory == made.directory
    assert again.documents == made.documents + 1
    assert (made.directory / "documents" / "new.txt").read_text() == "more\n"


def test_a_folder_is_looked_at_again_when_its_documents_change(tmp_path: Path) -> None:
    place = forms.trec(tmp_path / "trec", folder=True)
    ready(place, tmp_path / "cache")
    (place / "pages" / "A-9").write_text("now it is there")
    (question,) = datasets.questions_of(ready(place, tmp_path / "cache").directory)
    assert "A-9" in question.gold


def test_a_write_that_breaks_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = forms.beir(tmp_path / "beir")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(placed.Written, "path", stop)
        for write in (lambda: ready(place, tmp_path / "cache"), lambda: prepare(place, tmp_path / "set")):
            with pytest.raises(KeyboardInterrupt):
                write()
    assert [entry.name for entry in (tmp_path / "cache").rglob("*") if entry.is_file()] == ["lock"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["beir", "cache"]


def test_what_a_killed_write_left_is_cleared(tmp_path: Path) -> None:
    place = forms.beir(tmp_path / "beir")
    made = ready(place, tmp_path / "cache")
    os.rename(made.directory, made.directory.with_name(".new"))
    (made.directory.with_name(".new") / "documents" / "half.txt").write_text("half")
    assert ready(place, tmp_path / "cache") == made
    assert not (made.directory / "documents" / "half.txt").exists()
    assert sorted(entry.name for entry in made.directory.parent.iterdir()) == ["beir", "lock"]


def test_preparing_twice_is_refused(tmp_path: Path) -> None:
    source = forms.beir(tmp_path / "beir")
    prepare(source, tmp_path / "set")
    with pytest.raises(RargError, match="new directory"):
        prepare(source, tmp_path / "set")


def test_a_corpus_of_any_size_is_read_as_a_stream(tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(forms.lines([{"_id": str(n)} for n in range(2_000)]))
    told: list[tuple[int, int]] = []
    for number, (where, _) in enumerate(
        records(file, lambda done, total: told.append((done, total))), start=1
    ):
        assert where == f"{file}, line {number}"
    assert told[-1] == (file.stat().st_size, file.stat().st_size)
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("corpus.jsonl", forms.lines(ROWS[:1]) + '{"_id": "d2", "te\n{"_id": "d3"}\n', "line 2: not JSON"),
        ("corpus.jsonl", "\n[1]\n", "line 2: not a JSON object"),
        ("corpus.jsonl", '{"text": "x"}\n', "line 1: there is no '_id'"),
        ("corpus.jsonl", '{"_id": "d1", "text": 7}\n', "line 1: 'text' must be text"),
        ("corpus.jsonl", '{"_id": "d1", "title": ["a"]}\n', "line 1: 'title' must be text"),
        (
            "corpus.jsonl",
            forms.lines([*ROWS, {"_id": "d1", "text": "other"}]),
            "line 3: the id 'd1' stands for another",
        ),
        ("queries.jsonl", '{"_id": "q1"}\n', "line 1: there is no 'text'"),
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "a"}\n{"_id": "q1", "text": "b"}\n',
            "line 2: the id 'q1' stands for",
        ),
        ("queries.jsonl", '{"_id": "q1", "text": " "}\n', "the question 'q1' has no text"),
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "a", "excluded_ids": "x"}\n',
            "line 1: 'excluded_ids' must be a list",
        ),
        ("qrels.tsv", "qid\td\ts\nq1\td1\t1\nq1\td1\n", "line 3: not a judgement"),
        ("corpus.jsonl.gz", "no gzip", "has more than one corpus"),
        ("topics.txt", "", ""),
    ],
)
def test_a_fault_is_named_by_file_and_line(tmp_path: Path, file: str, text: str, sentence: str) -> None:
    place = forms.beir(tmp_path / "beir", {row["_id"]: row["text"] for row in ROWS}, "q1\td1\t1\n")
    (place / file).write_text(text)
    if not sentence:
        ready(place, tmp_path / "cache")  # queries.jsonl comes first
        return
    with pytest.raises(RargError, match=sentence) as caught:
        ready(place, tmp_path / "cache")
    assert str(caught.value).count("\n") == 0
    assert not list((tmp_path / "cache").rglob("documents"))


def test_a_torn_archive_of_records_is_named(tmp_path: Path) -> None:
    place = forms.packed(tmp_path / "beir")
    whole = (place / "corpus.jsonl.gz").read_bytes()
    (place / "corpus.jsonl.gz").write_bytes(whole[:-20])
    with pytest.raises(RargError, match=r"corpus.jsonl.gz cannot be read after line \d+"):
        ready(place, tmp_path / "cache")
    (place / "corpus.jsonl.gz").write_text("no gzip")
    with pytest.raises(RargError, match=r"corpus.jsonl.gz cannot be read after line 0: Not a gzipped file"):
        ready(place, tmp_path / "cache")


def test_equal_records_are_one_document_and_one_question(tmp_path: Path) -> None:
    place = forms.beir(tmp_path / "beir", {"d1": "x"}, "q1\td1\t1\n", [{"_id": "q1", "text": "?"}] * 2)
    (place / "corpus.jsonl").write_text((place / "corpus.jsonl").read_text() * 2)
    made = ready(place, tmp_path / "cache")
    assert made.documents == 1
    assert len(datasets.questions_of(made.directory)) == 1


def test_unjudged_questions_and_missing_documents_are_told(tmp_path: Path) -> None:
    queries = [{"_id": "q1", "text": "?"}, {"_id": "q2", "text": "!"}, {"_id": "q3", "text": ""}]
    place = forms.beir(tmp_path / "beir", {"d1": "x"}, "q1\tnone\t1\n", queries)
    made = ready(place, tmp_path / "cache")
    assert made.notes == (
        "Judged but not in the corpus, and so never found: 1 documents, such as 'none'.",
        "Not judged, and so left out: 2 of 3 questions.",
    )
    assert ready(place, tmp_path / "cache").notes == made.notes
    assert datasets.questions_of(made.directory)[0].gold == {"missing/none.txt": 1}


def test_an_id_that_fits_two_files_is_refused(tmp_path: Path) -> None:
    place = forms.trec(tmp_path / "trec", folder=True)
    (place / "pages" / "old" / "A-1.txt").write_text("another")
    with pytest.raises(RargError, match="'A-1' fits several documents"):
        ready(place, tmp_path / "cache")


@pytest.mark.parametrize(
    ("keep", "sentence"),
    [
        (set(), "without a file of questions"),
        ({"topics.txt", "qrels.txt"}, "without documents"),
        ({"topics.txt", "pages.tar.gz"}, r"without a file of judgements \(qrels\)"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, keep: set[str], sentence: str) -> None:
    place = forms.trec(tmp_path / "trec")
    for file in place.iterdir():
        if file.name not in keep:
            file.unlink()
    with pytest.raises(RargError, match=sentence):
        ready(place, tmp_path / "cache")


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RargError, match=r"none cannot be opened \(No such file"):
        ready(tmp_path / "none", tmp_path / "cache")


def test_the_cache_says_what_a_data_set_was_made_from(tmp_path: Path) -> None:
    made = ready(forms.beir(tmp_path / "beir"), tmp_path / "cache")
    assert json.loads((made.directory / "source.json").read_text())["source"] == str(tmp_path / "beir")
