"""Text that is never markup: a Static, toasts, tooltips and border titles for foreign text.

Textual parses almost every ``str`` it is given as markup: brackets vanish, ``[/]`` ends the app and
``[@click=…]`` makes a line of a document run an action. These do not parse, whatever they are given.
"""

from __future__ import annotations

from typing import Literal, Protocol

from textual.content import Content
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from rarg_tui.ui.safe_text import content as safe_content
from rarg_tui.ui.safe_text import safe

Severity = Literal["information", "warning", "error"]


class PlainStatic(Static):
    """A Static whose strings are shown as they are, made safe; ``Content`` is taken as it comes."""

    def __init__(
        self,
        text: str | Content = "",
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(_plain(text), markup=False, name=name, id=id, classes=classes, disabled=disabled)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        super().update(_plain(content), layout=layout)

    @property
    def content(self) -> VisualType:
        """What is shown."""
        return super().content

    @content.setter
    def content(self, content: VisualType) -> None:
        self.update(content)


def _plain(value: VisualType) -> VisualType:
    return safe_content(value) if isinstance(value, str) else value


class Notifier(Protocol):
    """An App, a Screen or a Widget."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: Severity = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None: ...


def plain_notify(
    target: Notifier,
    message: str,
    *,
    title: str = "",
    severity: Severity = "information",
    timeout: float | None = None,
) -> None:
    """A toast whose message and title are literal and safe."""
    target.notify(
        safe_content(message).plain, title=safe(title), severity=severity, timeout=timeout, markup=False
    )


def plain_title(widget: Widget, title: str | None = None, subtitle: str | None = None) -> None:
    """Set the literal border title and subtitle of ``widget``; None leaves one as it is."""
    if title is not None:
        widget.border_title = Content(safe(title))
    if subtitle is not None:
        widget.border_subtitle = Content(safe(subtitle))
