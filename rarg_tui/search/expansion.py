"""Whether bash would put file names in the place of a word."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

#: So many directory entries are looked at for one command, far more than a corpus holds; links back make
#: more of them.
_MOST_ENTRIES = 500_000


class Expansion:
    """Answers for the words of one command, with bash standing in ``root``."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._left = _MOST_ENTRIES

    def of(self, pattern: str) -> bool:
        """Whether ``pattern`` (see :class:`~rarg_tui.search.words.Word`) may match a name.

        Also true where nothing is looked at, because the answer would tell what lies outside the root,
        and where there is too much to look at: then quotes are needed to know what the word means.
        """
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        if pattern.startswith("/") or ".." in parts:
            return True
        top = os.path.realpath(self._root)
        directories = [top]
        for at, part in enumerate(parts):
            inner: list[str] = []
            for directory in directories:
                if not _within(os.path.realpath(directory), top):
                    return True
                for entry in _entries(directory):
                    self._left -= 1
                    if self._left < 0:
                        return True
                    if not fnmatchcase(entry.name, part):
                        continue
                    if at == len(parts) - 1:
                        return True
                    if entry.is_symlink() or entry.is_dir():
                        inner.append(entry.path)
            directories = inner
        return False


def _within(real: str, top: str) -> bool:
    return real == top or real.startswith(top.rstrip("/") + "/")


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []
