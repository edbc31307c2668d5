"""Whether bash would put file names in the place of a word."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

#: So many directory entries are looked at, far more than a corpus holds; links back make more of them.
_MOST_ENTRIES = 500_000


def expands(pattern: str, root: str) -> bool:
    """Whether ``pattern`` (see :class:`~rarg_tui.search.words.Word`) may match a name when bash stands in
    ``root``.

    Also true where nothing is looked at, because the answer would tell what lies outside ``root``, and
    where there is too much to look at: then quotes are needed to know what the word means.
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.startswith("/") or ".." in parts:
        return True
    top = os.path.realpath(root)
    left = _MOST_ENTRIES
    directories = [top]
    for at, part in enumerate(parts):
        inner: list[str] = []
        for directory in directories:
            if not _within(os.path.realpath(directory), top):
                return True
            for entry in _entries(directory):
                left -= 1
                if left < 0:
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
