"""Text, plain text and titles."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarg_tui.corpus.decoding import decode, plain_text, read_text, title
from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from tests.hostile import Hostile


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"\xef\xbb\xbfx", "x"),
        ("x é 🧭".encode("utf-16"), "x é 🧭"),
        ("x é".encode("utf-16-be"), "\0x\0 \0\ufffd"),
        (b"\xfe\xff" + "x é".encode("utf-16-be"), "x é"),
        (b"caf\xe9!", "caf\ufffd!"),
        (b"\xff\xfe\x00\xd8", "\ufffd"),
        (b"", ""),
    ],
)
def test_decode(data: bytes, text: str) -> None:
    assert decode(data) == text


@given(st.binary())
def test_decoded_text_can_be_encoded(data: bytes) -> None:
    decode(data).encode()


def test_html_loses_its_marks_and_keeps_its_lines() -> None:
    page = (
        "<html>\n<head><style>\np{}\n</style><title>A &amp; B</title></head>\n<!-- a\nb -->\n"
        "<p\nid=x>Text &lt;3</p>\nif a < b and c > d\n"
    )
    plain = plain_text("x.html", page)
    assert plain.count("\n") == page.count("\n")
    lines = plain.split("\n")
    assert "p{}" not in plain
    assert "a\nb" not in plain
    assert lines[7].strip() == "Text <3"
    assert lines[8] == "if a < b and c > d"


def test_markdown_loses_its_marks() -> None:
    text = "# A *big* title\n\n> see [the page](http://x.y/z) and `code_name`\n```py\nx\n```\n"
    plain = plain_text("x.md", text)
    assert plain == "A big title\n\nsee the page and code_name\n\nx\n\n"


def test_other_text_is_left_as_it_is() -> None:
    assert plain_text("x.txt", "# a <b> *c*\n") == "# a <b> *c*\n"


@given(st.text(alphabet="<>!-/ab&;#x\n\r\"'[]()*_`"), st.sampled_from(["x.html", "x.md", "x.txt"]))
def test_plain_text_keeps_the_number_of_lines(text: str, path: str) -> None:
    assert plain_text(path, text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "<" * 200_000,
        "<!--" * 50_000,
        "<a " * 70_000,
        "[" * 200_000,
        "&" * 200_000,
        "<script" * 30_000,
        "_" * 200_000,
        "[a](" * 50_000,
    ],
)
def test_stripping_is_linear(text: str) -> None:
    plain_text("x.md", text)
    plain_text("x.html", text)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a/some_file-name.txt", "", "some file name"),
        ("a.html", "<title>Tea\n &amp; cake</title>", "Tea & cake"),
        ("a.html", "<p>x<h1 class=a>Head</h1>", "Head"),
        ("a.md", "text\n\n## The *second* heading\n", "The second heading"),
        ("a.txt", '---\ntitle: "Front matter"\n---\ntext', "Front matter"),
        ("a.txt", "A short first line\n\nand the text that follows it.", "A short first line"),
        ("a.txt", "Only one line", "a"),
        ("the-name.txt", "This is a sentence.\nAnd so is this.", "the name"),
        ("the-name.json", '{"k": 1,\n"b": 2}', "the name"),
        (".txt", "", ".txt"),
        ("caf\udce9.txt", "", "caf?"),
    ],
)
def test_titles(path: str, text: str, expected: str) -> None:
    assert title(path, text) == expected


def test_reading_hostile_files(hostile_corpus: Hostile) -> None:
    corpus = Corpus(hostile_corpus.root)
    for path, lines in hostile_corpus.lines.items():
        text = read_text(corpus, path)
        assert sum("Quetzal" in line for line in text.split("\n")) == lines, path
        name = title(path, text)
        assert name
        name.encode()
    for path in ("link.txt", "pipe.txt", "deep", "missing", "a\0b"):
        with pytest.raises(RargError):
            read_text(corpus, path)


def test_limit(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0123456789")
    assert read_text(Corpus(tmp_path), "a.txt", 4) == "0123"
