"""A run as a document for people (Markdown) or for programs (JSON)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rarg_tui.trace import events as ev
from rarg_tui.trace.state import CallState, RunState


def as_json(events: Iterable[ev.Event]) -> dict[str, Any]:
    """All events of a run in one object: ``{"schema_version", "events": [...]}``."""
    return {"schema_version": ev.SCHEMA_VERSION, "events": [ev.to_json(event) for event in events]}


def as_markdown(state: RunState) -> str:
    """The transcript of a run: question, turns, calls with their observations, answer."""
    return "\n".join(_markdown(state)) + "\n"


def _markdown(state: RunState) -> Iterator[str]:
    yield f"# {' '.join(state.question.split()) or 'Run'}"
    yield ""
    yield f"- run: {state.run}"
    yield f"- strategy: {state.strategy} · profile {state.profile} · model: {state.model}"
    yield f"- corpus: {state.corpus_name} ({state.documents} documents)"
    weights = ", ".join(f"{name} {weight:g}" for name, weight in state.rankers.items())
    yield f"- rankers: {weights or 'none'} · rerank: {state.rerank}"
    turns = {turn.number: turn for turn in state.turns}
    shown: set[int] = set()
    for call in state.calls:
        turn = turns.get(call.turn)
        if turn is not None and call.turn not in shown:
            shown.add(call.turn)
            yield ""
            yield f"## Turn {call.turn}"
            if turn.text:
                yield ""
                yield turn.text
        yield from _call(call)
    yield ""
    yield f"## {'Answer' if state.answer else 'End'}"
    yield ""
    yield state.answer or state.error or state.ended or "The run has not ended."
    for note in state.notes:
        yield ""
        yield f"> {note.text}"


def _call(call: CallState) -> Iterator[str]:
    found = f" · {len(call.pool)} matches, {call.shown} shown" if call.pool else ""
    by = " · by hand" if call.by == "user" else ""
    gold = f" · new gold {len(call.new_gold)}" if call.new_gold else ""
    yield ""
    yield f"### {call.number}. {call.tool} · {call.state}{found}{gold}{by}"
    arguments = call.arguments or {"raw": call.raw}
    for name, value in arguments.items():
        yield ""
        yield f"{name}:"
        yield from _fenced(str(value))
    if call.message:
        yield ""
        yield call.message
    if call.observation:
        yield ""
        yield from _fenced(call.observation)


def _fenced(text: str) -> Iterator[str]:
    # A fence longer than any run of backticks inside: corpus text cannot end its own block.
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence
    yield text
    yield fence
