"""Rows of cells: the values that a list is given, and how they become a line of the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from rarg_tui.ui.palette import Palette
from rarg_tui.ui.safe_text import LIMIT, Span, cell_spans, safe_line, window


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a row.

    ``text`` may be foreign: it is made safe when it is drawn. ``style`` are words of a ``Palette``.
    ``width`` in terminal cells, or None: the last cell without a width takes what the others leave and
    slides with h and l (unless it has ``crop="start"``), any earlier one is as wide as its text. Text that
    does not fit ends (with ``crop="start"``: begins) with an ellipsis. ``spans`` are char spans of the raw
    ``text`` and the words of the style laid over them; a sliding cell sees to it that the first span whose
    words hold ``match`` is in sight.
    """

    text: str
    style: str = ""
    width: int | None = None
    align: Literal["left", "right"] = "left"
    spans: tuple[tuple[int, int, str], ...] = ()
    crop: Literal["end", "start"] = "end"


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row, and style words for all of it, such as ``on-band-b``; those of a cell win."""

    cells: tuple[Cell, ...]
    style: str = ""


class RowSource(Protocol):
    """Where a list gets its rows; asked for no more than the rows on screen."""

    def count(self) -> int:
        """Rows there are."""
        ...

    def render(self, index: int, width: int, selected: bool) -> Row:
        """Row ``index``, from 0, for a line of ``width`` cells (0 when only its text is wanted)."""
        ...


@dataclass(frozen=True, slots=True)
class ListSource:
    """A source of rows that exist already."""

    rows: Sequence[Row]

    def count(self) -> int:
        return len(self.rows)

    def render(self, index: int, width: int, selected: bool) -> Row:
        return self.rows[index]


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A source of ``total`` rows that ``make(index, width, selected)`` makes when they are drawn."""

    total: int
    make: Callable[[int, int, bool], Row]

    def count(self) -> int:
        return self.total

    def render(self, index: int, width: int, selected: bool) -> Row:
        return self.make(index, width, selected)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn line, and how many cells of its sliding text lie out of sight on either side."""

    strip: Strip
    before: int = 0
    after: int = 0


def row_text(row: Row) -> str:
    """The raw text of a row, its cells parted by a space, as far as searching looks."""
    return " ".join([cell.text[: 4 * LIMIT] for cell in row.cells])


def _boundary(text: str, at: int) -> int:
    """``at`` moved past combining marks: a segment may not start with one."""
    while at < len(text) and not get_character_cell_size(text[at]):
        at += 1
    return min(at, len(text))


def segments(text: str, style: Style, spans: Sequence[tuple[int, int, Style]] = ()) -> list[Segment]:
    """``text`` in ``style``, with the styles of ``spans`` (chars, later over earlier) laid over it."""
    if not text or not spans:
        return [Segment(text, style)] if text else []
    narrow = text.isascii()
    opening: dict[int, list[int]] = defaultdict(list)
    closing: dict[int, list[int]] = defaultdict(list)
    for number, (start, end, _) in enumerate(spans):
        opening[start if narrow else _boundary(text, start)].append(number)
        closing[end if narrow else _boundary(text, end)].append(number)
    active: list[int] = []
    pieces = []
    for start, end in pairwise(sorted({0, len(text), *opening, *closing})):
        if start in closing:
            active = [number for number in active if number not in closing[start]]
        if start in opening:
            active = sorted([*active, *opening[start]])
        piece = style
        for number in active:
            piece += spans[number][2]
        pieces.append(Segment(text[start:end], piece))
    return pieces


def fit(strip: Strip, width: int, style: Style, ellipsis: str, crop: str = "end") -> Strip:
    """``strip`` cut, or padded at the right, to exactly ``width`` cells."""
    if width <= 0:
        return Strip([], 0)
    if strip.cell_length <= width:
        return strip.extend_cell_length(width, style)
    mark = Strip([Segment(ellipsis, style)], 1)
    if crop == "start":
        return Strip.join([mark, strip.crop(strip.cell_length - width + 1)])
    return Strip.join([strip.crop(0, width - 1), mark])


def _cell(cell: Cell, palette: Palette, base: Style) -> tuple[Strip, Span | None]:
    """The whole text of a cell, and the cells of its first match."""
    own = base + palette.style(cell.style)
    if not cell.spans:
        return Strip(segments(safe_line(cell.text)[0], own)), None
    # Of a long text the part around its first match is shown, not that around its first keyword.
    matches = [(start, end) for start, end, words in cell.spans if "match" in words.split()]
    line = window(cell.text, matches)
    over = []
    for start, end, words in cell.spans:
        if mapped := line.span(start, end):
            over.append((*mapped, palette.style(words)))
    first = line.span(*matches[0]) if matches else None
    return Strip(segments(line.text, own, over)), cell_spans(line.text, [first])[0] if first else None


def _slid(strip: Strip, focus: Span | None, room: int, slide: int, mark: Strip) -> tuple[Strip, int, int]:
    """A text that is longer than ``room``, from where ``focus`` can be seen and ``slide`` cells on."""
    hidden = strip.cell_length - room
    start = 0
    if focus and focus[1] > room - 1:
        start = min(focus[0] - room // 3, hidden)
    start = min(max(start + slide, 0), hidden)
    if start:
        strip = Strip.join([mark, strip.crop(start + 1)])
    return strip, start, hidden - start


def draw(
    row: Row, width: int, palette: Palette, base: Style, ellipsis: str, slide: int = 0, gap: int = 1
) -> Drawn:
    """``row`` as exactly ``width`` cells on ``base``.

    The sliding cell shows its start, or the part around its first match if that lies beyond its room,
    moved by ``slide`` cells to the right (negative: left).
    """
    base += palette.style(row.style)
    cells = row.cells
    made = [_cell(cell, palette, base) for cell in cells]
    strips = [strip for strip, _ in made]
    widths = [
        strip.cell_length if cell.width is None else max(cell.width, 0)
        for cell, strip in zip(cells, strips, strict=True)
    ]
    before = after = 0
    sliding = max((at for at, cell in enumerate(cells) if cell.width is None), default=-1)
    if sliding >= 0:
        rest = sum(widths) - widths[sliding] + gap * (len(cells) - 1)
        room = widths[sliding] = max(width - rest, 0)
        if strips[sliding].cell_length > room > 0 and cells[sliding].crop == "end":
            mark = Strip([Segment(ellipsis, base + palette.style(cells[sliding].style))], 1)
            strips[sliding], before, after = _slid(*made[sliding], room, slide, mark)
    space = Strip([Segment(" " * gap, base)], gap)
    line: list[Strip] = []
    for cell, strip, room in zip(cells, strips, widths, strict=True):
        if line and gap:
            line.append(space)
        if cell.align == "right" and strip.cell_length < room:
            pad = room - strip.cell_length
            line.append(Strip([Segment(" " * pad, base)], pad))
            room = strip.cell_length
        line.append(fit(strip, room, base + palette.style(cell.style), ellipsis, cell.crop))
    return Drawn(Strip.join(line).adjust_cell_length(max(width, 0), base), before, after)


def rule(text: str, width: int, style: Style, line: str) -> Strip:
    """``text`` in the middle of a horizontal rule of ``width`` cells."""
    label = safe_line(text)[0]
    label = f" {label} " if label else ""
    left = max((width - cell_len(label)) // 2, 0)
    right = max(width - left - cell_len(label), 0)
    return Strip([Segment(line * left + label + line * right, style)]).adjust_cell_length(width, style)
