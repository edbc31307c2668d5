"""Cutting a long text into windows that share a little with their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

#: No token of any tokenizer at hand is longer than this on average over a window.
CHARACTERS_PER_TOKEN = 16
#: So many characters are tokenized at once: the offsets of a long text take much more room than it does.
_STRETCH = 400_000

Span = tuple[int, int]


def token_spans(
    text: str, offsets_of: Callable[[str], Sequence[Span]], room: int, overlap: int
) -> Iterator[Span]:
    """Start and end, in characters, of windows of ``room`` tokens. ``offsets_of`` gives where each token of a
    text stands. A stretch at a time is tokenized; a window that a stretch cuts short begins the next."""
    start = 0
    while start < len(text):
        part = text[start : start + max(_STRETCH, room * CHARACTERS_PER_TOKEN)]
        offsets = offsets_of(part)
        ends = start + len(part) == len(text)
        first = 0
        while first + room < len(offsets):
            yield start + offsets[first][0], start + offsets[first + room - 1][1]
            first += room - overlap
        if offsets and (ends or not first):
            yield start + offsets[first][0], start + offsets[-1][1]
        if ends:
            return
        start += offsets[first][0] if first else len(part)


def character_spans(text: str, room: int, overlap: int) -> Iterator[Span]:
    """Start and end of windows of at most ``room`` characters, cut at white space where there is some."""
    start = 0
    while len(text) - start > room:
        half = start + room // 2
        cut = 1 + max(text.rfind(" ", half, start + room), text.rfind("\n", half, start + room))
        end = cut or start + room
        yield start, end
        start = end - overlap
    if start < len(text):
        yield start, len(text)
