from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rarg_tui.ui.glyphs import ASCII, UNICODE, glyphs
from rarg_tui.ui.safe_text import cell_spans, content, safe, safe_line, safe_lines, window
from tests.ui.widget_harness import HOSTILE, LONG, MARKUP, unsafe_characters

# Signs of Arabic and other scripts that are format characters by name and visible by nature.
VISIBLE_FORMAT = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}

any_text = st.text(
    st.one_of(st.characters(codec=None), st.sampled_from("\t\n\r\x1b\x9b\u202e\u200b\ufe0f漢e\u0301🧭"))
)


def test_every_invisible_or_controlling_character_is_replaced() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in ("Cc", "Cs", "Cf", "Zl", "Zp") and code not in VISIBLE_FORMAT:
            assert safe(f"a{char}b") != f"a{char}b", hex(code)
            assert not unsafe_characters(safe(f"a{char}b")), hex(code)


def test_what_can_be_read_is_left_alone() -> None:
    for text in [*MARKUP, "漢字 🧭 e\u0301", "plain", "", "naïve – “quoted”"]:
        assert safe(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]0;PWN\x07", "␛]0;PWN␇"),
        ("\x00\x7f\x9b", "␀␡‹9b›"),
        ("\u202eELD\u202c\u200b", "‹RLO›ELD‹PDF›‹ZWSP›"),
        ("caf\udce9\ud800", "caf\ufffd\ufffd"),
        ("a\r\nb\nc\rd", "a⏎b⏎c␍d"),
        ("a\tb", "a   b"),
        ("漢\tb", "漢  b"),
        ("\U000e0041", "‹e0041›"),
        ("❤\ufe0f", "❤"),
    ],
)
def test_how_each_kind_is_shown(raw: str, shown: str) -> None:
    assert safe(raw) == shown


@given(any_text, st.integers(1, 40))
def test_safe_text_is_short_and_stays_the_same_when_made_safe_again(text: str, limit: int) -> None:
    shown = safe(text, limit)
    assert len(shown) <= limit
    assert safe(shown, limit) == shown


@given(any_text, st.integers(0, 60), st.integers(0, 60), st.integers(8, 40))
def test_spans_stay_on_their_text(text: str, start: int, length: int, limit: int) -> None:
    spans = [(start, start + length)]
    shown, mapped = safe_line(text, spans, limit)
    assert len(shown) <= limit
    for low, high in mapped:
        assert 0 <= low < high <= len(shown)
        line = window(text, spans, limit)
        # Tabs apart, whose width hangs on their column, a span shows what its text alone would show.
        part = text[max(start, line.start) : min(start + length, line.end)]
        if not {"\t", "\r"} & set(part):
            assert shown[low:high] == safe(part)


def test_a_span_deep_in_a_long_line_is_brought_in_sight() -> None:
    at = LONG.index("NEEDLE")
    shown, [span] = safe_line(LONG, [(at, at + 6)], 100)
    assert shown[slice(*span)] == "NEEDLE"
    assert len(shown) == 100
    assert shown[0] == shown[-1] == "…"


def test_spans_out_of_sight_are_left_out_and_others_clamped() -> None:
    shown, spans = safe_line("x" * 50 + "y" * 5000, [(10, 20), (90, 200), (4000, 4010), (5, 5)], 100)
    assert len(shown) == 100
    assert spans == [(10, 20), (90, 99)]


def test_spans_of_cells_count_wide_characters_twice() -> None:
    text = "前 NEEDLE 後"
    assert cell_spans(text, [(2, 8), (9, 10)]) == [(3, 9), (10, 12)]
    assert cell_spans("e\u0301x", [(2, 3)]) == [(1, 2)]
    assert cell_len(text) == 12


def test_lines_end_at_both_kinds_of_line_end() -> None:
    assert safe_lines("a\r\nb\n\x1bc\n") == ["a", "b", "␛c", ""]


@pytest.mark.parametrize("text", HOSTILE)
def test_content_is_never_markup(text: str) -> None:
    made = content(text, "bold")
    assert made.plain == "\n".join(safe_lines(text))
    assert not any("@click" in str(span.style) for span in made.spans)


def test_glyphs_are_one_cell_wide() -> None:
    for signs in (UNICODE, ASCII):
        for name in signs.__slots__:
            value = getattr(signs, name)
            assert all(cell_len(sign) == 1 for sign in value), name
        assert len(signs.bar) == 9
        assert len(signs.spark) == 8
        assert not unsafe_characters(
            "".join(getattr(signs, name) for name in signs.__slots__ if name != "running")
        )


@pytest.mark.parametrize(
    ("environ", "encoding", "expected"),
    [
        ({}, "UTF-8", UNICODE),
        ({}, "utf8", UNICODE),
        ({}, "ANSI_X3.4-1968", ASCII),
        ({"TERM": "linux"}, "UTF-8", ASCII),
        ({"RARG_ASCII": "1"}, "UTF-8", ASCII),
        ({"RARG_ASCII": "0"}, "latin-1", UNICODE),
        ({"RARG_ASCII": ""}, "UTF-8", UNICODE),
    ],
)
def test_glyphs_fit_the_terminal(environ: dict[str, str], encoding: str, expected: object) -> None:
    assert glyphs(environ, encoding) is expected
