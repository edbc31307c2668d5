"""Putting a call of one's own before the one that waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from rarg_tui.agent.manual import COMMANDS, parse_line
from rarg_tui.errors import RargError
from rarg_tui.trace.state import RunState
from rarg_tui.ui.panes.command_bar import SafeInput
from rarg_tui.ui.screens.dialog import Dialog
from rarg_tui.ui.widgets.plain import PlainStatic, plain_title


class InsertCall(Dialog[tuple[str, Mapping[str, Any]] | None]):
    """One line, as in the command bar; the call runs with the next step. The result is tool and
    arguments, or None."""

    def __init__(self, state: RunState) -> None:
        super().__init__()
        self._state_now = state
        self.input = SafeInput(placeholder="rg PATTERN", compact=False)
        self._fault = PlainStatic("", classes="fault")

    def compose(self) -> ComposeResult:
        waiting = self._state_now.next_call
        where = f"before call {waiting.number}" if waiting is not None else "before the model's next turn"
        with Vertical(classes="box") as box:
            plain_title(box, f"Insert a call {where}", "enter insert · esc leave")
            yield self.input
            yield self._fault
            yield PlainStatic("   ".join(COMMANDS.values()), classes="hint")

    def on_mount(self) -> None:
        self.input.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._fault.update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            self.dismiss(parse_line(event.value, self._state_now))
        except RargError as error:
            self._fault.update(str(error))
