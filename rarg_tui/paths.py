"""Where things live on this machine: the user's directories and the files that come with rarg.

Nothing here raises for an odd home directory (unset, missing, a file, read-only): a directory function
only names a place, and :func:`writable` finds one that can really be written to.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import platformdirs

from rarg_tui.errors import MissingPart

_NAME = "rarg"


def cache_dir() -> Path:
    """Indexes and whatever else can be computed again."""
    return _user_dir("cache", platformdirs.user_cache_dir)


def data_dir() -> Path:
    """Saved runs."""
    return _user_dir("data", platformdirs.user_data_dir)


def config_dir() -> Path:
    """The settings file and the user's own themes."""
    return _user_dir("config", platformdirs.user_config_dir)


def writable(directory: Path) -> tuple[Path, str]:
    """``directory``, made if needed, and ``""``; or, if it cannot be written to, a temporary directory of
    this user and a sentence that says so. Never raises: if nothing at all can be written to, the sentence
    says that and ``directory`` comes back as it is."""
    trouble = _why_not_writable(directory)
    if not trouble:
        return directory, ""
    # The whole path, so that two directories of the same name do not share a place.
    fallback = _temporary_dir().joinpath(*(part for part in directory.parts if part not in (os.sep, "..")))
    if not _why_not_writable(fallback):
        return fallback, f"{directory} cannot be written to ({trouble}): using {fallback} instead."
    return directory, f"{directory} cannot be written to ({trouble}), nor can a temporary directory."


def resource_dir(name: str) -> Path:
    """A directory that comes with rarg, ``themes`` or ``sample_corpus``: inside the installed package, or
    at the top of a source checkout."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "_resources" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise MissingPart(f"The directory {name} that comes with rarg is missing; install rarg again.")


def _user_dir(kind: str, locate: Callable[..., str]) -> Path:
    """What platformdirs says, unless that would depend on the working directory, as it does for a user
    without a known home."""
    try:
        place = Path(locate(_NAME, appauthor=False))
    except (OSError, RuntimeError, KeyError):
        place = Path()
    return place if place.is_absolute() else _temporary_dir() / kind


def _why_not_writable(directory: Path) -> str:
    """Empty if a file can be made in ``directory`` (which is made first), else the system's reason.

    A probe, because permission bits do not tell about root, quotas or read-only file systems.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _temporary_dir() -> Path:
    """A directory that only this user can enter: the same one each time, unless somebody else holds its
    name. Where there is no room for one, a path below a file, which nothing can be written to."""
    try:
        usual = Path(tempfile.gettempdir(), f"{_NAME}-{os.getuid()}")
        if _is_private(usual):
            return usual
        return Path(_own_temporary_dir())
    except OSError:
        return Path(os.devnull, _NAME)


def _is_private(directory: Path) -> bool:
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        return False
    found = directory.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


@cache
def _own_temporary_dir() -> str:
    return tempfile.mkdtemp(prefix=f"{_NAME}-")
