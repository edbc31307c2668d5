"""What the panes render: the run's state, and which part of it the person looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len, chop_cells

from rarg_tui.trace.events import Match
from rarg_tui.trace.state import CallState, RunState, ScopeState
from rarg_tui.ui.glyphs import UNICODE, Glyphs, glyphs
from rarg_tui.ui.ports import ScopePort

_SCOPED = re.compile(r"cat\s+(?:\./)?scope_\d+\.txt\s*\|\s*xargs\s+(?:-d\s*(?:'\\n'|\"\\n\"|\\\\n)\s+)?")

#: Tools that rank the corpus.
_RANKING = frozenset({"embed_recall", "search", "pull", "retrieve"})

#: What running a call of the other tools does.
_DOES = {
    "read": "read the document",
    "think": "note the thought",
    "final_results": "end the run with this ranking",
}

STATE_WORDS = {
    "proposed": "waits",
    "ok": "done",
    "no_match": "no match",
    "timed_out": "timed out",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A line of a document; ``line`` counts from 1."""

    path: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class View:
    """``call`` is the selected call, ``scope`` the scope that it made or searched, ``ranking`` that
    scope's documents once they are loaded (``unranked`` why they cannot be), ``found`` what a running rg
    has found so far; ``hint`` is what is said while there is no run, ``offers`` what can be done with the
    call that waits."""

    state: RunState = field(default_factory=RunState)
    opened: bool = False
    live: bool = True
    running: str = ""
    pausing: bool = False
    next_step: str = ""
    call: CallState | None = None
    scope: ScopeState | None = None
    ranking: ScopePort | None = None
    unranked: str = ""
    found: Sequence[Match] | None = None
    hint: str = ""
    offers: str = ""
    follow: bool = True
    glyphs: Glyphs = field(default_factory=glyphs)

    def gold_mark(self, path: str) -> str:
        """★ for a gold document that was seen, ☆ for one that was not, or nothing."""
        if self.state.gold.get(path, 0) <= 0:
            return ""
        return self.glyphs.gold if path in self.state.hits else self.glyphs.gold_missed

    def cited(self, path: str) -> bool:
        return path in self.state.citations

    def cite_mark(self, path: str) -> str:
        """§ for a document that the answer cites, or nothing."""
        return ("§" if self.glyphs is UNICODE else "c") if self.cited(path) else ""


def scope_of(state: RunState, call: CallState | None) -> ScopeState | None:
    """The scope that ``call`` made or searched, else the newest one made before it."""
    if call is None:
        return state.current_scope
    named = state.scope(call.scope)
    if named is not None:
        return named
    earlier = [scope for scope in state.scopes if scope.call <= call.number]
    return earlier[-1] if earlier else None


def newest_call(state: RunState) -> CallState | None:
    """The call that following shows: the last one that has run, else the first that waits."""
    done = [call for call in state.calls if not call.waiting]
    if done:
        return done[-1]
    return state.calls[0] if state.calls else None


def command_of(call: CallState) -> str:
    """What ``call`` does, short: without the plumbing that hands a scope to rg."""
    arguments = call.arguments
    if arguments is None:
        return call.raw or "(no arguments)"
    if call.tool == "read":
        offset = arguments.get("offset")
        return f"{arguments.get('path', '')}" + (f":{offset}" if offset else "")
    if call.tool != "bash":
        return " | ".join(_words(arguments))
    command = str(arguments.get("command", ""))
    return re.sub(r"^rg\s+(?:-n|--line-number)\s+", "rg ", _SCOPED.sub("", command, count=1))


def _words(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The texts among a call's arguments."""
    for value in arguments.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, str))


def ranks(call: CallState) -> bool:
    """Whether ``call`` ranks the corpus, and so makes scopes instead of matches."""
    return call.tool in _RANKING


def tool_of(call: CallState) -> str:
    """The tool's name as the transcript shows it."""
    return {"embed_recall": "recall", "bash": ""}.get(call.tool, call.tool)


