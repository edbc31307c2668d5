"""What relevance does for a data set, without a model: where the gold documents and lines stand, and
how many of them would be seen, by path order, by scope order and after reranking."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from rarg_tui.agent.planner_terms import STOP_WORDS
from rarg_tui.corpus.decoding import read_text
from rarg_tui.corpus.files import Corpus
from rarg_tui.evaluation.datasets import Question
from rarg_tui.evaluation.metrics import measured
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.rerank_query import constructed
from rarg_tui.search.grep import grep
from rarg_tui.search.shell import ShellLimits
from rarg_tui.trace.events import Match

#: A pattern is the rarest words of the question, at most so many.
_WORDS = 6
_FIRST = 10

#: The orders compared within one scope: name, reranker and quota.
_ORDERS = (
    ("scope", "", 0),
    ("paper", "paper", 0),
    ("fused", "fused", 0),
    ("fused", "fused", 1),
    ("fused", "fused", 3),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the questions, from 0 to 1, of one order of matches in the scopes of one ranker.

    ``lines_first`` and ``lines_shown`` are ``None`` where the data set marks no lines. ``median_rank`` is
    that of the gold documents in the scope.
    """

    ranker: str
    order: str
    quota: int
    ranking: Mapping[str, float]
    entry_points: float
    first: float
    shown: float
    lines_first: float | None
    lines_shown: float | None
    median_rank: float | None


@dataclass(slots=True)
class _Seen:
    """What one order showed, question by question."""

    first: list[float]
    shown: list[float]
    lines_first: list[float]
    lines_shown: list[float]

    @classmethod
    def nothing(cls) -> _Seen:
        return cls([], [], [], [])


class Diagnosis:
    """Measures ``questions`` on one corpus; ``pool`` is M and ``shown`` m of the paper."""

    def __init__(
        self, corpus: Corpus, index: Index, questions: Sequence[Question], pool: int = 500, shown: int = 30
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._questions = questions
        self._shown = shown
        # Every match of the pool is wanted here; the cut to what is shown is made below.
        self._limits = ShellLimits(pool=pool, shown=pool, output_bytes=1 << 30, output_lines=1 << 30)
        self._lines = {question.id: self._gold_lines(question) for question in questions}

    def rows(self, rankers: Sequence[str], done: Callable[[int, int], None] = lambda *_: None) -> list[Row]:
        """Path order first, then each ranker; ``done`` is told how many of how many questions are."""
        total = len(self._questions) * (len(rankers) + 1)
        everything = self._corpus.paths()
        rows = self._measure("path", lambda _: everything, (("path", "", 0),), done, 0, total)
        for at, ranker in enumerate(rankers, start=1):
            before = at * len(self._questions)
            rows += self._measure(ranker, partial(self._scope, ranker), _ORDERS, done, before, total)
        return rows

    def _scope(self, ranker: str, text: str) -> Sequence[str]:
        return self._index.recall(text, ranker=ranker).paths

    def _measure(
        self,
        ranker: str,
        scope: Callable[[str], Sequence[str]],
        orders: Sequence[tuple[str, str, int]],
        done: Callable[[int, int], None],
        before: int,
        total: int,
    ) -> list[Row]:
        rankings: dict[str, Sequence[str]] = {}
        entries: list[float] = []
        ranks: list[int] = []
        seen = {order: _Seen.nothing() for order in orders}
        for at, question in enumerate(self._questions, start=1):
            paths = scope(question.text)
            gold = {path for path, relevance in question.gold.items() if relevance > 0}
            rankings[question.id] = paths[:1_000]
            ranks += [rank for rank, path in enumerate(paths, start=1) if path in gold]
            if ranker != "path":
                points = self._index.entry_points(question.text, paths)
                entries.append(_share({point.path for point in points}, gold))
            words = self.pattern_words(question.text)
            matches = self._matches(paths, words)
            for order, kind, quota in orders:
                ordered = self._ordered(question.text, words, matches, kind, quota)
                self._note(seen[order, kind, quota], ordered, gold, self._lines[question.id])
            done(before + at, total)
        ranking = measured({question.id: question.gold for question in self._questions}, rankings)
        return [
            Row(
                ranker=ranker,
                order=order,
                quota=quota,
                ranking=ranking,
                entry_points=_mean(entries) or 0.0,
                first=_mean(found.first) or 0.0,
                shown=_mean(found.shown) or 0.0,
                lines_first=_mean(found.lines_first),
                lines_shown=_mean(found.lines_shown),
                median_rank=float(statistics.median(ranks)) if ranks else None,
            )
            for (order, _, quota), found in seen.items()
        ]

    def pattern_words(self, text: str) -> list[str]:
        """The rarest content words of a question that stand in the corpus, in its order."""
        words = list(dict.fromkeys(word.lower() for word in re.findall(r"\w{2,}", text)))
        content = [word for word in words if word not in STOP_WORDS] or words
        frequency = dict(zip(content, self._index.document_frequency(content), strict=True))
        present = [word for word in content if frequency[word]]
        rarest = sorted(present, key=lambda word: (frequency[word], word))[:_WORDS]
        return [word for word in content if word in rarest]

    def _matches(self, paths: Sequence[str], words: Sequence[str]) -> Sequence[Match]:
        if not words:
            return ()
        pattern = "|".join(re.escape(word) for word in words)
        return grep(
            self._corpus.root,
            paths,
            ["-i", "-e", pattern],
            scope_query=None,
            ranked=True,
            limits=self._limits,
            reorder=None,
        ).pool

    def _ordered(
        self, query: str, words: Sequence[str], matches: Sequence[Match], kind: str, quota: int
    ) -> Sequence[Match]:
        if not kind or len(matches) <= self._shown:
            return matches
        return self._index.reranker(kind, quota).rerank(constructed(query, words), words, matches)

    def _note(
        self, found: _Seen, ordered: Sequence[Match], gold: set[str], lines: set[tuple[str, int]]
    ) -> None:
        for most, documents, marked in (
            (_FIRST, found.first, found.lines_first),
            (self._shown, found.shown, found.lines_shown),
        ):
            documents.append(_share({match.path for match in ordered[:most]}, gold))
            if lines:
                marked.append(_share({(match.path, match.line) for match in ordered[:most]}, lines))

    def _gold_lines(self, question: Question) -> set[tuple[str, int]]:
        return {
            (path, number)
            for path, evidence in question.evidence.items()
            for number, line in enumerate(read_text(self._corpus, path).splitlines(), start=1)
            if evidence in line
        }


def _share(found: Set[Any], wanted: Set[Any]) -> float:
    return len(found & wanted) / len(wanted) if wanted else 0.0


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.fmean(values), 4) if values else None
