"""What each action of the registry does in the workbench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from textual.screen import Screen

from rarg_tui.errors import RargError
from rarg_tui.ui import actions
from rarg_tui.ui.panes.view import Target, View
from rarg_tui.ui.widgets.plain import plain_notify
from rarg_tui.ui.wish import Wish

if TYPE_CHECKING:
    from rarg_tui.ui.actions import Action
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

    # -- the way to the actions ----------------------------------------------------------------

    def action_do(self, identity: str) -> None:
        """Do an action, or say why it cannot be done now."""
        wanted = actions.action(identity)
        if wanted.app:
            self._app().action_do(identity)
            return
        why = actions.missing(wanted, self.facts())
        if why:
            self.say(self._waiting_for_index() or why)
            return
        if identity.startswith("focus_"):
            self.place(self.arrangement.focus(identity.removeprefix("focus_")))
            return
        try:
            getattr(self, f"do_{identity}")()
        except RargError as error:
            self.say(str(error))

    def _waiting_for_index(self) -> str:
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

    # -- the run -------------------------------------------------------------------------------

    def do_step(self) -> None:
        self.chosen = 0
        self.transcript.follow()
        self.bridge.step()
        self.render_view()

    def do_continue(self) -> None:
        self.chosen = 0
        self.transcript.follow()
        self.bridge.go_on()
        self.render_view()

    def do_pause(self) -> None:
        self.bridge.pause()
        self.render_view()

    def do_edit(self) -> None:
        from rarg_tui.ui.screens.edit_call import EditCall

        call = self.view.state.next_call
        if call is None:
            return

        def changed(arguments: Mapping[str, Any] | None) -> None:
            if arguments is not None and arguments != call.arguments:
                self._change(lambda: self.bridge.edit(call.number, arguments))

        self.app.push_screen(EditCall(call, self.view.state), changed)

    def do_insert(self) -> None:
        from rarg_tui.ui.screens.insert_call import InsertCall

        def given(call: tuple[str, Mapping[str, Any]] | None) -> None:
            if call is not None:
                self._change(lambda: self.bridge.insert(*call))

        self.app.push_screen(InsertCall(self.view.state), given)

    def do_skip(self) -> None:
        call = self.view.state.next_call
        if call is not None:
            self.bridge.skip(call.number)

    def _change(self, change: Callable[[], object]) -> None:
        """Dialogues end after the run may have gone on."""
        try:
            change()
        except RargError as error:
            self.say(str(error))

    def do_follow(self) -> None:
        self.chosen = 0
        self.transcript.follow()
        self.render_view()

    # -- asking and searching ------------------------------------------------------------------

    def do_ask(self) -> None:
        from rarg_tui.ui.screens.ask import Ask, Asked

        if not self.index_ready:
            if self.wish.run:
                # A saved run needs no index; a question does, and it is asked for once that is there.
                self.wish = Wish()
                self.bridge.prepare()
            raise RargError("The index is being made ready: one moment.")

        def asked(wish: Asked | None) -> None:
            if wish is not None:
                self._change(
                    lambda: self.bridge.start(wish.question, wish.strategy, wish.model, wish.profile)
                )
                self.render_view()

        self.app.push_screen(Ask(self.bridge.workbench, self.view.state), asked)

    def do_command(self) -> None:
        self.command.begin("command")

    def do_override(self) -> None:
        from rarg_tui.agent.manual import as_line
        from rarg_tui.ui.safe_text import safe

        call = self.view.state.call(self.transcript.selected_call()) or self.view.call
        if call is None:
            raise RargError("There is no call yet whose command could be run again.")
        line = as_line(call.tool, call.arguments)
        if safe(line, len(line) + 1, 1) != line:
            raise RargError(
                "This command holds characters that a line cannot show; edit it with e, before it runs."
            )
        self.command.begin("command", line)

    def run_command(self, text: str) -> None:
        """Execute a line of the command bar."""
        from rarg_tui.agent.manual import parse_line

        try:
            if self.bridge.session is None and self._waiting_for_index():
                raise RargError(self._waiting_for_index())
            tool, arguments = parse_line(text, self.view.state)
            if self.bridge.session is None:
                question = str(arguments.get("query", text))
                self.bridge.begin_and_run(question, tool, arguments)
            else:
                self.bridge.manual(tool, arguments)
        except RargError as error:
            self.command.say(str(error))
            return
        self.chosen = 0
        self.render_view()

    def do_gold(self) -> None:
        target = self._target()
        if target is None:
            raise RargError("Select a document first, in the scope, the matches or the document itself.")
        gold = self.view.state.gold.get(target.path, 0) > 0
        self.bridge.mark_gold(target.path, 0 if gold else 1)

    def do_search(self) -> None:
        self.command.begin("search")

    def search_for(self, text: str) -> None:
        """Go to the next row of the focused pane that holds ``text``."""
        self.focus_pane()
        if text and not self._seeker().seek(text):
            self.say(f"“{text}” is not in this list.")

    def do_next_match(self) -> None:
        self._seek_again(1)

    def do_previous_match(self) -> None:
        self._seek_again(-1)

    def _seek_again(self, step: int) -> None:
        if not self._seeker().seek_again(step):
            self.say("Nothing to go to: / searches for a text.")

    def _seeker(self) -> Pane:
        return self.panes[self.arrangement.pane]

    # -- documents -----------------------------------------------------------------------------

    def _target(self) -> Target | None:
        return self.panes[self.arrangement.pane].target()

    def do_open(self) -> None:
        """Enter: unfold a row of the transcript, or show the document of the row."""
        target = self._target()
        if self.arrangement.pane == "transcript" and target is None:
            self.transcript.unfold()
        elif target is not None and self.arrangement.pane != "document":
            self.load_target()

    def load_target(self) -> None:
        """Load the document of the selected row."""
        target = self._target()
        if target is not None:
            self.bridge.load_document(target.path, target.line)

    def open_document(self) -> None:
        """Show the document pane; the focus stays with the matches where they stay on screen."""
        now = self.arrangement
        beside = now.pane in ("raw", "ranked", "transcript") and not now.zoomed and now.form != "narrow"
        opened = now.focus("document")
        self.place(opened.focus(now.pane) if beside else opened)

    # -- panes and program ---------------------------------------------------------------------

    def do_next_pane(self) -> None:
        self.place(self.arrangement.cycle(1))

    def do_previous_pane(self) -> None:
        self.place(self.arrangement.cycle(-1))

    def do_zoom(self) -> None:
        self.place(replace(self.arrangement, zoomed=not self.arrangement.zoomed))

    def do_back(self) -> None:
        self.place(self.arrangement.back())

    def do_help(self) -> None:
        from rarg_tui.ui.screens.help import Help

        self.app.push_screen(Help(self.registry()))

    def do_pane_help(self) -> None:
        from rarg_tui.ui.screens.help import Help

        self.app.push_screen(Help(self.registry(), self.arrangement.pane))

    def do_theme(self) -> None:
        self.say(f"Theme {self._app().next_theme()}.")

    def registry(self) -> Sequence[Action]:
        """The actions, with the keys of the settings."""
        return self._app().registry

    def _app(self) -> RargApp:
        return cast("RargApp", self.app)
