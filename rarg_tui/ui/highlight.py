"""Syntax colours for documents, by Pygments, as far as they cost nothing that one would notice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

MAX_LINES = 2_000
"""Lines from the start of a document that are coloured."""
MAX_CHARS = 300_000
"""Documents longer than this are not coloured at all: one long line takes Pygments seconds."""

TokenSpan = tuple[int, int, str]
"""Start and end char in the raw line, and a style word: ``syntax-keyword`` and so on."""

# The first that fits counts. What is not listed keeps the colour of text.
_KINDS = (
    ("Comment", "syntax-comment"),
    ("Keyword", "syntax-keyword"),
    ("Literal.String", "syntax-string"),
    ("Literal.Number", "syntax-number"),
    ("Name.Constant", "syntax-number"),
    ("Name.Function", "syntax-name"),
    ("Name.Class", "syntax-name"),
    ("Name.Tag", "syntax-name"),
    ("Name.Attribute", "syntax-name"),
    ("Name.Decorator", "syntax-name"),
    ("Name.Builtin", "syntax-keyword"),
    ("Generic.Heading", "syntax-name"),
    ("Generic.Subheading", "syntax-name"),
    ("Generic.Strong", "syntax-keyword"),
    ("Generic.Emph", "syntax-keyword"),
    ("Operator", "syntax-operator"),
    ("Punctuation", "syntax-operator"),
)


def highlight_lines(
    path: str, lines: Sequence[str], cancelled: Callable[[], bool] = bool
) -> list[list[TokenSpan]]:
    """Coloured spans of each of the first ``MAX_LINES`` lines, by the lexer that the file's name calls
    for; an empty list when the name calls for none (``.txt``), or the document is too large.

    Takes up to a second or two: call it in a thread. It stops with an empty list soon after ``cancelled``
    says so.
    """
    head = lines[:MAX_LINES]
    if sum(map(len, head)) > MAX_CHARS or sum(map(len, lines)) > MAX_CHARS:
        return []

    from pygments.lexers import find_lexer_class_for_filename
    from pygments.token import string_to_tokentype
    from pygments.util import ClassNotFound

    try:
        lexer_class = find_lexer_class_for_filename(path)
    except ClassNotFound:
        return []
    if lexer_class is None or "text" in lexer_class.aliases:
        return []
    kinds = [(string_to_tokentype(name), word) for name, word in _KINDS]
    # Line ends inside a line would shift all the lines after it.
    text = "\n".join(line.replace("\r", " ").replace("\n", " ") for line in head)
    spans: list[list[TokenSpan]] = [[]]
    column = 0
    for _, token, value in lexer_class(stripnl=False, ensurenl=False).get_tokens_unprocessed(text):
        word = next((word for kind, word in kinds if token in kind), "")
        for at, piece in enumerate(value.split("\n")):
            if at:
                if cancelled():
                    return []
                spans.append([])
                column = 0
            if word and piece.strip():
                spans[-1].append((column, column + len(piece), word))
            column += len(piece)
    return spans
