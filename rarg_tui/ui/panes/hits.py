"""Pane 3: at which ranks of the scope the documents lie that the model has seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical

from rarg_tui.errors import RargError
from rarg_tui.ui.panes.base import ListPane, title_of
from rarg_tui.ui.panes.buckets import buckets, gold_by_call
from rarg_tui.ui.panes.view import Target, View, plural
from rarg_tui.ui.ports import ScopePort
from rarg_tui.ui.widgets.bar_chart import HistogramView, sparkline
from rarg_tui.ui.widgets.cells import Cell, ListSource, Row
from rarg_tui.ui.widgets.plain import plain_title


class GoldList(ListPane):
    """The gold documents: those that no observation showed first, with their rank in the scope."""

    PANE: ClassVar[str] = "hits"

    def __init__(self) -> None:
        super().__init__(empty="No gold known: g marks a document.", id="gold")
        self._paths: list[str] = []
        self._ranking: ScopePort | None = None
        self._ranks: Mapping[str, int] = {}

    def show(self, view: View) -> None:
        state, signs = view.state, view.glyphs
        if view.ranking is not self._ranking:
            self._ranking = view.ranking
            paths = view.ranking.paths if view.ranking is not None else []
            self._ranks = {path: rank for rank, path in enumerate(paths, start=1)}
        missed = [path for path, level in state.gold.items() if level > 0 and path not in state.hits]
        seen = list(state.gold_seen)
        trend = sparkline(gold_by_call(state), 24, signs)
        total = len(missed) + len(seen)
        rows: list[Row] = []
        self._paths = []
        if trend and total:
            self._add(
                rows, "", Row((Cell(trend, "gold-bar"), Cell(f"gold seen, by call: {len(seen)} of {total}")))
            )
        if missed:
            self._add(rows, "", Row((Cell(f"{plural(len(missed), 'gold document')} not seen", "heading"),)))
        for path in missed:
            rank = self._ranks.get(path)
            where = f"#{rank:,}" if rank is not None else "not in scope" if self._ranks else ""
            self._add(rows, path, _gold_row(signs.gold_missed, path, where))
        if seen:
            self._add(rows, "", Row((Cell("seen", "heading"),)))
        for path in seen:
            hit = state.hits[path]
            where = f"#{hit.rank:,}" if hit.rank is not None else "out of scope"
            self._add(rows, path, _gold_row(signs.gold, path, f"{where}, call {hit.calls[0]}"))
        self.set_rows(ListSource(rows), keep=True)

    def _add(self, rows: list[Row], path: str, row: Row) -> None:
        self._paths.append(path)
        rows.append(row)

    def target(self) -> Target | None:
        path = self._paths[self.cursor] if 0 <= self.cursor < len(self._paths) else ""
        return Target(path) if path else None


class HitsPane(Vertical):
    """The histogram, the gold seen by call, and the gold documents."""

    PANE: ClassVar[str] = "hits"
    HELP: ClassVar[str] = (
        "Each bar counts the documents of which the model has seen text, by their rank in the scope that was "
        "searched; documents outside it have a bar of their own. ★ are the gold ones among them. Below: how "
        "many gold documents were seen after each call, then the gold documents that were not seen yet, "
        "with their rank in the scope, then those that were. Enter shows the document."
    )

    def __init__(self) -> None:
        super().__init__(id="hits", classes="pane")
        self.chart = HistogramView()
        self.gold = GoldList()
        self._shown: tuple[object, ...] = ()
        plain_title(self, title_of("hits"))

    def compose(self) -> ComposeResult:
        yield self.chart
        yield self.gold

    def next_view(self) -> None:
        raise RargError("This pane has no other view.")

    def show(self, view: View) -> None:
        state = view.state
        shown = (state.hits, state.gold, state.scopes, state.calls, view.ranking)
        if all(a is b for a, b in zip(shown, self._shown, strict=False)) and self._shown:
            return
        self._shown = shown
        rows = buckets(state)
        self.chart.set_rows(rows, ("scope rank", "seen", "gold"))
        self.gold.show(view)
        plain_title(self, title_of("hits", plural(len(state.hits), "document") if state.hits else ""))

    def target(self) -> Target | None:
        return self.gold.target()

    def seek(self, text: str) -> bool:
        return self.gold.seek(text)

    def seek_again(self, step: int) -> bool:
        return self.gold.seek_again(step)


def _gold_row(mark: str, path: str, where: str) -> Row:
    return Row(
        (Cell(mark, "gold bold", 1), Cell(path, "gold", crop="start"), Cell(where, "number", len(where)))
    )
