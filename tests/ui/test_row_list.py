from __future__ import annotations

import random

import pytest
from rich.cells import cell_len
from textual.geometry import Size

from rarg_tui.ui.palette import Palette
from rarg_tui.ui.safe_text import safe
from rarg_tui.ui.theming import fallback_theme
from rarg_tui.ui.widgets.cells import Cell, FunctionSource, ListSource, Row, draw
from rarg_tui.ui.widgets.row_list import RowList
from tests.ui.widget_harness import HOSTILE, LONG, of, press, showing, unsafe_characters, until

PALETTE = Palette(fallback_theme().variables)
BASE = PALETTE.style("foreground on-background")


def numbered(total: int) -> FunctionSource:
    return FunctionSource(total, lambda index, width, selected: Row((Cell(f"row {index}"),)))


def line(row: Row, width: int, slide: int = 0) -> str:
    drawn = draw(row, width, PALETTE, BASE, "…", slide)
    assert cell_len(drawn.strip.text) == width
    return drawn.strip.text


def lines(rows: RowList) -> list[str]:
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


def matched(strip_of: RowList, y: int) -> str:
    """The text drawn in the style of matches on line ``y``."""
    background = Palette(strip_of.app.theme_variables).style("match").bgcolor
    return "".join(
        segment.text
        for segment in strip_of.render_line(y)
        if segment.style is not None and segment.style.bgcolor == background
    )


# Drawing a row


def test_cells_are_aligned_cropped_and_filled() -> None:
    row = Row(
        (
            Cell("7", width=3, align="right"),
            Cell("letters/1911-03.txt", width=8, crop="start"),
            Cell("a long text", width=6),
            Cell("rest"),
            Cell("ok", width=2),
        )
    )
    assert line(row, 40) == "  7 …-03.txt a lon… rest              ok"
    assert line(row, 10) == "  7 …-03.t"


def test_the_last_cell_without_a_width_takes_what_is_left() -> None:
    row = Row((Cell("path:1"), Cell("text text text"), Cell("|", width=1)))
    assert line(row, 20) == "path:1 text text … |"
    assert line(row, 24) == "path:1 text text text  |"


def test_wide_characters_are_never_cut_in_half() -> None:
    row = Row((Cell("漢字漢字", width=4), Cell("後前後前後")))
    for width in range(20):
        line(row, width)
        line(row, width, slide=3)


def test_a_match_beyond_the_room_is_brought_in_sight_and_slides_both_ways() -> None:
    text = "a" * 50 + "MATCH" + "b" * 50
    row = Row((Cell(text, spans=((50, 55, "match"),)),))
    assert "MATCH" in line(row, 20)
    assert line(row, 20)[0] == line(row, 20)[-1] == "…"
    assert line(row, 20, slide=-1000) == "a" * 19 + "…"
    assert line(row, 20, slide=1000) == "…" + "b" * 19
    drawn = draw(row, 20, PALETTE, BASE, "…")
    assert drawn.before + drawn.after == len(text) - 20


def test_spans_lie_on_their_text_after_what_was_replaced_before_them() -> None:
    text = "\x1b\u202e漢\tMATCH"
    drawn = draw(Row((Cell(text, spans=((4, 9, "match"),)),)), 60, PALETTE, BASE, "…")
    background = PALETTE.style("match").bgcolor
    assert [part.text for part in drawn.strip if part.style and part.style.bgcolor == background] == ["MATCH"]


def test_later_spans_lie_over_earlier_ones() -> None:
    cell = Cell("abcdef", spans=((0, 6, "syntax-string"), (2, 4, "match")))
    strip = draw(Row((cell,)), 6, PALETTE, BASE, "…").strip
    assert [(part.text, bool(part.style and part.style.bold)) for part in strip] == [
        ("ab", False),
        ("cd", True),
        ("ef", False),
    ]


@pytest.mark.parametrize("text", [*HOSTILE, LONG], ids=lambda text: ascii(text[:20]))
def test_a_drawn_row_is_safe_and_exactly_as_wide_as_asked(text: str) -> None:
    row = Row(
        (Cell(text, width=9, crop="start"), Cell(text), Cell(text, spans=((0, 2, "match"), (1, 99, "hit"))))
    )
    for width in (0, 1, 2, 7, 30, 120, 500):
        assert not unsafe_characters(line(row, width))


