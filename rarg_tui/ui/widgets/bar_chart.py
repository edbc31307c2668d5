"""Histograms of whole numbers, in text cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from rarg_tui.ui.glyphs import Glyphs, glyphs
from rarg_tui.ui.palette import Palette, palette_of
from rarg_tui.ui.safe_text import safe
from rarg_tui.ui.widgets.cells import Cell, Row, draw


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """A bucket: its label, how many there are in all, how many of these are relevant."""

    label: str
    all: int
    gold: int


def bar(value: float, top: float, width: int, signs: Glyphs) -> str:
    """A bar of ``value``, where ``top`` fills ``width`` cells: whole cells, then eighths of one. Whatever
    is more than nothing shows at least an eighth."""
    if value <= 0 or top <= 0 or width <= 0:
        return ""
    eighths = min(max(round(value / top * width * 8), 1), width * 8)
    whole, rest = divmod(eighths, 8)
    return signs.bar[8] * whole + (signs.bar[rest] if rest else "")


def sparkline(values: Sequence[float], width: int | None = None, signs: Glyphs | None = None) -> str:
    """One sign for each value, scaled to the greatest; of more than ``width`` values the last ones.
    Negative values count as 0."""
    steps = (signs or glyphs()).spark
    shown = list(values) if width is None else list(values)[-width:] if width > 0 else []
    top = max(shown, default=0)
    if top <= 0:
        return steps[0] * len(shown)
    return "".join(steps[round(max(value, 0) / top * (len(steps) - 1))] for value in shown)


class HistogramView(Widget):
    """Rows of label, bar and number; the relevant ones apart, as stars, with a number of their own."""

    DEFAULT_CSS = """
    HistogramView {
        height: auto;
    }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._rows: tuple[HistogramRow, ...] = ()
        self._header = ("", "all", "gold")
        self._palette: Palette | None = None
        self._glyphs = glyphs()

    def set_rows(
        self, rows: Sequence[HistogramRow], header: tuple[str, str, str] = ("", "all", "gold")
    ) -> None:
        """Show ``rows`` from the top; ``header`` names label, bar and gold columns."""
        self._rows = tuple(rows)
        self._header = header
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows) + 1

    def render_line(self, y: int) -> Strip:
        self._palette = palette = palette_of(self, self._palette)
        width = self.content_size.width
        base: Style = self.rich_style
        if y > len(self._rows):
            return Strip.blank(width, base)
        return draw(self._row(y, width), width, palette, base, self._glyphs.ellipsis).strip

    def _row(self, y: int, width: int) -> Row:
        longest = max((cell_len(safe(row.label, width + 1)) for row in self._rows), default=0)
        labels = min(longest, width // 3)
        numbers = max((len(f"{row.all:,}") for row in self._rows), default=1)
        golds = max((len(f"{row.gold:,}") for row in self._rows), default=1)
        most_gold = max((row.gold for row in self._rows), default=0)
        room = max(width - labels - numbers - golds - 4, 0)
        stars = min(most_gold, room // 3)
        # The column is wide enough for its title, where the bars can spare it.
        lacking = min(max(len(self._header[2]) - stars - golds - 1, 0), (room - stars) // 2)
        golds += lacking
        bars = room - stars - lacking
        if y == 0:
            label, all_, gold = self._header
            return Row(
                (
                    Cell(label, width=labels),
                    Cell(all_, width=bars + numbers + 1),
                    Cell(gold, width=stars + golds + 1),
                ),
                "heading",
            )
        row = self._rows[y - 1]
        top = max(each.all for each in self._rows)
        filled = row.gold if most_gold <= stars else -(-row.gold * stars // most_gold)
        return Row(
            (
                Cell(row.label, "muted", width=labels),
                Cell(bar(row.all, top, bars, self._glyphs), "bar", width=bars),
                Cell(f"{row.all:,}", "number", width=numbers, align="right"),
                Cell(self._glyphs.gold * filled, "gold-bar", width=stars),
                Cell(f"{row.gold:,}" if row.gold else "", "gold", width=golds, align="right"),
            )
        )
