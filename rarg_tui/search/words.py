"""What a word of a command means once bash has removed its quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rarg_tui.search.refusal import CommandError, Refused, named


@dataclass(frozen=True, slots=True)
class Word:
    """``text`` is the word without quotes. ``glob`` is a file name pattern that matches at least every
    name that bash would put in the word's place, or empty when nothing in it is a pattern."""

    text: str
    glob: str = ""


_GLOB_TEXT = re.compile(r"[*?\[\]]")
_ANSI_C = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u4>[0-9A-Fa-f]{1,4})"
    r"|U(?P<u8>[0-9A-Fa-f]{1,8})|(?P<one>[abeEfnrtv\\'\"?]))"
)
_ANSI_ONE = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_ANSI_C_WORD = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL)
_EXPANDS = re.compile(r"[A-Za-z_0-9{(\[@*#?$!\-]")
#: bash puts a home directory in the place of ~ also in an argument that looks like an assignment.
_HOME = re.compile(r"(?:[A-Za-z_][A-Za-z_0-9]*(?:\[.*\])?\+?=(?:.*[:=])?)?~", re.DOTALL)
_PIECE = re.compile(
    r"(?P<blank>(?:[ \t]|\\\n)+)|"
    r"(?P<word>(?:\$'(?:\\.|[^'\\])*'|\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|[^ \t\n'\"\\])+)",
    re.DOTALL,
)


def resolve_word(source: str) -> Word:
    """One word as written (quotes and all) to what a program is given.

    Raises :class:`Refused` for what bash would expand, :class:`CommandError` for an open quote.
    """
    return _Resolver(source).word()


def split_words(source: str) -> Iterator[Word]:
    """The words of ``source``, cut at blanks outside quotes. A line end or a comment is no part of them."""
    at = 0
    while at < len(source):
        found = _PIECE.match(source, at)
        if found is None or source.startswith("#", at):
            raise CommandError(f"bash cannot read {named(source[at:])} inside […]; put it in quotes.")
        at = found.end()
        if found["word"]:
            yield resolve_word(found["word"])


class _Resolver:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.text: list[str] = []
        self.glob: list[str] = []
        self.magic = False
        self.cut = False  # a set was seen: the pattern kept ends with a star in its place
        self.bare = ""  # the unquoted characters, for brace expansion

    def word(self) -> Word:
        source = self.source
        while self.at < len(source):
            char = source[self.at]
            if char == "\\":
                self._backslash()
            elif char == "'":
                self._literal(self._until("'", self.at + 1))
            elif char == '"':
                self.at += 1
                self._double()
            elif char == "$":
                self._dollar()
            elif char == "`":
                raise Refused("commands in backticks are not run here; put the text in single quotes.")
            else:
                self._unquoted(char)
        if _HOME.match(self.bare):
            raise Refused("~ is not expanded here; write the path from the root of the corpus.")
        if _expands_braces(self.bare):
            raise Refused("{…} outside quotes would be expanded by bash; put the word in single quotes.")
        # Bytes written one by one in $'…' may make up a character.
        text = "".join(self.text).encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
        return Word(text, "".join(self.glob) if self.magic else "")

    def _literal(self, text: str) -> None:
        self.text.append(text)
        if not self.cut:
            self.glob.append(_GLOB_TEXT.sub(lambda found: f"[{found[0]}]", text))
        self.bare += "\0"

    def _unquoted(self, char: str) -> None:
        if char in "()<>&;|\n \t":
            raise CommandError(f"bash cannot read {named(char)} inside a word; put it in quotes.")
        self.at += 1
        self.text.append(char)
        self.bare += char
        is_set = char == "[" and "]" in self.source[self.at :]
        if not self.cut:
            # A set like [!a-c] is read differently by every matcher: a star takes in all it could match.
            self.glob.append("*" if is_set else "[[]" if char == "[" else char)
        if is_set or char in "*?":
            self.magic = True
            self.cut = self.cut or is_set

    def _backslash(self) -> None:
        escaped = self.source[self.at + 1 : self.at + 2]
        if not escaped:
            raise CommandError("a lone backslash ends the command; leave it out.")
        self.at += 2
        if escaped != "\n":
            self._literal(escaped)

    def _until(self, quote: str, start: int) -> str:
        end = self.source.find(quote, start)
        if end < 0:
            raise CommandError(f"a quote ({quote}) is not closed; close it.")
        self.at = end + 1
        return self.source[start:end]

    def _double(self) -> None:
        piece: list[str] = []
        source = self.source
        while self.at < len(source):
            char = source[self.at]
            following = source[self.at + 1 : self.at + 2]
            if char == '"':
                self.at += 1
                return self._literal("".join(piece))
            if char == "\\" and following and following in '$`"\\\n':
                piece.append("" if following == "\n" else following)
                self.at += 2
                continue
            if char == "`" or (char == "$" and self._expands()):
                raise Refused("text in double quotes would be expanded by bash; put it in single quotes.")
            piece.append(char)
            self.at += 1
        raise CommandError('a quote (") is not closed; close it.')

    def _dollar(self) -> None:
        if self.source.startswith("$'", self.at):
            self._ansi_c()
        elif self.source.startswith('$"', self.at) or self._expands():
            raise Refused("nothing is expanded here; put the text with $ in single quotes.")
        else:
            self.at += 1
            self._literal("$")

    def _expands(self) -> bool:
        """Whether bash may read the $ at hand as more than a character; it joins lines before it looks."""
        after = self.source[self.at + 1 : self.at + 3]
        return after == "\\\n" or _EXPANDS.match(after) is not None

    def _ansi_c(self) -> None:
        found = _ANSI_C_WORD.match(self.source, self.at)
        if found is None:
            raise CommandError("a quote (') is not closed; close it.")
        self.at = found.end()
        body = found[1]
        if left := _ANSI_C.sub("", body):
            unknown = re.search(r"\\.?", left, re.DOTALL)
            if unknown is not None:
                raise Refused(
                    f"{named(unknown[0])} inside $'…' is not available here; use plain single quotes."
                )
        text = _ANSI_C.sub(_ansi_char, body)
        if "\0" in text:
            raise CommandError("the command holds a NUL character; leave it out.")
        self._literal(text)


def _ansi_char(found: re.Match[str]) -> str:
    if found["one"]:
        return _ANSI_ONE.get(found["one"], found["one"])
    if found["octal"]:
        return bytes([int(found["octal"], 8) & 0xFF]).decode("utf-8", "surrogateescape")
    if found["hex"]:
        return bytes([int(found["hex"], 16)]).decode("utf-8", "surrogateescape")
    number = int(found["u4"] or found["u8"], 16)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise CommandError("the command names a character that does not exist; leave it out.")
    return chr(number)


def _expands_braces(bare: str) -> bool:
    """Whether bash might read ``{a,b}`` or ``{1..3}`` in the unquoted part of a word."""
    opening = bare.find("{")
    closing = bare.rfind("}")
    inside = bare[opening + 1 : closing] if 0 <= opening < closing else ""
    return "," in inside or ".." in inside
