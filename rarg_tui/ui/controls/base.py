"""The one way to what actions do, and what all of them use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from textual.screen import Screen

from rarg_tui.errors import RargError
from rarg_tui.ui import actions
from rarg_tui.ui.panes.view import Target, View
from rarg_tui.ui.widgets.plain import plain_notify
from rarg_tui.ui.wish import Wish

if TYPE_CHECKING:
    from rarg_tui.ui.action import Action
    from rarg_tui.ui.app import RargApp
    from rarg_tui.ui.bridge import Bridge
    from rarg_tui.ui.panes.base import ListPane
    from rarg_tui.ui.panes.command_bar import CommandBar
    from rarg_tui.ui.panes.document import DocumentPane
    from rarg_tui.ui.panes.hits import HitsPane
    from rarg_tui.ui.panes.transcript import TranscriptPane
    from rarg_tui.ui.screens.arrangement import Arrangement

    Pane = ListPane | HitsPane | DocumentPane


class Controls(Screen[None], inherit_bindings=False):
    """The ``do_…`` methods, one for each action; ``action_do`` is the one way to them."""

    bridge: Bridge
    view: View
    arrangement: Arrangement
    chosen: int
    index_ready: bool
    wish: Wish
    transcript: TranscriptPane
    document: DocumentPane
    command: CommandBar
    panes: dict[str, Pane]

    def facts(self) -> set[str]:
        raise NotImplementedError

    def place(self, arrangement: Arrangement, focus: bool = True) -> None:
        raise NotImplementedError

    def focus_pane(self) -> None:
        raise NotImplementedError

    def render_view(self) -> None:
        raise NotImplementedError

    def action_do(self, identity: str) -> None:
        """Do an action, or say why it cannot be done now."""
        wanted = actions.action(identity)
        if wanted.app:
            self.rarg().action_do(identity)
            return
        why = actions.missing(wanted, self.facts())
        if why:
            self.say(self.waiting_for_index() or why)
            return
        if identity.startswith("focus_"):
            self.place(self.arrangement.focus(identity.removeprefix("focus_")))
            return
        try:
            getattr(self, f"do_{identity}")()
        except RargError as error:
            self.say(str(error))

    def waiting_for_index(self) -> str:
        if self.bridge.session is None and not self.index_ready:
            return "The index is being made ready: one moment."
        return ""

    def say(self, sentence: str) -> None:
        """A short notice, one at a time."""
        self.app.clear_notifications()
        plain_notify(self, sentence, timeout=4)

    def show_in(self, pane: str, view: View) -> None:
        """Give a pane the view."""
        self.panes[pane].show(view)

    def change(self, change: Callable[[], object]) -> None:
        """Dialogues end after the run may have gone on."""
        try:
            change()
        except RargError as error:
            self.say(str(error))

    def target(self) -> Target | None:
        return self.panes[self.arrangement.pane].target()

    def registry(self) -> Sequence[Action]:
        """The actions, with the keys of the settings."""
        return self.rarg().registry

    def rarg(self) -> RargApp:
        return cast("RargApp", self.app)
