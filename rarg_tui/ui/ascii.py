"""Drawing with ASCII alone: signs of our own, borders and scroll bars, as they leave a widget."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_BOXES = {chr(code): "+" for code in range(0x2500, 0x2580)}
_LINES = dict.fromkeys("─━┄┅┈┉╌╍═╴╶╸╺╼╾", "-") | dict.fromkeys("│┃┆┇┊┋╎╏║╵╷╹╻╽╿▌▐▊▎", "|")
_BLOCKS = {chr(code): " " for code in range(0x2580, 0x25A0)}
_PICTURES = {chr(code): "?" for code in range(0x2400, 0x2427)}
_SIGNS = dict(
    zip("·…–—“”‘’→←↑↓↳›‹≤≥×•●★☆▲▼▸▾■□✓✗§⏎█\ufffd", "|~--\"\"''><^v`><<>x*o*?^v>v##yxc$#?", strict=True)
)

_TABLE = str.maketrans(_BOXES | _BLOCKS | _LINES | _PICTURES | _SIGNS | {"🔎": "/ "})


class AsciiSigns(LineFilter):
    """Puts an ASCII character in place of each sign that is not a letter. All are as wide as what they
    replace; letters of documents and names stay what they are."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.text.isascii() else Segment(segment.text.translate(_TABLE), *segment[1:])
            for segment in segments
        ]
