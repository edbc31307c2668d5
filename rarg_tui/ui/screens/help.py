"""All keys, or the help of one pane; made from the registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from rarg_tui.ui.action import Action
from rarg_tui.ui.actions import grouped, key_names
from rarg_tui.ui.panes.base import LIST_BINDINGS, TITLES
from rarg_tui.ui.panes.view import wrapped
from rarg_tui.ui.screens.dialog import Dialog
from rarg_tui.ui.widgets.cells import Cell, ListSource, Row
from rarg_tui.ui.widgets.plain import PlainStatic, plain_title
from rarg_tui.ui.widgets.row_list import RowList

KEYS = 12


class KeyList(RowList, inherit_bindings=False):
    """Keys and what they do, by group."""

    BINDINGS: ClassVar[list[BindingType]] = LIST_BINDINGS

    def __init__(self, registry: Sequence[Action], pane: str) -> None:
        super().__init__(empty="No keys of its own.")
        self._registry = registry
        self._pane = pane

    def on_resize(self) -> None:
        room = self.scrollable_content_region.width - KEYS - 2
        rows: list[Row] = []
        for group, members in grouped(self._pane, self._registry):
            if rows:
                rows.append(Row(()))
            rows.append(Row((Cell(group, "heading bold"),)))
            for one in members:
                first, *more = wrapped(one.help, room)
                rows.append(Row((Cell(key_names(one.keys), "accent bold", KEYS), Cell(first))))
                rows += [Row((Cell("", width=KEYS), Cell(line))) for line in more]
        self.set_rows(ListSource(rows), keep=True)


class Help(Dialog[None]):
    """A list of keys; with ``pane``, its description and the keys that matter there."""

    DEFAULT_CSS = """
    Help .box { height: 90%; }
    Help #about { height: auto; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1,q", "dismiss(None)", "Close", show=False)
    ]

    def __init__(self, registry: Sequence[Action], pane: str = "") -> None:
        super().__init__()
        self._pane = pane
        self.keys = KeyList(registry, pane)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            plain_title(box, TITLES[self._pane] if self._pane else "Keys", "esc leaves")
            if self._pane:
                yield PlainStatic(about(self._pane), id="about")
            yield self.keys

    def on_mount(self) -> None:
        self.keys.focus()


def about(pane: str) -> str:
    """What a pane shows, in its own words."""
    from rarg_tui.ui.panes.document import DocumentPane
    from rarg_tui.ui.panes.hits import HitsPane
    from rarg_tui.ui.panes.matches import RankedPane, RawPane
    from rarg_tui.ui.panes.scope import ScopePane
    from rarg_tui.ui.panes.transcript import TranscriptPane

    panes = (TranscriptPane, ScopePane, HitsPane, RawPane, RankedPane, DocumentPane)
    return next(one.HELP for one in panes if pane == one.PANE)
