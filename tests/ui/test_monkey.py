"""Keys, clicks and sizes at random, the same ones every time: nothing may end the app."""

from __future__ import annotations

import random

import pytest
from textual import events
from textual.pilot import OutOfBounds

from rarg_tui.ui.action_list import ACTIONS
from tests.ui.app_harness import Running, running

ENDS = {"q", "ctrl+q", "ctrl+c"}
KEYS = [
    *sorted({key for one in ACTIONS for key in one.keys.split(",")} - ENDS),
    *("backspace", "delete", "ctrl+s", "f2", "ctrl+k", "ctrl+w", "ctrl+z", "ctrl+home", "shift+left"),
    *("r", "d", "w", "left_square_bracket", "slash", "right_square_bracket", "quotation_mark"),
]
SIZES = [(160, 48), (110, 36), (80, 24), (40, 10), (39, 9), (1, 1), (0, 0), (20, 5), (160, 7)]


async def act(run: Running, chance: random.Random) -> str:
    """Do something, and say what."""
    kind = chance.random()
    if kind < 0.9:
        key = chance.choice(KEYS)
        await run.pilot.press(key)
        return key
    if kind < 0.96:
        size = run.app.size
        place = chance.randrange(max(size.width, 1)), chance.randrange(max(size.height, 1))
        try:
            await chance.choice((run.pilot.click, run.pilot.double_click, run.pilot.hover))(offset=place)
        except OutOfBounds:
            return "outside"
        return f"mouse at {place}"
    width, height = chance.choice(SIZES)
    await run.pilot.resize_terminal(width, height)
    return f"{width} × {height}"


@pytest.mark.parametrize("seed", range(4))
async def test_a_monkey(seed: int) -> None:
    chance = random.Random(seed)
    done: list[str] = []
    async with running(size=SIZES[seed % 3]) as run:
        for _ in range(150):
            done.append(await act(run, chance))
            assert run.app.return_code is None, done[-20:]
        await run.pilot.resize_terminal(160, 48)
        await run.until(lambda: not run.bench.bridge.running)


async def test_keys_that_come_faster_than_they_are_handled() -> None:
    chance = random.Random(7)
    async with running() as run:
        for _ in range(400):
            run.app.post_message(events.Key(chance.choice(KEYS), None))
        await run.pilot.pause()
        await run.until(lambda: not run.bench.bridge.running)
        assert run.app.return_code is None