# The widget


async def test_keys_move_the_cursor_and_skip_dividers() -> None:
    rows = RowList()
    async with showing(rows, (40, 12)) as (app, pilot):
        rows.set_rows(numbered(100), dividers={1, 2, 99})
        rows.focus()

        async def check(key: str, expected: int) -> None:
            await press(pilot, key, lambda: rows.cursor == expected)
            assert rows.first_line <= rows.cursor < rows.first_line + rows.room

        await check("j", 3)
        await check("k", 0)
        await check("down", 3)
        await check("G", 98)
        await check("j", 98)
        await check("g", 0)
        await check("pagedown", 12)
        await check("ctrl+d", 18)
        await check("ctrl+u", 12)
        await check("pageup", 0)
        await check("end", 98)
        await check("home", 0)
        await check("j", 3)
        await press(pilot, "enter", lambda: bool(of(app, RowList.Selected)))
        assert [(sent.index, sent.control) for sent in of(app, RowList.Selected)] == [(3, rows)]
        moves = [sent.index for sent in of(app, RowList.Highlighted)]
        assert moves == [0, 3, 0, 3, 98, 0, 12, 18, 12, 0, 98, 0, 3]


async def test_a_divider_is_a_rule_around_its_text() -> None:
    rows = RowList()
    async with showing(rows, (40, 12)) as (_, pilot):
        rows.set_rows(
            ListSource([Row((Cell("a"),)), Row((Cell("30 shown"),)), Row((Cell("b"),))]), dividers={1}
        )
        await until(pilot, lambda: lines(rows)[1] == "─" * 15 + " 30 shown " + "─" * 15)
        rows.cursor = 1
        assert rows.cursor == 2
        rows.cursor = 1
        assert rows.cursor == 0
        rows.set_rows(numbered(2), dividers={0, 1})
        assert rows.cursor == -1


async def test_clicks_highlight_then_select_and_miss_what_is_no_row() -> None:
    rows = RowList()
    async with showing(rows, (40, 12)) as (app, pilot):
        rows.set_header((Cell("title"),))
        rows.set_rows(numbered(3))
        await until(pilot, lambda: lines(rows)[:2] == [" title", "▌row 0"])
        await pilot.click(rows, offset=(5, 3))
        await until(pilot, lambda: rows.cursor == 2)
        assert not of(app, RowList.Selected)
        await pilot.click(rows, offset=(5, 3))
        await until(pilot, lambda: len(of(app, RowList.Selected)) == 1)
        await pilot.click(rows, offset=(5, 2), times=2)
        await until(pilot, lambda: [sent.index for sent in of(app, RowList.Selected)][1:] == [1])
        for y in (0, 4, 11):
            await pilot.click(rows, offset=(5, y))
        assert rows.cursor == 1
        assert len(of(app, RowList.Selected)) == 2


async def test_the_header_stays_and_the_last_row_is_reached() -> None:
    rows = RowList()
    async with showing(rows, (40, 12)) as (_, pilot):
        rows.set_header((Cell("rank", width=6), Cell("document")))
        rows.set_rows(numbered(1000))
        rows.focus()
        await press(pilot, "G", lambda: lines(rows)[-1] == "▌row 999")
        assert lines(rows)[0] == " rank   document"
        rows.set_header(None)
        await until(pilot, lambda: lines(rows)[-1].endswith("row 999") and "row" in lines(rows)[0])


async def test_rows_given_before_mounting_are_shown() -> None:
    rows = RowList(empty="nothing here")
    rows.set_rows(numbered(50))
    rows.cursor = 40
    async with showing(rows, (40, 12)) as (_, pilot):
        await until(pilot, lambda: "▌row 40" in lines(rows))
        rows.set_rows(ListSource([]))
        assert rows.cursor == -1
        await until(pilot, lambda: [text for text in lines(rows) if text] == [" nothing here"])
        for key in ("j", "k", "G", "enter", "n", "l", "pagedown"):
            await pilot.press(key)
        assert rows.cursor == -1


