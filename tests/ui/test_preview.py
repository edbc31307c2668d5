from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from textual.geometry import Size

from rarg_tui.ui.highlight import MAX_CHARS, MAX_LINES, highlight_lines
from rarg_tui.ui.palette import Palette
from rarg_tui.ui.widgets.cells import Drawn
from rarg_tui.ui.widgets.document_view import DocumentView
from rarg_tui.ui.widgets.wrapping import Piece
from tests.ui.widget_harness import HOSTILE, LONG, of, press, showing, unsafe_characters, until

PYTHON = [
    "def orrery(brass):",
    '    """The orrery',
    "    of Halden.",
    '    """',
    "    return 'brass'  # done",
]


def lines(view: DocumentView) -> list[str]:
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def styled(view: DocumentView, y: int, word: str) -> list[str]:
    """The texts on line ``y`` drawn in the style of a word."""
    wanted = Palette(view.app.theme_variables).style(word)
    return [
        part.text
        for part in view.render_line(y)
        if part.style
        and part.style.color == wanted.color
        and (not wanted.bgcolor or part.style.bgcolor == wanted.bgcolor)
    ]


async def test_a_match_deep_in_a_document_is_centred_numbered_and_marked() -> None:
    view = DocumentView()
    texts = [f"line {number}" for number in range(1, 6001)]
    async with showing(view, (60, 21)) as (_, pilot):
        view.set_document("deep.txt", texts, {5000: [(0, 4)]}, 5000)
        await until(pilot, lambda: lines(view)[10] == "▌ 5000 ● line 5000")
        assert lines(view)[9] == "  4999   line 4999"
        assert styled(view, 10, "match") == ["line"]
        assert view.line == 5000


async def test_a_document_given_before_mounting_is_centred_too() -> None:
    view = DocumentView()
    view.set_document("a.py", [*PYTHON * 100], {}, 250)
    async with showing(view, (60, 21)) as (app, pilot):
        await until(pilot, lambda: lines(view)[10].startswith("▌ 250"))
        await app.workers.wait_for_complete()
        await until(pilot, lambda: "def" in styled(view, 11, "syntax-keyword"))


async def test_keys_scroll_and_go_from_match_to_match() -> None:
    view = DocumentView()
    texts = [f"line {number}" for number in range(1, 201)]
    async with showing(view, (60, 20)) as (app, pilot):
        view.set_document("a.txt", texts, {10: [(0, 4)], 100: [(0, 4)], 190: [(0, 4)], 999: [(0, 1)]})
        view.focus()
        await until(pilot, lambda: view.line == 10 and view.first_line == 0)
        for key, top in [
            ("j", 1),
            ("k", 0),
            ("ctrl+d", 9),
            ("ctrl+u", 0),
            ("pagedown", 19),
            ("space", 38),
            ("pageup", 19),
            ("G", 180),
            ("g", 0),
            ("up", 0),
        ]:
            await pilot.press(key)
            await pilot.pause()
            assert view.first_line == top, key
        for key, line in [("n", 100), ("n", 190), ("n", 10), ("N", 190), ("N", 100)]:
            await pilot.press(key)
            await pilot.pause()
            assert view.line == line
            assert view.first_line < line <= view.first_line + 20
        await pilot.click(view, offset=(20, 0))
        await until(pilot, lambda: view.line == view.first_line + 1)
        assert [sent.line for sent in of(app, DocumentView.LineChanged)][:3] == [10, 100, 190]


async def test_syntax_and_matches_are_drawn_together() -> None:
    view = DocumentView()
    async with showing(view, (60, 20)) as (app, pilot):
        view.set_document("a.py", PYTHON, {2: [(11, 17)]})
        await app.workers.wait_for_complete()
        await until(pilot, lambda: styled(view, 0, "syntax-keyword") == ["def"])
        assert styled(view, 0, "syntax-name") == ["orrery"]
        assert styled(view, 1, "match") == ["orrery"]
        assert styled(view, 2, "syntax-string") == ["    of Halden."]
        assert "# done" in styled(view, 4, "syntax-comment")
        app.theme = "rarg-light"
        await until(pilot, lambda: styled(view, 0, "syntax-keyword") == ["def"])


async def test_colours_of_an_earlier_document_never_reach_a_later_one() -> None:
    view = DocumentView()
    async with showing(view, (60, 20)) as (app, pilot):
        for _ in range(20):
            view.set_document("a.py", PYTHON * 50)
        view.set_document("a.txt", PYTHON)
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert styled(view, 0, "syntax-keyword") == []


async def test_a_line_of_two_megabytes_shows_its_match() -> None:
    view = DocumentView()
    at = LONG.index("NEEDLE")
    async with showing(view, (80, 10)) as (app, pilot):
        view.set_document("one.json", [LONG], {1: [(at, at + 6)]})
        await until(pilot, lambda: styled(view, 0, "match") == ["NEEDLE"])
        assert lines(view)[0].startswith("▌ 1 ● …xx")
        view.focus()
        await press(pilot, "l", lambda: len(app.screen_text()) > 0)
        await pilot.resize_terminal(30, 5)
        await until(pilot, lambda: view.size == Size(30, 5) and "…" in lines(view)[0])


