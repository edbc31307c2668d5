"""RowList: a list that can be long. It draws the rows on screen and no others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from rarg_tui.ui.widgets.cells import Cell, Drawn, ListSource, Row, RowSource, draw, row_text, rule, segments
from rarg_tui.ui.widgets.line_view import LineView


class RowList(LineView, can_focus=True, inherit_bindings=False):
    """Rows of cells with a cursor.

    The rows come from a ``RowSource``, asked only for what is on screen. Row 0 is the first; ``cursor`` is
    -1 when there is nothing to select. Text in rows may be foreign.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "cursor_by(1)", "Down", show=False, id="list.down"),
        Binding("k,up", "cursor_by(-1)", "Up", show=False, id="list.up"),
        Binding("g,home", "cursor_first", "First row", show=False, id="list.first"),
        Binding("G,end", "cursor_last", "Last row", show=False, id="list.last"),
        Binding("ctrl+d", "cursor_page(0.5)", "Half a page down", show=False, id="list.half_down"),
        Binding("ctrl+u", "cursor_page(-0.5)", "Half a page up", show=False, id="list.half_up"),
        Binding("pagedown", "cursor_page(1)", "Page down", show=False, id="list.page_down"),
        Binding("pageup", "cursor_page(-1)", "Page up", show=False, id="list.page_up"),
        Binding("l,right", "slide(1)", "Slide right", show=False, id="list.right"),
        Binding("h,left", "slide(-1)", "Slide left", show=False, id="list.left"),
        Binding("n", "find_next", "Next found", show=False, id="list.find_next"),
        Binding("N", "find_previous", "Previous found", show=False, id="list.find_previous"),
        Binding("enter", "select", "Select", show=False, id="list.select"),
    ]

    cursor: reactive[int] = reactive(-1, init=False, repaint=False)
    """The selected row, from 0; -1 if there is none. Setting it clamps, skips dividers and scrolls."""
    following: reactive[bool] = reactive(False, init=False, repaint=False)
    """Whether the cursor sticks to the last row as rows are added."""

    class _About(Message):
        def __init__(self, row_list: RowList, index: int) -> None:
            super().__init__()
            self.row_list = row_list
            self.index = index

        @property
        def control(self) -> RowList:
            return self.row_list

    class Highlighted(_About):
        """The cursor came to another index (-1 when the list became empty). Rows that change under a
        cursor that stays send nothing: who sets the rows knows."""

    class Selected(_About):
        """A row was chosen: enter, a double click, or a click on the row with the cursor."""

    class FollowChanged(Message):
        """``following`` changed."""

        def __init__(self, row_list: RowList, following: bool) -> None:
            super().__init__()
            self.row_list = row_list
            self.following = following

        @property
        def control(self) -> RowList:
            return self.row_list

    def __init__(
        self,
        *,
        empty: str = "",
        follow: bool = False,
        gap: int = 1,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """``empty`` is said in place of rows; ``follow`` lists stick to their end until one scrolls up
        (and again after G); ``gap`` is the number of cells between cells."""
        super().__init__(empty=empty, name=name, id=id, classes=classes)
        self._source: RowSource = ListSource(())
        self._count = 0
        self._dividers: Collection[int] = frozenset()
        self._header: tuple[Cell, ...] = ()
        self._gap = gap
        self._can_follow = follow
        self._find = ""
        self.set_reactive(RowList.following, follow)

    # What the list holds

    def set_rows(
        self, source: RowSource, keep: bool = False, dividers: Collection[int] = frozenset()
    ) -> None:
        """Show ``source``. With ``keep`` cursor and scroll position stay where they are, as far as there
        are rows; otherwise both go to the start (to the end while following). ``dividers`` are the
        indices of rows that cannot be selected and are drawn as a rule around their text."""
        self._source = source
        self._dividers = dividers
        self._count = source.count()
        self.forget()
        self._lines_are(self._count)
        if not keep:
            self._slide = 0
        if self._count == 0:
            self.cursor = -1
        elif self.following:
            self.cursor = self._count - 1
            self._show_cursor()
        elif not keep or self.cursor < 0:
            self.scroll_to_line(0)
            self.cursor = 0
        else:
            self.cursor = self.validate_cursor(self.cursor)

    def set_header(self, cells: Collection[Cell] | None) -> None:
        """A line that stays above the rows; None removes it."""
        self._header = tuple(cells or ())
        self._fixed = 1 if self._header else 0
        self._lines_are(self._count)
        self.forget()

    def refresh_rows(self) -> None:
        """Draw the rows again: the source's answers changed, its count did not."""
        self.forget()

    @property
    def source(self) -> RowSource:
        """What ``set_rows`` was given."""
        return self._source

    @property
    def row_count(self) -> int:
        """Rows, dividers included."""
        return self._count

    # Searching

    def find(self, text: str, *, backwards: bool = False) -> int | None:
        """Move to the next row that holds ``text`` (no matter the case), this one included, and remember
        it for n and N; its index, or None. Searching goes on from the other end."""
        self._find = text.casefold()
        return self._seek(self._has_text, -1 if backwards else 1, include_cursor=True) if text else None

    def find_next(self, predicate: Callable[[int], bool] | None = None) -> int | None:
        """Move to the next row of which ``predicate(index)`` is true (without one: that holds the text of
        the last ``find``); its index, or None."""
        return self._seek(predicate or self._has_text, 1)

    def find_previous(self, predicate: Callable[[int], bool] | None = None) -> int | None:
        """Like ``find_next``, upwards."""
        return self._seek(predicate or self._has_text, -1)

    def _has_text(self, index: int) -> bool:
        return bool(self._find) and self._find in row_text(self._source.render(index, 0, False)).casefold()

    def _seek(self, predicate: Callable[[int], bool], step: int, include_cursor: bool = False) -> int | None:
        first = 0 if include_cursor else step
        for distance in range(self._count):
            index = (max(self.cursor, 0) + first + distance * step) % self._count
            if index not in self._dividers and predicate(index):
                self._move(index)
                return index
        return None

    # The cursor

    def validate_cursor(self, cursor: int) -> int:
        if self._count == 0:
            return -1
        wanted = min(max(cursor, 0), self._count - 1)
        if wanted not in self._dividers:
            return wanted
        step = 1 if wanted >= self.cursor else -1
        for direction in (step, -step):
            index = wanted
            while 0 <= index < self._count:
                if index not in self._dividers:
                    return index
                index += direction
        return -1

    def watch_cursor(self, cursor: int) -> None:
        self._show_cursor()
        self.refresh()
        self.post_message(self.Highlighted(self, cursor))

    def watch_following(self, following: bool) -> None:
        self.post_message(self.FollowChanged(self, following))

    def _move(self, index: int) -> None:
        """Move as a person does: letting go of the end, or taking hold of it again."""
        self.cursor = index
        if self._can_follow:
            self.following = self.cursor >= self.validate_cursor(self._count - 1)

    def action_cursor_by(self, rows: int) -> None:
        self._move(self.cursor + rows)

    def action_cursor_page(self, pages: float) -> None:
        self._move(self.cursor + int(pages * max(self.room, 1)))

    def action_cursor_first(self) -> None:
        self._move(0)

    def action_cursor_last(self) -> None:
        self._move(self._count - 1)

    def action_select(self) -> None:
        if self.cursor >= 0:
            self.post_message(self.Selected(self, self.cursor))

    def action_find_next(self) -> None:
        self.find_next()

    def action_find_previous(self) -> None:
        self.find_previous()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or (self._header and offset.y == 0):
            return
        index = self.first_line + offset.y - self._fixed
        if index >= self._count or index in self._dividers:
            return
        again = index == self.cursor
        self._move(index)
        if again or event.chain == 2:
            self.action_select()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        # A list that grows never scrolls up by itself, and one that shrinks ends at its last row.
        if self.following and new_value < old_value and new_value < self.max_scroll_y:
            self.following = False

    def on_resize(self) -> None:
        self._show_cursor()

    def _show_cursor(self) -> None:
        if self.cursor < 0 or not self.room:
            return
        if self.cursor < self.first_line:
            self.scroll_to_line(self.cursor)
        elif self.cursor >= self.first_line + self.room:
            self.scroll_to_line(self.cursor - self.room + 1)

    # Drawing

    def render_line(self, y: int) -> Strip:
        _, base, width = self._styles()
        if self._header:
            if y == 0:
                return self._draw_header(width)
            y -= 1
        if not self._count:
            return self._draw_empty(y)
        index = self.first_line + y
        if index >= self._count:
            return Strip.blank(width, base)
        selected = index == self.cursor
        return self._keep(index, (selected, self.has_focus, width), lambda: self._draw_row(index, selected))

    def _draw_header(self, width: int) -> Strip:
        palette, base, _ = self._styles()
        row = Row((Cell("", width=1 - self._gap), *self._header), "heading bold")
        return draw(row, width, palette, base, self._glyphs.ellipsis, gap=self._gap).strip

    def _draw_row(self, index: int, selected: bool) -> Drawn:
        palette, base, width = self._styles()
        row = self._source.render(index, max(width - 1, 0), selected)
        if index in self._dividers:
            return Drawn(rule(row_text(row), width, base + palette.style("cut-line"), self._glyphs.rule))
        mark, sign = " ", ""
        if selected:
            mark, sign = self._glyphs.cursor, "cursor-mark" if self.has_focus else "muted"
            back = "on-cursor" if self.has_focus else "on-cursor-blurred"
            row = Row(row.cells, f"{row.style} {back}")
        drawn = self._draw(row, max(width - 1, 0), self._gap)
        style = base + palette.style(f"{row.style} {sign}")
        strip = Strip.join([Strip(segments(mark, style)), drawn.strip]).adjust_cell_length(width, base)
        return Drawn(strip, drawn.before, drawn.after)
