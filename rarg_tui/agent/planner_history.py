"""What a run has tried already: the offline planner's own memory is the run itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from rarg_tui.trace.state import CallState, RunState

_LISTING = re.compile(r"head -n (\d+) scope_(\d+)\.txt")


class History:
    """The calls of a run, whoever made them and whether or not they were run: what a person has skipped
    or changed is not proposed again. Patterns are compared without case, as they are searched."""

    def __init__(self, state: RunState) -> None:
        searched = [(call, frozenset(_patterns(call)) | frozenset(_queries(call))) for call in state.calls]
        #: The numbers of the calls that search, with their patterns.
        self.searches = [(call.number, patterns) for call, patterns in searched if patterns]
        self.ranked = any(True for call in state.calls for _ in _queries(call))
        self._asked = frozenset(query for call in state.calls for query in _queries(call))
        self.listed = any(True for call in state.calls for _ in _listings(call))
        #: The documents that some call read or meant to read.
        self.read = frozenset(
            path for call in state.calls if call.tool == "read" for path in _arguments(call, "path")
        )
        self.found = any(call.pool for call, patterns in searched if patterns)
        self._tried = frozenset(pattern for _, patterns in self.searches for pattern in patterns)
        self._exhausted = frozenset(
            pattern
            for call, patterns in searched
            if len(patterns) == 1 or (len(call.pool) <= call.shown and not call.pool_full)
            for pattern in patterns
        )

    def tried(self, *patterns: str) -> bool:
        """Whether all ``patterns`` were in some search."""
        return all(pattern.lower() in self._tried for pattern in patterns)

    def asked(self, text: str) -> bool:
        """Whether the corpus was ranked for ``text``."""
        return text.lower() in self._asked

    def exhausted(self, pattern: str) -> bool:
        """Whether another search could not show more: all was shown, or the pattern stood alone."""
        return pattern.lower() in self._exhausted


def listing(scope: int, documents: int) -> str:
    """The command that lists the best documents of a scope."""
    return f"head -n {documents} scope_{scope}.txt"


def listed(call: CallState) -> list[str]:
    """The documents that a listing of the best ones showed, best first. A name that could not be shown
    as it is, and so cannot be read either, is left out."""
    if call.state != "ok":
        return []
    rows = [row for row in call.observation.split("\n") if row]
    return [path for number in _listings(call) for path in rows[:number] if "\ufffd" not in path]


def _listings(call: CallState) -> Iterator[int]:
    for command in _arguments(call, "command"):
        if wanted := _LISTING.fullmatch(command.strip()):
            yield int(wanted[1])
            return


def _patterns(call: CallState) -> Iterable[str]:
    for command in _arguments(call, "command"):
        words = _split(command)
        yield from (after.lower() for option, after in pairwise(words) if option == "-e")


def _queries(call: CallState) -> Iterator[str]:
    """What the corpus was ranked for."""
    for query in _arguments(call, "query"):
        yield query.lower()
    for queries in ((given or {}).get("queries") for given in (call.arguments, call.edited_from)):
        if isinstance(queries, list | tuple):
            yield from (query.lower() for query in queries if isinstance(query, str))


def _arguments(call: CallState, name: str) -> Iterator[str]:
    """An argument as the call has it, and as it was before a person changed it."""
    for arguments in (call.arguments, call.edited_from):
        value = (arguments or {}).get(name)
        if isinstance(value, str):
            yield value


@lru_cache(maxsize=256)
def _split(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()  # a quote too many: none of our commands
