"""Hit ranks in buckets: a pure function of the run's state."""

from __future__ import annotations

from collections.abc import Iterable

from rarg_tui.trace.state import HitState, RunState
from rarg_tui.ui.widgets.bar_chart import HistogramRow

EDGES = (10, 50, 100, 500, 2_000, 10_000)
OUT = "out of scope"


def buckets(state: RunState) -> list[HistogramRow]:
    """The documents that the run's observations showed, by their rank in the scope searched; the last
    bucket ends where the largest scope does. Without a scope there is only *out of scope*."""
    size = max((scope.documents for scope in state.scopes), default=0)
    highest = max((hit.rank or 0 for hit in state.hits.values()), default=0)
    rows: list[HistogramRow] = []
    low = 1
    for edge in EDGES:
        last = edge >= max(size, highest)
        high = max(size, highest, low) if last else edge
        if size:
            rows.append(_row(state, f"{low:,}–{high:,}", _between(state, low, high)))
        if last:
            break
        low = edge + 1
    rows.append(_row(state, OUT, [hit for hit in state.hits.values() if hit.rank is None]))
    return rows


def _between(state: RunState, low: int, high: int) -> list[HitState]:
    return [hit for hit in state.hits.values() if hit.rank is not None and low <= hit.rank <= high]


def _row(state: RunState, label: str, hits: Iterable[HitState]) -> HistogramRow:
    paths = [hit.path for hit in hits]
    return HistogramRow(label, len(paths), sum(1 for path in paths if state.gold.get(path, 0) > 0))


def gold_by_call(state: RunState) -> list[int]:
    """Gold documents seen after each call that has run."""
    counts, seen = [], 0
    for call in state.calls:
        if not call.waiting:
            seen += len(call.new_gold)
            counts.append(seen)
    return counts
