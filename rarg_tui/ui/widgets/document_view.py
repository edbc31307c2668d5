"""DocumentView: a document with line numbers and its matches marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.worker import get_current_worker

from rarg_tui.ui.highlight import TokenSpan, highlight_lines
from rarg_tui.ui.safe_text import Span
from rarg_tui.ui.widgets.cells import Cell, Drawn, Row
from rarg_tui.ui.widgets.line_view import LineView
from rarg_tui.ui.widgets.wrapping import Piece, pieces


class DocumentView(LineView, can_focus=True, inherit_bindings=False):
    """The lines of one document, numbered from 1 as ripgrep does, and wrapped; of a very long one a single
    row is shown, around its first match."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_by(1)", "Down", show=False, id="document.down"),
        Binding("k,up", "scroll_by(-1)", "Up", show=False, id="document.up"),
        Binding("g,home", "first", "First line", show=False, id="document.first"),
        Binding("G,end", "last", "Last line", show=False, id="document.last"),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False, id="document.half_down"),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False, id="document.half_up"),
        Binding("pagedown,space", "page(1)", "Page down", show=False, id="document.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="document.page_up"),
        Binding("l,right", "slide(1)", "Slide right", show=False, id="document.right"),
        Binding("h,left", "slide(-1)", "Slide left", show=False, id="document.left"),
        Binding("n", "next_match", "Next match", show=False, id="document.next_match"),
        Binding("N", "previous_match", "Previous match", show=False, id="document.previous_match"),
    ]

    line: reactive[int] = reactive(0, init=False, repaint=False)
    """The current line, from 1; 0 in an empty view."""

    class LineChanged(Message):
        """The current line changed, to ``line``."""

        def __init__(self, view: DocumentView, line: int) -> None:
            super().__init__()
            self.view = view
            self.line = line

        @property
        def control(self) -> DocumentView:
            return self.view

    class Coloured(Message):
        """Syntax colours arrived for the document shown as number ``showing``."""

        def __init__(self, showing: int, tokens: list[list[TokenSpan]]) -> None:
            super().__init__()
            self.showing = showing
            self.tokens = tokens

    def __init__(
        self, *, empty: str = "", name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(empty=empty, name=name, id=id, classes=classes)
        self._path = ""
        self._lines: Sequence[str] = ()
        self._highlights: Mapping[int, Sequence[Span]] = {}
        self._marked: list[int] = []
        self._tokens: list[list[TokenSpan]] = []
        self._rows: list[Piece] = []
        self._first_rows: list[int] = []
        self._wrapped_to = -1
        self._showing = 0
        self._centre_due = False

    def set_document(
        self,
        path: str,
        lines: Sequence[str],
        highlights: Mapping[int, Sequence[Span]] | None = None,
        centre_line: int | None = None,
    ) -> None:
        """Show ``lines`` of the document ``path`` (its name chooses the syntax). ``highlights`` are char
        spans by line number, from 1; ``centre_line`` (else the first highlighted line, else line 1)
        becomes the current line and is brought to the middle."""
        self._path = path
        self._lines = lines
        self._highlights = highlights or {}
        self._marked = sorted(line for line in self._highlights if 1 <= line <= len(lines))
        self._tokens = []
        self._showing += 1
        self._slide = 0
        self.forget()
        self._wrap()
        first = self._marked[0] if self._marked else 1
        self.line = centre_line or first
        self._centre()
        self._colour()

    def clear(self, empty: str = "") -> None:
        """Show no document, and say ``empty`` instead."""
        self._empty = empty
        self.set_document("", ())

    @property
    def path(self) -> str:
        """The document shown, "" for none."""
        return self._path

    def _wrap(self) -> None:
        """Break the lines to the width there is."""
        gutter = len(str(len(self._lines))) + 5
        self._wrapped_to = width = self.wrap_width
        self._rows = pieces(self._lines, width - gutter)
        self._first_rows = [at for at, row in enumerate(self._rows) if row.start == 0]
        self._lines_are(len(self._rows))

    def validate_line(self, line: int) -> int:
        return min(max(line, 1), len(self._lines)) if self._lines else 0

    def watch_line(self, line: int) -> None:
        self.refresh()
        self.post_message(self.LineChanged(self, line))

    def _colour(self) -> None:
        """Have the syntax coloured in a thread."""
        showing, path, lines = self._showing, self._path, self._lines
        if not lines or not self.is_attached:
            return

        def outdated() -> bool:
            return self._showing != showing or get_current_worker().is_cancelled

        def work() -> None:
            tokens = highlight_lines(path, lines, outdated)
            if tokens:
                self.post_message(self.Coloured(showing, tokens))

        # Not exclusive: an outdated worker ends by itself, and who waits for workers sees none cancelled.
        self.run_worker(work, thread=True, exit_on_error=False, group="syntax")

    def on_mount(self) -> None:
        self._colour()

    def on_document_view_coloured(self, message: Coloured) -> None:
        message.stop()
        if message.showing == self._showing:
            self._tokens = message.tokens
            self.forget()

    # Moving

    def _centre(self) -> None:
        """Bring the current line to the middle, at the next resize if there is no size yet."""
        self._centre_due = not self.room
        if self.room and self._first_rows:
            self.scroll_to_line(self._match_row() - self.room // 2)

    def _match_row(self) -> int:
        """The row of the current line that holds its first match, else the line's first row."""
        first = self._first_rows[self.line - 1]
        spans = self._highlights.get(self.line, ())
        start = spans[0][0] if spans else 0
        rows = range(first, len(self._rows))
        return next((at for at in rows if self._rows[at].end > start or not start), first)

    def action_scroll_by(self, lines: int) -> None:
        self.scroll_to_line(self.first_line + lines)

    def action_page(self, pages: float) -> None:
        self.action_scroll_by(int(pages * max(self.room - 1, 1)))

    def action_first(self) -> None:
        self.scroll_to_line(0)

    def action_last(self) -> None:
        self.scroll_to_line(len(self._rows))

    def action_next_match(self) -> None:
        later = [line for line in self._marked if line > self.line] or self._marked
        if later:
            self.go_to(later[0])

    def action_previous_match(self) -> None:
        earlier = [line for line in self._marked if line < self.line] or self._marked
        if earlier:
            self.go_to(earlier[-1])

    def go_to(self, line: int) -> None:
        """Make ``line`` (from 1) the current one, in the middle."""
        self.line = line
        self._centre()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and self.first_line + offset.y < len(self._rows):
            self.line = self._rows[self.first_line + offset.y].line + 1

    def on_resize(self) -> None:
        if self.wrap_width != self._wrapped_to:
            self._wrap()
            self._centre_due = bool(self._lines)
        if self._centre_due:
            self._centre()

    # Drawing

    def render_line(self, y: int) -> Strip:
        _, base, width = self._styles()
        if not self._lines:
            return self._draw_empty(y)
        at = self.first_line + y
        if at >= len(self._rows):
            return Strip.blank(width, base)
        piece = self._rows[at]
        current = piece.line + 1 == self.line
        return self._keep(
            at, (current, self.has_focus, width), lambda: self._draw_piece(piece, current, width)
        )

    def _draw_piece(self, piece: Piece, current: bool, width: int) -> Drawn:
        at, start, end = piece
        begins = start == 0
        matches = tuple((a, b, "match") for a, b in self._highlights.get(at + 1, ()))
        tokens = tuple(self._tokens[at]) if at < len(self._tokens) else ()
        spans = tuple(
            (max(a - start, 0), min(b, end) - start, style)
            for a, b, style in (*tokens, *matches)
            if a < end and b > start
        )
        back, sign = "", ""
        if current:
            back, sign = ("on-cursor", "cursor-mark") if self.has_focus else ("on-cursor-blurred", "muted")
        row = Row(
            (
                Cell(self._glyphs.cursor if current else "", sign, width=1),
                Cell(
                    str(at + 1) if begins else "", "number", width=len(str(len(self._lines))), align="right"
                ),
                Cell(self._glyphs.hit if begins and at + 1 in self._highlights else "", "hit", width=1),
                Cell(self._lines[at][start:end], spans=spans),
            ),
            back,
        )
        return self._draw(row, width)
