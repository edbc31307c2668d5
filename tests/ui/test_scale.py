"""Lists as long as they get: nothing but what is on screen may be drawn."""

from __future__ import annotations

import pytest

from rarg_tui.ui.screens.workbench import WorkbenchScreen
from rarg_tui.ui.widgets.cells import Row
from tests.ui.app_harness import Running, running
from tests.ui.fakes import FakeWorkbench

MANY = 10_000


def many_documents() -> FakeWorkbench:
    paths = [f"archive/{number % 97:02}/document-{number:05}.txt" for number in range(MANY)]
    return FakeWorkbench(paths=paths, texts={path: ["orrery"] * 3 for path in paths})


def count_rows(bench: WorkbenchScreen, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of the scope that are made from now on."""
    made: list[int] = []
    source = bench.scope._row

    def counted(index: int, width: int, selected: bool) -> Row:
        made.append(index)
        return source(index, width, selected)

    monkeypatch.setattr(bench.scope, "_row", counted)
    bench.scope._set_ranking(bench.view.ranking)
    made.clear()
    return made


async def page(run: Running, *keys: str) -> None:
    for key in keys:
        await run.pilot.press(key)
        await run.pilot.pause()


async def test_scrolling_ten_thousand_documents_draws_only_what_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(many_documents()) as run:
        await run.steps(2)
        assert run.bench.scope.row_count == MANY
        await run.press("2")
        made = count_rows(run.bench, monkeypatch)
        keys = ("end", "home", *["pagedown"] * 10, *["j"] * 30)
        await page(run, *keys)
        assert len(made) <= 60 * len(keys)


async def test_searching_ten_thousand_documents_draws_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(many_documents()) as run:
        await run.steps(2)
        await run.press("2")
        made = count_rows(run.bench, monkeypatch)
        assert run.bench.scope.seek("document-09999")
        assert run.bench.scope.cursor == MANY - 1
        assert made == []
        assert run.bench.scope.seek_again(1)


async def test_an_event_does_not_make_the_rows_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(many_documents()) as run:
        await run.steps(4)
        made = count_rows(run.bench, monkeypatch)
        await run.press("s")
        assert len(made) <= 120
