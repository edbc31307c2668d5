"""The only door by which foreign text enters a widget.

Foreign text is whatever this program did not write: file names, lines of documents, patterns, model
output, messages of other programs. A terminal obeys the control characters in it, a bidi control turns
what is read into something else, and a stray surrogate cannot be written at all. Here all of these
become visible, one-cell-per-column text; nothing is dropped in silence except presentation selectors,
about whose width terminals disagree.

The functions are pure and import no Textual; ``content`` alone makes a Textual value.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.content import Content

Span = tuple[int, int]

LIMIT = 1000
"""Characters of one line that are ever shown."""
TAB = 4
ELLIPSIS = "…"
REPLACEMENT = "\ufffd"

# Whatever is not shown as it stands. Written out because asking unicodedata about every code point
# takes a third of a second at import; the tests do ask it.
_SPECIAL = re.compile(
    "\r\n|["
    "\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
_SELECTORS = range(0xFE00, 0xFE10)
_NAMES = {
    0x00AD: "SHY", 0x034F: "CGJ", 0x061C: "ALM", 0x180E: "MVS", 0x200B: "ZWSP", 0x200C: "ZWNJ",
    0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LS", 0x2029: "PS", 0x202A: "LRE",
    0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO", 0x2060: "WJ", 0x2066: "LRI",
    0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM",
}  # fmt: skip


def _visible(special: str) -> str:
    """What stands for one special character (or a CR LF pair), tabs excepted."""
    if special in ("\n", "\r\n"):
        return "⏎"
    code = ord(special)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code in _SELECTORS:
        return ""
    if 0xD800 <= code <= 0xDFFF or 0xFFF0 <= code <= 0xFFF8 or code in (0xFFFE, 0xFFFF):
        return REPLACEMENT
    return f"‹{_NAMES.get(code, format(code, 'x'))}›"


@dataclass(frozen=True, slots=True)
class SafeLine:
    """A raw line made safe, and where its characters went.

    ``marks`` holds, for each place where raw and safe text part ways, the raw offset and the safe offset
    just after it, both ascending; between two marks offsets run in step. ``start`` and ``end`` bound the
    part of the raw line that is shown.
    """

    text: str
    start: int
    end: int
    marks: tuple[tuple[int, int], ...]

    def offset(self, raw: int) -> int:
        """The safe offset of a raw offset, clamped to what is shown."""
        raw = min(max(raw, self.start), self.end)
        if len(self.marks) == 1:
            return raw - self.start + self.marks[0][1]
        at = bisect_left(self.marks, (raw + 1, -1)) - 1
        mark_raw, mark_safe = self.marks[at]
        return min(mark_safe + raw - mark_raw, len(self.text))

    def span(self, start: int, end: int) -> Span | None:
        """The safe span of a raw span, or None if nothing of it is shown."""
        if end <= self.start or start >= self.end or end <= start:
            return None
        mapped = self.offset(start), self.offset(end)
        return mapped if mapped[0] < mapped[1] else None


def _fill(text: str, start: int, room: int, tab: int) -> SafeLine:
    """As much of ``text`` from ``start`` on as makes at most ``room`` safe characters."""
    from rich.cells import cell_len

    lead = ELLIPSIS if start else ""
    pieces = [lead]
    length = column = len(lead)
    marks = [(start, length)]
    at = start
    # Each raw character makes at least one safe one, presentation selectors apart, so nothing beyond
    # this can be shown. One more keeps a CR LF pair together.
    stop = min(len(text), start + room + 1)
    for found in _SPECIAL.finditer(text, start, stop):
        plain = text[at : min(found.start(), at + room - length)]
        special = found.group()
        column += cell_len(plain)
        shown = " " * (tab - column % tab) if special == "\t" else _visible(special)
        pieces.append(plain)
        length += len(plain)
        at += len(plain)
        if at < found.start() or length + len(shown) > room:
            return SafeLine("".join(pieces), start, at, tuple(marks))
        pieces.append(shown)
        column += cell_len(shown)
        length += len(shown)
        at = found.end()
        marks.append((at, length))
    plain = text[at : min(stop, at + room - length)]
    pieces.append(plain)
    return SafeLine("".join(pieces), start, at + len(plain), tuple(marks))


def _build(text: str, start: int, limit: int, tab: int) -> SafeLine:
    """Make ``text`` from ``start`` on safe, in at most ``limit`` characters, ellipses included."""
    line = _fill(text, start, limit, tab)
    if line.end == len(text):
        return line
    line = _fill(text, start, limit - 1, tab)
    return SafeLine(line.text + ELLIPSIS, line.start, line.end, line.marks)


def safe(text: str, limit: int = LIMIT, tab: int = TAB) -> str:
    """``text`` as one line that can be shown: at most ``limit`` characters, "…" where it was cut.

    Control characters become their pictures (ESC is ␛, NUL is ␀), DEL ␡, C1 controls ‹9b›, a line end
    ⏎; bidi and zero-width characters their names (‹RLO›, ‹ZWSP›); lone surrogates, which stand for bytes
    that are not UTF-8, U+FFFD; tabs are expanded. What is safe already comes back unchanged.
    """
    if len(text) <= limit and not _SPECIAL.search(text):
        return text
    return _build(text, 0, limit, tab).text


def safe_lines(text: str, limit: int = LIMIT, tab: int = TAB) -> list[str]:
    """The lines of ``text`` (ended by LF or CR LF), each made safe. Always at least one."""
    return [safe(line.removesuffix("\r"), limit, tab) for line in text.split("\n")]


def safe_line(
    text: str, spans: Sequence[Span] = (), limit: int = LIMIT, tab: int = TAB
) -> tuple[str, list[Span]]:
    """``text`` made safe, and the char ``spans`` of the raw text as char spans of the safe text.

    When the first span lies beyond ``limit``, the part around it is shown, with "…" on both sides.
    Spans that are empty or fall out of the part shown are left out, the others clamped to it.
    """
    if len(text) <= limit and not _SPECIAL.search(text):
        return text, [(start, min(end, len(text))) for start, end in spans if start < min(end, len(text))]
    line = window(text, spans, limit, tab)
    mapped = [line.span(start, end) for start, end in spans]
    return line.text, [span for span in mapped if span is not None]


def window(text: str, spans: Sequence[Span] = (), limit: int = LIMIT, tab: int = TAB) -> SafeLine:
    """The part of ``text`` that ``safe_line`` shows, with its offsets."""
    start = 0
    if spans and len(text) > limit >= 8:
        first_start, first_end = spans[0]
        if first_end > limit * 3 // 4:
            start = max(0, min(first_start - limit // 3, len(text) - limit * 3 // 4))
    return _build(text, start, limit, tab)


def cell_spans(text: str, spans: Sequence[Span]) -> list[Span]:
    """Char ``spans`` of a safe ``text`` as spans of terminal cells."""
    from rich.cells import cell_len

    if text.isascii():
        return list(spans)
    return [(cell_len(text[:start]), cell_len(text[:end])) for start, end in spans]


def content(text: str, style: str = "", limit: int = LIMIT) -> Content:
    """``text``, which may have several lines, as Textual content: safe, and never parsed as markup."""
    from textual.content import Content

    return Content.styled("\n".join(safe_lines(text, limit)), style)
