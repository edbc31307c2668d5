"""Excerpts and records: what a match shows, against what the file holds."""

from __future__ import annotations

import base64
import json
import os
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarg_tui.search.excerpt import MARK, Span, excerpt
from rarg_tui.search.observation import rows_of
from rarg_tui.search.process import Children
from rarg_tui.search.records import decode_line, read_end, read_match
from rarg_tui.search.rg import find_rg
from rarg_tui.search.rg_options import read_rg
from rarg_tui.search.ripgrep import scan
from rarg_tui.trace.events import Match
from tests.search.scene import write


def search(root: Path, name: str, *arguments: str, line_length: int = 80, pool: int = 9_999) -> list[Match]:
    """The matches in one file."""
    with Children() as children:
        found = scan(
            find_rg(), read_rg(arguments), [name], root=str(root), children=children, pool=pool,
            line_length=line_length,
        )  # fmt: skip
    assert not found.problems
    assert not found.error
    return list(found.matches)


#: Each character of it stands in one place only, so an excerpt tells by itself where it was taken from.
NUMBERED = "".join(map(chr, range(0x4E00, 0x4E00 + 400)))


@st.composite
def numbered(draw: st.DrawFn) -> tuple[str, list[Span], int]:
    """A text, spans in it that are apart, and a limit."""
    length = draw(st.integers(0, len(NUMBERED)))
    bounds = sorted(draw(st.lists(st.integers(0, length), max_size=24)))
    spans = [(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False)]
    apart = [span for at, span in enumerate(spans) if at == 0 or span[0] > spans[at - 1][1]]
    return NUMBERED[:length], apart, draw(st.integers(1, 120))


