"""File names for document ids: safe, readable, each its own."""

from __future__ import annotations

import os
import re
import unicodedata

#: A file name may have 255 bytes; this leaves room for a number and an ending.
_BYTES = 200
_ENDING = ".txt"


class Names:
    """Gives each id a name unlike every other that it gave.

    Two names count as alike when a file system that folds case or composes accents would mix them up.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def name(self, identifier: str) -> str:
        """A new name, also for an id that was named before."""
        readable = _readable(identifier)
        key = _folded(readable)
        number = self._last.get(key, 0) + 1
        while _folded(name := _numbered(readable, number)) in self._taken:
            number += 1
        self._last[key] = number
        self._taken.add(_folded(name))
        return name


def _readable(identifier: str) -> str:
    # A lone surrogate, which JSON can hold, has no bytes.
    whole = identifier[: 2 * _BYTES].encode("utf-8", "replace").decode("utf-8")
    text = re.sub(r"[\x00-\x1f\x7f-\x9f/\\:*?\"<>|\s]+", " ", unicodedata.normalize("NFC", whole))
    text = text.strip(" .-").removesuffix(_ENDING).strip(" .-") or "document"
    return os.fsencode(text)[:_BYTES].decode("utf-8", "ignore").rstrip(" .-")


def _numbered(readable: str, number: int) -> str:
    return f"{readable}{_ENDING}" if number == 1 else f"{readable} ({number}){_ENDING}"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
