from __future__ import annotations

import pytest
from rich.cells import cell_len

from rarg_tui.ui.glyphs import ASCII, UNICODE
from rarg_tui.ui.widgets.bar_chart import HistogramRow, HistogramView, bar, sparkline
from tests.ui.widget_harness import HOSTILE, LONG, WidgetApp, showing, unsafe_characters, until

ROWS = [
    HistogramRow("1–10", 12, 2),
    HistogramRow("11–50", 5, 1),
    HistogramRow("51–100", 1, 0),
    HistogramRow("out of scope", 0, 0),
]


def drawn(view: HistogramView) -> list[str]:
    return [view.render_line(y).text for y in range(view.size.height)]


@pytest.mark.parametrize(
    ("value", "top", "width", "expected"),
    [
        (0, 8, 4, ""),
        (8, 8, 4, "████"),
        (4, 8, 4, "██"),
        (1, 8, 4, "▌"),
        (3, 8, 4, "█▌"),
        (1, 1_000_000, 4, "▏"),
        (9, 8, 4, "████"),
        (-1, 8, 4, ""),
        (1, 0, 4, ""),
        (1, 8, 0, ""),
    ],
)
def test_bars_are_exact_to_an_eighth(value: float, top: float, width: int, expected: str) -> None:
    assert bar(value, top, width, UNICODE) == expected


def test_a_bar_of_ascii_is_as_long() -> None:
    assert bar(8, 8, 4, ASCII) == "===="


def test_sparklines() -> None:
    assert sparkline([0, 1, 2, 3, 7], signs=UNICODE) == "▁▂▃▄█"
    assert sparkline([0, 0], signs=UNICODE) == "▁▁"
    assert sparkline([], signs=UNICODE) == ""
    assert sparkline([-5, 4], signs=UNICODE) == "▁█"
    assert sparkline(range(100), 3, UNICODE) == "███"
    assert sparkline([1, 2], 0, UNICODE) == ""
    assert sparkline([0, 7], signs=ASCII) == "_#"


async def test_relevant_ones_stand_apart_as_stars_and_every_number_is_written() -> None:
    view = HistogramView()
    async with showing(view, (60, 10)) as (_, pilot):
        view.set_rows(ROWS, ("rank", "all", "gold"))
        await until(pilot, lambda: len(drawn(view)) == 5 and "★" in drawn(view)[1])
        head, first, second, third, last = drawn(view)
        assert head.split() == ["rank", "all", "gold"]
        assert first.split()[0] == "1–10"
        assert first.endswith("12 ★★ 2")
        assert second.endswith(" 5 ★  1")
        assert third.split()[-1] == "1"
        assert last.split() == ["out", "of", "scope", "0"]
        assert all(cell_len(text) == 60 for text in drawn(view))
        assert first.count("█") > second.count("█") > third.count("█")


async def test_many_relevant_ones_are_scaled_and_none_vanishes() -> None:
    view = HistogramView()
    async with showing(view, (60, 10)) as (_, pilot):
        view.set_rows([HistogramRow("a", 90_000, 4_000), HistogramRow("b", 10, 1)])
        await until(pilot, lambda: len(drawn(view)) == 3 and "4,000" in drawn(view)[1])
        assert drawn(view)[1].count("★") > drawn(view)[2].count("★") == 1
        assert "▏" in drawn(view)[2]


@pytest.mark.parametrize("text", [*HOSTILE, LONG], ids=lambda text: ascii(text[:20]))
async def test_hostile_labels(text: str) -> None:
    view = HistogramView()
    async with showing(view, (60, 10)) as (app, pilot):
        view.set_rows([HistogramRow(text, 3, 1)], (text, text, text))
        await until(pilot, lambda: len(drawn(view)) == 2 and "★" in app.screen_text())
        assert app.is_running
        assert not unsafe_characters(app.screen_text().replace("\n", ""))


async def test_any_size_will_do() -> None:
    view = HistogramView()

    def fits(app: WidgetApp) -> bool:
        return all(cell_len(text) == view.size.width for text in drawn(view))

    async with showing(view, (60, 10)) as (app, pilot):
        view.set_rows(ROWS)
        for width in (1, 2, 0, 5, 12, 20, 30, 200):
            await pilot.resize_terminal(width, 3)
            await until(pilot, lambda: fits(app))
        view.set_rows([])
        await until(pilot, lambda: len(drawn(view)) == 1)
