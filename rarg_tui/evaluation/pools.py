"""The first matches of one pattern, in any order of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rarg_tui.errors import RargError
from rarg_tui.search.grep import grep
from rarg_tui.search.shell import ShellLimits
from rarg_tui.trace.events import Match

#: So many documents are searched at first, and then four times as many again and again.
_BATCH = 1_000

# Every match is wanted here: the cut to the pool is made below.
_LIMITS = ShellLimits(pool=1 << 30, shown=1 << 30, output_bytes=1 << 30, output_lines=1 << 30)


class Pools:
    """Searches each document once, however many orders ask for it: what rg finds in a document does not
    depend on those before it. ``words`` are looked for in upper and lower case."""

    def __init__(self, root: Path, words: Sequence[str]) -> None:
        self._root = root
        self._pattern = "|".join(words)
        self._known: dict[str, list[Match]] = {}

    def first(self, paths: Sequence[str], most: int) -> list[Match]:
        """The first ``most`` matches in ``paths``, in their order; documents behind are not searched.
        Raises ``RargError`` when rg fails."""
        found: list[Match] = []
        at, size = 0, _BATCH
        while self._pattern and at < len(paths) and len(found) < most:
            batch = paths[at : at + size]
            self._search([path for path in batch if path not in self._known])
            for rank, path in enumerate(batch, at + 1):
                for match in self._known[path]:
                    found.append(replace(match, position=len(found) + 1, document_rank=rank))
            at, size = at + size, size * 4
        return found[:most]

    def _search(self, paths: Sequence[str]) -> None:
        if not paths:
            return
        result = grep(
            self._root,
            paths,
            ["-i", "-e", self._pattern],
            scope_query=None,
            ranked=True,
            limits=_LIMITS,
            reorder=None,
        )
        if result.state not in ("ok", "no_match", "partial"):
            raise RargError(f"The search for {self._pattern!r} {result.state}: {result.message}.")
        self._known.update({path: [] for path in paths})
        for match in result.pool:
            self._known[match.path].append(match)
