"""The app on fakes, and what its tests wait for and look at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

from textual.pilot import Pilot

from rarg_tui.ui.app import RargApp
from rarg_tui.ui.screens.workbench import WorkbenchScreen
from rarg_tui.ui.wish import Wish
from tests.ui.fakes import FakeSession, FakeWorkbench

DEMO = Wish(demo=True)
PATIENCE_S = 20.0
"""After this a condition counts as never holding; nothing is decided by the clock."""


@dataclass
class Running:
    """A running app, its pilot and its fakes."""

    app: RargApp
    pilot: Pilot[int]
    workbench: FakeWorkbench

    @property
    def bench(self) -> WorkbenchScreen:
        bench = self.app.bench
        assert bench is not None
        return bench

    @property
    def session(self) -> FakeSession:
        return self.workbench.sessions[-1]

    @property
    def idle(self) -> bool:
        """Whether a run is open and at rest."""
        return self.bench.view.opened and not self.bench.bridge.running and not self.bench.view.running

    @property
    def toasts(self) -> list[str]:
        return [note.message for note in self.app._notifications]

    def text(self) -> str:
        """All lines on screen, as they would be written."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let the app work until ``condition`` holds."""
        end = monotonic() + PATIENCE_S
        while not condition():
            assert monotonic() < end, f"the condition never held; on screen:\n{self.text()}"
            await self.pilot.pause()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until nothing is at work."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        """Wait until no worker is at work and everything is drawn."""
        await self.app.workers.wait_for_complete()
        await self.until(lambda: not self.bench.bridge.running)
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()

    async def steps(self, count: int) -> None:
        """Take half-steps."""
        for _ in range(count):
            await self.press("s")

    async def type(self, text: str) -> None:
        """Put ``text`` into the focused input as if typed."""
        for char in text:
            await self.pilot.press({" ": "space"}.get(char, char))


@asynccontextmanager
async def running(
    workbench: FakeWorkbench | None = None,
    wish: Wish = DEMO,
    size: tuple[int, int] = (160, 48),
    theme: str = "rarg-dark",
    ready: bool = True,
) -> AsyncIterator[Running]:
    """Run the app; with ``ready``, from when its run is open and at rest."""
    fake = workbench or FakeWorkbench()
    app = RargApp(fake, wish, theme)
    async with app.run_test(size=size, tooltips=True, notifications=True) as pilot:
        run = Running(app, pilot, fake)
        await run.until(lambda: app.bench is not None and app.screen is not app.screen_stack[0])
        if ready:
            await run.until(lambda: run.idle)
            await run.settle()
        yield run
