"""The query that matches are compared with."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Parts the scope's query from the keywords in a constructed query.
_FOCUS = "\n\nRG focus: "

WORD = re.compile(r"\w+")

#: What is said when ``generative`` has nothing to go by.
FALLBACK = "no query in the model's own words, so the matches were ranked by the constructed one"


def constructed(scope_query: str, keywords: Sequence[str]) -> str:
    """The scope's query with the pattern's keywords as focus; where one is missing, the other alone."""
    words = " ".join(keywords)
    if scope_query and words:
        return f"{scope_query}{_FOCUS}{words}"
    return scope_query or words


def other_words(query: str, keywords: Sequence[str]) -> list[str]:
    """The words of ``query``, each once and case-folded, that are not among the ``keywords``."""
    known = {word.casefold() for word in keywords}
    words = WORD.findall(query.partition(_FOCUS)[0].casefold())
    return [word for word in dict.fromkeys(words) if word not in known]
