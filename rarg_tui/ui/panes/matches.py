"""Panes 4 and 5: the matches of a call as rg found them, and in the order in which they were shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rarg_tui.trace.events import Match
from rarg_tui.trace.state import CallState
from rarg_tui.ui.panes.base import ListPane
from rarg_tui.ui.panes.view import Target, View, command_of, ranked_order, ranks
from rarg_tui.ui.widgets.cells import Cell, FunctionSource, Row

_NONE = "Matches come with the first rg."


def excerpt(
    text: str, spans: Sequence[tuple[int, int]], room: int
) -> tuple[str, tuple[tuple[int, int, str], ...]]:
    """``text`` from where its first match can be seen in ``room`` characters, and the moved spans."""
    start = len(text) - len(text.lstrip())
    if spans and spans[0][1] - start > room > 0:
        start = max(start, spans[0][0] - room // 3)
    lead = "…" if start and text[:start].strip() else ""
    shift = len(lead) - start
    moved = tuple((max(a + shift, len(lead)), b + shift, "match") for a, b in spans if b + shift > len(lead))
    return lead + text[start:], moved


def why_not_ranked(call: CallState, shown: int) -> str:
    """One sentence for a call whose matches kept rg's order."""
    few = len(call.pool) <= shown
    return f"rg's order kept: no more than {shown}" if few else "rg's order kept"


