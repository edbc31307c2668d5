"""Cutting a document into paragraphs of a readable size that know their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines ``first_line`` to ``last_line`` (from 1), or a part of one long line."""

    first_line: int
    last_line: int
    text: str


def paragraphs(text: str, low: int = 400, high: int = 1000) -> list[Paragraph]:
    """``text`` in pieces of ``low`` to ``high`` characters.

    A piece ends at a blank line once it holds ``low`` characters, and before a line that would take it
    over ``high``; a line longer than ``high`` is cut at sentence ends, else at spaces. Only the pieces
    before such a line and at the end may be shorter than ``low``; none is longer than ``high``.
    """
    found: list[Paragraph] = []
    lines: list[str] = []
    first = last = 0
    length = 0

    def close() -> None:
        nonlocal length
        if lines:
            found.append(Paragraph(first, last, "\n".join(lines)))
            lines.clear()
        length = 0

    for number, whole in enumerate(text.split("\n"), 1):
        line = whole.rstrip()
        if not line:
            if length >= low:
                close()
            continue
        for piece in _pieces(line, low, high):
            if lines and length + 1 + len(piece) > high:
                close()
            if not lines:
                first = number
            lines.append(piece)
            last = number
            length += len(piece) + (1 if length else 0)
    close()
    return found


def _pieces(line: str, low: int, high: int) -> Iterator[str]:
    at = 0
    while len(line) - at > high:
        cut = 0
        for end in _SENTENCE_END.finditer(line, at + low, at + high):
            cut = end.end()
        if not cut:
            space = line.rfind(" ", at + low, at + high)
            cut = space + 1 if space >= 0 else at + high
        piece = line[at:cut].strip()
        if piece:
            yield piece
        at = cut
    rest = line[at:].strip() if at else line
    if rest:
        yield rest
