"""Data sets: a corpus with questions, and which documents are relevant to each.

The form that rarg keeps them in is a directory with ``documents/``, ``questions.jsonl`` (a JSON object
a line: id, question, answer, chain, excluded) and ``qrels.txt`` (TREC: question, iteration, document,
relevance).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rarg_tui.errors import RargError
from rarg_tui.evaluation import records, trec

DOCUMENTS = "documents"
QUESTIONS = "questions.jsonl"
QRELS = "qrels.txt"


@dataclass(frozen=True, slots=True)
class Question:
    """A question. ``gold`` maps documents to their relevance; ``evidence`` maps some of them to the line
    that tells; ``excluded`` are documents that count as not there, such as the question's own page."""

    id: str
    text: str
    answer: str = ""
    gold: Mapping[str, int] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()

    @property
    def relevant(self) -> frozenset[str]:
        """The documents to be found."""
        return frozenset(path for path, relevance in self.gold.items() if relevance > 0)


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
    relevance = trec.qrels(directory / QRELS) if (directory / QRELS).is_file() else {}
    questions = []
    for where, row in records.records(directory / QUESTIONS):
        try:
            questions.append(_question(row, relevance))
        except (KeyError, TypeError, AttributeError) as error:
            raise RargError(f"{where}: not a question ({error}); it needs id and question.") from None
    return questions


def _question(row: Mapping[str, Any], relevance: Mapping[str, Mapping[str, int]]) -> Question:
    chain = {str(link["document"]): str(link.get("evidence", "")) for link in row.get("chain", [])}
    return Question(
        id=str(row["id"]),
        text=str(row["question"]),
        answer=str(row.get("answer", "")),
        gold=relevance.get(str(row["id"])) or dict.fromkeys(chain, 1),
        evidence={document: line for document, line in chain.items() if line},
        excluded=frozenset(map(str, row.get("excluded", []))),
    )
