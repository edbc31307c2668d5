from __future__ import annotations

import pytest

from rarg_tui.ui.widgets.wrapping import LONGEST, pieces


def texts(line: str, width: int) -> list[str]:
    return [line[row.start : row.end] for row in pieces([line], width)]


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("", [""]),
        ("short", ["short"]),
        ("one two three four", ["one two ", "three four"]),
        ("a" * 25, ["a" * 10, "a" * 10, "a" * 5]),
        ("漢字漢字漢字", ["漢字漢字漢", "字"]),
        ("x 漢字漢字漢字", ["x 漢字漢字", "漢字"]),
    ],
)
def test_a_line_breaks_after_blanks_where_it_can(line: str, rows: list[str]) -> None:
    assert texts(line, 10) == rows
    assert "".join(texts(line, 10)) == line


def test_every_line_has_a_row_and_loses_nothing() -> None:
    lines = ["one two three four five", "", "漢" * 30, "tab\there", "\x1b[2J"]
    for width in (-3, 0, 1, 2, 7, 80):
        rows = pieces(lines, width)
        assert sorted({row.line for row in rows}) == list(range(len(lines)))
        for number, line in enumerate(lines):
            assert "".join(line[r.start : r.end] for r in rows if r.line == number) == line


def test_a_huge_line_stays_one_row() -> None:
    assert len(pieces(["x" * (LONGEST + 1)], 80)) == 1
