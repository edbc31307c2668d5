"""The query that matches are compared with."""

from __future__ import annotations

from collections.abc import Sequence


def constructed(scope_query: str, keywords: Sequence[str]) -> str:
    """The scope's query with the pattern's keywords as focus; where one is missing, the other alone."""
    words = " ".join(keywords)
    if scope_query and words:
        return f"{scope_query}\n\nRG focus: {words}"
    return scope_query or words
