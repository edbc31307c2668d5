"""What a run has shown, as sentences with their places: all that the offline planner may use."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from rarg_tui.agent import planner_terms as terms
from rarg_tui.trace.state import CallState, RunState

_NUMBERED = re.compile(r"(\d+): (.*)", re.DOTALL)
_LISTING = re.compile(r"head -n (\d+) scope_(\d+)\.txt")


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence that was shown; it begins on ``line`` (from 1) of its document."""

    path: str
    line: int
    text: str


@dataclass(slots=True)
class Shown:
    """What was shown of one document: texts by line, from 1; a very long line may come in several."""

    path: str
    lines: dict[int, list[str]] = field(default_factory=dict)

    def add(self, line: int, text: str) -> None:
        text = terms.plain(text).rstrip()
        kept = self.lines.setdefault(line, [])
        if not any(text in other for other in kept):
            kept[:] = [other for other in kept if other not in text] + [text]

    def facts(self) -> Iterator[Fact]:
        for first, text in self._passages():
            for sentence in terms.sentences(text, first):
                yield Fact(self.path, sentence.line, sentence.text)

    def _passages(self) -> Iterator[tuple[int, str]]:
        """Neighbouring lines joined, so that a sentence may run over a line break."""
        run: list[str] = []
        first = 0
        for line in sorted(self.lines):
            texts = self.lines[line]
            if run and (line != first + len(run) or len(texts) != 1):
                yield first, "\n".join(run)
                run = []
            if len(texts) == 1:
                first = first if run else line
                run.append(texts[0])
            else:
                yield from ((line, text) for text in texts)
        if run:
            yield first, "\n".join(run)


def documents(state: RunState) -> dict[str, Shown]:
    """What the entry points, matches, reads and listings of a run showed, by path, first shown first."""
    found: dict[str, Shown] = {}

    def at(path: str) -> Shown:
        return found.setdefault(path, Shown(path))

    scopes = {scope.call: scope for scope in state.scopes}
    for call in state.calls:
        if scope := scopes.get(call.number):
            for entry in scope.entry_points:
                for number, text in enumerate(entry.text.split("\n"), entry.first_line):
                    at(entry.path).add(number, text)
        shown = [match for match in call.pool if match.shown_at is not None]
        for match in sorted(shown, key=lambda match: match.shown_at or 0):
            for number, text in enumerate(match.text.split("\n"), match.line):
                at(match.path).add(number, text)
        if call.document and call.state == "ok":
            for number, text in _numbered(call):
                at(call.document).add(number, text)
        for path in _listed(call):
            at(path)
    return found


def patterns(state: RunState) -> frozenset[str]:
    """Every ``-e`` pattern of the run's commands, whoever gave them and whether or not they were run."""
    return frozenset(pattern for call in state.calls for pattern in _patterns(call))


def exhausted(state: RunState) -> frozenset[str]:
    """The patterns that need no second search: all they found was shown, or they were alone."""
    return frozenset(
        pattern
        for call in state.calls
        for pattern in _patterns(call)
        if len(_patterns(call)) == 1 or (len(call.pool) <= call.shown and not call.pool_full)
    )


def _patterns(call: CallState) -> list[str]:
    words = _split(_command(call))
    return [after for option, after in pairwise(words) if option == "-e"]


def searches(state: RunState) -> list[tuple[int, list[str]]]:
    """The numbers of the calls that search for patterns, and these."""
    return [(call.number, patterns) for call in state.calls if (patterns := _patterns(call))]


def read_paths(state: RunState) -> frozenset[str]:
    """The documents that some call read or meant to read."""
    paths = ((call.arguments or {}).get("path") for call in state.calls if call.tool == "read")
    return frozenset(path for path in paths if isinstance(path, str))


def is_listing(call: CallState) -> bool:
    return _LISTING.fullmatch(_command(call)) is not None


def listing(scope: int, documents: int) -> str:
    """The command that lists the best documents of a scope."""
    return f"head -n {documents} scope_{scope}.txt"


def _command(call: CallState) -> str:
    command = (call.arguments or {}).get("command")
    return command.strip() if call.tool == "bash" and isinstance(command, str) else ""


@lru_cache(maxsize=256)
def _split(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()  # an edited command with a quote too many: nothing of ours is in it


def _numbered(call: CallState) -> list[tuple[int, str]]:
    rows = (_NUMBERED.fullmatch(row) for row in call.observation.split("\n")[1:])
    return [(int(row[1]), row[2]) for row in rows if row]


def _listed(call: CallState) -> list[str]:
    wanted = _LISTING.fullmatch(_command(call))
    if wanted is None or call.state != "ok":
        return []
    return [line for line in call.observation.split("\n") if line][: int(wanted[1])]
