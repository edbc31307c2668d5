"""What a data set that others made consists of: documents, questions, judgements, each in its own form."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.evaluation import trec, unpack
from rarg_tui.evaluation.records import field, listed, records

_RECORDS = (".jsonl", ".jsonl.gz")
_FOLDERS = ("documents", "docs", "corpus", "collection")

_CORPORA = ("corpus", "documents")
_QUESTIONS = ("queries", "topics", "questions", "examples")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as its file has it; ``gold`` and ``excluded`` are document ids, which only records name."""

    id: str
    text: str
    answer: str = ""
    gold: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """``documents`` is a file of records, an archive or a folder. Without ``qrels`` the questions name
    their gold documents."""

    documents: Path
    questions: Path
    qrels: Path | None

    @property
    def is_folder(self) -> bool:
        return self.documents.is_dir()

    @property
    def is_records(self) -> bool:
        return self.documents.name.endswith(_RECORDS)

    def identity(self) -> list[list[object]]:
        """What must be the same for a copy to be the same: the files and their sizes and times; of a folder,
        whose documents stay where they are, the paths."""
        if self.is_folder:
            told: list[list[object]] = [[escaped(self.documents), *map(escaped, self.paths())]]
        else:
            told = [_stamp(self.documents)]
        return told + [_stamp(file) for file in (self.questions, self.qrels) if file is not None]

    def paths(self) -> list[str]:
        """The documents of a folder, relative to it."""
        return Corpus(self.documents).paths()

    def asked(self) -> Iterator[tuple[str, Asked]]:
        """Where each question stands, and the question. Raises ``RargError`` naming file and line."""
        if not self.questions.name.endswith(_RECORDS):
            for number, (name, text) in enumerate(trec.topics(self.questions), start=1):
                yield f"{self.questions}, topic {number}", Asked(name, text)
            return
        for where, row in records(self.questions):
            yield (
                where,
                Asked(
                    id=field(where, row, "_id", "id", "query_id", "qid"),
                    text=field(where, row, "text", "query", "question"),
                    answer=str(row.get("answer") or row.get("gold_answer") or ""),
                    gold=tuple(listed(where, row, "gold_ids")),
                    # BRIGHT writes "N/A" for none.
                    excluded=tuple(one for one in listed(where, row, "excluded_ids") if one != "N/A"),
                ),
            )

    def judged(self, asked: Sequence[Asked]) -> Mapping[str, Mapping[str, int]]:
        """Question → document id → relevance."""
        if self.qrels is not None:
            return trec.qrels(self.qrels)
        return {question.id: dict.fromkeys(question.gold, 1) for question in asked if question.gold}


def find(place: Path, split: str | None = None) -> Source:
    """The data set in the directory ``place``; ``split`` names one of several files of judgements. Raises
    ``RargError`` saying what is missing, or found more than once."""
    try:
        entries = sorted(entry for entry in place.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise RargError(f"The data set {place} cannot be opened ({error.strerror}).") from None
    questions = _only(place, "file of questions", _named(entries, _QUESTIONS))
    return Source(_documents(place, entries), questions, _judgements(place, entries, questions, split))


def _documents(place: Path, entries: Sequence[Path]) -> Path:
    folders = [entry for entry in entries if entry.is_dir() and entry.name != "qrels"]
    archives = [entry for entry in entries if entry.name.endswith(unpack.ENDINGS)]
    for found in (
        [entry for entry in _named(entries, _CORPORA) if entry.name.endswith(_RECORDS)],
        [entry for entry in folders if entry.name in _FOLDERS],
        archives,
        folders,
    ):
        if found:
            return _only(place, "corpus", found)
    raise RargError(
        f"{place} is no data set without documents: corpus.jsonl, an archive of files, or a folder of them."
    )


def _judgements(place: Path, entries: Sequence[Path], questions: Path, split: str | None) -> Path | None:
    folder = place / "qrels"
    splits = sorted(entry for entry in folder.iterdir() if entry.is_file()) if folder.is_dir() else []
    if split is not None:
        wanted = [entry for entry in splits if entry.stem == split]
        if not wanted:
            there = ", ".join(entry.stem for entry in splits) or "none"
            raise RargError(f"{place} has no judgements called {split!r}; there are: {there}.")
        return wanted[0]
    usual = [entry for entry in splits if entry.stem == "test"] or splits
    if len(usual) > 1:
        there = ", ".join(entry.stem for entry in usual)
        raise RargError(f"{place} has judgements of several splits; choose one with --split: {there}.")
    found = usual or [entry for entry in entries if entry.is_file() and "qrel" in entry.name.lower()]
    if not found and questions.name.endswith(_RECORDS):
        return None
    return _only(place, "file of judgements (qrels)", found)


def _named(entries: Sequence[Path], names: Sequence[str]) -> list[Path]:
    """The files that begin with the first of ``names`` that one begins with."""
    for name in names:
        found = [
            entry
            for entry in entries
            if entry.is_file() and entry.name.lower().startswith(name) and "qrel" not in entry.name.lower()
        ]
        if found:
            return found
    return []


def _only(place: Path, what: str, found: Sequence[Path]) -> Path:
    if not found:
        raise RargError(
            f"{place} is no data set without a {what}; usual are corpus.jsonl, queries.jsonl and qrels.tsv, "
            "or documents, topics.txt and qrels.txt."
        )
    if len(found) > 1:
        there = ", ".join(entry.name for entry in found)
        raise RargError(f"{place} has more than one {what} ({there}); leave one.")
    return found[0]


def _stamp(file: Path) -> list[object]:
    try:
        found = file.stat()
    except OSError as error:
        raise RargError(f"{file} cannot be read: {error.strerror}.") from None
    return [escaped(file), found.st_size, found.st_mtime_ns]


def escaped(path: str | Path) -> str:
    """A path as text that any file can hold."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
