"""What a model is sent: the conversation, rebuilt from the run's state for each turn.

The request is reduced when it grows too long, the log never is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from rarg_tui.agent.profiles import Profile
from rarg_tui.agent.prompts import forced_answer, forced_closing, go_on, system_prompt
from rarg_tui.agent.strategies import Strategy
from rarg_tui.trace.state import CallState, RunState

CLEARED = "[cleared]"

#: Characters a token, where no server counted: a usual estimate for English text.
_CHARACTERS_PER_TOKEN = 4


def messages(
    state: RunState,
    strategy: Strategy,
    profile: Profile,
    *,
    force_answer: bool = False,
    best: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """The conversation in the form of Chat Completions: system, user, then turn by turn. ``best``: the
    documents that a run's searches ranked highest, for a strategy whose end is forced by them."""
    result: list[dict[str, Any]] = [
        {"role": "system", "content": system_prompt(strategy, profile, state.documents, mark(state))},
        {"role": "user", "content": state.question},
    ]
    result.extend(_by_others(state, turn=0))
    for turn in state.turns:
        calls = [call for call in state.calls if call.turn == turn.number and call.by == "model"]
        message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": _id(call),
                    "type": "function",
                    "function": {"name": call.tool, "arguments": _arguments(call)},
                }
                for call in calls
            ]
        result.append(message)
        result.extend(
            {"role": "tool", "tool_call_id": _id(call), "content": _bounded(call, state)} for call in calls
        )
        if strategy.closing and not calls:
            result.append({"role": "user", "content": go_on(strategy)})
        result.extend(_by_others(state, turn.number))
    if force_answer:
        forced = forced_closing(strategy, best) if strategy.closing else forced_answer()
        result.append({"role": "user", "content": forced})
    return result


def mark(state: RunState) -> str:
    """What the bounds of data are known by in this run: text of the corpus cannot have foreseen it."""
    return hashlib.blake2b(f"{state.run} {state.started_at}".encode(), digest_size=4).hexdigest()


def estimated_tokens(state: RunState) -> int:
    """How long the conversation is: four characters a token, cleared results left out."""
    kept = sum(len(_result(call, state)) + len(call.raw) for call in state.calls)
    return (kept + sum(len(turn.text) for turn in state.turns)) // _CHARACTERS_PER_TOKEN


def to_clear(state: RunState, keep: int) -> tuple[int, ...]:
    """Numbers of the calls whose results go when only the last ``keep`` may stay."""
    done = [call.number for call in state.calls if call.observation]
    return tuple(number for number in done[: max(0, len(done) - keep)] if number not in state.cleared)


#: When a server refuses the conversation, so many results fewer are kept each time, and so many at least.
FEWER, FEWEST = 10, 5


def fewer_results(state: RunState, keep: int) -> tuple[int, ...]:
    """Numbers of the calls whose results go next when the server says that the conversation is too long;
    empty when no fewer may be kept. ``keep`` is how many the profile keeps."""
    kept = sum(1 for call in state.calls if call.observation and call.number not in state.cleared)
    return to_clear(state, max(FEWEST, min(keep, kept) - FEWER))


def _id(call: CallState) -> str:
    # Servers repeat call ids across turns; ours are unique in a run.
    return f"call_{call.number}"


def _arguments(call: CallState) -> str:
    # A string that is no JSON would be refused by most servers when it comes back to them.
    return json.dumps(call.arguments if call.arguments is not None else {"invalid_arguments": call.raw})


def _result(call: CallState, state: RunState) -> str:
    if call.state == "skipped":
        return f"(skipped by the user{': ' + call.note if call.note else ''})"
    if call.waiting:
        return "(not executed)"
    if call.number in state.cleared:
        # A scope's first line stays: the model must know which scope files exist.
        made_scope = any(scope.call == call.number for scope in state.scopes)
        first = call.observation.splitlines()[0] if made_scope and call.observation else ""
        return f"{first}\n{CLEARED}".lstrip()
    return call.observation


def _bounded(call: CallState, state: RunState) -> str:
    """A result between its bounds."""
    return f"<data {mark(state)}>\n{_result(call, state)}\n</data {mark(state)}>"


def _by_others(state: RunState, turn: int) -> list[dict[str, Any]]:
    """The results of calls that the model did not ask for, after ``turn``."""
    return [
        {
            "role": "user",
            "content": f"{_told(call)}:\n{_bounded(call, state)}",
        }
        for call in state.calls
        if call.by != "model" and call.turn == turn and not call.waiting and call.state != "skipped"
    ]


def _told(call: CallState) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    who = "I ran by hand" if call.by == "user" else "Run to begin with"
    return f"{who}: {call.tool} {arguments}"
