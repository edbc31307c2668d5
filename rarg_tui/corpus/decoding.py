"""From bytes to text: decoding, the plain text that rankers see, and a document's title."""

from __future__ import annotations

import html
import os
import re

from rarg_tui.corpus.files import Corpus, open_regular
from rarg_tui.errors import RargError

#: A title is looked for in so many first characters, so that the head of a file is enough.
TITLE_WINDOW = 8000

_TITLE_LENGTH = 120
_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
_MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx")
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*>")
_TITLE_TAG = re.compile(r"<(title|h1)\b[^<>]*>([^<]*)<", re.IGNORECASE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+([^\n]*)$", re.MULTILINE)
_TITLE_LINE = re.compile(r"^title[ \t]*:[ \t]*([^\n]*)$", re.MULTILINE | re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_MARKER = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|```[^\n]*$|~~~[^\n]*$)", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,3}|`+|(?<!\w)_{1,3}|_{1,3}(?!\w)")


def decode(data: bytes) -> str:
    """``data`` as text: UTF-8 with or without a mark, or UTF-16 with one; other bytes become U+FFFD."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:].decode("utf-8", "replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode("utf-8", "replace").decode("utf-8")
    return data.decode("utf-8", "replace")


def clean(text: str) -> str:
    """``text`` without lone surrogates (a path may hold some), fit for any library."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_bytes(corpus: Corpus, path: str, limit: int | None = None) -> bytes:
    """The document's bytes, at most ``limit``. Raises :class:`RargError` when it cannot be read."""
    try:
        with os.fdopen(open_regular(os.fspath(corpus.absolute(path))), "rb") as file:
            return file.read(-1 if limit is None else limit)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RargError(f"The document {clean(path)!r} cannot be read: {why}.") from None


def read_text(corpus: Corpus, path: str, limit: int | None = None) -> str:
    """The document's text (its first ``limit`` bytes). Raises :class:`RargError` when unreadable."""
    return decode(read_bytes(corpus, path, limit))


def plain_text(path: str, text: str) -> str:
    """What the rankers see: HTML and Markdown without their marks, other text as it is.

    Line ``n`` of the result comes from line ``n`` of ``text``.
    """
    if _is_html(path, text):
        return _strip_html(text)
    if path.lower().endswith(_MARKDOWN_SUFFIXES):
        return _EMPHASIS.sub("", _MARKER.sub("", _LINK.sub(r"\1", _strip_html(text))))
    return text


def title(path: str, text: str) -> str:
    """A name for the document, never empty: HTML title or first heading, Markdown heading, a ``title:``
    line, a short first line that more text follows, else the file's stem."""
    head = text[:TITLE_WINDOW]
    for find in (_marked_title, _title_line, _first_line):
        found = _one_line(find(path, head))
        if found:
            return found
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return _one_line(clean(stem).replace("_", " ").replace("-", " ")) or clean(name)


def _marked_title(path: str, head: str) -> str:
    if _is_html(path, head):
        found = _TITLE_TAG.search(head)
        return html.unescape(found.group(2)) if found else ""
    if path.lower().endswith(_MARKDOWN_SUFFIXES):
        heading = _HEADING.search(head)
        return plain_text(path, heading.group(1)) if heading else ""
    return ""


def _title_line(path: str, head: str) -> str:
    top = "\n".join(head.split("\n", 12)[:12])
    found = _TITLE_LINE.search(top)
    return found.group(1).strip().strip("\"'") if found else ""


def _first_line(path: str, head: str) -> str:
    lines = [line.strip() for line in plain_text(path, head).split("\n")]
    filled = [line for line in lines if line]
    if len(filled) < 2:
        return ""
    first = filled[0]
    looks_like_text = len(first) <= _TITLE_LENGTH and first[0].isalnum() and any(map(str.isalpha, first))
    return first if looks_like_text and not first.endswith((".", ",", ";", ":", "{")) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_TITLE_LENGTH].rstrip()


def _is_html(path: str, text: str) -> bool:
    if path.lower().endswith(_HTML_SUFFIXES):
        return True
    start = text[:200].lstrip().lower()
    return start.startswith(("<!doctype html", "<html"))


def _strip_html(text: str) -> str:
    if "<" not in text and "&" not in text:
        return text
    for opening, closing in (("<!--", "-->"), ("<script", "</script"), ("<style", "</style")):
        text = _cut_blocks(text, opening, closing)
    text = _TAG.sub(_newlines, text)
    if "&" not in text:
        return text
    return "\n".join(_unescape(line) if "&" in line else line for line in text.split("\n"))


def _unescape(line: str) -> str:
    return clean(html.unescape(line)).replace("\n", " ").replace("\r", " ")


def _cut_blocks(text: str, opening: str, closing: str) -> str:
    """``text`` with every block from ``opening`` to ``closing`` replaced by its line ends. An unclosed
    block is left, so that a stray mark never hides the rest of a document."""
    folded = text.lower()
    if opening not in folded or len(folded) != len(text):
        return text
    kept: list[str] = []
    at = 0
    while (start := folded.find(opening, at)) >= 0:
        end = folded.find(closing, start)
        if end < 0:
            break
        kept += (text[at:start], "\n" * text.count("\n", start, end))
        at = end + (len(closing) if closing == "-->" else 0)
    kept.append(text[at:])
    return "".join(kept)


def _newlines(found: re.Match[str]) -> str:
    tag = found.group()
    breaks = tag.count("\n")
    return "\n" * breaks if breaks else " "
