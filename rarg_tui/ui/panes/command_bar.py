"""The line at the bottom: commands by hand, and searching within a list."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from rarg_tui.ui.safe_text import safe
from rarg_tui.ui.widgets.plain import PlainStatic

LONGEST = 8_000
_PLACEHOLDER = "recall QUERY   rg PATTERN   read PATH:LINE   shell COMMAND"
Mode = Literal["command", "search"]


class SafeInput(Input):
    """An Input that no character gets into which could command the terminal."""

    def validate_value(self, value: str) -> str:
        return safe(value, LONGEST, 1)

    def on_key(self, event: events.Key) -> None:
        # Some terminals send the space bar as an escape sequence without a character.
        if event.key == "space" and event.character is None:
            event.stop()
            event.prevent_default()
            self.insert_text_at_cursor(" ")


class CommandInput(SafeInput):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "recall(-1)", "Earlier command", show=False),
        Binding("down", "recall(1)", "Later command", show=False),
        Binding("escape", "leave", "Leave", show=False),
    ]

    class Recalled(Message):
        """An earlier (-1) or later (1) line was asked for."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Left(Message):
        """The person wants out."""

    def action_recall(self, step: int) -> None:
        self.post_message(self.Recalled(step))

    def action_leave(self) -> None:
        self.post_message(self.Left())


class CommandBar(Vertical):
    """A prompt and, beneath it, what was wrong with the line that stands there."""

    class Entered(Message):
        """A line was entered in ``mode``."""

        def __init__(self, text: str, mode: Mode) -> None:
            super().__init__()
            self.text = text
            self.mode = mode

    class Left(Message):
        """The person left the bar without entering anything."""

    def __init__(self) -> None:
        super().__init__(id="command-bar")
        self.mode: Mode = "command"
        self.history: list[str] = []
        self._at = 0
        self._draft = ""
        self.input = CommandInput(placeholder=_PLACEHOLDER, id="command", compact=True, select_on_focus=False)
        self._prompt = PlainStatic("›", id="prompt")
        self._error = PlainStatic("", id="command-error")

    def compose(self) -> ComposeResult:
        with Horizontal(id="command-line"):
            yield self._prompt
            yield self.input
        yield self._error

    @property
    def error(self) -> str:
        """What is said about the line, "" for nothing."""
        return str(self._error.content) if self._error.display else ""

    def on_mount(self) -> None:
        self._error.display = False

    def begin(self, mode: Mode, text: str | None = None) -> None:
        """Take the focus, with ``text`` in the line if it is given."""
        if mode != self.mode or mode == "search":
            self.input.value = ""
        self.mode = mode
        self._prompt.update("/" if mode == "search" else "›")
        self.input.placeholder = "text to look for; n and N go on" if mode == "search" else _PLACEHOLDER
        if text is not None:
            self.input.value = text
            self.input.cursor_position = len(text)
            self.say("")
        self._at = len(self.history)
        # At once: Widget.focus() comes later, and keys typed until then would go to a pane.
        self.screen.set_focus(self.input, scroll_visible=False)

    def say(self, sentence: str) -> None:
        """Say what is wrong with the line, beside it; "" takes it away."""
        self._error.update(sentence)
        self._error.display = bool(sentence)

    def accepted(self) -> None:
        """The line was carried out: empty it."""
        self.say("")
        if self.mode == "command":
            self.input.value = ""

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.say("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        if self.mode == "command":
            # The key that leads here is typed once more by whoever knows other editors.
            text = text.removeprefix(":").lstrip()
        if self.mode == "command" and text and self.history[-1:] != [text]:
            self.history.append(text)
        self._at = len(self.history)
        self.post_message(self.Entered(text, self.mode))

    def on_command_input_recalled(self, event: CommandInput.Recalled) -> None:
        event.stop()
        if self.mode == "search" or not self.history:
            return
        if self._at == len(self.history):
            self._draft = self.input.value
        self._at = min(max(self._at + event.step, 0), len(self.history))
        text = self.history[self._at] if self._at < len(self.history) else self._draft
        self.input.value = text
        self.input.cursor_position = len(text)

    def on_command_input_left(self, event: CommandInput.Left) -> None:
        event.stop()
        if self.mode == "search":
            self.begin("command", "")
        self.post_message(self.Left())
