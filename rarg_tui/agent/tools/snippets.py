"""The beginnings of documents, as retrieval agents are shown them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rarg_tui.corpus.decoding import clean, read_text
from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.trace.events import EntryPoint

#: Characters that a token of English text has, where nobody counted: a usual estimate.
_CHARACTERS_PER_TOKEN = 4

#: Bytes of a character, at most.
_WIDEST = 4


def beginnings(corpus: Corpus, paths: Iterable[str], tokens: int) -> list[EntryPoint]:
    """Of each document about its first ``tokens``, whole lines where there are any; what has become
    unreadable is left out."""
    most = tokens * _CHARACTERS_PER_TOKEN
    found = []
    for path in paths:
        try:
            text = clean(read_text(corpus, path, most * _WIDEST))
        except RargError:
            continue
        piece = text[:most]
        if len(text) > most and "\n" in piece:
            piece = piece[: piece.rindex("\n")]
        piece = piece.rstrip()
        found.append(EntryPoint(path, 1, 1 + piece.count("\n"), piece))
    return found


def shown(snippets: Sequence[EntryPoint], ranks: dict[str, int]) -> str:
    """Snippets under their paths and ranks."""
    return "\n\n".join(
        f"{ranks[one.path]}. {one.path}\n{one.text or '(an empty document)'}" for one in snippets
    )


def one_line(snippet: EntryPoint, characters: int) -> str:
    """A snippet in one line of at most so many characters."""
    return " ".join(snippet.text.split())[:characters]
