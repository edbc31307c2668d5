"""Make docs/workbench.svg: the real application on the sample corpus, a few steps into a run.

    python docs/make_picture.py

It uses the lexical and static rankers alone, so that the picture is the same wherever it is made.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from rarg_tui.config import Settings
from rarg_tui.ui.app import RargApp
from rarg_tui.ui.wish import Wish
from rarg_tui.workbench import Workbench

TARGET = Path(__file__).with_name("workbench.svg")
SIZE = (160, 48)
CALLS = 3


class Quick(Workbench):
    """A workbench whose dense ranker is not built."""

    def build_dense(self, *_: object, **__: object) -> None:
        return None


async def draw(runs: Path) -> str:
    bench = Quick(Settings(ranker="lexical+static"), runs_dir=runs)
    app = RargApp(bench, Wish(demo=True), "rarg-dark")
    async with app.run_test(size=SIZE) as pilot:
        while app.bench is None or not app.bench.view.opened:
            await pilot.pause()
        while sum(not call.waiting for call in app.bench.view.state.calls) < CALLS:
            await pilot.press("s")
            await app.workers.wait_for_complete()
            await pilot.pause()
        await pilot.press("5")
        await pilot.pause()
        return app.export_screenshot(title="rarg demo")


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        svg = asyncio.run(draw(Path(place)))
    # Textual numbers the picture's parts at random: fixed, so that an unchanged screen is an unchanged file.
    TARGET.write_text(re.sub(r"terminal-\d+", "terminal-0", svg), encoding="utf-8")


if __name__ == "__main__":
    main()