async def test_new_rows_keep_the_place_when_asked_to() -> None:
    rows = RowList()
    async with showing(rows, (40, 12)) as (_, pilot):
        rows.set_rows(numbered(100))
        rows.cursor = 60
        await until(pilot, lambda: "▌row 60" in lines(rows))
        top = rows.first_line
        rows.set_rows(numbered(200), keep=True)
        assert (rows.cursor, rows.first_line) == (60, top)
        rows.set_rows(numbered(20), keep=True)
        await until(pilot, lambda: rows.cursor == 19 and "▌row 19" in lines(rows))
        rows.set_rows(numbered(30))
        await until(pilot, lambda: rows.cursor == 0 and lines(rows)[0] == "▌row 0")


async def test_following_sticks_to_the_end_until_one_scrolls_up() -> None:
    rows = RowList(follow=True)
    async with showing(rows, (40, 12)) as (app, pilot):
        for total in (5, 20, 40):
            rows.set_rows(numbered(total), keep=True)
            await until(pilot, lambda: f"▌row {rows.row_count - 1}" in lines(rows))
        rows.focus()
        await press(pilot, "k", lambda: not rows.following)
        rows.set_rows(numbered(60), keep=True)
        assert rows.cursor == 38
        await press(pilot, "G", lambda: rows.following and rows.cursor == 59)
        rows.scroll_up(animate=False)
        await until(pilot, lambda: not rows.following)
        rows.set_rows(numbered(80), keep=True)
        assert rows.cursor == 59
        told = [False, True, False]
        await until(pilot, lambda: [sent.following for sent in of(app, RowList.FollowChanged)] == told)


async def test_following_survives_a_list_that_becomes_shorter() -> None:
    rows = RowList(follow=True)
    async with showing(rows, (40, 12)) as (_, pilot):
        rows.set_rows(numbered(100))
        await until(pilot, lambda: "▌row 99" in lines(rows))
        rows.set_rows(numbered(30))
        await until(pilot, lambda: "▌row 29" in lines(rows))
        assert rows.following


async def test_finding_goes_round_in_both_directions() -> None:
    rows = RowList()
    async with showing(rows, (40, 12)) as (_, pilot):
        rows.set_rows(numbered(100), dividers={15})
        rows.focus()
        assert rows.find("ROW 5") == 5
        await press(pilot, "n", lambda: rows.cursor == 50)
        assert rows.find_next() == 51
        await press(pilot, "N", lambda: rows.cursor == 50)
        assert rows.find_previous() == 5
        assert rows.find_previous() == 59
        assert rows.find("row 15") is None
        assert rows.find("[/") is None
        assert rows.find("") is None
        assert rows.find_next(lambda index: index % 10 == 5 and index != 5) == 65
        assert rows.find_previous(lambda index: False) is None
        assert rows.cursor == 65


async def test_long_rows_slide_and_come_back() -> None:
    rows = RowList()
    text = "".join(f"{number:03d}|" for number in range(20))
    async with showing(rows, (40, 5)) as (_, pilot):
        rows.set_rows(ListSource([Row((Cell("7", width=2), Cell(text)))]))
        rows.focus()
        await until(pilot, lambda: lines(rows)[0] == "▌7  " + text[:35] + "…")
        await press(pilot, "l", lambda: lines(rows)[0] == "▌7  …" + text[9:43] + "…")
        for _ in range(12):
            await pilot.press("right")
        await until(pilot, lambda: lines(rows)[0] == "▌7  …" + text[-35:])
        for _ in range(12):
            await pilot.press("left")
        await until(pilot, lambda: lines(rows)[0] == "▌7  " + text[:35] + "…")


async def test_matches_are_highlighted_exactly() -> None:
    rows = RowList()
    raw = "前\x1b[31m needle \u202e後 [/] needle"
    spans = tuple((at, at + 6, "match") for at in (7, len(raw) - 6))
    async with showing(rows, (60, 5)) as (_, pilot):
        rows.set_rows(ListSource([Row((Cell("x"),)), Row((Cell(raw, spans=spans),))]))
        await until(pilot, lambda: matched(rows, 1) == "needleneedle")
        rows.cursor = 1
        await until(pilot, lambda: lines(rows)[1].startswith("▌"))
        assert matched(rows, 1) == "needleneedle"


