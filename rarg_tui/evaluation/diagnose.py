"""What relevance does for a data set, without a model: where the gold documents and lines stand, and
how many of them would be seen, by path order, by scope order and after reranking."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from rarg_tui.agent.planner_terms import STOP_WORDS
from rarg_tui.corpus.decoding import read_text
from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.evaluation import metrics
from rarg_tui.evaluation.datasets import Question
from rarg_tui.evaluation.pools import Pools
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.rerank_query import constructed
from rarg_tui.trace.events import Match

#: A pattern is the rarest words of the question, at most so many.
_WORDS = 6
_FIRST = 10
#: The standard measures look at so many documents.
_RANKING = 1_000

T = TypeVar("T")
#: A document and a line number, from 1.
Line: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the matches of a pool: as found (no ``reranker``), or reranked with a quota."""

    name: str
    reranker: str = ""
    quota: int = 0


PATH = Order("path")
SCOPE = Order("scope")

#: The quotas that a reranker is looked at with; the published one has none.
_USUAL = (0, 1, 3)
_QUOTAS = {"paper": (0,)}


def orders(rerankers: Sequence[str]) -> tuple[Order, ...]:
    """Scope order, and each of ``rerankers`` with its quotas."""
    reranked = [Order(name, name, quota) for name in rerankers for quota in _QUOTAS.get(name, _USUAL)]
    return (SCOPE, *reranked)


ORDERS = orders(("paper", "fused"))


