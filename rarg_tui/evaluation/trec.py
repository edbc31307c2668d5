"""TREC files as they are found: topics and judgements."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from rarg_tui.errors import RargError

#: The part of a topic that is put as the question: the first of these that it has. Documents of the
#: ``<DOC>`` form have no parts.
_PARTS = ("title", "query", "question", "desc")

_TOPIC = re.compile(r"<(top|topic|doc)\b([^<>]*)>(.*?)(?=</\1\s*>|<\1\b|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-zA-Z]\w*)\b[^<>]*>")
_NUMBER = re.compile(r"\bnumber\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_HEADING = re.compile(r"(?:query|question|topic|qid)(?:[-_ ]?id)?[\t ]", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:number|topic|description|narrative)\s*:", re.IGNORECASE)


def topics(file: Path) -> list[tuple[str, str]]:
    """Ids and questions of ``<top>``, ``<topic number=…>`` or ``<DOC>`` blocks, or of a line each (id, tab,
    question). Raises ``RargError`` naming file and line."""
    text = _text(file)
    blocks = list(_TOPIC.finditer(text))
    if not blocks:
        return list(_lines(file, text))
    found = []
    for block in blocks:
        parts = _parts(block.group(3))
        number = _NUMBER.search(block.group(2))
        named = number.group(1) if number else parts.get("num") or parts.get("docno") or ""
        if not named:
            line = text.count("\n", 0, block.start()) + 1
            raise RargError(f"{file}, line {line}: a topic without a number; it needs <num> or <DOCNO>.")
        found.append((named, next((parts[part] for part in (*_PARTS, "") if parts.get(part)), "")))
    return found


def qrels(file: Path) -> dict[str, dict[str, int]]:
    """Question → document → relevance, from lines of question, iteration, document and relevance, or, as
    BEIR has them, of question, document and relevance under a heading.

    Columns are parted by tabs where a line has any, so that ids may hold spaces. Raises ``RargError`` naming
    file and line, also for a document that is judged twice and not alike.
    """
    found: dict[str, dict[str, int]] = {}
    first = True
    # A document is known by its path, of which any byte must come through.
    text = _bytes(file).decode("utf-8-sig", "surrogateescape")
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        judgement = _judgement(line)
        if not line.strip() or (line.startswith("#") and (judgement is None or judgement[0] == "#")):
            continue
        heading, first = first and judgement is None and _HEADING.match(line), False
        if heading:
            continue
        if judgement is None:
            raise RargError(
                f"{file}, line {number}: not a judgement; it needs question, iteration, document, relevance"
                " (or question, document, relevance), parted by tabs where an id holds spaces."
            )
        question, document, relevance = judgement
        if found.setdefault(question, {}).setdefault(document, relevance) != relevance:
            raise RargError(
                f"{file}, line {number}: {document!r} is judged twice for question {question!r}, as "
                f"{found[question][document]} and {relevance}; keep one line."
            )
    return found


def _judgement(line: str) -> tuple[str, str, int] | None:
    # A path may hold a tab: what is left over in the middle belongs to the document.
    columns = line.split("\t") if "\t" in line else line.split()
    if len(columns) < 3 or ("\t" not in line and len(columns) > 4):
        return None
    question, *middle, relevance = columns
    document = "\t".join(middle[1:] if len(middle) > 1 else middle)
    try:
        value = float(relevance)
    except ValueError:
        return None
    return (question.strip(), document, int(value)) if value.is_integer() else None


def _parts(block: str) -> dict[str, str]:
    """Tag → text up to the next tag, labels such as "Number:" left out; "" is the text outside of them."""
    found: dict[str, str] = {}
    name, at = "", 0

    def close(end: int) -> None:
        text = " ".join(html.unescape(_LABEL.sub("", block[at:end], count=1)).split())
        if text:
            found[name] = f"{found[name]} {text}" if name in found else text

    for tag in _TAG.finditer(block):
        close(tag.start())
        name, at = "" if tag.group(1) else tag.group(2).lower(), tag.end()
    close(len(block))
    return found


def _lines(file: Path, text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        named, tab, question = line.rstrip("\r").partition("\t")
        if not tab:
            raise RargError(
                f"{file}, line {number}: not a topic; it needs an id, a tab and a question, or the file "
                "<top> or <DOC> blocks."
            )
        if number > 1 or not (_HEADING.match(line) and len(question.split()) == 1):
            yield named.strip(), question.replace("\t", " ").strip()


def _text(file: Path) -> str:
    data = _bytes(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # as old topics are


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise RargError(f"{file} cannot be read: {error.strerror}.") from None