class _MatchPane(ListPane):
    """A list of matches, of which ``_matches`` are on screen."""

    def __init__(self) -> None:
        super().__init__(empty=_NONE)
        self._view = View()
        self._matches: list[Match] = []
        self._bands: list[bool] = []
        self._of: tuple[int, int] = (-1, -1)
        self._place_width = 3
        self._rank_width = 3

    def _place(self, matches: list[Match], dividers: frozenset[int] = frozenset()) -> None:
        """Show ``matches``; the cursor stays if they are those of the same call."""
        call = self._view.call
        key = (call.number if call is not None else 0, len(matches))
        self._matches = matches
        self._bands = []
        band, last = False, ""
        for match in matches:
            band = band if match.path == last else not band
            last = match.path
            self._bands.append(not band)
        self._place_width = max(len(str(len(matches))), 2)
        self._rank_width = 1 + max(
            (len(f"{m.document_rank:,}") for m in matches if m.document_rank), default=1
        )
        count = len(matches) + len(dividers)
        self.set_rows(FunctionSource(count, self._row), keep=key == self._of, dividers=dividers)
        self._of = key

    def _row(self, index: int, width: int, selected: bool) -> Row:
        raise NotImplementedError

    def _at(self, index: int) -> Match | None:
        return self._matches[index] if 0 <= index < len(self._matches) else None

    def target(self) -> Target | None:
        match = self._at(self.cursor)
        return Target(match.path, match.line) if match is not None else None

    def _say_nothing(self) -> bool:
        """Say why there are no matches; False if there are."""
        call = self._view.call
        if call is not None and call.pool:
            return False
        self.set_empty(_NONE if call is None else _absence(call))
        self.name_it()
        self._place([])
        return True

    def _where(self, match: Match, width: int) -> tuple[Cell, ...]:
        """★, cited, and path:line, the path cut at its start."""
        view = self._view
        gold = view.gold_mark(match.path)
        room = min(max(width * 3 // 10, 12), 40)
        return (
            Cell(gold or view.cite_mark(match.path), "gold bold" if gold else "hit", 1),
            Cell(f"{match.path}:{match.line}", "gold" if gold else "path", room, crop="start"),
        )

    def _text(self, match: Match, room: int) -> Cell:
        text, spans = excerpt(match.text, match.spans, room)
        return Cell(text, spans=spans)

    def _rank(self, match: Match) -> Cell:
        rank = match.document_rank
        return Cell(
            f"#{rank:,}" if rank is not None else self._view.glyphs.out, "number", self._rank_width, "right"
        )


class RawPane(_MatchPane):
    PANE: ClassVar[str] = "raw"
    HELP: ClassVar[str] = (
        "The matches of the selected call in the order in which rg met them: document by document, as the "
        "scope ranks them. # is the rank of the document in the scope, → the place at which the model was "
        "shown the match; a match without → fell below the cut. Enter shows the document at the line."
    )

    def show(self, view: View) -> None:
        self._view = view
        if view.found is not None:
            self._place(list(view.found))
            self.set_empty("rg is searching…")
            self.name_it("scanning", f"{len(view.found):,} so far")
            return
        if view.call is not None and not view.call.pool and not ranks(view.call):
            self._show_output(view.call)
            return
        if self._say_nothing() or view.call is None:
            return
        call = view.call
        limit = view.state.limits.get("pool", 500)
        pool = f"{len(call.pool):,}" + (f" of more than {limit:,}" if call.pool_full else "")
        order = "in scope order" if call.scope is not None else "in path order"
        kept = "" if call.reranked else why_not_ranked(call, int(view.state.limits.get("shown", 30)))
        self.name_it(f"{pool} {order}", kept, below=f"call {call.number}: {command_of(call)}")
        self._place(list(call.pool))

    def _row(self, index: int, width: int, selected: bool) -> Row:
        match = self._at(index)
        if match is None:
            return Row(())
        shown = match.shown_at
        where = self._where(match, width)
        marks = 1 + len(str(self._view.call.shown)) if self._view.call is not None else 3
        room = width - self._place_width - self._rank_width - 1 - (where[1].width or 0) - marks - 5
        arrow = self._view.glyphs.arrow
        return Row(
            (
                Cell(f"{match.position}", "number", self._place_width, "right"),
                self._rank(match),
                *where,
                self._text(match, room),
                Cell(f"{arrow}{shown}" if shown is not None else "", "hit", marks, "right"),
            ),
            ("" if shown is not None or self._view.found is not None else "muted")
            + (" on-band-b" if self._bands[index] else ""),
        )

    def _show_output(self, call: CallState) -> None:
        """A call without matches to list: what the model was shown of it, line by line."""
        lines = call.observation.splitlines() or [_absence(call)]
        self._matches, self._of = [], (-1, -1)
        self.name_it(
            "" if call.waiting else "as shown", name="Output", below=f"call {call.number}: {command_of(call)}"
        )
        self.set_rows(FunctionSource(len(lines), lambda at, *_: Row((Cell("", width=1), Cell(lines[at])))))


class RankedPane(_MatchPane):
    PANE: ClassVar[str] = "ranked"
    HELP: ClassVar[str] = (
        "The matches as the model was shown them. ▲ and ▼ say by how many places a match moved against the "
        "order in which rg met it. The line is the budget's cut: what stands below it, the model has not "
        "seen. Enter shows the document at the line."
    )

    def __init__(self) -> None:
        super().__init__()
        self._cut = 0

    def show(self, view: View) -> None:
        self._view = view
        if view.found is not None:
            self.set_empty("The order comes when rg is done.")
            self.name_it()
            self._cut = 0
            self._place([])
            return
        if self._say_nothing() or view.call is None:
            return
        call = view.call
        shown, rest = ranked_order(call.pool)
        self._cut = len(shown)
        budget = int(view.state.limits.get("shown", 30))
        if call.reranked:
            words = " · ".join(part for part in call.rerank_query.splitlines() if part)
            self.name_it(view.state.rerank, f"{len(shown)} shown", below=words)
        else:
            self.name_it(why_not_ranked(call, budget), name="Matches shown")
        self._place([*shown, *rest], frozenset({self._cut}) if rest else frozenset())

    def _at(self, index: int) -> Match | None:
        """The divider takes a row, which the matches below it make room for."""
        has_divider = self._cut < len(self._matches)
        if has_divider and index == self._cut:
            return None
        return super()._at(index - 1 if has_divider and index > self._cut else index)

    def _row(self, index: int, width: int, selected: bool) -> Row:
        match = self._at(index)
        if match is None:
            below = len(self._matches) - self._cut
            return Row((Cell(f"{self._cut} shown · {below} below the cut"),))
        below_cut = index > self._cut
        place = index if below_cut else index + 1
        where = self._where(match, width)
        moved = self._moved(match, place)
        taken = sum(1 + (cell.width or 0) for cell in (*moved, *where))
        room = width - self._place_width - self._rank_width - 2 - taken
        number = len(self._matches) > 0 and self._bands[place - 1]
        return Row(
            (
                Cell(f"{place}", "number", self._place_width, "right"),
                *moved,
                self._rank(match),
                *where,
                self._text(match, room),
            ),
            ("muted dim" if below_cut else "") + (" on-band-b" if number else ""),
        )

    def _moved(self, match: Match, place: int) -> tuple[Cell, ...]:
        """By how many places the match moved; nothing where nothing was reranked."""
        view = self._view
        if view.call is None or not view.call.reranked:
            return ()
        move = match.position - place
        if move == 0:
            return (Cell(view.glyphs.same, "muted", 4),)
        sign, tone = (view.glyphs.up, "rank-up") if move > 0 else (view.glyphs.down, "rank-down")
        return (Cell(f"{sign}{abs(move)}", tone, 4),)


def _absence(call: CallState) -> str:
    """Why a call has no matches to show."""
    if call.waiting:
        return "This call has not run yet."
    if ranks(call):
        return "A recall makes a scope; matches come with rg."
    if call.state in ("ok", "partial") and call.observation:
        return "No matches to rank: pane 4 shows the output."
    return call.message or ("No match." if call.state == "no_match" else "This call has no matches to show.")
