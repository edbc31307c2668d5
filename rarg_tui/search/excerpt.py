"""Long lines: the parts around what matched, and how much was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

#: Stands where text was left out.
MARK = "…"
#: The most pieces an excerpt is made of.
_WINDOWS = 3

Span = tuple[int, int]


def excerpt(text: str, spans: Sequence[Span], limit: int) -> tuple[str, tuple[Span, ...], int]:
    """``text`` cut to at most ``limit`` (1 or more) characters and a mark in each gap.

    ``spans`` are character offsets, in order, apart from each other. Returns the excerpt, the spans in it,
    and the number of characters left out. A span is shown whole or not at all; only one that is wider
    than a piece is cut through. A text of several lines gives one piece, since the lines of its rows are
    counted from its first.
    """
    if len(text) <= limit:
        return text, tuple(spans), 0
    pieces: list[str] = []
    inside: list[Span] = []
    length = end_before = kept = 0
    for start, end in _joined(_windows(len(text), spans, limit, 1 if "\n" in text else _WINDOWS)):
        if start > end_before:
            pieces.append(MARK)
            length += len(MARK)
        inside += (
            (first - start + length, last - start + length) for first, last in _clipped(spans, start, end)
        )
        pieces.append(text[start:end])
        length += end - start
        kept += end - start
        end_before = end
    if end_before < len(text):
        pieces.append(MARK)
    return "".join(pieces), tuple(inside), len(text) - kept


def _clipped(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    for first, last in spans:
        clipped = max(first, start), min(last, end)
        if clipped[0] < clipped[1] or (first == last and start <= first <= end):
            yield clipped


def _joined(windows: Sequence[Span]) -> list[Span]:
    """``windows`` with those that touch made one."""
    joined: list[Span] = []
    for start, end in windows:
        if joined and start == joined[-1][1]:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _windows(length: int, spans: Sequence[Span], limit: int, most: int) -> list[Span]:
    """The fewest windows that hold all spans; where even ``most`` do not, those of the first ones."""
    if not spans:
        return [(0, limit)]
    most = min(most, limit)
    for count in range(1, most + 1):
        width = limit // count
        groups = _groups(spans, width, most + 1)
        if len(groups) <= count:
            break
    return _around(length, groups, width)[:most]


def _groups(spans: Sequence[Span], width: int, most: int) -> list[Span]:
    """The first ``most`` groups of spans, each at most ``width`` from its first to its last character, or
    one span alone."""
    groups: list[Span] = []
    for first, last in spans:
        if groups and last - groups[-1][0] <= width:
            groups[-1] = groups[-1][0], last
        elif len(groups) == most:
            break
        else:
            groups.append((first, last))
    return groups


def _around(length: int, groups: Sequence[Span], width: int) -> list[Span]:
    """A window of at most ``width`` around each group; none reaches into the next group."""
    windows: list[Span] = []
    before = 0
    for at, (first, last) in enumerate(groups):
        start = max(before, min(first - max(0, width - (last - first)) // 2, length - width))
        end = min(start + width, groups[at + 1][0] if at + 1 < len(groups) else length)
        windows.append((start, end))
        before = end
    return windows
