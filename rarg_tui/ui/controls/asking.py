"""Questions, typed commands, gold marks and searching within lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarg_tui.errors import RargError
from rarg_tui.ui.controls.base import Controls
from rarg_tui.ui.wish import Wish

if TYPE_CHECKING:
    from rarg_tui.ui.controls.base import Pane


class AskingControls(Controls, inherit_bindings=False):
    """Ask, type a command, run one again, mark, search."""

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
                self.change(lambda: self.bridge.start(wish.question, wish.strategy, wish.model, wish.profile))
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
            if self.bridge.session is None and self.waiting_for_index():
                raise RargError(self.waiting_for_index())
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
        target = self.target()
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
