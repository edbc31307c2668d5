"""Paragraphs that know their lines."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rarg_tui.corpus.paragraphs import Paragraph, paragraphs

SENTENCE = "A sentence of some forty-five characters, so. "


def test_short_paragraphs_are_joined_and_lines_counted() -> None:
    block = (SENTENCE * 5).strip()
    found = paragraphs(f"\n{block}\n\n{block}\n\n\n{block}\n")
    assert [(p.first_line, p.last_line) for p in found] == [(2, 4), (7, 7)]
    assert found[0].text == f"{block}\n{block}"


def test_long_lines_are_cut_at_sentences() -> None:
    found = paragraphs(SENTENCE * 60)
    assert all(len(p.text) <= 1000 and p.text.endswith("so.") for p in found)
    assert all(len(p.text) >= 400 for p in found[:-1])
    assert {(p.first_line, p.last_line) for p in found} == {(1, 1)}


def test_nothing() -> None:
    assert paragraphs("") == []
    assert paragraphs("\n \n\t\n") == []
    assert paragraphs("x") == [Paragraph(1, 1, "x")]


@given(st.text(alphabet="ab .\n", max_size=3000))
def test_no_word_is_lost_and_no_piece_too_long(text: str) -> None:
    found = paragraphs(text, 40, 100)
    assert "".join("".join(p.text.split()) for p in found) == "".join(text.split())
    assert all(p.text.strip() and len(p.text) <= 100 for p in found)
    assert all(a.last_line <= b.first_line for a, b in pairwise(found))
