"""The words that a regular expression looks for, and the query they make with the scope's."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: As many as the method allows in a rerank query.
MOST = 32

_ESCAPED_CLASS = re.compile(
    r"\\[pP](?:\{[^}]*\}|\w)|\\x(?:\{[^}]*\}|[0-9A-Fa-f]{2})|\\[uU]\{?[0-9A-Fa-f]+\}?"
)
_GROUP = re.compile(r"\(\?(?:P?<[A-Za-z_]\w*>|P?=|[imsxuUR-]*:|[imsxuUR-]+\)|<?[=!]|>|#[^)]*\)?)")
_BOTH_CASES = re.compile(r"\[([^\W\d_])([^\W\d_])\]")
_SET = re.compile(r"\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]")
_REPEAT = re.compile(r"\{\d*,?\d*\}[?+]?")
_WORD = re.compile(r"[^\W_](?:[\w'\u2019-]*\w)?")


def keywords(patterns: Sequence[str], fixed: bool = False) -> list[str]:
    """The words in ``patterns``, in order, each once (case ignored), at most 32. ``fixed``: they are
    plain text. Single ASCII letters say nothing and are left out."""
    words: dict[str, str] = {}
    for pattern in patterns:
        for word in _WORD.findall(pattern if fixed else _plain(pattern)):
            if len(word) > 1 or not word.isascii() or word.isdigit():
                words.setdefault(word.casefold(), word)
    return list(words.values())[:MOST]


def focused(query: str, words: Sequence[str], own: str = "") -> str:
    """The query that matches are compared with: ``own`` words where given, else the scope's query with
    the keywords as its focus; where one half is missing, the other alone."""
    focus = " ".join(words)
    return own or (f"{query}\n\nRG focus: {focus}" if query and focus else query or focus)


def _plain(pattern: str) -> str:
    """A regular expression with all that is not literal text turned into blanks."""
    text = re.sub(r"\\Q(.*?)(?:\\E|$)", lambda found: f" {found[1]} ", pattern, flags=re.DOTALL)
    text = text.replace("\\\\", " ")
    text = _ESCAPED_CLASS.sub(" ", text)
    text = _GROUP.sub(" ", text)
    # A letter in both cases ([Cc]omet) is that letter.
    text = _BOTH_CASES.sub(lambda found: found[1] if found[1].lower() == found[2].lower() else found[0], text)
    text = _SET.sub(" ", text)
    text = _REPEAT.sub(" ", text)
    # An optional letter (colou?r) leaves a word to look for; .* and the like part two words.
    text = re.sub(r"(?<=\w)\?", "", text)
    text = re.sub(r"\\[A-Za-z0-9<>]", " ", text)
    text = re.sub(r"\\(['\u2019-])", r"\1", text)
    return re.sub(r"[\\^$.|?*+(){}\[\]]", " ", text)
