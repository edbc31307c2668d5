"""What the dialogues have in common: a box over the workbench, left with escape."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import TextArea

from rarg_tui.ui.safe_text import safe, safe_lines

Result = TypeVar("Result")


#: Dialogues take all keys but those of priority; what always quits must quit from them too.
QUIT = Binding("ctrl+q", "app.do('quit')", "Quit", show=False)


class Dialog(ModalScreen[Result]):
    """A modal screen; its box is the one widget with the class ``box``."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 60%;
    }
    Dialog .box {
        width: 90%;
        max-width: 110;
        height: auto;
        max-height: 96%;
        padding: 0 1;
        border: round $border;
        border-title-color: $foreground;
        border-title-style: bold;
        border-subtitle-color: $rarg-muted;
        background: $background;
    }
    Dialog .label {
        height: auto;
        color: $rarg-heading;
        margin-top: 1;
    }
    Dialog .hint {
        height: auto;
        color: $rarg-muted;
    }
    Dialog .fault {
        height: auto;
        min-height: 1;
        color: $error;
    }
    Dialog Input, Dialog TextArea {
        border: round $rarg-rule;
        background: $background;
        background-tint: $background 0%;
        padding: 0;
    }
    Dialog Input:focus, Dialog TextArea:focus {
        border: round $border;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", show=False), QUIT]


class SafeTextArea(TextArea):
    """A TextArea for text that may be foreign. It has no language: the highlighter of the tree-sitter
    that is current ends the interpreter on some documents."""

    DEFAULT_CSS = """
    SafeTextArea { height: auto; min-height: 3; max-height: 12; }
    """

    def on_paste(self, event: events.Paste) -> None:
        # Before TextArea's own handler takes it.
        event.text = "\n".join(safe_lines(event.text, len(event.text) * 8 + 1))


def is_plain(text: str) -> bool:
    """Whether every line of ``text`` can be shown as it is."""
    return all(safe(line, len(line) + 1) == line for line in text.split("\n"))
