"""Why a command does not run: not understood, or not allowed."""

from __future__ import annotations

from rarg_tui.errors import RargError

#: The longest sentence, and the longest piece of a command within one, in characters.
_LONGEST, _LONGEST_PIECE = 360, 80


class CommandError(RargError):
    """The command is no valid call: it cannot be parsed, or names something that does not exist. A message
    of several lines is a program's own, with a caret that must stay where it is."""

    def __init__(self, message: str) -> None:
        super().__init__(message if "\n" in message else shortened(message.strip(), _LONGEST))


class Refused(RargError):
    """The guard does not allow the command; the message says what to do instead."""

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message.strip(), _LONGEST))


def named(text: str) -> str:
    """A piece of a command as a sentence may hold it, whatever it is: on one line, not too long."""
    plain = shortened(text, _LONGEST_PIECE)
    return plain if plain and plain == plain.strip() else f"'{plain}'"


def shortened(text: str, longest: int) -> str:
    """``text`` with what cannot be printed written out, and cut in its middle: a sentence begins with what
    is wrong and ends with the way out."""
    plain = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    if len(plain) <= longest:
        return plain
    return f"{plain[: longest // 2]}…{plain[-(longest // 2 - 1) :]}"
