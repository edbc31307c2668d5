"""A command cut into words, operators and redirects.

tree-sitter-bash does the cutting and vouches that bash could read the whole. What it cuts in another place
than bash is put right here, or not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rarg_tui.search.constructs import REASONS
from rarg_tui.search.refusal import CommandError, Refused, named
from rarg_tui.search.words import Word, resolve_word, split_words

if TYPE_CHECKING:
    from tree_sitter import Node

#: Node kinds that hold nothing but words, operators and each other.
_CONTAINERS = frozenset(
    {"program", "list", "pipeline", "command", "redirected_statement", "command_name", "negated_command",
     "file_redirect"}
)  # fmt: skip
_WORDS = frozenset(
    {"word", "number", "raw_string", "string", "ansi_c_string", "concatenation", "$", "==", "=~"}
)
_OPERATORS = frozenset({"|", "|&", "&&", "||", ";", "!"})
_REDIRECTS = frozenset({">", ">>", "<", ">&", "<&", "&>", "&>>", ">|"})
_TEST = "test_command"
#: What bash takes for a part of the word before it.
_PARTS = ("word", _TEST, "comment", "file_descriptor")


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is ``word``, ``redirect``, ``descriptor`` or the operator itself (a newline is ``;``)."""

    kind: str
    text: str
    word: Word | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A leaf of the tree, or the leaves that make up one word. ``glued``: nothing stands before the next."""

    kind: str
    node: Node
    start: int
    end: int
    glued: bool = False


def tokens(source: bytes) -> Iterator[Token]:
    """The tokens of ``source``. Raises :class:`CommandError` and :class:`Refused`."""
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    root = Parser(Language(tree_sitter_bash.language())).parse(source).root_node
    # A known construct that is not available explains more than "cannot be parsed".
    if (reason := _first_reason(root)) is not None:
        raise Refused(reason)
    if root.has_error:
        raise CommandError(
            f"bash cannot read this command{_near(root, source)}; check its quotes and brackets."
        )
    end = 0
    pieces = list(_pieces(root, source))
    for at, piece in enumerate(pieces):
        yield from _gap(source, end, piece.start)
        end = piece.end
        text = _text(source[piece.start : end])
        yield from _read(piece, text, pieces[at + 1].kind if piece.glued else "")
    yield from _gap(source, end, len(source))


def _pieces(root: Node, source: bytes) -> Iterator[_Piece]:
    piece: _Piece | None = None
    for node in _leaves(root):
        kind = "word" if node.type in _WORDS else node.type
        new = _Piece(kind, node, node.start_byte, node.end_byte)
        if piece is not None:
            glued = not source[piece.end : new.start].replace(b"\\\n", b"")
            if glued and piece.kind == new.kind == "word":
                piece = _Piece(kind, piece.node, piece.start, new.end)
                continue
            yield _Piece(piece.kind, piece.node, piece.start, piece.end, glued)
        piece = new
    if piece is not None:
        yield piece


def _read(piece: _Piece, text: str, glued: str) -> Iterator[Token]:
    """The tokens of a piece; what is ``glued`` to its end may give it another meaning."""
    kind = piece.kind
    if (kind == "!" and glued) or (kind in ("word", _TEST) and glued in _PARTS):
        raise CommandError(f"bash reads what begins with {named(text)} as one word; put a blank after it.")
    if kind == "word":
        if glued in _REDIRECTS and re.fullmatch(r"[0-9]+", text):
            yield Token("descriptor", text)
        elif glued in _REDIRECTS and re.fullmatch(r"\{\w+\}", text):
            raise Refused(f"{text} before a redirect is not available here; leave it out.")
        else:
            yield Token("word", text, resolve_word(text))
    elif kind == _TEST:
        for word in split_words(text):
            yield Token("word", word.text, word)
    elif kind == "file_descriptor":
        yield Token("descriptor", text)
    elif kind in _REDIRECTS:
        yield Token("redirect", text)
    elif kind in _OPERATORS:
        yield Token(kind, text)
    elif kind == "\n":
        yield Token(";", "\n")
    elif kind != "comment":
        raise Refused(f"{named(text)} is not available here; use plain commands, pipes, &&, || and ;.")


def _leaves(node: Node) -> Iterator[Node]:
    """The words and operators below ``node``, from left to right; a long list is a deep tree."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type in _CONTAINERS:
            stack.extend(reversed(node.children))
        else:
            yield node


def _gap(source: bytes, start: int, end: int) -> Iterator[Token]:
    """What lies between two tokens: blanks, joined lines, or a line end, which separates commands."""
    blank = source[start:end].replace(b"\\\n", b"")
    if stray := blank.strip(b" \t\n"):
        what = "a carriage return" if stray == b"\r" else named(_text(stray))
        raise CommandError(f"{what} stands between the words of this command; leave it out, or quote it.")
    if b"\n" in blank:
        yield Token(";", "\n")


def _first_reason(root: Node) -> str | None:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in REASONS:
            return REASONS[node.type]
        if node.type == "test_command" and node.children and node.children[0].type != "[":
            return "[[ … ]] and (( … )) are not available here; use test."
        stack.extend(reversed(node.children))
    return None


def _near(root: Node, source: bytes) -> str:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            where = _text(source[node.start_byte :])[:30].strip()
            return f" near {named(where)}" if where else " at its end"
        stack.extend(reversed([child for child in node.children if child.has_error]))
    return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
