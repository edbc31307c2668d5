"""xargs, as far as it is needed: how it cuts its input into names. The program is started by us."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rarg_tui.search.options import read_options, table
from rarg_tui.search.refusal import CommandError, Refused

_OPTIONS = table(
    "-d= --delimiter= -0 --null -r --no-run-if-empty -n= --max-args= -L= -P= --max-procs= -s= --max-chars="
    " -x --exit -a= --arg-file="
)
_APPENDED = (
    "xargs {} is not available here; xargs puts the names at the end: xargs -d '\\n' rg -n PATTERN, "
    "with nothing after the pattern."
)
_WHY = {
    **dict.fromkeys(("-I", "-i", "--replace"), _APPENDED),
    **dict.fromkeys(
        ("-p", "--interactive", "-t", "--verbose"), "xargs {} is not available here; leave it out."
    ),
}
_ESCAPES = {"n": b"\n", "t": b"\t", "0": b"\0", "r": b"\r", "f": b"\f", "v": b"\v", "a": b"\a", "b": b"\b",
            "\\": b"\\"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Xargs:
    """``delimiter`` is one byte, or empty for xargs' own rules (blanks and quotes). ``most`` names per
    call, 0 for no limit of the caller's. ``file``: read the names there instead of from the pipe;
    ``scope`` is its number when it is a scope."""

    delimiter: bytes = b""
    most: int = 0
    file: str = ""
    scope: int = 0


def read_xargs(arguments: Sequence[str]) -> tuple[Xargs, list[str]]:
    """The words after ``xargs`` as (what it does with its input, the command it starts)."""
    given, command = read_options("xargs", _OPTIONS, arguments, permute=False, why=_WHY)
    delimiter, most, file = b"", 0, ""
    for option in given:
        value = option.value or ""
        if option.name in ("-d", "--delimiter"):
            delimiter = _delimiter(value)
        elif option.name in ("-0", "--null"):
            delimiter = b"\0"
        elif option.name in ("-n", "--max-args", "-L"):
            most = _number(option.name, value)
        elif option.name in ("-P", "--max-procs", "-s", "--max-chars"):
            _number(option.name, value)
        elif option.name in ("-a", "--arg-file"):
            file = value
    if not command:
        raise CommandError("xargs has no program to start; write xargs -d '\\n' rg -n PATTERN.")
    return Xargs(delimiter, most, file), command


def split_names(data: bytes, xargs: Xargs) -> list[bytes]:
    """The names in xargs' input. Raises :class:`CommandError` where its own rules would tear them."""
    if xargs.delimiter:
        if xargs.delimiter == b"\0" and data and b"\0" not in data and b"\n" in data:
            raise CommandError(
                "xargs -0 expects names that end in NUL, and these end in a line end; write xargs -d '\\n'."
            )
        names = data.split(xargs.delimiter)
        if names and not names[-1]:
            names.pop()
        return names
    if re.search(rb"""["'\\ \t\x0b\x0c\r]""", data):
        raise CommandError(
            "xargs without -d '\\n' would tear names at blanks and quotes; write xargs -d '\\n'."
        )
    return [name for name in data.split(b"\n") if name]


def _delimiter(value: str) -> bytes:
    if len(value) == 2 and value[0] == "\\" and value[1] in _ESCAPES:
        return _ESCAPES[value[1]]
    data = value.encode("utf-8", "surrogateescape")
    if len(data) != 1:
        raise CommandError(f"xargs -d takes one character, not {value!r}; write xargs -d '\\n'.")
    return data


def _number(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise Refused(f"xargs {name} needs a number, not {value!r}; write one or leave it out.")
    return int(value)
