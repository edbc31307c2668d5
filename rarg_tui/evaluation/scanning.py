"""The ordered scan against the plain ways: ``cat scope | xargs rg``, in order and not, on one corpus."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rarg_tui.errors import MissingPart
from rarg_tui.evaluation.generated import Generated
from rarg_tui.search.context import ShellLimits
from rarg_tui.search.grep import grep
from rarg_tui.search.process import find_program
from rarg_tui.search.rg import find_rg

#: What is collected before a search ends.
POOL = 500

Lines = list[bytes]


@dataclass(frozen=True, slots=True)
class Scan:
    """One scan: ``seconds``, those until the first matches were there, and the ``lines`` found, as
    ``path:number:text``."""

    seconds: float
    first: float
    lines: Lines


class Scans:
    """Ways to search the scope of a ``corpus``; each call is one measurement."""

    def __init__(self, corpus: Generated, directory: Path) -> None:
        self._corpus = corpus
        self._list = directory / f"{corpus.root.name}.scope"
        self._list.write_text("".join(f"{path}\n" for path in corpus.scope))
        self._rg = find_rg().path
        self._programs = {name: _program(name) for name in ("cat", "xargs", "head")}

    def ordered(self, word: str) -> Scan:
        """rarg's own, up to the pool, guard and confinement included."""
        began = perf_counter()
        first: list[float] = []
        result = grep(
            self._corpus.root,
            self._corpus.scope,
            ["-n", word],
            scope_query=None,
            ranked=True,
            limits=ShellLimits(pool=POOL),
            reorder=None,
            on_matches=lambda matches: first.append(perf_counter() - began) if not first else None,
        )
        seconds = perf_counter() - began
        lines = [os.fsencode(f"{match.path}:{match.line}:{match.text}") for match in result.pool]
        return Scan(seconds, first[0] if first else seconds, lines)

    def plain(self, word: str, *, threads: int | None = None, most: int | None = None) -> Scan:
        """``cat scope | xargs rg``, ``threads`` as rg chooses if ``None``; with ``most``, ``| head`` too."""
        xargs = [self._programs["xargs"], "-d", "\n", self._rg, "--no-config", "-H", "-n", "--no-heading"]
        argv = [
            [self._programs["cat"], str(self._list)],
            [*xargs, *([f"-j{threads}"] if threads else []), word],
        ]
        if most is not None:
            argv.append([self._programs["head"], f"-{most}"])
        began = perf_counter()
        lines = _piped(argv, self._corpus.root)
        seconds = perf_counter() - began
        return Scan(seconds, seconds, lines)


def _piped(argvs: Sequence[Sequence[str]], root: Path) -> Lines:
    """The lines that a pipeline prints."""
    running: list[subprocess.Popen[bytes]] = []
    for argv in argvs:
        before = running[-1].stdout if running else subprocess.DEVNULL
        running.append(
            subprocess.Popen(argv, cwd=root, stdin=before, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        )
        if before is not subprocess.DEVNULL and not isinstance(before, int) and before is not None:
            before.close()  # so that a program is told when the one behind it wants no more
    last = running[-1].stdout
    assert last is not None
    with last:
        output = last.read()
    for process in running:
        process.wait()
    return output.splitlines()


def _program(name: str) -> str:
    path = find_program(name)
    if path is None:
        raise MissingPart(
            f"the plain way needs {name}, which is not installed: install it, or measure elsewhere."
        )
    return path
