"""The command grammar: lists of pipelines of simple commands, and nothing else of a shell.

tree-sitter-bash cuts the text into words and operators and vouches that bash could read it. The
structure is put together here, because lists and pipelines without grouping are flat, and because the
grammar binds a redirect or a pipe after ``&&`` to the whole list where bash binds it to the last command.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rarg_tui.search.refusal import CommandError, Refused
from rarg_tui.search.words import Word, resolve_word, split_words

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["AndOr", "CommandError", "Pipeline", "Redirects", "Script", "Simple", "parse"]


@dataclass(frozen=True, slots=True)
class Redirects:
    """Where a command's streams go. ``stdin`` names a file; ``stdout`` is ``pipe`` or ``null``;
    ``stderr`` is ``keep``, ``null`` or ``merge`` (into stdout)."""

    stdin: Word | None = None
    stdout: str = "pipe"
    stderr: str = "keep"


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command: its words, the program first."""

    words: tuple[Word, ...]
    redirects: Redirects = Redirects()

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple[Simple, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AndOr:
    """Pipelines joined by ``&&`` and ``||``; ``operators[i]`` stands between pipeline i and i + 1."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    lists: tuple[AndOr, ...]


#: The longest command, in characters: the system refuses single words of twice that in bytes.
LONGEST = 32_768

#: Node kinds that hold nothing but words, operators and each other.
_CONTAINERS = frozenset(
    {"program", "list", "pipeline", "command", "redirected_statement", "command_name", "negated_command",
     "file_redirect"}
)  # fmt: skip
_WORDS = frozenset({"word", "number", "raw_string", "string", "ansi_c_string", "concatenation"})
_OPERATORS = frozenset({"|", "|&", "&&", "||", ";", "!"})
_REDIRECTS = frozenset({">", ">>", "<", ">&", "<&", "&>", "&>>", ">|"})

_LOOPS = "loops and conditions are not available here; give a program many files with xargs -d '\\n'."
_EXPANSION = "nothing is expanded here; write the value itself, or put the text in single quotes."
_REASONS = {
    "simple_expansion": f"a variable stands in the command, and {_EXPANSION}",
    "expansion": f"a variable stands in the command, and {_EXPANSION}",
    "arithmetic_expansion": f"arithmetic stands in the command, and {_EXPANSION}",
    "command_substitution": "commands inside $(…) or backticks are not run here; run them on their own, "
    "or put the text in single quotes.",
    "process_substitution": "<(…) and >(…) are not available here; use a pipe.",
    "variable_assignment": "variables cannot be set here; leave the assignment out.",
    "variable_assignments": "variables cannot be set here; leave the assignment out.",
    "heredoc_redirect": "here-documents are not available here; use printf '%s\\n' … and a pipe.",
    "herestring_redirect": "here-strings are not available here; use printf '%s\\n' … and a pipe.",
    "subshell": "groups in (…) are not available here; write the commands one after another.",
    "compound_statement": "groups in {…} are not available here; write the commands one after another.",
    "function_definition": "functions cannot be defined here; write the commands one after another.",
    "for_statement": _LOOPS,
    "c_style_for_statement": _LOOPS,
    "while_statement": _LOOPS,
    "if_statement": _LOOPS,
    "case_statement": _LOOPS,
    "brace_expression": "{…} outside quotes would be expanded by bash; put the word in single quotes.",
    "extglob_pattern": "a file name pattern stands outside quotes; put it in single quotes.",
    "translated_string": '$"…" is not available here; use plain quotes.',
    "&": "nothing runs in the background here; leave the & out.",
    "unset_command": "variables cannot be changed here; leave the command out.",
    "declaration_command": "variables cannot be set here; leave the command out.",
}


def parse(text: str) -> Script:
    """``text`` as a script. Raises :class:`CommandError` for what bash could not read either, and
    :class:`Refused` for what it could but is not available here."""
    if not text.strip():
        raise CommandError(
            "the command is empty; give one, e.g. cat scope_1.txt | xargs -d '\\n' rg -n WORD."
        )
    if len(text) > LONGEST:
        raise CommandError(f"the command is longer than {LONGEST} characters; split it.")
    if "\0" in text:
        raise CommandError("the command holds a NUL character; leave it out.")
    try:
        source = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise CommandError(
            "the command holds half of a character (a lone surrogate); leave it out."
        ) from None
    return _Builder(list(_tokens(source))).script()


@dataclass(frozen=True, slots=True)
class _Token:
    """``kind`` is ``word``, ``redirect``, ``descriptor`` or the operator itself (a newline is ``;``)."""

    kind: str
    text: str
    word: Word | None = None


def _tokens(source: bytes) -> Iterator[_Token]:
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
    word: tuple[int, int] | None = None  # what the parser cuts in two where no blank is, is one word
    end = 0
    for node in _leaves(root):
        start, gap = node.start_byte, source[end : node.start_byte].replace(b"\\\n", b"")
        if word is not None and not gap and node.type in _WORDS:
            word, end = (word[0], node.end_byte), node.end_byte
            continue
        if word is not None:
            yield _word(source, word)
        yield from _gap(source, end, start)
        word, end = None, node.end_byte
        if node.type in _WORDS:
            word = (start, end)
        else:
            yield from _others(node, _text(source[start:end]))
    if word is not None:
        yield _word(source, word)
    yield from _gap(source, end, len(source))


def _word(source: bytes, span: tuple[int, int]) -> _Token:
    piece = _text(source[span[0] : span[1]])
    return _Token("word", piece, resolve_word(piece))


def _others(node: Node, piece: str) -> Iterator[_Token]:
    """The tokens of a leaf that is no plain word."""
    if node.type == "comment":
        return
    if node.type == "test_command":
        for word in split_words(piece):
            yield _Token("word", word.text, word)
    elif node.type == "file_descriptor":
        yield _Token("descriptor", piece)
    elif node.type in _REDIRECTS:
        yield _Token("redirect", piece)
    elif node.type in _OPERATORS:
        yield _Token(node.type, piece)
    elif node.type == "\n":
        yield _Token(";", "\n")
    else:
        raise Refused(f"{piece[:40]!r} is not available here; use plain commands, pipes, &&, || and ;.")


def _leaves(node: Node) -> Iterator[Node]:
    """The words and operators below ``node``, from left to right; a long list is a deep tree."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type in _CONTAINERS:
            stack.extend(reversed(node.children))
        else:
            yield node


def _gap(source: bytes, start: int, end: int) -> Iterator[_Token]:
    """What lies between two tokens: blanks, joined lines, or a line end, which separates commands."""
    blank = source[start:end].replace(b"\\\n", b"")
    if stray := blank.strip(b" \t\n"):
        what = "a carriage return" if stray == b"\r" else repr(_text(stray)[:40])
        raise CommandError(f"bash cannot read {what} between the words of this command; leave it out.")
    if b"\n" in blank:
        yield _Token(";", "\n")


def _first_reason(root: Node) -> str | None:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _REASONS:
            return _REASONS[node.type]
        if node.type == "test_command" and node.children and node.children[0].type != "[":
            return "[[ … ]] and (( … )) are not available here; use test."
        stack.extend(reversed(node.children))
    return None


def _near(root: Node, source: bytes) -> str:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            where = _text(source[node.start_byte : node.start_byte + 30]).strip()
            return f" near {where!r}" if where else " at its end"
        stack.extend(reversed([child for child in node.children if child.has_error]))
    return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class _Builder:
    """Puts the flat tokens together: ``;`` binds least, then ``&&`` and ``||``, then ``|``."""

    tokens: list[_Token]
    at: int = 0
    lists: list[AndOr] = field(default_factory=list)

    def script(self) -> Script:
        while True:
            self._skip_lines()
            if self.at >= len(self.tokens):
                break
            self.lists.append(self._and_or())
            if self.at < len(self.tokens):
                self._expect(";")
        if not self.lists:
            raise CommandError("the command holds only a comment; give one to run.")
        return Script(tuple(self.lists))

    def _and_or(self) -> AndOr:
        pipelines, operators = [self._pipeline()], []
        while self._kind() in ("&&", "||"):
            operators.append(self._next().kind)
            self._skip_lines()
            pipelines.append(self._pipeline())
        return AndOr(tuple(pipelines), tuple(operators))

    def _pipeline(self) -> Pipeline:
        negated = False
        while self._kind() == "!":
            self._next()
            negated = not negated
        commands = [self._simple()]
        while self._kind() in ("|", "|&"):
            if self._next().kind == "|&":
                last = commands[-1]
                commands[-1] = Simple(last.words, _replace(last.redirects, stderr="merge"))
            self._skip_lines()
            commands.append(self._simple())
        return Pipeline(tuple(commands), negated)

    def _simple(self) -> Simple:
        words: list[Word] = []
        redirects = Redirects()
        while self._kind() in ("word", "redirect", "descriptor"):
            token = self._next()
            if token.word is not None:
                words.append(token.word)
            else:
                redirects = self._redirect(token, redirects)
        if not words:
            near = self.tokens[min(self.at, len(self.tokens) - 1)].text.strip()
            raise CommandError(
                f"a command is missing near {near or 'a line end'!r}; write one, or leave it out."
            )
        return Simple(tuple(words), redirects)

    def _redirect(self, token: _Token, redirects: Redirects) -> Redirects:
        descriptor = ""
        if token.kind == "descriptor":
            descriptor, token = token.text, self._next()
        target = self._next() if self._kind() == "word" else None
        if token.kind != "redirect" or target is None or target.word is None:
            raise CommandError("a redirect without a target stands in the command; write 2>/dev/null.")
        form, name = token.text, target.word.text
        if form == "<" and descriptor in ("", "0"):
            return _replace(redirects, stdin=target.word)
        if name == "/dev/null" and form in (">", ">>", "&>", "&>>", ">|"):
            if form.startswith("&"):
                return _replace(redirects, stdout="null", stderr="null")
            if descriptor in ("", "1"):
                return _replace(redirects, stdout="null")
            if descriptor == "2":
                return _replace(redirects, stderr="null")
        if form == ">&" and (descriptor, name) == ("2", "1"):
            return _replace(redirects, stderr="merge" if redirects.stdout == "pipe" else "null")
        raise Refused(
            f"nothing is written here, so {descriptor}{form}{name} is not available; leave it out "
            "(2>/dev/null and 2>&1 are), and the output comes back to you."
        )

    def _kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def _next(self) -> _Token:
        if self.at >= len(self.tokens):
            raise CommandError("the command ends too early; write the rest, or leave the last operator out.")
        self.at += 1
        return self.tokens[self.at - 1]

    def _skip_lines(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].text == "\n":
            self.at += 1

    def _expect(self, kind: str) -> None:
        if self._kind() != kind:
            raise CommandError(
                f"bash cannot read {self.tokens[self.at].text!r} here; separate commands with ;."
            )
        self.at += 1


def _replace(
    redirects: Redirects,
    *,
    stdin: Word | None = None,
    stdout: str | None = None,
    stderr: str | None = None,
) -> Redirects:
    return Redirects(stdin or redirects.stdin, stdout or redirects.stdout, stderr or redirects.stderr)