def matches_of(call: CallState) -> str:
    """Pool and shown, such as ``61→30``, ``500+→30`` when the pool was full, or ``7``."""
    if not call.pool:
        return ""
    pool = f"{len(call.pool)}{'+' if call.pool_full else ''}"
    return pool if call.shown == len(call.pool) and not call.pool_full else f"{pool}→{call.shown}"


def seconds(elapsed_ms: float) -> str:
    """A duration in four or five characters."""
    if elapsed_ms < 9_995:
        return f"{elapsed_ms / 1000:.2f}s"
    return f"{elapsed_ms / 1000:.0f}s" if elapsed_ms < 600_000 else f"{elapsed_ms / 60_000:.0f}m"


def wrapped(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` terminal cells, cut between words where that is possible;
    with no room to speak of, in one line."""
    if width < 16:
        return [text]
    lines: list[str] = []
    line, used = "", 0
    for word in text.split():
        room = cell_len(word)
        if line and used + 1 + room > width:
            lines.append(line)
            line, used = word, room
        else:
            line, used = (f"{line} {word}", used + 1 + room) if line else (word, room)
    return [*lines, line]


def folded(command: str, width: int) -> list[str]:
    """``command`` in lines of at most ``width`` terminal cells (unbroken where there is no room to speak of).
    A pipe and an ``-e`` begin a line. Only blanks at the breaks are left out."""
    lines: list[str] = []
    for text in command.splitlines() or [""]:
        if width < 16 or cell_len(text) <= width:
            lines.append(text)
            continue
        first, *more = re.split(r"\s+(?=\|\s|-e\s)", text)
        lines += _broken(first, width)
        for part in more:
            lines += [f"  {line}" for line in _broken(part, width - 2)]
    return lines


def _broken(text: str, width: int) -> list[str]:
    lines = [""]
    # What is quoted is one word.
    for word in re.findall(r"""\s*(?:'[^']*'|"[^"]*"|\S)+""", text):
        if cell_len(word) > width:
            # A pattern, mostly: it stays with its option, and is cut where the line ends.
            lines[-1:] = chop_cells(lines[-1] + word, width)
        elif lines[-1] and cell_len(lines[-1] + word) > width:
            lines.append(word.lstrip())
        else:
            lines[-1] += word
    return lines


def plural(count: int, one: str, many: str = "") -> str:
    """``1 match``, ``2 matches``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def ranked_order(pool: Sequence[Match]) -> tuple[list[Match], list[Match]]:
    """The matches that were shown, in the order shown, and the rest, best first."""
    shown = sorted((match for match in pool if match.shown_at is not None), key=lambda m: m.shown_at or 0)
    rest = [match for match in pool if match.shown_at is None]
    return shown, sorted(rest, key=lambda m: (-(m.score if m.score is not None else 0.0), m.position))


def will_run(state: RunState, call: CallState) -> list[str]:
    """What executing ``call`` does, line by line, as far as it is known before."""
    limits = state.limits
    if call.error:
        return [f"the model is told: {call.error}"]
    if ranks(call):
        rankers = " + ".join(state.rankers) or "the rankers that are ready"
        return [f"rank all documents by {rankers}; keep {limits.get('scope_cap', 10_000):,} at most"]
    if call.tool != "bash":
        return [_DOES.get(call.tool, call.tool)]
    rerank = state.rerank if state.rerank and state.rerank != "off" else ""
    scoped = "in scope order" if "scope_" in _raw_command(call) else ""
    what = " · ".join(
        part
        for part in (
            f"rg -j1 {scoped}".strip(),
            f"pool {limits.get('pool', 500)}",
            f"{limits.get('shown', 30)} shown",
            f"rerank {rerank}" if rerank else "no rerank",
        )
        if part
    )
    return [_raw_command(call), what]


def _raw_command(call: CallState) -> str:
    return str((call.arguments or {}).get("command", ""))
