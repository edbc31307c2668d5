"""Changing a call before it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import TextArea

from rarg_tui.errors import RargError
from rarg_tui.trace.state import CallState, RunState
from rarg_tui.ui.panes.view import will_run
from rarg_tui.ui.screens.dialog import Dialog, SafeTextArea, is_plain
from rarg_tui.ui.widgets.plain import PlainStatic, plain_title

_MAIN = {"bash": "command", "embed_recall": "query", "pull": "query", "retrieve": "query"}
_NAMES = {"bash": "command", "embed_recall": "recall query", "read": "document to read"}


def as_json(arguments: Mapping[str, Any] | None, raw: str) -> str:
    """Arguments as JSON that can be shown and edited; characters that cannot be shown are escaped."""
    if arguments is None:
        return raw if is_plain(raw) else json.dumps(raw)
    text = json.dumps(arguments, indent=2, ensure_ascii=False)
    return text if is_plain(text) else json.dumps(arguments, indent=2)


def parse_json(text: str) -> dict[str, Any]:
    """The arguments of edited JSON. Raises ``RargError`` with line and column."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise RargError(
            f"This is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from None
    if not isinstance(data, dict):
        raise RargError('The arguments must be one JSON object, such as {"query": "…"}.')
    return data


def check_command(command: str) -> str:
    """What the parser says about a command: "" when it can read it."""
    from rarg_tui.search.command import parse

    try:
        parse(command)
    except RargError as error:
        return str(error)
    return ""


class EditCall(Dialog[Mapping[str, Any] | None]):
    """A text area with the command or the query, or all arguments as JSON. The result is the changed
    arguments, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "accept", "Accept", show=False),
        Binding("ctrl+j,f2", "switch", "All arguments", show=False),
    ]

    def __init__(self, call: CallState, state: RunState) -> None:
        super().__init__()
        self.call = call
        self._state_now = state
        self._arguments: dict[str, Any] = dict(call.arguments or {})
        self._key = _MAIN.get(call.tool, "")
        value = self._arguments.get(self._key)
        self._plain = isinstance(value, str) and is_plain(value)
        self.area = SafeTextArea(str(value) if self._plain else as_json(call.arguments, call.raw))
        self._fault = PlainStatic("", classes="fault")
        self._runs = PlainStatic("", classes="hint")

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            plain_title(box, f"Edit call {self.call.number}", "ctrl+s accept · f2 all arguments · esc leave")
            yield PlainStatic(self._label(), classes="label", id="what")
            yield self.area
            yield self._fault
            yield PlainStatic("will run", classes="label")
            yield self._runs

    def on_mount(self) -> None:
        self.area.focus()
        self.area.move_cursor(self.area.document.end)
        self._look()

    def _label(self) -> str:
        return (
            _NAMES.get(self.call.tool, self.call.tool)
            if self._plain
            else f"{self.call.tool}: arguments as JSON"
        )

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._look()

    def _look(self) -> None:
        """Say what will run, or what is wrong."""
        try:
            arguments = self._read()
        except RargError as error:
            self._fault.update(str(error))
            self._runs.update("")
            return
        command = str(arguments.get("command", "")) if self.call.tool == "bash" else ""
        self._fault.update(check_command(command) if command else "")
        changed = replace(self.call, arguments=arguments, error="")
        self._runs.update("\n".join(will_run(self._state_now, changed)))

    def _read(self) -> dict[str, Any]:
        text = self.area.text
        if not self._plain:
            return parse_json(text)
        if not text.strip():
            raise RargError(f"The {self._key} is empty.")
        return {**self._arguments, self._key: text.strip()}

    def action_switch(self) -> None:
        """From the command or query to all arguments, or back."""
        try:
            arguments = self._read()
        except RargError as error:
            self._fault.update(str(error))
            return
        value = arguments.get(self._key)
        if not self._plain and not (isinstance(value, str) and is_plain(value)):
            self._fault.update("These arguments can be edited as JSON only.")
            return
        self._arguments = arguments
        self._plain = not self._plain
        self.area.text = str(value) if self._plain else as_json(arguments, "")
        self.query_one("#what", PlainStatic).update(self._label())

    def action_accept(self) -> None:
        try:
            self.dismiss(self._read())
        except RargError as error:
            self._fault.update(str(error))
