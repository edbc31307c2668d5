"""The workbench as it looks: `pytest --snapshot-update` accepts a change, after a look at the report."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest
from textual.app import App
from textual.pilot import Pilot

from rarg_tui.ui.app import RargApp
from rarg_tui.ui.wish import Wish
from tests.ui.app_harness import DEMO, Running
from tests.ui.fakes import FakeWorkbench
from tests.ui.scenario import PAUSED_STEPS

WIDE, NORMAL, NARROW = (160, 48), (110, 36), (80, 24)


class SnapCompare(Protocol):
    def __call__(
        self,
        app: App[int],
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[int]], Awaitable[None]],
    ) -> bool: ...


def look(
    snap_compare: SnapCompare,
    size: tuple[int, int],
    theme: str,
    steps: int,
    *keys: str,
    wish: Wish = DEMO,
) -> bool:
    """Compare the screen after ``steps`` half-steps and ``keys``."""
    fake = FakeWorkbench()
    app = RargApp(fake, wish, theme)

    async def before(pilot: Pilot[int]) -> None:
        run = Running(app, pilot, fake)
        await run.until(lambda: app.bench is not None and run.idle)
        await run.settle()
        await run.steps(steps)
        await run.press(*keys)

    return snap_compare(app, terminal_size=size, run_before=before)


@pytest.mark.parametrize("theme", ["rarg-dark", "rarg-light"])
@pytest.mark.parametrize("size", [WIDE, NORMAL, NARROW], ids=["160x48", "110x36", "80x24"])
def test_workbench(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    assert look(snap_compare, size, theme, 5)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["160x48", "80x24"])
def test_answered(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert look(snap_compare, size, "rarg-dark", PAUSED_STEPS, "c")


def test_document_beside_the_matches(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, WIDE, "rarg-light", 4, "5", "enter")


def test_hit_ranks(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NORMAL, "rarg-dark", PAUSED_STEPS, "3")


def test_reranked_zoomed(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NORMAL, "rarg-light", 4, "5", "z", "end")


def test_unfolded_call(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NARROW, "rarg-light", 4, "k", "enter")


def test_edit(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NORMAL, "rarg-dark", 3, "e", "f2")


def test_ask(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NARROW, "rarg-dark", 0, "a", "tab")


def test_help(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NORMAL, "rarg-light", 0, "question_mark")


def test_wrong_command(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NARROW, "rarg-dark", 0, "colon", "r", "g", "enter", "escape")


def test_saved_run(snap_compare: SnapCompare) -> None:
    assert look(snap_compare, NORMAL, "rarg-dark", 4, wish=Wish(run="demo"))
