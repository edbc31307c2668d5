"""How many of a question's gold documents a strategy cites, against the plain ranking of the same scope."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rarg_tui.evaluation.datasets import Question
from rarg_tui.trace.state import RunState


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: recall (0 to 1) of its gold documents among the citations, and among the first
    documents of the run's first scope, as many as were cited at most."""

    question: str
    cited: float
    plain: float
    calls: int
    ended: str

    @property
    def complete(self) -> bool:
        return self.cited == 1.0


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over the questions; ``all_cited`` and ``all_plain`` are shares of questions of which every
    gold document was found."""

    questions: int
    cited: float
    plain: float
    all_cited: float
    all_plain: float
    calls: float


def outcome(question: Question, state: RunState, scope: Sequence[str], most: int = 10) -> Outcome:
    """How a run on ``question`` ended; ``scope`` is its first scope, best first."""
    cited, plain = ([p for p in paths if p not in question.excluded] for paths in (state.citations, scope))
    return Outcome(
        question=question.id,
        cited=_recall(cited[:most], question.relevant),
        plain=_recall(plain[:most], question.relevant),
        calls=len(state.calls),
        ended=state.ended,
    )


def summary(outcomes: Sequence[Outcome]) -> Summary:
    """The means of at least one outcome."""
    return Summary(
        questions=len(outcomes),
        cited=statistics.fmean(o.cited for o in outcomes),
        plain=statistics.fmean(o.plain for o in outcomes),
        all_cited=statistics.fmean(o.complete for o in outcomes),
        all_plain=statistics.fmean(o.plain == 1.0 for o in outcomes),
        calls=statistics.fmean(o.calls for o in outcomes),
    )


def _recall(found: Sequence[str], gold: frozenset[str]) -> float:
    return len(gold.intersection(found)) / len(gold) if gold else 1.0
