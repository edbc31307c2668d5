"""Pane 6: a document, with the matches of the selected call in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from rarg_tui.errors import RargError
from rarg_tui.trace.events import Match
from rarg_tui.ui.panes.base import LIST_BINDINGS, title_of
from rarg_tui.ui.panes.view import Target, View, plural
from rarg_tui.ui.widgets.document_view import DocumentView
from rarg_tui.ui.widgets.plain import plain_title

Spans = dict[int, list[tuple[int, int]]]


def spans_in(lines: Sequence[str], matches: Sequence[Match], path: str) -> Spans:
    """The character spans of ``path``'s matches by line number. A match holds an excerpt where its line
    is long; its spans are then found again in the line itself."""
    found: Spans = {}
    for match in matches:
        if match.path != path or not 1 <= match.line <= len(lines):
            continue
        line = lines[match.line - 1]
        if line == match.text:
            found.setdefault(match.line, []).extend(match.spans)
            continue
        at = 0
        for start, end in match.spans:
            words = match.text[start:end]
            place = line.find(words, at) if words else -1
            if place >= 0:
                found.setdefault(match.line, []).append((place, place + len(words)))
                at = place + len(words)
        found.setdefault(match.line, [])
    return found


class DocumentPane(DocumentView, inherit_bindings=False):
    PANE: ClassVar[str] = "document"
    HELP: ClassVar[str] = (
        "The document, with the matches of the selected call marked; ● stands beside each line that matched. "
        "n and N go to the next and previous match, or line with the searched text. g marks the document as "
        "gold, escape closes it."
    )
    BINDINGS: ClassVar[list[BindingType]] = LIST_BINDINGS

    def __init__(self) -> None:
        super().__init__(empty="Enter on a document, match or hit shows it here.", id="document")
        self.add_class("pane")
        self._view = View()
        self._text: list[str] = []
        self._spans: Spans = {}
        self._sought = ""
        plain_title(self, title_of("document"))

    def open(self, path: str, lines: list[str], line: int) -> None:
        """Show ``lines`` of ``path`` with ``line`` in the middle."""
        self._text = lines
        self._sought = ""
        self._spans = self._matches(path)
        self.set_document(path, lines, self._spans, line)
        self._retitle()

    def next_view(self) -> None:
        raise RargError("This pane has no other view.")

    def show(self, view: View) -> None:
        self._view = view
        if not self.path:
            return
        spans = self._matches(self.path)
        if spans != self._spans:
            self._spans = spans
            self.set_document(self.path, self._text, spans, self.line)
        self._retitle()

    def _matches(self, path: str) -> Spans:
        call = self._view.call
        return spans_in(self._text, call.pool, path) if call is not None else {}

    def _retitle(self) -> None:
        view = self._view
        hit = view.state.hits.get(self.path)
        parts = [
            f"{view.gold_mark(self.path)} {self.path}".strip(),
            plural(len(self._text), "line"),
            plural(len(self._spans), "match", "matches") if self._spans else "",
            f"seen by {plural(hit.count, 'call')}" if hit is not None else "",
            "cited" if view.cited(self.path) else "",
        ]
        plain_title(self, title_of("document", *parts))

    def target(self) -> Target | None:
        return Target(self.path, max(self.line, 1)) if self.path else None

    # The names by which lists move, so that one set of keys serves both.

    def action_cursor_by(self, rows: int) -> None:
        self.action_scroll_by(rows)

    def action_cursor_page(self, pages: float) -> None:
        self.action_page(pages)

    def action_cursor_first(self) -> None:
        self.action_first()

    def action_cursor_last(self) -> None:
        self.action_last()

    def action_select(self) -> None:
        """Enter does nothing here."""

    def seek(self, text: str) -> bool:
        """Go to the next line that holds ``text``, the current one included."""
        self._sought = text.casefold()
        return bool(text) and self._go(max(self.line - 1, 0), 1)

    def seek_again(self, step: int) -> bool:
        """The next (1) or previous (-1) line with the searched text, or match."""
        if self._sought:
            return self._go(self.line - 1 + step, step)
        if not self._spans:
            return False
        if step > 0:
            self.action_next_match()
        else:
            self.action_previous_match()
        return True

    def _go(self, first: int, step: int) -> bool:
        count = len(self._text)
        for distance in range(count):
            at = (first + distance * step) % count
            if self._sought in self._text[at].casefold():
                self.go_to(at + 1)
                return True
        return False
