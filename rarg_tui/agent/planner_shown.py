"""What a run has shown, as sentences with their places: all that the offline planner may use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rarg_tui.agent import planner_terms as terms
from rarg_tui.agent.planner_history import listed
from rarg_tui.trace.state import CallState, RunState

_NUMBERED = re.compile(r"(\d+): (.*)", re.DOTALL)


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
        for path in (*listed(call), *call.seen):
            at(path)
    return found


def _numbered(call: CallState) -> list[tuple[int, str]]:
    rows = (_NUMBERED.fullmatch(row) for row in call.observation.split("\n")[1:])
    return [(int(row[1]), row[2]) for row in rows if row]
