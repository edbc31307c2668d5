from __future__ import annotations

import pytest
from textual.content import Content
from textual.geometry import Region
from textual.widgets._toast import Toast

from rarg_tui.ui.safe_text import safe, safe_lines
from rarg_tui.ui.widgets.plain import PlainStatic, plain_notify, plain_title
from tests.ui.widget_harness import HOSTILE, showing, unsafe_characters, until


def shown(widget: PlainStatic) -> str:
    size = widget.size
    return "\n".join(strip.text.rstrip() for strip in widget.render_lines(Region(0, 0, *size)))


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_is_shown_as_it_stands(text: str) -> None:
    widget = PlainStatic("before")
    async with showing(widget, (200, 24)) as (app, pilot):
        widget.update(text)
        await until(pilot, lambda: shown(widget).split("\n")[0] == safe_lines(text)[0].rstrip())
        await pilot.click(widget)
        await pilot.pause()
        assert app.is_running
        assert not unsafe_characters(app.screen_text().replace("\n", ""))


async def test_content_is_taken_as_it_comes() -> None:
    widget = PlainStatic(Content.styled("plain", "bold"))
    async with showing(widget) as (_, pilot):
        await until(pilot, lambda: shown(widget) == "plain")
        widget.update(Content("[b]not markup"))
        await until(pilot, lambda: shown(widget) == "[b]not markup")
        widget.content = "[/] also \x1b safe"
        await until(pilot, lambda: shown(widget) == "[/] also ␛ safe")


@pytest.mark.parametrize("text", HOSTILE)
async def test_toasts_are_literal_and_safe(text: str) -> None:
    async with showing(PlainStatic(""), (120, 30)) as (app, pilot):
        plain_notify(app, text, title=text, severity="error")
        await until(
            pilot, lambda: (bool(app.screen.query(Toast)) and "␛" in app.screen_text()) or "\x1b" not in text
        )
        await pilot.pause()
        assert app.is_running
        assert not unsafe_characters(app.screen_text().replace("\n", ""))


@pytest.mark.parametrize("text", HOSTILE)
async def test_titles_are_literal_and_safe(text: str) -> None:
    widget = PlainStatic("no title yet")
    async with showing(widget, (120, 30)) as (app, pilot):
        widget.styles.border = ("round", "white")
        plain_title(widget, text, text)
        await pilot.hover(widget)
        await until(pilot, lambda: safe(text)[:20] in app.screen_text())
        assert not unsafe_characters(app.screen_text().replace("\n", ""))
        plain_title(widget, "", "")
        await pilot.pause()
        assert app.is_running
