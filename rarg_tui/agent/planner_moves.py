"""What the offline planner can do under a strategy: its intentions as calls of the strategy's own tools."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rarg_tui.agent.planner_history import listing
from rarg_tui.agent.strategies import Strategy
from rarg_tui.trace.events import ToolCall
from rarg_tui.trace.state import RunState

Wanted = tuple[str, Mapping[str, Any]]

#: Documents that an answer names at most.
MOST_CITED = 10

#: Documents that one pull brings in for a name: as few as can be.
_PULLED = 300


class Moves:
    """The moves that ``strategy`` allows in a run that has come to ``state``."""

    def __init__(self, strategy: Strategy, state: RunState) -> None:
        self._tools = frozenset(strategy.tools)
        self._state = state
        self.reads = bool({"read", "read_characters"} & self._tools)
        #: Whether files are searched; where not, documents are asked for in words.
        self.searches = "bash" in self._tools
        #: Whether nothing can be done before the corpus was ranked.
        self.must_rank = bool({"embed_recall", "search_more", "pull", "search"} & self._tools)

    @property
    def place(self) -> str:
        """Where a search looks, for people."""
        if "embed_recall" in self._tools:
            return f"scope {self._state.scopes[-1].number}"
        if {"search_more", "pull"} & self._tools:
            return "the workspace"
        return "the corpus"

    def rank(self, *texts: str) -> list[Wanted]:
        """Rank the corpus for each text; nothing where the strategy cannot."""
        if "embed_recall" in self._tools:
            return [("embed_recall", {"query": text}) for text in texts]
        if "search_more" in self._tools:
            return [("search", {"queries": list(texts)})]
        if "pull" in self._tools:
            return [("pull", {"query": text}) for text in texts]
        if "retrieve" in self._tools:
            return [("retrieve", {"query": text}) for text in texts]
        return [("search", {"query": text}) for text in texts] if "search" in self._tools else []

    def widen(self, names: Sequence[str]) -> list[Wanted]:
        """Bring in documents about some names, where a search sees only what was brought in."""
        if "search_more" in self._tools:
            return [("search", {"queries": list(names)})]
        return [("pull", {"query": " ".join(names), "top_k": _PULLED})] if "pull" in self._tools else []

    def grep(self, patterns: Sequence[str]) -> Wanted:
        """Search files for lines that match one of ``patterns``."""
        quoted = " ".join(f"-e {shlex.quote(pattern)}" for pattern in patterns)
        if "embed_recall" in self._tools:
            scope = self._state.scopes[-1].number
            return "bash", {"command": f"cat scope_{scope}.txt | xargs -d '\\n' rg -n -i {quoted}"}
        return "bash", {"command": f"rg -n -i {quoted}"}

    def listing(self) -> Wanted | None:
        """List the best documents, where nothing else shows their names."""
        if "embed_recall" not in self._tools:
            return None
        return "bash", {"command": listing(self._state.scopes[-1].number, MOST_CITED)}

    def read(self, path: str, line: int, lines: int) -> Wanted:
        """Read a document from a line on."""
        if "read_characters" in self._tools:
            return "read", {"path": path, "offset": line}
        return "read", {"path": path, "offset": line, "limit": lines}


def as_calls(state: RunState, wanted: Sequence[Wanted]) -> tuple[ToolCall, ...]:
    """``wanted`` as a model would ask for them."""
    first = len(state.calls) + 1
    return tuple(
        ToolCall(f"planner-{number}", tool, arguments, json.dumps(arguments, ensure_ascii=False))
        for number, (tool, arguments) in enumerate(wanted, first)
    )