async def test_changed_answers_are_drawn_when_told() -> None:
    rows = RowList()
    words = ["before"]
    async with showing(rows) as (_, pilot):
        rows.set_rows(FunctionSource(1, lambda index, width, selected: Row((Cell(words[0]),))))
        await until(pilot, lambda: lines(rows)[0] == "▌before")
        words[0] = "after"
        rows.refresh_rows()
        await until(pilot, lambda: lines(rows)[0] == "▌after")


async def test_the_cursor_shows_without_colour_and_without_focus() -> None:
    rows = RowList()
    async with showing(rows) as (app, pilot):
        app.no_color = True
        app.theme = "mono"
        rows.set_rows(numbered(3))
        rows.focus()
        await until(pilot, lambda: any(part.style and part.style.reverse for part in rows.render_line(0)))
        app.set_focus(None)
        await until(pilot, lambda: not any(part.style and part.style.reverse for part in rows.render_line(0)))
        assert lines(rows)[:2] == ["▌row 0", " row 1"]


# Hostile and large


async def test_hostile_rows_neither_end_the_app_nor_reach_the_terminal() -> None:
    rows = RowList(empty=HOSTILE[0])
    texts = [*HOSTILE, LONG]
    source = ListSource([Row((Cell(text, width=20, crop="start"), Cell(text, "path"))) for text in texts])
    async with showing(rows, (100, 40)) as (app, pilot):
        rows.set_header([Cell(text, width=8) for text in HOSTILE])
        rows.set_rows(source, dividers={4, 10, 12})
        rows.set_empty("[/]\x1b[2J")
        rows.focus()
        await until(pilot, lambda: safe(HOSTILE[7]) in app.screen_text())
        for y in range(len(texts) + 1):
            await pilot.hover(rows, offset=(25, y))
            await pilot.click(rows, offset=(25, y))
        for text in texts:
            rows.find(text)
        rows.tooltip = None
        assert app.is_running
        assert not unsafe_characters(app.screen_text().replace("\n", ""))
        rows.set_rows(ListSource([]))
        await until(pilot, lambda: "[/]␛[2J" in app.screen_text())


async def test_any_size_will_do() -> None:
    rows = RowList()
    sizes = random.Random(7)
    async with showing(rows, (80, 24)) as (app, pilot):
        rows.set_header([Cell("title", width=6), Cell("rest")])
        rows.set_rows(
            FunctionSource(1000, lambda index, width, selected: Row((Cell("漢字", width=3), Cell(LONG))))
        )
        rows.focus()
        for size in [
            (1, 1),
            (2, 1),
            (1, 30),
            (0, 0),
            *((sizes.randrange(200), sizes.randrange(60)) for _ in range(15)),
        ]:
            await pilot.resize_terminal(*size)
            rows.cursor += 17
            await pilot.press("l")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: rows.size == Size(80, 24))
        assert rows.first_line <= rows.cursor < rows.first_line + rows.room
        assert app.is_running


async def test_only_rows_on_screen_are_asked_for() -> None:
    asked: list[int] = []

    def make(index: int, width: int, selected: bool) -> Row:
        asked.append(index)
        return Row((Cell(f"row {index}"),))

    rows = RowList()
    async with showing(rows, (80, 24)) as (_, pilot):
        rows.set_rows(FunctionSource(100_000, make))
        rows.focus()
        await until(pilot, lambda: lines(rows)[23] == " row 23")
        assert len(asked) <= 3 * 24
        asked.clear()
        await press(pilot, "G", lambda: lines(rows)[-1] == "▌row 99999")
        assert set(asked) <= {*range(24), *range(99_976, 100_000)}
        asked.clear()
        await press(pilot, "k", lambda: lines(rows)[-2] == "▌row 99998")
        assert {99_998, 99_999} <= set(asked) <= set(range(99_976, 100_000))
