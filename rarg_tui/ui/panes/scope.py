"""Pane 2: the scope, its documents in the order in which rg searches them."""

from __future__ import annotations

from typing import ClassVar

from rarg_tui.trace.events import Match
from rarg_tui.ui.panes.base import ListPane
from rarg_tui.ui.panes.view import Target, View, seconds
from rarg_tui.ui.ports import ScopePort
from rarg_tui.ui.widgets.cells import Cell, FunctionSource, Row

NONE = "No scope yet: it comes with the first recall."
_SHORT = {"lexical": "lex", "static": "stat", "dense": "dense"}


def _short(ranker: str) -> str:
    return _SHORT.get(ranker, ranker[:5])


class ScopePane(ListPane):
    """Rank, score, each ranker's rank, path, how often the model has seen the document, gold."""

    PANE: ClassVar[str] = "scope"
    HELP: ClassVar[str] = (
        "The documents of a scope, best first: this is the order in which rg goes through them. Beside the "
        "fused score stands the rank that each ranker gave (– : not ranked). ● and a number: calls that "
        "showed the document. ★ is a gold document that was seen, ☆ one that was not, § a cited one. "
        "Enter shows the document, at its first match of the selected call; g marks it as gold."
    )

    def __init__(self) -> None:
        super().__init__(empty=NONE)
        self._view = View()
        self._ranking: ScopePort | None = None
        self._first_match: dict[str, Match] = {}
        self._sought = ""
        self._rank_width = 4
        self._widths: list[int] = []
        self._score = True

    def show(self, view: View) -> None:
        self._view = view
        self._first_match = {}
        for match in view.call.pool if view.call is not None else ():
            self._first_match.setdefault(match.path, match)
        if view.ranking is not self._ranking:
            self._ranking = view.ranking
            self._set_ranking(view.ranking)
        else:
            self.refresh_rows()
        scope = view.scope
        if scope is None:
            self.set_empty(NONE)
            self.name_it()
            return
        if view.ranking is None:
            self.set_empty(view.unranked or f"Reading scope {scope.number}…")
        weights = " + ".join(f"{name} {weight:g}" for name, weight in scope.rankers.items())
        self.name_it(
            f"{scope.documents:,} docs",
            f"“{scope.query}”",
            name=f"Scope {scope.number}",
            below=f"{weights or scope.ranker} · {seconds(scope.elapsed_ms)}",
        )

    def _set_ranking(self, ranking: ScopePort | None) -> None:
        self._set_columns()
        self.set_rows(FunctionSource(len(ranking.paths) if ranking is not None else 0, self._row))

    def on_resize(self) -> None:
        self._set_columns()

    def _set_columns(self) -> None:
        ranking = self._ranking
        if ranking is None:
            self.set_header(None)
            return
        width = self.scrollable_content_region.width
        digits = len(f"{len(ranking.paths):,}")
        self._rank_width = max(digits, 4)
        self._widths = [max(digits, len(_short(name))) for name in ranking.by]
        # On a narrow pane the path is worth more than the score.
        self._score = width - self._rank_width - sum(self._widths) > 42
        names = zip(ranking.by, self._widths, strict=True)
        self.set_header(
            (
                Cell("", width=1),
                Cell("rank", width=self._rank_width, align="right"),
                *((Cell("score", width=5, align="right"),) if self._score else ()),
                *(Cell(_short(name), width=room, align="right") for name, room in names),
                Cell("document"),
                Cell("seen", width=5),
            )
        )

    def _row(self, index: int, width: int, selected: bool) -> Row:
        ranking, view = self._ranking, self._view
        if ranking is None or index >= len(ranking.paths):
            return Row(())
        path = ranking.paths[index]
        hit = view.state.hits.get(path)
        gold = view.gold_mark(path)
        ranks = []
        for by, room in zip(ranking.by.values(), self._widths, strict=True):
            at = by[index]
            tone = "muted" if at is None else "number"
            ranks.append(Cell(view.glyphs.out if at is None else f"{at[0]:,}", tone, room, "right"))
        seen = f"{view.glyphs.hit} {hit.count}" if hit is not None else ""
        cited = view.cite_mark(path)
        found = path in self._first_match
        return Row(
            (
                Cell(gold, "gold bold", 1),
                Cell(f"{index + 1:,}", "foreground" if found else "number", self._rank_width, "right"),
                *((Cell(score_text(ranking.scores[index]), "muted", 5, "right"),) if self._score else ()),
                *ranks,
                Cell(path, _path_style(bool(gold), hit is not None, found), crop="start"),
                Cell(f"{seen}{' ' + cited if cited else ''}", "hit", 5),
            )
        )

    def target(self) -> Target | None:
        ranking = self._ranking
        if ranking is None or not 0 <= self.cursor < len(ranking.paths):
            return None
        path = ranking.paths[self.cursor]
        match = self._first_match.get(path)
        return Target(path, match.line if match is not None else 1)

    def seek(self, text: str) -> bool:
        # Paths alone are looked through: drawing 10,000 rows for their text would stall.
        self._sought = text.casefold()
        ranking = self._ranking
        if ranking is None or not text:
            return False
        here = 0 <= self.cursor < len(ranking.paths) and self._has(self.cursor)
        return here or self.seek_again(1)

    def seek_again(self, step: int) -> bool:
        if not self._sought:
            return False
        return (self.find_next(self._has) if step > 0 else self.find_previous(self._has)) is not None

    def _has(self, index: int) -> bool:
        return self._ranking is not None and self._sought in self._ranking.paths[index].casefold()


def score_text(score: float) -> str:
    """A score in five characters: ``.0489``, ``12.30``."""
    text = f"{score:.4f}"
    if text.startswith("0."):
        return text[1:]
    return text[:5]


def _path_style(gold: bool, seen: bool, found: bool) -> str:
    if gold:
        return "gold"
    if seen:
        return "path bold"
    return "path" if found else "foreground"
