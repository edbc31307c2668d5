"""Asking before text of the corpus goes to another machine."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from rarg_tui.ui.screens.dialog import Dialog
from rarg_tui.ui.widgets.plain import PlainStatic, plain_title


class Consent(Dialog[bool | None]):
    """Yes or no; escape is no. Only a key that says yes is a yes: enter may have been meant for another."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes", show=False),
        Binding("n", "dismiss(False)", "No", show=False),
    ]

    def __init__(self, what: str, server: str) -> None:
        super().__init__()
        self._what = what
        self._server = server

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            plain_title(box, f"Send text to {self._server}?", "y yes · n no · esc no")
            yield PlainStatic(f"{self._what}.")
            yield PlainStatic("Asked once for this corpus and this server.", classes="hint")
