"""Conditions at which a run that goes on by itself stops for a person to look."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rarg_tui.agent import context
from rarg_tui.agent.profiles import unknown
from rarg_tui.errors import RargError
from rarg_tui.trace.state import CallState, RunState

Before = Callable[[CallState], bool]
After = Callable[[RunState, RunState], bool]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """``text`` is how a person writes it. ``before`` holds of a call that would run now; ``after`` of a step
    that led from one state to another."""

    text: str
    before: Before = lambda call: False
    after: After = lambda old, new: False


def parse(text: str) -> Breakpoint:
    """The breakpoint that ``text`` describes, such as ``gold`` or ``matches > 100``; the forms are those of
    :data:`FORMS`. Raises ``RargError`` with the form that is expected."""
    words = text.split(maxsplit=1)
    if not words:
        raise RargError(f"Type a condition: {', '.join(FORMS)}.")
    kind, rest = words[0], words[1] if len(words) > 1 else ""
    if kind not in _KINDS:
        raise RargError(unknown("breakpoint", kind, _KINDS))
    try:
        return _KINDS[kind](" ".join(words), rest.strip())
    except ValueError:
        form = next(form for form in FORMS if form.split()[0] == kind)
        raise RargError(f"{text!r} is no breakpoint; its form is: {form}.") from None


def _plain(made: Callable[[str], Breakpoint]) -> Callable[[str, str], Breakpoint]:
    """A kind that takes no argument."""

    def make(text: str, rest: str) -> Breakpoint:
        if rest:
            raise ValueError
        return made(text)

    return make


def _tool(text: str, rest: str) -> Breakpoint:
    if not rest:
        raise ValueError
    return Breakpoint(text, before=lambda call: call.tool == rest)


def _command(text: str, rest: str) -> Breakpoint:
    try:
        pattern = re.compile(rest)
    except re.error as error:
        raise RargError(f"{rest!r} is no regular expression: {error}.") from None
    if not rest:
        raise ValueError
    return Breakpoint(text, before=lambda call: bool(pattern.search(_command_of(call))))


def _command_of(call: CallState) -> str:
    command: Any = (call.arguments or {}).get("command", "")
    return command if isinstance(command, str) else ""


def _matches(text: str, rest: str) -> Breakpoint:
    if rest == "0":
        return _on_call(text, lambda call, state: call.state == "no_match")
    if not rest.startswith(">"):
        raise ValueError
    most = int(rest[1:])
    return _on_call(text, lambda call, state: len(call.pool) > most)


def _reaches(amount: Callable[[RunState], float | None]) -> Callable[[str, str], Breakpoint]:
    """A kind that stops when something has grown to a number."""

    def make(text: str, rest: str) -> Breakpoint:
        limit = float(rest.removesuffix("%"))
        if not limit > 0:
            raise ValueError

        def crossed(old: RunState, new: RunState) -> bool:
            before, after = amount(old) or 0, amount(new) or 0
            return before < limit <= after

        return Breakpoint(text, after=crossed)

    return make


def _on_call(text: str, holds: Callable[[CallState, RunState], bool]) -> Breakpoint:
    """Looks at the calls that the step has run."""

    def after(old: RunState, new: RunState) -> bool:
        waited = {call.number for call in old.calls if call.waiting}
        return any(call.number in waited and not call.waiting and holds(call, new) for call in new.calls)

    return Breakpoint(text, after=after)


def _out_of_scope(call: CallState, state: RunState) -> bool:
    return call.scope is not None and None in call.seen.values()


def _gold_is_cut(call: CallState, state: RunState) -> bool:
    gold = {match.path for match in call.pool if state.gold.get(match.path, 0) > 0}
    return bool(gold - {match.path for match in call.pool if match.shown_at is not None})


def _context_share(state: RunState) -> float:
    limit = state.limits.get("compaction_tokens") or 1
    return 100 * context.estimated_tokens(state) / limit


def _tokens(state: RunState) -> float:
    return state.usage.input_tokens + state.usage.output_tokens


_KINDS: Mapping[str, Callable[[str, str], Breakpoint]] = {
    "tool": _tool,
    "command": _command,
    "matches": _matches,
    "out-of-scope": _plain(lambda text: _on_call(text, _out_of_scope)),
    "gold": _plain(lambda text: _on_call(text, lambda call, state: bool(call.new_gold))),
    "gold-cut": _plain(lambda text: _on_call(text, _gold_is_cut)),
    "turn": _reaches(lambda state: len(state.turns)),
    "tokens": _reaches(_tokens),
    "cost": _reaches(lambda state: state.usage.cost_usd),
    "context": _reaches(_context_share),
    "compaction": _plain(
        lambda text: Breakpoint(text, after=lambda old, new: len(new.compactions) > len(old.compactions))
    ),
}

#: How each kind is written → when it stops.
FORMS: Mapping[str, str] = {
    "tool NAME": "before a call of the tool",
    "command REGEX": "before a command that the expression matches",
    "matches 0": "after a search that found nothing",
    "matches > N": "after a search that found more",
    "out-of-scope": "after a document was seen that is not in the scope searched",
    "gold": "after a gold document was seen first",
    "gold-cut": "after a gold document matched, but none of its lines was shown",
    "turn N": "after so many turns",
    "tokens N": "when so many tokens were used",
    "cost X": "when so many US dollars were spent",
    "context N%": "when the conversation has come so near to its compaction",
    "compaction": "after older results were cleared",
}
