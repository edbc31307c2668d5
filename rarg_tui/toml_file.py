"""A TOML file that remembers on which line each key stands, for errors that say where."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rarg_tui.errors import RargError

KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TomlFile:
    path: Path
    values: Mapping[str, Any]
    lines: Mapping[KeyPath, int]  #: from 1, of every key and table

    @classmethod
    def read(cls, path: Path) -> TomlFile:
        """Raises :class:`RargError` for a file that is no TOML, ``OSError`` for one that cannot be read."""
        data = path.read_bytes()
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
            values = tomllib.loads(text)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise RargError(f"{path}, line {line}: not UTF-8; save the file as UTF-8 text.") from None
        except tomllib.TOMLDecodeError as error:
            raise RargError(f"{path}: not valid TOML: {error}.") from None
        except RecursionError:
            raise RargError(f"{path}: nested too deeply for a settings file.") from None
        return cls(path, values, _lines(text))

    def where(self, *key: str) -> str:
        """The place of a key as the start of a sentence: ``FILE, line N``."""
        line = self.lines.get(key)
        return f"{self.path}, line {line}" if line else str(self.path)


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, or else all of them."""
    known = list(known)
    close = difflib.get_close_matches(name.lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}."


def _lines(text: str) -> dict[KeyPath, int]:
    """tomllib keeps no positions. But a TOML document is a row of statements, each of whole lines, and a
    statement cut short does not parse: so parsing ever more lines until they parse finds each one."""
    found: dict[KeyPath, int] = {}
    table: KeyPath = ()
    statement, start = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        if not statement:
            start = number
        statement += line + "\n"
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        keys = list(_key_paths(parsed))
        if statement.lstrip().startswith("["):
            table = ()
        for key in keys:
            found.setdefault(table + key, start)
        if keys and statement.lstrip().startswith("["):
            table = keys[-1]
        statement = ""
    return found


def _key_paths(table: Mapping[str, Any], above: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key of a table and of the tables in it, outer ones first."""
    for name, value in table.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from _key_paths(value, (*above, name))
