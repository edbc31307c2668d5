"""The application: themes, keys that hold everywhere, beginning and end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import BindingType

from rarg_tui import paths
from rarg_tui.ui import actions, theming
from rarg_tui.ui.ascii import AsciiSigns
from rarg_tui.ui.glyphs import ASCII, glyphs
from rarg_tui.ui.keymap import keymap
from rarg_tui.ui.safe_text import safe
from rarg_tui.ui.screens.opening import Opening
from rarg_tui.ui.wish import Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.command import Provider
    from textual.filter import LineFilter
    from textual.screen import Screen

    from rarg_tui.ui.ports import WorkbenchPort
    from rarg_tui.ui.screens.workbench import WorkbenchScreen

LAST_WAIT_S = 0.5
"""How long threads may take to notice the end before the process leaves without them."""


def _actions_provider() -> type[Provider]:
    from rarg_tui.ui.screens.palette import Actions

    return Actions


class RargApp(App[int], inherit_bindings=False):
    """The workbench on a terminal."""

    TITLE = "rarg"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = actions.bindings("app")
    CSS = """
    Toast { padding: 0 1; max-width: 90%; }
    ToastRack { margin-bottom: 2; }
    """
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_actions_provider}

    def __init__(self, workbench: WorkbenchPort, wish: Wish | None = None, theme: str = "") -> None:
        super().__init__(ansi_color=True if theming.no_color() else None)
        self._workbench = workbench
        self._wish = wish or Wish()
        self._problems: list[str] = []
        self._armed = False
        self._bench: WorkbenchScreen | None = None
        self._signs = [AsciiSigns()] if glyphs() is ASCII else []
        themes, problems = theming.load_themes(_theme_dirs())
        self.theme_names = [one.name for one in themes]
        for one in themes:
            self.register_theme(one)
        self._problems += problems
        keys = keymap(workbench.settings.keys)
        self.registry = keys.registry
        self.set_keymap(keys.bindings)
        self._problems += keys.problems
        wanted = theme or theming.DEFAULT_THEME
        if wanted not in self.available_themes:
            self._problems.append(f"There is no theme {wanted!r}; there are {', '.join(self.theme_names)}.")
            wanted = self.theme_names[0]
        # Set before the first paint, so that it is not painted twice in two themes.
        self.set_reactive(App.theme, wanted)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theming.variable_defaults()

    def get_default_screen(self) -> Screen[None]:
        return Opening(self._workbench.name)

    @property
    def bench(self) -> WorkbenchScreen | None:
        """The workbench's screen, whatever dialogue is over it; None in the first moments."""
        return self._bench

    def on_mount(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._handle(number)
        self.call_after_refresh(self._open_bench)

    async def _open_bench(self) -> None:
        """After the first paint: load the workbench's modules, and show it."""
        from rarg_tui.ui.screens.workbench import WorkbenchScreen
        from rarg_tui.ui.widgets.plain import plain_notify

        self._bench = WorkbenchScreen(self._workbench, self._wish)
        await self.push_screen(self._bench)
        if self._problems:
            plain_notify(self, "\n".join(self._problems), title="Settings", severity="warning", timeout=10)

    def _handle(self, number: signal.Signals) -> None:
        """Textual leaves the terminal or the running call as they are; leave through the door instead."""
        try:
            asyncio.get_running_loop().add_signal_handler(number, self._leave, 128 + number)
        except (NotImplementedError, RuntimeError, ValueError):
            # No signals here: another thread than the main one, or another system.
            return

    def _leave(self, code: int) -> None:
        if self._bench is not None:
            self._bench.bridge.stop_all()
        self.exit(code, return_code=code)

    # -- actions that hold everywhere ----------------------------------------------------------

    def action_do(self, identity: str) -> None:
        bench = self._bench
        if identity == "interrupt" and bench is not None:
            self._interrupt(bench)
            return
        self._armed = False
        if identity in ("quit", "interrupt"):
            self._leave(1 if bench is not None and bench.bridge.faults else 0)
        elif identity == "palette" and bench is not None:
            self.action_command_palette()

    def _interrupt(self, bench: WorkbenchScreen) -> None:
        """The first stops what runs, the second ends the program."""
        if self._armed:
            self._leave(130 if bench.bridge.running else 0)
            return
        self._armed = True
        stopped = bench.bridge.interrupt()
        bench.say("Stopping; ctrl+c again quits." if stopped else "Press ctrl+c again to quit.")

    def action_command_palette(self) -> None:
        """Textual's own binding comes here as well."""
        from rarg_tui.ui.screens.palette import ActionPalette

        if not isinstance(self.screen, ActionPalette):
            self.push_screen(ActionPalette(id="--command-palette"))

    def on_key(self) -> None:
        self._armed = False

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._signs]

    def next_theme(self) -> str:
        """Use the theme that comes after the current one; its name."""
        names = self.theme_names
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]
        return self.theme


def _theme_dirs() -> list[Path]:
    return [paths.resource_dir("themes"), paths.config_dir() / "themes"]


def run_app(
    workbench: WorkbenchPort,
    *,
    question: str = "",
    strategy: str = "",
    model: str = "",
    profile: str = "",
    run: str = "",
    demo: bool = False,
) -> int:
    """Show the workbench until it is left; returns the exit code. The terminal is restored whatever
    happens, and no thread keeps the process longer than half a second."""
    if workbench.settings.ascii:
        os.environ["RARG_ASCII"] = "1"
    wish = Wish(question, strategy, model, profile, run, demo)
    app = RargApp(workbench, wish, workbench.settings.theme or "")
    asyncio.run(_run(app))
    bridge = app.bench.bridge if app.bench is not None else None
    for session in bridge.made if bridge is not None else ():
        # A call that could not be stopped may still write to its run.
        at_work = bool(bridge and bridge.running and session is bridge.session)
        directory = session.directory if at_work else workbench.keep(session)
        if session.state.calls:
            print(f"The run is saved: rarg open --run {safe(directory.name)}", file=sys.stderr)
    return app.return_code or 0


async def _run(app: RargApp) -> None:
    await app.run_async()
    # The terminal is the user's again. A thread that waits for something that cannot be stopped, a
    # server or a stalled disk, must not keep the process: asyncio would wait for it.
    timer = threading.Timer(LAST_WAIT_S, os._exit, (app.return_code or 0,))
    timer.daemon = True
    timer.start()
    await asyncio.get_running_loop().shutdown_default_executor()
    timer.cancel()
