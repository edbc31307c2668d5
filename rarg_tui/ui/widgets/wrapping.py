"""Where the lines of a document break to fit a width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: A longer line is not wrapped: one line of it is shown, around its first match.
LONGEST = 20_000


class Piece(NamedTuple):
    """The characters ``start`` to ``end`` of line ``line`` (all from 0), a row of the screen."""

    line: int
    start: int
    end: int


def pieces(lines: Sequence[str], width: int) -> list[Piece]:
    """The rows that ``lines`` take in ``width`` cells, at least one a line, broken after blanks where
    there are any in the second half of the row."""
    rows: list[Piece] = []
    for number, text in enumerate(lines):
        if (len(text) <= width and text.isascii()) or width <= 0 or len(text) > LONGEST:
            rows.append(Piece(number, 0, len(text)))
            continue
        start = 0
        while True:
            end = _end(text, start, width)
            rows.append(Piece(number, start, end))
            if end >= len(text):
                break
            start = end
    return rows


def _end(text: str, start: int, width: int) -> int:
    """Where the row that begins at ``start`` ends; at least one character is taken."""
    from rich.cells import get_character_cell_size

    at, cells = start + width, 0
    if not text[start:at].isascii():
        at = start
        while at < len(text):
            cells += max(get_character_cell_size(text[at]), 1)
            if cells > width:
                break
            at += 1
    if at >= len(text):
        return len(text)
    blank = text.rfind(" ", start + (at - start) // 2, at + 1)
    return blank + 1 if blank > start else max(at, start + 1)
