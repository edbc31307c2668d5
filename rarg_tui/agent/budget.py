"""The budget of a run: whether there is still room for another turn."""

from __future__ import annotations

from rarg_tui.agent import context
from rarg_tui.agent.profiles import Profile
from rarg_tui.trace.state import RunState


def too_much(state: RunState, profile: Profile) -> str:
    """The sentence that ends a run whose next turn would pass its budget, as far as is known, or nothing.

    A turn sends the whole conversation again: it takes no fewer tokens than the one before it had at its end,
    and is taken to cost no less.
    """
    used = state.usage
    tokens = used.input_tokens + used.output_tokens
    most = profile.max_tokens
    if most is not None:
        if tokens >= most:
            return f"The budget of {most} tokens is used up ({tokens} used)."
        expected = _expected_tokens(state)
        if tokens + expected > most:
            return (
                f"The budget of {most} tokens has no room for another turn ({tokens} used, about "
                f"{expected} more)."
            )
    limit, cost = profile.max_cost_usd, used.cost_usd
    if limit is not None and cost is not None:
        if cost >= limit:
            return f"The budget of {limit:g} USD is used up ({cost:.4f} used)."
        last = (state.turns[-1].usage.cost_usd or 0.0) if state.turns else 0.0
        if cost + last > limit:
            return (
                f"The budget of {limit:g} USD has no room for another turn ({cost:.4f} used, about "
                f"{last:.4f} more)."
            )
    return ""


def _expected_tokens(state: RunState) -> int:
    if not state.turns or state.cleared:
        return context.estimated_tokens(state)
    last = state.turns[-1].usage
    return last.input_tokens + last.output_tokens - last.reasoning_tokens
