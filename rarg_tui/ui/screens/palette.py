"""The command palette, made from the registry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider

from rarg_tui.ui.actions import key_names
from rarg_tui.ui.screens.dialog import QUIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from rarg_tui.ui.app import RargApp


class Actions(Provider):
    """Every action, and every theme."""

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        app = cast("RargApp", self.app)
        bench = app.bench
        for one in app.registry if bench is not None else ():
            if one.palette and not one.widget and bench is not None:
                run = partial(app.action_do if one.app else bench.action_do, one.id)
                yield f"{one.label}  {key_names(one.keys)}", one.help, run
        for theme in app.theme_names:
            yield f"theme {theme}", "Use this theme.", partial(setattr, app, "theme", theme)

    async def discover(self) -> Hits:
        for label, text, run in self._commands():
            yield DiscoveryHit(label, run, help=text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for label, text, run in self._commands():
            score = max(matcher.match(label), matcher.match(text) * 0.8)
            if score > 0:
                yield Hit(score, matcher.highlight(label), run, help=text)


class ActionPalette(CommandPalette):
    """Textual's palette, but for a page down that ends the app while the list is not laid out yet."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown", "page('down')", "Next page", show=False),
        Binding("pageup", "page('up')", "Previous page", show=False),
        QUIT,
    ]

    async def action_page(self, way: str) -> None:
        commands = self.query_one(CommandList)
        if commands.size.height:
            await commands.run_action(f"page_{way}")