class TestExcerpt:
    @given(numbered())
    def test_all_counts_hold(self, case: tuple[str, list[Span], int]) -> None:
        text, spans, limit = case
        shown, inside, cut = excerpt(text, spans, limit)
        places = [NUMBERED.find(char) for char in shown]
        kept = [place for place in places if place >= 0]
        assert set(shown) - set(text) <= {MARK}
        assert kept == sorted(set(kept))
        assert len(kept) + cut == len(text)
        assert len(kept) == len(text) or len(kept) <= limit
        # A mark stands where something is left out, and nowhere else.
        gaps = [b - a > 1 for a, b in zip([-1, *kept], [*kept, len(text)], strict=True)]
        assert shown.count(MARK) == sum(gaps) <= 4
        for first, last in inside:
            piece = places[first:last]
            if piece:
                assert -1 not in piece
                assert piece == list(range(piece[0], piece[-1] + 1))
                assert sum(a <= piece[0] and piece[-1] < b for a, b in spans) == 1

    @given(numbered())
    def test_a_match_is_shown_whole_or_not_at_all(self, case: tuple[str, list[Span], int]) -> None:
        text, spans, limit = case
        shown, inside, _ = excerpt(text, spans, limit)
        whole = {text[a:b] for a, b in spans}
        wide = [text[a:b] for a, b in spans if b - a > max(1, limit // 3)]
        for a, b in inside:
            assert shown[a:b] in whole or any(shown[a:b] in match for match in wide)
        if spans:
            assert inside

    def test_short(self) -> None:
        assert excerpt("abc", [(1, 2)], 10) == ("abc", ((1, 2),), 0)
        assert excerpt("abc", [(0, 0), (3, 3)], 3) == ("abc", ((0, 0), (3, 3)), 0)

    def test_around_one(self) -> None:
        text = "x" * 500 + "HIT" + "y" * 500
        cut, spans, left_out = excerpt(text, [(500, 503)], 41)
        assert cut == MARK + "x" * 19 + "HIT" + "y" * 19 + MARK
        assert [cut[a:b] for a, b in spans] == ["HIT"]
        assert left_out == len(text) - 41

    def test_at_the_ends_and_far_apart(self) -> None:
        text = "A" + "x" * 300 + "B" + "x" * 300 + "C"
        cut, spans, left_out = excerpt(text, [(0, 1), (301, 302), (602, 603)], 60)
        assert [cut[a:b] for a, b in spans] == ["A", "B", "C"]
        assert cut.count(MARK) == 2
        assert left_out == len(text) - (len(cut) - 2)

    def test_a_match_across_two_windows_is_one(self) -> None:
        text = "." * 40 + "A" * 20 + "." * 10 + "B" * 20 + "." * 400
        shown, spans, _ = excerpt(text, [(40, 60), (70, 90)], 90)
        assert [shown[a:b] for a, b in spans] == ["A" * 20, "B" * 20]

    def test_marks_of_the_text_are_text(self) -> None:
        text = MARK * 100
        shown, _, cut = excerpt(text, [(0, 1), (50, 51), (99, 100)], 3)
        assert (len(shown) - 2, cut) == (3, 97)

    def test_many_long_and_none(self) -> None:
        text = "ab" * 10_000
        cut, spans, left_out = excerpt(text, [(at, at + 1) for at in range(0, len(text), 2)], 100)
        assert [cut[a:b] for a, b in spans] == ["a"] * cut.count("a")
        assert left_out == len(text) - cut.count("a") - cut.count("b") >= len(text) - 100
        assert excerpt("z" * 90, [(0, 90)], 10) == ("z" * 10 + MARK, ((0, 10),), 80)
        assert excerpt("z" * 90, [], 10) == ("z" * 10 + MARK, (), 80)
        assert excerpt("z" * 90, [(90, 90)], 10) == (MARK + "z" * 10, ((11, 11),), 80)

    @given(st.text("ab漢\n", min_size=1, max_size=300), st.integers(1, 60), st.data())
    def test_rows_of_several_lines_are_numbered_as_in_the_file(
        self, text: str, limit: int, data: st.DataObject
    ) -> None:
        # As rg gives it: the first match begins in the first line.
        first = data.draw(st.integers(0, text.find("\n") if "\n" in text else len(text)))
        others = (
            data.draw(st.sets(st.integers(first + 1, len(text)), max_size=6)) if first < len(text) else ()
        )
        spans = [(at, at + (at < len(text))) for at in sorted({first, *others})]
        shown, _, cut = excerpt(text, spans, limit)
        rows = rows_of(Match("f", 7, shown, spans, cut=cut)).split("\n")
        lines = text.split("\n")
        for at, row in enumerate(rows):
            head, _, said = row.partition(": ")
            assert head == f"f:{7 + at}"
            said = re.sub(r" \[\d+ characters? cut\]$", "", said) if at == len(rows) - 1 else said
            assert all(piece in lines[at] for piece in said.split(MARK))


#: Text that makes offsets go wrong: of 1 to 4 bytes, of 1 to 4 in UTF-16, wide, combining, invisible,
#: turning round, and what a terminal obeys.
ODD = [
    "a", "word ", "é", "e\u0301", "ß", "漢字", "🧭", "👩\u200d🚀", "\u202eabc\u202c", "\u2066x\u2069",
    "\u200b", "[/]", "\\", "\x1b[31m", "\x1b]0;t\x07", "\x07", "\t", "\x0b", "\x0c", "\x85", "\u2028", "\r",
    "\ufeff",
]  # fmt: skip
NEEDLE = "Nadél"


def made_up_lines(seed: int, count: int = 150) -> list[str]:
    """Lines of very different lengths, with the needle nowhere, somewhere, at the ends, and often."""
    rng = random.Random(seed)
    lines = []
    for _ in range(count):
        words = [rng.choice(ODD) for _ in range(rng.choice((0, 3, 30, 300)))]
        for _ in range(rng.choice((0, 1, 1, 2, 9, 60))):
            words.insert(rng.choice((0, len(words), rng.randint(0, len(words)))), NEEDLE)
        # A byte order mark in front of the file is none of its text, and a \r behind a line is its end.
        lines.append("".join(words).lstrip("\ufeff").rstrip("\r"))
    return lines


def check(match: Match, line: str) -> None:
    """A match against the line of the file, and what Python's own search finds in it."""
    if not match.cut:
        assert match.text == line
        assert list(match.spans) == [found.span() for found in re.finditer(NEEDLE, line)]
        return
    pieces = match.text.split(MARK)
    at = 0
    for piece in pieces:
        at = line.index(piece, at) + len(piece)
    assert sum(map(len, pieces)) + match.cut == len(line)
    assert [match.text[a:b] for a, b in match.spans] == [NEEDLE] * match.text.count(NEEDLE)
    assert match.spans


class TestFiles:
    @pytest.mark.parametrize("line_end", ["\n", "\r\n"])
    @pytest.mark.parametrize(
        ("encoding", "mark"),
        [
            ("utf-8", b""),
            ("utf-8", b"\xef\xbb\xbf"),
            ("utf-16-le", b"\xff\xfe"),
            ("utf-16-be", b"\xfe\xff"),
        ],
    )
    def test_every_match_is_what_the_line_holds(
        self, encoding: str, mark: bytes, line_end: str, tmp_path: Path
    ) -> None:
        lines = [NEEDLE + " first", *made_up_lines(seed=len(mark) + len(line_end))]
        write(tmp_path, {"f.txt": mark + line_end.join(lines).encode(encoding)})
        matches = search(tmp_path, "f.txt", NEEDLE)
        assert [match.line for match in matches] == [n for n, line in enumerate(lines, 1) if NEEDLE in line]
        assert any(match.cut for match in matches)
        for match in matches:
            check(match, lines[match.line - 1])

    def test_bytes_that_are_no_utf8(self, tmp_path: Path) -> None:
        rng = random.Random(7)
        junk = [b"\xff", b"\xc3", b"\xe6\xbc", b"\xed\xa0\x80", b"\xf0\x9f", b"(", "é".encode(), b"word "]
        data = []
        for _ in range(100):
            words = [*rng.choices(junk, k=rng.choice((2, 20, 200))), NEEDLE.encode()]
            rng.shuffle(words)
            data.append(b"".join(words))
        write(tmp_path, {"f.txt": b"\n".join(data)})
        matches = search(tmp_path, "f.txt", NEEDLE)
        assert [match.line for match in matches] == list(range(1, 101))
        for match in matches:
            check(match, data[match.line - 1].decode("utf-8", "replace"))

    @pytest.mark.parametrize("at", [0, 1_000_000, 2_000_000])
    def test_a_line_of_megabytes(self, at: int, tmp_path: Path) -> None:
        line = "漢" * at + NEEDLE + "é" * (2_000_000 - at)
        write(tmp_path, {"f.txt": "before\n" + line + "\nafter " + NEEDLE})
        long, after = search(tmp_path, "f.txt", NEEDLE)
        check(long, line)
        assert len(long.text) <= 82
        assert (after.line, after.text, after.spans) == (3, "after " + NEEDLE, ((6, 11),))

    def test_thousands_of_matches_on_a_line(self, tmp_path: Path) -> None:
        line = f"é{NEEDLE}漢" * 30_000
        write(tmp_path, {"f.txt": line})
        (match,) = search(tmp_path, "f.txt", NEEDLE)
        check(match, line)
        assert len(match.spans) >= 8

    def test_a_match_of_megabytes(self, tmp_path: Path) -> None:
        write(tmp_path, {"f.txt": "é" * 900_000})
        (match,) = search(tmp_path, "f.txt", ".*")
        assert (match.text, match.spans, match.cut) == ("é" * 80 + MARK, ((0, 80),), 900_000 - 80)

    def test_matches_of_nothing(self, tmp_path: Path) -> None:
        write(tmp_path, {"f.txt": "é漢 b\r\n\n" + "é" * 200})
        short, empty, long = search(tmp_path, "f.txt", "z*")
        assert (short.text, short.spans) == ("é漢 b", tuple((at, at) for at in range(5)))
        assert (empty.text, empty.spans) == ("", ((0, 0),))
        assert {b - a for a, b in long.spans} == {0}
        assert [match.text for match in search(tmp_path, "f.txt", "b$", line_length=9)] == []
        assert [match.text for match in search(tmp_path, "f.txt", "--crlf", "b$")] == ["é漢 b"]

    def test_at_the_very_end(self, tmp_path: Path) -> None:
        write(tmp_path, {"f.txt": "x" * 500 + "b\r\n" + "y" * 500 + "b"})
        for match, letter in zip(search(tmp_path, "f.txt", r"b\s?"), "xy", strict=True):
            assert match.text == MARK + letter * 79 + "b"
            assert [match.text[a:b] for a, b in match.spans] == ["b"]
            assert match.cut == 421

    def test_characters_that_a_match_cuts_through(self, tmp_path: Path) -> None:
        write(tmp_path, {"f.txt": "é tail " + NEEDLE})
        (match,) = search(tmp_path, "f.txt", "-e", r"(?-u:\xa9) tail", "-e", NEEDLE)
        assert [match.text[a:b] for a, b in match.spans][1] == NEEDLE

    def test_control_characters_are_left_to_who_shows_them(self, tmp_path: Path) -> None:
        line = "\x1b[2J\x07 \u202eabc b\x00"
        write(tmp_path, {"f.txt": line})
        (match,) = search(tmp_path, "f.txt", "-a", "abc")
        assert match.text == line

    def test_matches_across_lines(self, tmp_path: Path) -> None:
        lines = ["é" * 300 + "begin", *(f"line {n}" for n in range(2, 400)), "end " + "x" * 300]
        write(tmp_path, {"f.txt": "\r\n".join(lines)})
        (match,) = search(tmp_path, "f.txt", "-U", r"begin(?s:.*)end")
        text = "\r\n".join(lines)
        assert len(match.text.strip(MARK)) + match.cut == len(text)
        for row in rows_of(match).split("\n")[1:-1]:
            head, _, said = row.partition(": ")
            assert said == lines[int(head.removeprefix("f.txt:")) - 1]


class TestRecords:
    def test_bytes_become_characters(self) -> None:
        line = "前 NEEDLE 後\r\n".encode()
        text, spans = decode_line(line, [(4, 10)])
        assert text == "前 NEEDLE 後"
        assert [text[a:b] for a, b in spans] == ["NEEDLE"]

    def test_what_is_not_utf8(self) -> None:
        text, spans = decode_line(b"\xff\xe9 NEEDLE \xc3(\n", [(3, 9)])
        assert [text[a:b] for a, b in spans] == ["NEEDLE"]
        assert text == "\ufffd\ufffd NEEDLE \ufffd("

    def test_spans_that_cut_characters_do_not_shift_others(self) -> None:
        text, spans = decode_line("é NEEDLE".encode(), [(0, 1), (3, 9)])
        assert text[spans[1][0] : spans[1][1]] == "NEEDLE"

    @given(st.binary(max_size=40), st.lists(st.integers(0, 40), max_size=8))
    def test_no_span_changes_the_text(self, line: bytes, bounds: list[int]) -> None:
        line = line.replace(b"\n", b" ").replace(b"\r", b" ")
        ends = sorted(min(at, len(line)) for at in bounds)
        text, spans = decode_line(line, list(zip(ends[::2], ends[1::2], strict=False)))
        assert text == line.decode("utf-8", "replace")
        assert [at for span in spans for at in span] == sorted(at for span in spans for at in span)
        assert all(0 <= a <= b <= len(text) for a, b in spans)

    @given(st.text("aé漢🧭\u0301\x1b\u202e", max_size=40), st.lists(st.integers(0, 40), max_size=8))
    def test_between_characters_offsets_are_exact(self, text: str, bounds: list[int]) -> None:
        ends = sorted({min(at, len(text)) for at in bounds})
        spans = list(zip(ends[::2], ends[1::2], strict=False))
        in_bytes = [(len(text[:a].encode()), len(text[:b].encode())) for a, b in spans]
        assert decode_line(text.encode() + b"\n", in_bytes) == (text, spans)

    def test_the_line_end_is_no_part(self) -> None:
        assert decode_line(b"ab\r\n", [(0, 4)]) == ("ab", [(0, 2)])
        assert decode_line(b"ab\r", [(0, 2)]) == ("ab\r", [(0, 2)])
        assert decode_line(b"a\r\r\n", [])[0] == "a\r"

    def test_a_match(self) -> None:
        path = base64.b64encode(b"latin-\xe9.txt").decode()
        match = read_match(record({"bytes": path}, {"text": "a hit\n"}, [(2, 5)]), 100)
        assert (match.path, match.line, match.text, match.spans) == (
            os.fsdecode(b"latin-\xe9.txt"),
            7,
            "a hit",
            ((2, 5),),
        )
        assert read_match(record({"text": "./-"}, {"text": "x\n"}, []), 9).path == "-"

    def test_a_long_record_is_read_in_part(self) -> None:
        text = '"submatches":[' + "a" * 200_000
        data = record({"text": "f"}, {"text": text}, [(at, at + 1) for at in range(14, 9_000)])
        whole, torn = read_match(data, 50), read_match(data[: len(data) // 2], 50)
        assert whole == torn
        assert len(text) - 50 <= whole.cut < len(text)
        assert whole.spans[0][1] - whole.spans[0][0] == 1

    def test_not_understood(self) -> None:
        for bad in (
            b'{"type":"match","data":{}}',
            b"{",
            b'{"type":"match","data":{"lines":{"text":"' + b"a" * 70_000,
        ):
            with pytest.raises(ValueError, match=r"."):
                read_match(bad, 10)

    def test_an_end(self) -> None:
        assert read_end(b'{"type":"end","data":{"path":{"text":"f"},"binary_offset":3}}') == ("f", 3)


def record(path: object, lines: object, spans: list[tuple[int, int]]) -> bytes:
    data = {
        "path": path,
        "lines": lines,
        "line_number": 7,
        "absolute_offset": 0,
        "submatches": [{"match": {"text": "x"}, "start": a, "end": b} for a, b in spans],
    }
    return json.dumps({"type": "match", "data": data}, separators=(",", ":")).encode() + b"\n"
