"""What the list and the document view share: lines drawn one by one, kept, and slid sideways."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from rarg_tui.ui.glyphs import Glyphs, glyphs
from rarg_tui.ui.palette import Palette, palette_of
from rarg_tui.ui.widgets.cells import Cell, Drawn, Row, draw

SLIDE = 8
"""Cells that one press of h or l slides."""


class LineView(ScrollView, inherit_bindings=False):
    """Equally high lines, of which only those on screen are drawn; the drawn ones are kept until the
    theme, the width or the content changes."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    LineView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(
        self, *, empty: str = "", name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._empty = empty
        self._fixed = 0
        self._slide = 0
        self._kept: LRUCache[Hashable, Strip] = LRUCache(512)
        self._hidden: dict[int, tuple[int, int]] = {}
        self._palette: Palette | None = None
        self._base: Style | None = None
        self._painting: tuple[Palette, Style, int] | None = None
        self._glyphs: Glyphs = glyphs()

    @property
    def first_line(self) -> int:
        """The line at the top, from 0."""
        return self.scroll_offset.y

    @property
    def room(self) -> int:
        """Lines that fit on screen."""
        return max(self.scrollable_content_region.height - self._fixed, 0)

    @property
    def wrap_width(self) -> int:
        """Cells to wrap to: those that stay when a scrollbar appears."""
        spare = 0 if self.show_vertical_scrollbar else self.styles.scrollbar_size_vertical
        return max(self.scrollable_content_region.width - spare, 0)

    def set_empty(self, text: str) -> None:
        """What is said when there are no lines."""
        self._empty = text
        self.refresh()

    def scroll_to_line(self, line: int) -> None:
        """Bring ``line`` (from 0) to the top, as far as there are lines below it."""
        if self.is_attached:
            self.scroll_to(y=max(line, 0), animate=False, force=True)

    def forget(self) -> None:
        """Draw everything anew."""
        self._kept.clear()
        self._hidden.clear()
        self.refresh()

    def action_slide(self, steps: int) -> None:
        shown = range(self.first_line, self.first_line + self.room)
        hidden = [self._hidden[line] for line in shown if line in self._hidden]
        left = max((after if steps > 0 else before for before, after in hidden), default=0)
        self._slide += min(SLIDE * abs(steps), left) * (1 if steps > 0 else -1)
        # What is hidden where is still wanted, in case of another press before the next paint.
        self._kept.clear()
        self.refresh()

    def on_resize(self) -> None:
        self.forget()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._kept.clear()

    def _lines_are(self, count: int) -> None:
        self.virtual_size = Size(0, count + self._fixed)

    def render_lines(self, crop: Region) -> list[Strip]:
        # The style of plain text comes from all ancestors: it is worked out once a paint, not once a line.
        self._painting = None
        self._painting = self._styles()
        try:
            return super().render_lines(crop)
        finally:
            self._painting = None

    def _styles(self) -> tuple[Palette, Style, int]:
        """The palette, the style of plain text, and the width to draw in."""
        if self._painting:
            return self._painting
        palette, base = palette_of(self, self._palette), self.rich_style
        if palette is not self._palette or base != self._base:
            self._palette, self._base = palette, base
            self._kept.clear()
        return palette, base, self.scrollable_content_region.width

    def _keep(self, line: int, key: Hashable, make: Callable[[], Drawn]) -> Strip:
        """The drawn ``line``, made only if it was not made before under this ``key``."""
        strip = self._kept.get((line, key))
        if strip is None:
            drawn = make()
            self._hidden[line] = drawn.before, drawn.after
            strip = self._kept[line, key] = drawn.strip
        return strip

    def _draw(self, row: Row, width: int, gap: int = 1) -> Drawn:
        palette, base, _ = self._styles()
        return draw(row, width, palette, base, self._glyphs.ellipsis, self._slide, gap)

    def _draw_empty(self, y: int) -> Strip:
        """Line ``y`` of a view without lines."""
        palette, base, width = self._styles()
        if not self._empty or y != max(self.room - 1, 0) // 2:
            return Strip.blank(width, base)
        row = Row((Cell("", width=1), Cell(self._empty, "muted"), Cell("", width=1)))
        return draw(row, width, palette, base, self._glyphs.ellipsis, gap=0).strip
