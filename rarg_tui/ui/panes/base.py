"""What all panes of rows have in common."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from rarg_tui.errors import RargError
from rarg_tui.ui.action import PANES
from rarg_tui.ui.actions import bindings
from rarg_tui.ui.panes.view import Target, View
from rarg_tui.ui.widgets.plain import plain_title
from rarg_tui.ui.widgets.row_list import RowList

NUMBERS = {name: number for number, (name, _, _) in enumerate(PANES, start=1)}
TITLES = {name: title for name, title, _ in PANES}

LIST_BINDINGS: list[BindingType] = [*bindings("list"), Binding("enter", "select", "open", show=False)]


def title_of(pane: str, *more: str, name: str = "") -> str:
    """A pane's title: its number, its name (or ``name``), and what is in it."""
    return " · ".join((f"{NUMBERS[pane]} {name or TITLES[pane]}", *(part for part in more if part)))


class ListPane(RowList, inherit_bindings=False):
    """A pane that is a list. ``show`` gives it the view; it renders what of it concerns it."""

    PANE: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = LIST_BINDINGS

    def __init__(self, *, empty: str = "", follow: bool = False, id: str = "") -> None:
        super().__init__(empty=empty, follow=follow, id=id or self.PANE, classes="pane")
        plain_title(self, title_of(self.PANE))

    def show(self, view: View) -> None:
        """Render ``view``."""
        raise NotImplementedError

    def target(self) -> Target | None:
        """The document, and the line in it, that the selected row stands for."""
        return None

    def next_view(self) -> None:
        """Show the same in another way; ``RargError`` where there is only one."""
        raise RargError("This pane has no other view.")

    def seek(self, text: str) -> bool:
        """Go to the next row that holds ``text``, this one included; False if none does."""
        return self.find(text) is not None

    def seek_again(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) row with the text of the last search."""
        return (self.find_next() if step > 0 else self.find_previous()) is not None

    def name_it(self, *more: str, name: str = "", below: str = "") -> None:
        """Set the title, and the text in the lower border."""
        plain_title(self, title_of(self.PANE, *more, name=name), below)
