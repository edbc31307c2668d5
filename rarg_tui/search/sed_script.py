"""The part of sed that only prints: addresses, p d q = n s y, blocks, labels. Nothing that writes or runs.

Where sed itself is read differently by its versions, or by locale, the script is refused: a command could
hide there."""

from __future__ import annotations

import re

from rarg_tui.search.refusal import CommandError, Refused, named

_PLAIN = "pdqQ=nNlDPhHgGxzF"
#: Commands that take a label. A longer one may end elsewhere in another sed.
_JUMPS = ":btT"
_LABEL = re.compile(r"[ \t]*[A-Za-z0-9_]{0,32}")
_INSTEAD = "only printing is available here, as in sed -n '10,40p' FILE."


def check_sed(script: str) -> None:
    """Raises :class:`Refused` unless ``script`` only selects, edits and prints lines."""
    if not script.strip():
        raise CommandError("sed needs a script; write sed -n '10,40p' FILE.")
    _Reader(script).script()


class _Reader:
    def __init__(self, script: str) -> None:
        self.script_text = script
        self.at = 0

    def script(self) -> None:
        depth = 0
        while self.at < len(self.script_text):
            self._skip(" \t\n;")
            char = self._peek()
            if not char:
                break
            if char == "}":
                depth -= 1
                self.at += 1
                self._end_of_command()
                continue
            if char == "#":
                self._until_line_end()
                continue
            self._addresses()
            self._skip(" \t!")
            char = self._peek()
            if char == "{":
                depth += 1
                self.at += 1
                continue
            self._command(char)
        if depth != 0:
            raise CommandError("the braces of the sed script do not match; close them.")

    def _command(self, char: str) -> None:
        self.at += 1
        if char == "s":
            self._delimited(regex=True, replacement=True)
            self._skip("gpiImM0123456789")
            if self._peek() in ("e", "w"):
                raise Refused(f"sed s///{self._peek()} is not available here; {_INSTEAD}")
        elif char == "y":
            self._delimited(regex=False, replacement=True)
        elif char and char in _JUMPS:
            found = _LABEL.match(self.script_text, self.at)
            self.at = found.end() if found else self.at
        elif char and char in _PLAIN:
            if char in "qQl":
                self._skip(" 0123456789")
        elif char:
            raise Refused(f"the sed command {named(char)} is not available here; {_INSTEAD}")
        else:
            raise CommandError("the sed script ends too early; write sed -n '10,40p' FILE.")
        self._end_of_command()

    def _addresses(self) -> None:
        self._address()
        self._skip(" \t")
        if self._peek() == ",":
            self.at += 1
            self._skip(" \t")
            self._skip("+~")
            self._address()

    def _address(self) -> None:
        char = self._peek()
        if char == "\\":
            self.at += 1
        if char in ("/", "\\"):
            self._delimited(regex=True, replacement=False)
            self._skip("IM")
        elif char == "$":
            self.at += 1
        else:
            self._skip("0123456789~")

    def _delimited(self, *, regex: bool, replacement: bool) -> None:
        """Go behind ``/…/`` or ``/…/…/``, whatever stands for the slash."""
        delimiter = self._peek()
        if not delimiter or delimiter in "\n\\":
            raise CommandError("the sed script lacks a delimiter; write sed -n '10,40p' FILE.")
        if not delimiter.isascii():
            raise Refused(f"sed cannot be given {named(delimiter)} as a delimiter here; write s/a/b/.")
        self.at += 1
        self._part(delimiter, regex)
        if replacement:
            self._part(delimiter, False)

    def _part(self, delimiter: str, regex: bool) -> None:
        """Go behind the next ``delimiter``."""
        while (char := self._peek()) != delimiter:
            if not char or char == "\n":
                raise CommandError(f"the sed script lacks a closing {named(delimiter)}; add it.")
            if self.script_text.startswith("\\c", self.at):
                raise Refused(f"sed cannot be given \\c here; {_INSTEAD}")
            if char == "[" and regex:
                self._set(delimiter)
            else:
                self.at += 2 if char == "\\" else 1
        self.at += 1

    def _set(self, delimiter: str) -> None:
        """Go behind ``[…]``, where a delimiter ends nothing."""
        end = _end_of_set(self.script_text, self.at, escapes=False)
        if end < 0:
            self.at += 1
            return
        # Not every sed ends a set at a ] behind a backslash.
        doubtful = self.script_text[self.at : max(end, _end_of_set(self.script_text, self.at, escapes=True))]
        if delimiter in doubtful and re.search(r"[\\\n\[]", doubtful[1:]):
            what = f"the sed script has {named(delimiter)} inside […]"
            raise Refused(f"{what}; choose another delimiter, as in s,a,b,.")
        self.at = end

    def _end_of_command(self) -> None:
        self._skip(" \t")
        char = self._peek()
        if char and char not in ";\n}#":
            raise Refused(f"sed cannot be given {named(char)} here; {_INSTEAD}")

    def _until_line_end(self) -> None:
        end = self.script_text.find("\n", self.at)
        self.at = len(self.script_text) if end < 0 else end

    def _peek(self) -> str:
        return self.script_text[self.at : self.at + 1]

    def _skip(self, chars: str) -> None:
        while self._peek() and self._peek() in chars:
            self.at += 1


def _end_of_set(text: str, at: int, *, escapes: bool) -> int:
    """Where the set of a regular expression that begins ``at`` is over, or -1: it never is."""
    at += 1
    at += text.startswith("^", at)
    at += text.startswith("]", at)  # it is a part of the set when it comes first
    while at < len(text):
        if text[at] == "]":
            return at + 1
        if text[at : at + 2] in ("[:", "[.", "[="):
            at = text.find(f"{text[at + 1]}]", at + 2) + 2
            if at < 2:
                return -1
        else:
            at += 2 if escapes and text[at] == "\\" else 1
    return -1
