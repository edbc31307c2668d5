"""The part of sed that only prints: addresses, p d q = n s y, blocks. Nothing that writes or runs."""

from __future__ import annotations

from rarg_tui.search.refusal import CommandError, Refused

_PLAIN = "pdqQ=nNlDPhHgGxz"
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
            self._delimited(2)
            start = self.at
            self._skip("gpiIM0123456789")
            if self._peek() in ("e", "w"):
                raise Refused(f"sed s///{self._peek()} is not available here; {_INSTEAD}")
            if "m" in self.script_text[start : self.at]:
                raise Refused(f"sed s///m is not available here; {_INSTEAD}")
        elif char == "y":
            self._delimited(2)
        elif char and char in _PLAIN:
            if char in "qQl":
                self._skip(" 0123456789")
        elif char:
            raise Refused(f"the sed command {char} is not available here; {_INSTEAD}")
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
        if char == "/":
            self._delimited(1)
            self._skip("IM")
        elif char == "\\":
            self.at += 1
            self._delimited(1)
            self._skip("IM")
        elif char == "$":
            self.at += 1
        else:
            self._skip("0123456789~")

    def _delimited(self, parts: int) -> None:
        delimiter = self._peek()
        if not delimiter or delimiter in "\n\\":
            raise CommandError("the sed script lacks a delimiter; write sed -n '10,40p' FILE.")
        self.at += 1
        while parts:
            char = self._peek()
            if not char:
                raise CommandError(f"the sed script lacks a closing {delimiter}; add it.")
            if char == "[" and delimiter != "[":
                # sed itself differs here between versions: do not let a set hide where the command ends.
                closing = self.script_text.find("]", self.at + 2)
                if closing > 0 and delimiter in self.script_text[self.at : closing]:
                    raise Refused(f"the sed script has {delimiter} inside […]; choose another delimiter.")
            self.at += 2 if char == "\\" else 1
            if char == delimiter:
                parts -= 1

    def _end_of_command(self) -> None:
        self._skip(" \t")
        char = self._peek()
        if char and char not in ";\n}#":
            raise Refused(f"sed cannot be given {char!r} here; {_INSTEAD}")

    def _until_line_end(self) -> None:
        end = self.script_text.find("\n", self.at)
        self.at = len(self.script_text) if end < 0 else end

    def _peek(self) -> str:
        return self.script_text[self.at : self.at + 1]

    def _skip(self, chars: str) -> None:
        while self._peek() and self._peek() in chars:
            self.at += 1
