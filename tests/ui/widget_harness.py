"""An app around one widget, hostile texts, and waiting for conditions."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from rarg_tui.ui.theming import load_themes, variable_defaults

THEMES = Path(__file__).parents[2] / "themes"

MARKUP = [
    "[/]",
    "[/foo]",
    "[b +",
    "(?i)foo[/a-z]",
    "[data: /x-]",
    "[project] a[i] [50%] [ERROR] boom",
    "[param=x]y[/param]",
    "[@click=app.quit]x[/]",
    "[link=x]y",
    "a\\[b [[x]] \\",
]
CONTROLS = [
    "\x1b]0;PWN\x07",
    "\x1b[2J\x1b[?25l",
    "\x9b31m red",
    "nul\x00 del\x7f bell\a back\b",
    "two\r\nlines\nand\rmore\x85\u2028",
    "\u202eELD\u202c \u2066x\u2069 \u200b\ufeff\u00ad",
    "caf\udce9 \ud800",
    "a\tb\t\tc",
    "\U000e0041\U000e007f tags \ufe0f\u3164",
]
WIDE = ["漢字 🧭 前後", "e\u0301 \u0301\u0301", "👨\u200d👩\u200d👧 🇩🇪 👍🏽 ❤\ufe0f"]
LONG = '{"k":"' + "x" * 1_000_000 + "NEEDLE" + "y" * 1_000_000 + '"}'
HOSTILE = [*MARKUP, *CONTROLS, *WIDE]


def unsafe_characters(text: str) -> list[str]:
    """The characters of ``text`` that must not reach a terminal."""
    return [
        f"{ord(char):x}"
        for char in text
        if unicodedata.category(char) in ("Cc", "Cs", "Cf", "Zl", "Zp", "Cn")
    ]


Sent = TypeVar("Sent", bound=Message)


class WidgetApp(App[None]):
    """Shows one widget under our themes and keeps the messages that it sends."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        for theme in load_themes([THEMES])[0]:
            self.register_theme(theme)
        self.theme = "rarg-dark"
        self.widget = widget
        self.seen: dict[int, Message] = {}

    def keep(self, message: Message) -> None:
        """Remember a message once, however many nodes it passes on its way up."""
        self.seen.setdefault(id(message), message)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults()

    def compose(self) -> ComposeResult:
        yield self.widget

    def screen_text(self) -> str:
        """All lines on screen, as they would be written."""
        return "\n".join(strip.text for strip in self.screen._compositor.render_strips())


@asynccontextmanager
async def showing(
    widget: Widget, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[WidgetApp, Pilot[None]]]:
    """Run an app with ``widget`` in it, with toasts and tooltips, which tests leave out by default."""
    app = WidgetApp(widget)
    options = app.run_test(size=size, tooltips=True, notifications=True, message_hook=app.keep)
    async with options as pilot:
        yield app, pilot


async def press(pilot: Pilot[None], key: str, condition: Callable[[], bool]) -> None:
    """Press ``key`` and wait for what should follow."""
    await pilot.press(key)
    await until(pilot, condition)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app work until ``condition`` holds."""
    for _ in range(200):
        if condition():
            return
        await pilot.pause()
    raise AssertionError("the condition never held")


def of(app: WidgetApp, kind: type[Sent]) -> list[Sent]:
    """The messages of one kind, in order."""
    return [message for message in app.seen.values() if isinstance(message, kind)]
