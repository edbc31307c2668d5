"""How long a pool takes to be put in order: lines of the sample corpus's text, of up to 1,000 characters."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Self

from rarg_tui import paths
from rarg_tui.corpus.decoding import read_text
from rarg_tui.corpus.files import Corpus
from rarg_tui.evaluation.datasets import documents_of
from rarg_tui.relevance.index import Index
from rarg_tui.trace.events import Match

LINES = 500
LONGEST = 1_000

#: What is asked, and what a pattern would look for.
QUERY = "Who restored the Halden orrery, and what became of the donor's ship?"
KEYWORDS = ("restored", "Halden", "orrery", "donor", "ship")

#: Each document of the pool has so many of its lines.
_EACH = 2


class Pool:
    """:data:`LINES` matches in documents that are written to ``directory``; a context manager."""

    def __init__(self, directory: Path, lines: int = LINES) -> None:
        corpus = Corpus(documents_of(paths.resource_dir("sample_corpus")))
        words = (word for path in corpus.paths() for word in read_text(corpus, path).split())
        made: list[str] = []
        while len(made) < lines:
            # Every length from a tenth of the longest line up, equally often.
            length = LONGEST * (1 + len(made) % 10) // 10
            made.append(" ".join(islice(words, length // 5))[:length])
        root = directory / "documents"
        root.mkdir()
        self._turn = 0
        self._matches: list[Match] = []
        for first in range(0, lines, _EACH):
            path, own = f"{first}.txt", made[first : first + _EACH]
            (root / path).write_text("\n".join([f"Document {first}", *own]) + "\n", encoding="utf-8")
            self._matches += [
                Match(path, at + 2, text, position=first + at + 1) for at, text in enumerate(own)
            ]
        self._index = Index.open(Corpus(root), directory / "cache")
        self._index.build(["lexical"])

    def seconds(self, kind: str, model: str = "static") -> float:
        """How long the reranker ``kind`` with ``model`` takes for the pool, whose lines are new each time:
        vectors of earlier ones are remembered."""
        self._turn += 1
        matches = [replace(match, text=f"{match.text} {self._turn}") for match in self._matches]
        reranker = self._index.reranker(kind, model=model)
        began = perf_counter()
        reranker.rerank(QUERY, KEYWORDS, matches)
        return perf_counter() - began

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._index.close()
