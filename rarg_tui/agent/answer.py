"""From the text of a last turn to the documents it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_LISTED = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+(?P<path>.+?)\s*$")
_BRACKETED = re.compile(r"\[(?P<path>[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]")
_LINE = re.compile(r"^(?P<path>.*?):\d+(?:-\d+)?$")


def cited(text: str, exists: Callable[[str], bool]) -> tuple[str, ...]:
    """The documents that ``text`` names, each once, best first.

    A block that begins with a line ``Documents:`` decides when there is one; else numbered or bulleted
    lines that are a path, then paths in brackets, ``[path]`` or ``[path:line]``. What ``exists`` denies is
    left out: a model may name a document that is none.
    """
    lines = text.splitlines()
    block = next((i for i in reversed(range(len(lines))) if lines[i].strip() == "Documents:"), None)
    found = _existing(iter(lines[block + 1 :]), exists) if block is not None else ()
    return found or _existing(_named(lines), exists)


def _named(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if listed := _LISTED.match(line):
            yield listed["path"]
    for line in lines:
        for bracketed in _BRACKETED.finditer(line):
            yield from (part.strip() for part in (bracketed["path"], *bracketed["path"].split(";")))


def _existing(candidates: Iterator[str], exists: Callable[[str], bool]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for candidate in candidates:
        listed = _LISTED.match(candidate)
        forms = [candidate.strip(), *([listed["path"]] if listed else [])]
        for form in list(forms):
            if with_line := _LINE.match(form):
                forms.append(with_line["path"])
            forms.append(form.strip("`'\"[] "))
        for form in forms:
            if form and exists(form):
                found[form] = None
                break
    return tuple(found)
