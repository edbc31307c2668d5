"""``rg --json`` records to matches: bytes to characters, base64 to text, line ends away."""

from __future__ import annotations

import base64
import codecs
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from rarg_tui.search.excerpt import Span, excerpt
from rarg_tui.trace.events import Match

#: From this many bytes on a record is read in part, and of its spans at most this many.
_LONG, _MOST_SPANS = 65_536, 1_000
#: In a JSON text this cannot be part of a string: its quotes would be escaped.
_SPANS = b'"submatches":['
_DECODER = json.JSONDecoder()
_Offsets = Mapping[int, int] | Sequence[int]

#: How the records that matter begin. Others are skipped unread; new kinds may come.
MATCH, END = b'{"type":"match"', b'{"type":"end"'


def read_match(record: bytes, line_length: int) -> Match:
    """A ``match`` record as a :class:`Match` without position and rank. Spans are characters of the
    text; text that is not UTF-8 is shown with U+FFFD. Raises ``ValueError`` for a record not understood.

    ``record`` may break off behind the line itself: only the first spans of a long line are read.
    """
    try:
        data, found = _long_record(record) if len(record) > _LONG else _short_record(record)
        line = _bytes(data["lines"])
        path, number = _path(data["path"]), int(data["line_number"] or 0)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"an rg record was not understood: {error!r}") from None
    text, spans, cut = excerpt(*decode_line(line, found), line_length)
    return Match(path=path, line=number, text=text, spans=spans, cut=cut)


def _short_record(record: bytes) -> tuple[Mapping[str, Any], list[Span]]:
    data = _object(record)["data"]
    return data, [_span(sub) for sub in data["submatches"]]


def _object(record: bytes) -> Mapping[str, Any]:
    # json.loads would first guess the encoding, every time.
    found: Mapping[str, Any] = _DECODER.raw_decode(record.decode("utf-8", "surrogatepass"))[0]
    return found


def _long_record(record: bytes) -> tuple[Mapping[str, Any], list[Span]]:
    """A line of megabytes may have a million spans: all would cost seconds and gigabytes."""
    head, found, rest = record.partition(_SPANS)
    if not found:
        raise ValueError("an rg record is too long to be read")
    data = json.loads(head + _SPANS + b"]}}")["data"]
    text = rest.decode("utf-8", "replace")
    spans: list[Span] = []
    at = 0
    while len(spans) < _MOST_SPANS and text.startswith("{", at):
        try:
            sub, at = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError:
            break
        spans.append(_span(sub))
        at += 1
    return data, spans


def _span(submatch: Mapping[str, Any]) -> Span:
    return int(submatch["start"]), int(submatch["end"])


def read_end(record: bytes) -> tuple[str, int | None]:
    """An ``end`` record as (path, offset of the first NUL byte or ``None``)."""
    data = json.loads(record)["data"]
    offset = data.get("binary_offset")
    return _path(data["path"]), None if offset is None else int(offset)


def decode_line(line: bytes, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """A line without its line end, and byte spans as character spans: of all characters that they touch.

    Spans may begin or end inside a character, also empty ones: rg looks at bytes.
    """
    line = line.removesuffix(b"\r\n" if line.endswith(b"\r\n") else b"\n")
    text, begun, ended = _characters(line, spans)
    found: list[Span] = []
    for start, end in ((min(a, len(line)), min(b, len(line))) for a, b in spans):
        first = max(begun[start], found[-1][1] if found else 0)
        last = max(first, ended[end]) if end > start else first
        if not found or found[-1] != (first, last):
            found.append((first, last))
    return text, found


def _characters(line: bytes, spans: Sequence[Span]) -> tuple[str, _Offsets, _Offsets]:
    """The text of ``line``, and for each bound of the ``spans`` the character that it stands before or in,
    and the one that it stands behind or in."""
    if line.isascii():
        same = range(len(line) + 1)
        return line.decode("ascii"), same, same
    bounds = sorted({0, len(line), *(min(at, len(line)) for span in spans for at in span)})
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pieces = [""]
    begun, ended = {0: 0}, {0: 0}
    length = 0
    for start, end in itertools.pairwise(bounds):
        piece = decoder.decode(line[start:end], end == len(line))
        pieces.append(piece)
        length += len(piece)
        open_ = bool(decoder.getstate()[0])
        goes_on = open_ and line[end] & 0xC0 == 0x80
        begun[end] = length + (open_ and not goes_on)
        ended[end] = length + open_
    return "".join(pieces), begun, ended


def _bytes(value: Mapping[str, Any]) -> bytes:
    if "text" in value:
        return str(value["text"]).encode("utf-8", "surrogatepass")
    return base64.b64decode(value["bytes"])


def _path(value: Mapping[str, Any] | None) -> str:
    if value is None:
        return ""
    path = str(value["text"]) if "text" in value else os.fsdecode(base64.b64decode(value["bytes"]))
    return path[2:] if path == "./-" else path
