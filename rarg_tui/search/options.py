"""Option tables and the reader that holds a command line against one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rarg_tui.search.refusal import CommandError, Refused, named

#: A number with a sign and a unit, as the programs have it; longer ones overflow somewhere.
_NUMBER = re.compile(r"[-+]?[0-9]{1,18}[A-Za-z]{0,3}")


@dataclass(frozen=True, slots=True)
class Option:
    """``value``: ``""`` takes none, ``text`` takes one, ``number`` one that is a number, ``path`` names a
    file to read, ``maybe`` takes one only when it is attached."""

    name: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """An option as given: its name with dashes, and its value."""

    name: str
    value: str | None = None
    kind: str = ""

    def argv(self) -> list[str]:
        if self.value is None:
            return [self.name]
        if self.name.startswith("--"):
            return [f"{self.name}={self.value}"]
        return [self.name + self.value] if self.kind == "maybe" else [self.name, self.value]


def table(text: str) -> Mapping[str, Option]:
    """A table from words like ``-s --name= -n# -f@ --color=?``: ``=`` takes a value, ``#`` a number, ``@``
    a file to read, ``=?`` a value when attached."""
    options = {}
    for word in text.split():
        for mark, value in (("=?", "maybe"), ("=", "text"), ("#", "number"), ("@", "path")):
            if word.endswith(mark):
                option = Option(word[: -len(mark)], value)
                break
        else:
            option = Option(word)
        options[option.name] = option
    return options


def read_options(
    program: str,
    known: Mapping[str, Option],
    arguments: Sequence[str],
    *,
    permute: bool = True,
    equals: bool = False,
    number: str = "",
    why: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Given], list[str]]:
    """``arguments`` as (options in order, operands).

    ``permute``: options may follow operands. ``equals``: ``-C=2`` means ``-C 2``, as rg has it.
    ``number``: the option that a mere ``-20`` sets to 20. Names must be written out: an abbreviation of a
    long option is unknown. Raises :class:`Refused` for an unknown option (``why`` may say more, with
    ``{}`` for its name), :class:`CommandError` for a missing value.
    """
    reader = _Reader(program, known, why, equals)
    given: list[Given] = []
    operands: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word.startswith("--"):
            given.append(reader.long(word, rest))
        elif number and re.fullmatch(r"-[0-9]+", word):
            given.append(reader.given(known[number], word[1:]))
        elif word.startswith("-") and len(word) > 1:
            given += reader.short(word, rest)
        else:
            operands.append(word)
            if not permute:
                operands += rest
                break
    return given, operands


@dataclass(frozen=True, slots=True)
class _Reader:
    program: str
    known: Mapping[str, Option]
    why: Mapping[str, str]
    equals: bool

    def long(self, word: str, rest: list[str]) -> Given:
        name, attached, value = word.partition("=")
        option = self._option(name)
        if attached:
            if not option.value:
                raise CommandError(f"{self.program} {name} takes no value; write {name} alone.")
            return self.given(option, value)
        if option.value in ("", "maybe"):
            return Given(name, None, option.value)
        return self.given(option, self._value(name, rest))

    def short(self, word: str, rest: list[str]) -> list[Given]:
        given: list[Given] = []
        at = 1
        while at < len(word):
            option = self._option("-" + word[at])
            at += 1
            attached = word[at:]
            if not option.value or (option.value == "maybe" and not attached):
                given.append(Given(option.name, None, option.value))
                continue
            if self.equals and attached.startswith("="):
                attached = attached[1:]
            elif not attached:
                attached = self._value(option.name, rest)
            given.append(self.given(option, attached))
            break
        return given

    def given(self, option: Option, value: str) -> Given:
        if option.value == "number" and _NUMBER.fullmatch(value) is None:
            raise CommandError(
                f"{self.program} {option.name} needs a number, not {named(value)}; write one after it."
            )
        return Given(option.name, value, option.value)

    def _option(self, name: str) -> Option:
        option = self.known.get(name)
        if option is None:
            usual = "{program} {} is not available here; leave it out."
            if longer := [known for known in self.known if name.startswith("--") and known.startswith(name)]:
                usual = f"{{program}} {{}} is no whole option; write it out: {', '.join(longer[:3])}."
            raise Refused(self.why.get(name, usual).format(named(name), program=self.program))
        return option

    def _value(self, name: str, rest: list[str]) -> str:
        if not rest:
            raise CommandError(f"{self.program} {name} needs a value; write one after it.")
        return rest.pop(0)
