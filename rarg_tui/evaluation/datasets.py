"""Data sets: a corpus with questions, and which documents are relevant to each.

The form that rarg keeps them in is a directory with ``documents/``, ``questions.jsonl`` (a JSON object
a line: id, question, answer, chain) and ``qrels.txt`` (TREC: question, iteration, document, relevance).
"""

from __future__ import annotations

import csv
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rarg_tui.errors import RargError

DOCUMENTS = "documents"
QUESTIONS = "questions.jsonl"
QRELS = "qrels.txt"

#: A file name may have 255 bytes; this leaves room for a number and an ending.
_NAME_BYTES = 200


@dataclass(frozen=True, slots=True)
class Question:
    """A question. ``gold`` maps documents to their relevance; ``evidence`` maps some of them to the line
    that tells."""

    id: str
    text: str
    answer: str = ""
    gold: Mapping[str, int] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)


def is_dataset(directory: Path) -> bool:
    return (directory / QUESTIONS).is_file() and (directory / DOCUMENTS).is_dir()


def documents_of(directory: Path) -> Path:
    """Where the documents lie: a data set's own folder of them, else the directory itself."""
    return directory / DOCUMENTS if is_dataset(directory) else directory


def questions_of(directory: Path) -> list[Question]:
    """The questions of a data set, in its order. Raises ``RargError`` naming file and line."""
    if not is_dataset(directory):
        raise RargError(
            f"{directory} is no data set without {DOCUMENTS}/ and {QUESTIONS}; `rarg eval prepare` makes one."
        )
    relevance = _qrels(directory / QRELS) if (directory / QRELS).is_file() else {}
    questions = []
    for where, row in _records(directory / QUESTIONS):
        try:
            chain = {link["document"]: link.get("evidence", "") for link in row.get("chain", [])}
            questions.append(
                Question(
                    id=str(row["id"]),
                    text=str(row["question"]),
                    answer=str(row.get("answer", "")),
                    gold=relevance.get(str(row["id"])) or dict.fromkeys(chain, 1),
                    evidence={document: line for document, line in chain.items() if line},
                )
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise RargError(f"{where}: not a question ({error}); it needs id and question.") from None
    return questions


def prepare(source: Path, target: Path) -> int:
    """Write a BEIR folder (``corpus.jsonl``, ``queries.jsonl``, ``qrels.tsv`` or ``qrels/test.tsv``) out as
    a data set of files in ``target``, which must not exist; returns the number of documents."""
    qrels = next((f for f in (source / "qrels.tsv", source / "qrels" / "test.tsv") if f.is_file()), None)
    if qrels is None or not all((source / name).is_file() for name in ("corpus.jsonl", "queries.jsonl")):
        raise RargError(f"{source} is no BEIR folder: it needs corpus.jsonl, queries.jsonl and qrels.tsv.")
    try:
        (target / DOCUMENTS).mkdir(parents=True)
    except OSError as error:
        raise RargError(f"{target} cannot be made ({error.strerror}): name a new directory.") from None
    names: dict[str, str] = {}
    taken: set[str] = set()
    for _, row in _records(source / "corpus.jsonl"):
        identifier = str(row["_id"])
        name = names[identifier] = file_name(identifier, taken)
        text = "\n".join(part for part in (row.get("title", ""), row.get("text", "")) if part)
        (target / DOCUMENTS / name).write_text(text + "\n", encoding="utf-8")
    gold: dict[str, dict[str, int]] = {}
    with qrels.open(encoding="utf-8", newline="") as stream:
        for question, document, score in list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]:
            gold.setdefault(question, {})[names[document]] = int(score)
    with (target / QUESTIONS).open("w", encoding="utf-8") as out:
        for _, row in _records(source / "queries.jsonl"):
            out.write(json.dumps({"id": row["_id"], "question": row["text"]}, ensure_ascii=False) + "\n")
    with (target / QRELS).open("w", encoding="utf-8") as out:
        for question, documents in gold.items():
            out.writelines(f"{question}\t0\t{name}\t{score}\n" for name, score in documents.items())
    return len(names)


def file_name(identifier: str, taken: set[str]) -> str:
    """A safe, readable file name for a document id, unlike every other in ``taken``, which it joins.

    Two names count as alike when a file system that folds case or composes accents would mix them up.
    """
    readable = re.sub(r"[\x00-\x1f\x7f/\\:*?\"<>|]+", " ", unicodedata.normalize("NFC", identifier))
    readable = re.sub(r"\s+", " ", readable).strip(" .-") or "document"
    while len(os.fsencode(readable)) > _NAME_BYTES:
        readable = readable[:-1]
    number, name = 1, f"{readable}.txt"
    while name.casefold() in taken:
        number += 1
        name = f"{readable} ({number}).txt"
    taken.add(name.casefold())
    return name


def _records(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with file.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                where = f"{file}, line {number}"
                if line.strip():
                    try:
                        yield where, json.loads(line)
                    except ValueError as error:
                        raise RargError(f"{where}: not JSON ({error}).") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RargError(f"{file} cannot be read: {error}.") from None


def _qrels(file: Path) -> dict[str, dict[str, int]]:
    """TREC qrels; the columns are parted by tabs where there are any, so that paths may hold spaces."""
    found: dict[str, dict[str, int]] = {}
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RargError(f"{file} cannot be read: {error}.") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.split("\t") if "\t" in line else line.split()
        try:
            question, _, document, relevance = columns
            found.setdefault(question, {})[document] = int(relevance)
        except ValueError:
            raise RargError(
                f"{file}, line {number}: not a judgement; it needs question, iteration, document, relevance."
            ) from None
    return found
