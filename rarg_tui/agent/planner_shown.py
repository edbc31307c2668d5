"""What a run has shown, as sentences with their places: all that the offline planner may use."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

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
    """What was shown of one document: texts by line, from 1 (a very long line may come in several), its
    best rank in a scope, and whether it was read rather than found."""

    path: str
    lines: dict[int, list[str]] = field(default_factory=dict)
    rank: int | None = None
    read: bool = False

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
            at(match.path).add(match.line, match.text)
        if call.document and call.state == "ok":
            at(call.document).read = True
            for number, text in _numbered(call):
                at(call.document).add(number, text)
        for path in _listed(call):
            at(path)
        for path, rank in call.seen.items():
            if rank is not None and path in found:
                found[path].rank = min(rank, found[path].rank or rank)
    return found


def patterns(state: RunState) -> frozenset[str]:
    """Every ``-e`` pattern of the run's commands, whoever gave them and whether or not they were run."""
    return frozenset(pattern for call in state.calls for pattern in _patterns(call))


def counted(state: RunState) -> frozenset[str]:
    """The patterns of searches that showed all they found."""
    return frozenset(
        pattern
        for call in state.calls
        if call.state in ("ok", "no_match") and len(call.pool) == call.shown and not call.pool_full
        for pattern in _patterns(call)
    )


def alone(state: RunState) -> frozenset[str]:
    """Patterns that were searched by themselves."""
    return frozenset(p[0] for p in map(_patterns, state.calls) if len(p) == 1)


def _patterns(call: CallState) -> list[str]:
    words = _words(call)
    return [after for option, after in zip(words, words[1:], strict=False) if option == "-e"]


def is_listing(call: CallState) -> bool:
    return _LISTING.fullmatch(_command(call)) is not None


def listing(scope: int, documents: int) -> str:
    """The command that lists the best documents of a scope."""
    return f"head -n {documents} scope_{scope}.txt"


def _command(call: CallState) -> str:
    command = (call.arguments or {}).get("command")
    return command.strip() if call.tool == "bash" and isinstance(command, str) else ""


def _words(call: CallState) -> list[str]:
    try:
        return shlex.split(_command(call))
    except ValueError:
        return []  # an edited command with a quote too many: nothing of ours is in it


def _numbered(call: CallState) -> list[tuple[int, str]]:
    rows = (_NUMBERED.fullmatch(row) for row in call.observation.split("\n"))
    return [(int(row[1]), row[2]) for row in rows if row]


def _listed(call: CallState) -> list[str]:
    wanted = _LISTING.fullmatch(_command(call))
    if wanted is None or call.state != "ok":
        return []
    return [line for line in call.observation.split("\n") if line][: int(wanted[1])]
