"""A line of the terminal that is drawn from cells: status, tabs, footer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from rarg_tui.ui.glyphs import glyphs
from rarg_tui.ui.palette import Palette, palette_of
from rarg_tui.ui.safe_text import safe
from rarg_tui.ui.widgets.cells import Cell, Row, draw


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text in one style; a click on it does ``action``. Pieces with the lowest ``worth`` are left out
    first when the line is too narrow."""

    text: str
    style: str = ""
    action: str = ""
    worth: int = 0


def fitting(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """The pieces that fit into ``width`` cells, in their order, those of greatest worth kept; pieces of
    the same action go together."""
    kept = list(pieces)
    while len(kept) > 1 and sum(cell_len(safe(piece.text)) for piece in kept) > width:
        least = min(range(len(kept)), key=lambda at: (kept[at].worth, -at))
        action = kept[least].action
        kept = [
            piece for at, piece in enumerate(kept) if at != least and (not action or piece.action != action)
        ]
    return kept


class Line(Widget):
    """One row: pieces at the left and pieces at the right."""

    DEFAULT_CSS = """
    Line { height: 1; width: 1fr; }
    """

    class Chosen(Message):
        """A piece was clicked that has an action."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left: tuple[Piece, ...] = ()
        self._right: tuple[Piece, ...] = ()
        self._spots: list[tuple[int, int, str]] = []
        self._palette: Palette | None = None
        self._glyphs = glyphs()

    def set_pieces(self, left: Sequence[Piece], right: Sequence[Piece] = ()) -> None:
        self._left, self._right = tuple(left), tuple(right)
        self.refresh()

    @property
    def text(self) -> str:
        """What stands in the line when there is room for all of it."""
        return "".join(piece.text for piece in (*self._left, *self._right))

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        self._palette = palette = palette_of(self, self._palette)
        pieces = fitting([*self._left, *self._right], width)
        left = [piece for piece in pieces if any(piece is one for one in self._left)]
        right = [piece for piece in pieces if not any(piece is one for one in self._left)]
        used = sum(cell_len(safe(piece.text)) for piece in pieces)
        filler = Piece(" " * max(width - used, 0))
        placed = [*left, filler, *right]
        self._spots = []
        at = 0
        for piece in placed:
            end = at + cell_len(safe(piece.text))
            if piece.action:
                self._spots.append((at, end, piece.action))
            at = end
        cells = tuple(Cell(piece.text, piece.style, cell_len(safe(piece.text))) for piece in placed)
        return draw(Row(cells), width, palette, self.rich_style, self._glyphs.ellipsis, gap=0).strip

    def on_click(self, event: events.Click) -> None:
        for start, end, action in self._spots:
            if start <= event.x < end:
                self.post_message(self.Chosen(action))