async def test_nothing_to_show_says_so() -> None:
    view = DocumentView(empty="no document")
    async with showing(view, (40, 9)) as (app, pilot):
        await until(pilot, lambda: lines(view)[4] == " no document")
        view.focus()
        for key in ("j", "k", "n", "N", "G", "g", "l", "h", "pagedown"):
            await pilot.press(key)
        await pilot.click(view, offset=(5, 5))
        view.set_document("a.txt", ["x"])
        view.clear("[/] gone\x1b")
        await until(pilot, lambda: "[/] gone␛" in app.screen_text())
        assert view.line == 0
        assert view.path == ""


async def test_hostile_documents_neither_end_the_app_nor_reach_the_terminal() -> None:
    view = DocumentView()
    for_all = {number: [(0, 3), (1, 900), (7, 7)] for number in range(1, 100)}
    async with showing(view, (100, 40)) as (app, pilot):
        for name in ("a.txt", "[/]\x1b.py", "a.md", "a.html", "a.json", "a.js", "caf\udce9.py", "a.sh"):
            view.set_document(name, [*HOSTILE, LONG], for_all)
            await app.workers.wait_for_complete()
            for y in range(0, 25, 8):
                await pilot.hover(view, offset=(12, y))
                await pilot.click(view, offset=(12, y))
            assert app.is_running
            assert not unsafe_characters(app.screen_text().replace("\n", ""))


async def test_any_size_will_do() -> None:
    view = DocumentView()
    sizes = random.Random(3)
    async with showing(view, (80, 24)) as (app, pilot):
        view.set_document("a.py", [*PYTHON, *HOSTILE] * 100, {7: [(0, 2)]})
        view.focus()
        for size in [
            (1, 1),
            (0, 0),
            (3, 1),
            *((sizes.randrange(150), sizes.randrange(50)) for _ in range(30)),
        ]:
            await pilot.resize_terminal(*size)
            await pilot.press("j", "l", "n")
        assert app.is_running


async def test_only_lines_on_screen_are_drawn() -> None:
    drawn: list[int] = []

    class Watched(DocumentView):
        def _draw_piece(self, piece: Piece, current: bool, width: int) -> Drawn:
            drawn.append(piece.line)
            return super()._draw_piece(piece, current, width)

    view = Watched()
    async with showing(view, (80, 24)) as (_, pilot):
        view.set_document("a.txt", [f"line {number}" for number in range(100_000)], None, 50_000)
        await until(pilot, lambda: "▌  50000   line 49999" in lines(view))
        assert 49_999 in drawn
        assert set(drawn) <= {*range(24), *range(49_900, 50_100)}


# Highlighting


def kinds(path: str, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
    return [
        [(texts[at][start:end], word) for start, end, word in spans]
        for at, spans in enumerate(highlight_lines(path, texts))
    ]


def test_a_lexer_is_chosen_by_name_alone() -> None:
    assert ("def", "syntax-keyword") in kinds("x/a.py", PYTHON)[0]
    assert ("# Title", "syntax-name") in kinds("a.md", ["# Title", "text"])[0]
    assert highlight_lines("a.txt", PYTHON) == []
    assert highlight_lines("no-suffix", PYTHON) == []
    assert highlight_lines("", []) == []


def test_spans_of_several_lines_are_split_at_their_ends() -> None:
    assert kinds("a.py", PYTHON)[2] == [("    of Halden.", "syntax-string")]
    assert len(kinds("a.py", ["", *PYTHON, ""])) == len(PYTHON) + 2
    assert ("def", "syntax-keyword") in kinds("a.py", ["odd\rline\x0b", "def x(): ..."])[1]


@pytest.mark.parametrize(
    "path", ["a.py", "a.md", "a.html", "a.json", "a.js", "a.toml", "a.rst", "a.c", "Makefile"]
)
def test_hostile_text_is_coloured_within_its_lines(path: str) -> None:
    for spans, text in zip(highlight_lines(path, HOSTILE), HOSTILE, strict=False):
        assert all(0 <= start < end <= len(text) for start, end, _ in spans)


def test_large_documents_are_left_alone_and_long_ones_in_part() -> None:
    assert highlight_lines("a.py", ["x" * (MAX_CHARS + 1)]) == []
    assert len(highlight_lines("a.py", ["x = 1"] * (MAX_LINES + 50))) == MAX_LINES


def test_colouring_stops_when_told() -> None:
    assert highlight_lines("a.py", PYTHON * 100, lambda: True) == []


async def test_a_long_line_is_wrapped_and_its_match_is_in_sight() -> None:
    text = "word " * 400 + "NEEDLE " + "word " * 400
    view = DocumentView()
    async with showing(view, (80, 12)) as (_, pilot):
        view.set_document("a.txt", ["before", text, "after"], {2: [(2000, 2006)]}, 2)
        await until(pilot, lambda: "NEEDLE" in "\n".join(lines(view)))
        assert "…" not in "\n".join(lines(view))
        view.focus()
        await press(pilot, "G", lambda: "after" in "\n".join(lines(view)))
