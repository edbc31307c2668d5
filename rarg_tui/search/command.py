"""The command grammar: lists of pipelines of simple commands, and nothing else of a shell.

The structure is put together from :mod:`~rarg_tui.search.tokens` and not taken from tree-sitter's tree:
without grouping, lists and pipelines are flat, and the grammar binds a redirect or a pipe after ``&&`` to
the whole list where bash binds it to the last command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rarg_tui.search.refusal import CommandError, Refused, named
from rarg_tui.search.tokens import Token, tokens
from rarg_tui.search.words import Word

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
#: The most marks in a command that are no plain text. tree-sitter's time grows with the square of some of it,
#: and its memory too: 16,000 programs in a pipeline take seconds and 2 GB.
MOST_MARKS = 2_000
_MARK = re.compile(r"""[^\w \t.,:/'"\\=%#-]""")


def parse(text: str) -> Script:
    """``text`` as a script. Raises :class:`CommandError` for what bash could not read either, and
    :class:`Refused` for what it could but is not available here."""
    if not text.strip():
        raise CommandError(
            "the command is empty; give one, e.g. cat scope_1.txt | xargs -d '\\n' rg -n WORD."
        )
    if len(text) > LONGEST:
        raise CommandError(f"the command is longer than {LONGEST} characters; split it.")
    if len(_MARK.findall(text)) > MOST_MARKS:
        raise CommandError(
            f"the command has more than {MOST_MARKS} operators, brackets and the like; split it."
        )
    if "\0" in text:
        raise CommandError("the command holds a NUL character; leave it out.")
    try:
        source = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise CommandError(
            "the command holds half of a character (a lone surrogate); leave it out."
        ) from None
    return _Builder(list(tokens(source))).script()


@dataclass(slots=True)
class _Builder:
    """Puts the flat tokens together: ``;`` binds least, then ``&&`` and ``||``, then ``|``."""

    tokens: list[Token]
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
            where = named(near) if near else "a line end"
            raise CommandError(f"a command is missing near {where}; write one, or leave it out.")
        return Simple(tuple(words), redirects)

    def _redirect(self, token: Token, redirects: Redirects) -> Redirects:
        descriptor = ""
        if token.kind == "descriptor":
            descriptor, token = token.text, self._next()
        target = self._next() if self._kind() == "word" else None
        if token.kind != "redirect" or target is None or target.word is None:
            raise CommandError("a redirect without a target stands in the command; write 2>/dev/null.")
        form, name = token.text, target.word.text
        if form == "<" and descriptor in ("", "0"):
            if redirects.stdin is not None:
                raise Refused("two < feed one command; name the files as operands instead.")
            return _replace(redirects, stdin=target.word)
        if name == "/dev/null":
            if form in ("&>", "&>>") or (form == ">&" and not descriptor):
                return _replace(redirects, stdout="null", stderr="null")
            if form in (">", ">>", ">|") and descriptor in ("", "1"):
                if redirects.stderr == "merge":
                    raise Refused(
                        f"2>&1 {form}/dev/null shows errors alone; write >/dev/null 2>&1, or neither."
                    )
                return _replace(redirects, stdout="null")
            if form in (">", ">>", ">|") and descriptor == "2":
                return _replace(redirects, stderr="null")
        if form == ">&" and (descriptor, name) == ("2", "1"):
            return _replace(redirects, stderr="merge" if redirects.stdout == "pipe" else "null")
        what = named(f"{descriptor}{form}{name}")
        raise Refused(
            f"nothing is written here, so {what} is not available; leave it out "
            "(2>/dev/null and 2>&1 are), and the output comes back to you."
        )

    def _kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def _next(self) -> Token:
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
                f"bash cannot read {named(self.tokens[self.at].text)} here; separate commands with ;."
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