@dataclass(frozen=True, slots=True)
class Seen:
    """Shares, from 0 to 1, of the gold documents and lines among the first ten and the first m matches of
    one order; of lines ``None`` where none is marked."""

    first: float
    shown: float
    lines_first: float | None
    lines_shown: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question by one ranker. ``ranks`` has the place of each gold document in the scope, from 1, and
    ``matched`` that of its first match in the pool; ``None`` where it is not there."""

    question: Question
    ranker: str
    words: tuple[str, ...]
    ranking: Mapping[str, float]
    ranks: Mapping[str, int | None]
    matched: Mapping[str, int | None]
    entry_points: float
    seen: Mapping[Order, Seen]


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the questions, from 0 to 1, of one order of matches in the scopes of one ranker.

    ``lines_first`` and ``lines_shown`` are ``None`` where the data set marks no lines. ``median_rank`` is
    that of the gold documents in the scope; ``None`` when more than half of them are not in it.
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


class Diagnosis:
    """Measures ``questions`` on one corpus; ``pool`` is M and ``shown`` m of the paper."""

    def __init__(
        self, corpus: Corpus, index: Index, questions: Sequence[Question], pool: int = 500, shown: int = 30
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._questions = questions
        self._pool = pool
        self._shown = shown

    def outcomes(
        self,
        rankers: Sequence[str],
        orders: Sequence[Order] = ORDERS,
        done: Callable[[int, int], None] = lambda *_: None,
    ) -> list[Outcome]:
        """Path order first, then each ranker; for each of them the questions in their order. ``done`` is told
        how many of how many questions are. Raises ``RargError`` for an unknown ranker or reranker."""
        for ranker in rankers:
            self._index.weights(ranker)
        rerank = {
            order: self._index.reranker(order.reranker, order.quota) for order in orders if order.reranker
        }
        found: list[list[Outcome]] = []
        # Question by question: what the rankers have in common is searched and embedded once.
        for at, question in enumerate(self._questions, start=1):
            words = self.pattern_words(question.text)
            pools = Pools(self._corpus.root, words)
            lines = self._gold_lines(question)
            each = []
            for ranker in (PATH.name, *rankers):
                paths = self._scope(ranker, question)
                matches = pools.first(paths, self._pool)
                seen = {}
                for order in (PATH,) if ranker == PATH.name else orders:
                    ordered: Sequence[Match] = matches
                    if order.reranker and len(matches) > self._shown:
                        query = constructed(question.text, words)
                        ordered = rerank[order].rerank(query, words, matches)
                    seen[order] = self._seen(question, ordered, lines)
                each.append(self._outcome(question, ranker, words, paths, matches, seen))
            found.append(each)
            done(at, len(self._questions))
        return [outcome for column in zip(*found, strict=True) for outcome in column]

    def pattern_words(self, text: str) -> list[str]:
        """The rarest content words of a question that stand in the corpus, in its order."""
        words = list(dict.fromkeys(word.lower() for word in re.findall(r"\w{2,}", text)))
        content = [word for word in words if word not in STOP_WORDS] or words
        frequency = dict(zip(content, self._index.document_frequency(content), strict=True))
        present = [word for word in content if frequency[word]]
        rarest = sorted(present, key=lambda word: (frequency[word], word))[:_WORDS]
        return [word for word in content if word in rarest]

    def _scope(self, ranker: str, question: Question) -> list[str]:
        if ranker == PATH.name:
            paths = self._corpus.paths()
        else:
            paths = self._index.recall(question.text, ranker=ranker).paths
        return [path for path in paths if path not in question.excluded]

    def _outcome(
        self,
        question: Question,
        ranker: str,
        words: Sequence[str],
        paths: Sequence[str],
        matches: Sequence[Match],
        seen: Mapping[Order, Seen],
    ) -> Outcome:
        entries: set[str] = set()
        if ranker != PATH.name:
            entries = {point.path for point in self._index.entry_points(question.text, paths)}
        places = {path: rank for rank, path in enumerate(paths, start=1)}
        first: dict[str, int] = {}
        for match in matches:
            first.setdefault(match.path, match.position)
        ranking = metrics.by_question({question.id: question.gold}, {question.id: paths[:_RANKING]})
        return Outcome(
            question=question,
            ranker=ranker,
            words=tuple(words),
            ranking=ranking[question.id],
            ranks={path: places.get(path) for path in question.gold if path in question.relevant},
            matched={path: first.get(path) for path in question.gold if path in question.relevant},
            entry_points=_share(entries, question.relevant),
            seen=seen,
        )

    def _seen(self, question: Question, ordered: Sequence[Match], lines: Collection[Line]) -> Seen:
        shares = []
        for most in (_FIRST, self._shown):
            front = ordered[:most]
            shares.append(_share({match.path for match in front}, question.relevant))
            shares.append(_share({(match.path, match.line) for match in front}, lines))
        first, lines_first, shown, lines_shown = shares
        return Seen(first, shown, lines_first if lines else None, lines_shown if lines else None)

    def _gold_lines(self, question: Question) -> frozenset[Line]:
        """Where the marked lines stand; a mark that no line holds stands nowhere, and is never found."""
        found: set[Line] = set()
        for path, evidence in question.evidence.items():
            lines: list[str] = []
            with suppress(RargError):
                lines = read_text(self._corpus, path).split("\n")
            there = {(path, number) for number, line in enumerate(lines, start=1) if evidence in line}
            found |= there or {(path, 0)}
        return frozenset(found)


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """The means, a row for each ranker and order, in the order in which they come."""
    by_ranker: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_ranker.setdefault(outcome.ranker, []).append(outcome)
    return [
        Row(
            ranker=ranker,
            order=order.name,
            quota=order.quota,
            ranking=metrics.means([one.ranking for one in each]),
            entry_points=_mean([one.entry_points for one in each]) or 0.0,
            first=_mean([one.seen[order].first for one in each]) or 0.0,
            shown=_mean([one.seen[order].shown for one in each]) or 0.0,
            lines_first=_mean([one.seen[order].lines_first for one in each]),
            lines_shown=_mean([one.seen[order].lines_shown for one in each]),
            median_rank=_median([rank for one in each for rank in one.ranks.values()]),
        )
        for ranker, each in by_ranker.items()
        for order in each[0].seen
    ]


def _share(found: Set[T], wanted: Collection[T]) -> float:
    return sum(one in found for one in wanted) / len(wanted) if wanted else 0.0


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return round(statistics.fmean(there), 4) if there else None


def _median(ranks: Sequence[int | None]) -> float | None:
    if not ranks:
        return None
    middle = statistics.median(math.inf if rank is None else rank for rank in ranks)
    return float(middle) if math.isfinite(middle) else None
