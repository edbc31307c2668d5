"""The first thing on the screen. It needs next to no imports, so that it is there at once; the workbench
takes its place as soon as its own modules are loaded."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen

from rarg_tui.ui.safe_text import safe


class Opening(Screen[None], inherit_bindings=False):
    """One line of text."""

    DEFAULT_CSS = """
    Opening { background: $background; color: $rarg-muted; content-align: center middle; }
    """
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, corpus: str) -> None:
        super().__init__()
        self._corpus = corpus

    def render(self) -> Content:
        return Content(f"rarg · {safe(self._corpus)}")
