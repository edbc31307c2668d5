"""Long lines: the parts around what matched, and how much was left out."""

from __future__ import annotations

from collections.abc import Sequence

#: Stands where text was left out.
MARK = "…"
#: The most pieces an excerpt is made of.
_WINDOWS = 3

Span = tuple[int, int]


def excerpt(text: str, spans: Sequence[Span], limit: int) -> tuple[str, tuple[Span, ...], int]:
    """``text`` cut to about ``limit`` characters around ``spans`` (character offsets, in order).

    Returns the excerpt, the spans in it (those outside are dropped, those cut through are clipped), and
    the number of characters left out. A mark stands in each gap.
    """
    if len(text) <= limit:
        return text, tuple(spans), 0
    pieces: list[str] = []
    inside: list[Span] = []
    length = end_before = 0
    for start, end in _windows(len(text), spans, limit):
        if start > end_before:
            pieces.append(MARK)
            length += len(MARK)
        for first, last in spans:
            if first < end and last > start:
                inside.append((max(first, start) - start + length, min(last, end) - start + length))
        pieces.append(text[start:end])
        length += end - start
        end_before = end
    if end_before < len(text):
        pieces.append(MARK)
    kept = sum(len(piece) for piece in pieces) - sum(len(MARK) for piece in pieces if piece == MARK)
    return "".join(pieces), tuple(inside), len(text) - kept


def _windows(length: int, spans: Sequence[Span], limit: int) -> list[Span]:
    if not spans:
        return [(0, limit)]
    found: list[Span] = []
    for count in range(1, _WINDOWS + 1):
        found = _around(length, spans, max(1, limit // count))
        if len(found) <= count:
            return found
    return found[:_WINDOWS]


def _around(length: int, spans: Sequence[Span], width: int) -> list[Span]:
    """Windows of ``width`` that cover the spans from the first on; one more than allowed is enough."""
    found: list[Span] = []
    at = 0
    while at < len(spans) and len(found) <= _WINDOWS:
        first, last = spans[at]
        at += 1
        if found and last <= found[-1][1]:
            continue
        while at < len(spans) and spans[at][1] - first <= width:
            last = spans[at][1]
            at += 1
        start = max(0, min(first - max(0, width - (last - first)) // 2, length - width))
        start = max(start, found[-1][1]) if found else start
        found.append((start, min(length, start + width)))
    return found
