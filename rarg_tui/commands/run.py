"""``rarg run``: one run to its end, without the workbench."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from rarg_tui.agent.session import Session
from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.state import RunState
from rarg_tui.workbench import Workbench


def run(words: Sequence[str]) -> int:
    parser = common("run")
    parser.add_argument("question", metavar="QUESTION")
    shared.model_options(parser)
    parser.add_argument(
        "--max-turns", type=int, metavar="N", help="turns of the model; the last is the answer"
    )
    parser.add_argument("--max-tokens", type=int, metavar="N", help="no turn begins after so many tokens")
    parser.add_argument("--max-cost", type=float, metavar="X", help="nor after so many US dollars")
    shared.relevance_options(parser)
    args = parser.parse_args(words)
    for name in ("max_turns", "max_tokens", "max_cost"):
        value = getattr(args, name)
        if value is not None and not 0 < value < math.inf:
            raise RargError(f"--{name.replace('_', '-')} must be more than 0, not {value}.")
    with shared.workbench(args) as bench:
        session = started(args, bench, args.question)
        if args.json:
            return finish(args, bench, session)
        session.subscribe(lambda event: shared.say(args, _narrated(event)) if _narrated(event) else None)
        return finish(args, bench, session)


def started(args: argparse.Namespace, bench: Workbench, question: str) -> Session:
    """A session with the index that its ranker needs."""
    bench.check()
    bench.prepare(shared.progress(args))
    limits = {"max_turns": args.max_turns, "max_tokens": args.max_tokens, "max_cost_usd": args.max_cost}
    session = bench.start(question, limits={name: v for name, v in limits.items() if v is not None})
    for notice in session.notices:
        shared.say(args, notice)
    shared.say_rankers(args, bench, session.state.rankers)
    return session


def finish(args: argparse.Namespace, bench: Workbench, session: Session) -> int:
    """Run to the end, or to a fault that pauses it; print the outcome. 0 when there is an answer, else 1."""
    session.run()
    state = session.state
    place = bench.keep(session)
    if args.json:
        shared.out_json(as_json(state, place))
    else:
        shared.out(state.answer or f"No answer: {state.error or state.model_error or state.ended}")
        shared.say(args, _spent(state))
        shared.say(args, f"run: {place}")
        if not state.ended:
            shared.say(args, f"The run is paused: `rarg open --run {place.name}` goes on with it.")
    return 0 if state.ended == "answered" and state.citations else 1


def as_json(state: RunState, directory: Path) -> dict[str, object]:
    """What came of a run that is kept in ``directory``."""
    usage = state.usage
    return {
        "run": str(directory),
        "question": state.question,
        "strategy": state.strategy,
        "model": state.model,
        "rankers": dict(state.rankers),
        "rerank": state.rerank,
        "answer": state.answer,
        "citations": list(state.citations),
        "ranking": list(state.ranking),
        "turns": len(state.turns),
        "calls": len(state.calls),
        "tokens": {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cached": usage.cached_tokens,
            "reasoning": usage.reasoning_tokens,
            "estimated": usage.estimated,
        },
        "cost_usd": usage.cost_usd,
        "ended": state.ended or "paused",
        "error": state.error or state.model_error,
    }


def _spent(state: RunState) -> str:
    """Who answered, and what that took."""
    words = [f"model: {state.model}", f"{len(state.turns)} turns", f"{len(state.calls)} calls"]
    usage = state.usage
    if usage.input_tokens or usage.output_tokens:
        about = "about " if usage.estimated else ""
        cached = f", {usage.cached_tokens} of them cached" if usage.cached_tokens else ""
        words.append(f"{about}{usage.input_tokens} tokens in{cached}, {usage.output_tokens} out")
        cost = usage.cost_usd
        words.append("cost unknown" if cost is None else f"{about}{cost:.4f} USD")
    return " · ".join(words)


def _narrated(event: ev.Event) -> str:
    match event:
        case ev.ModelReplied():
            return f"turn {event.turn}: {event.text}" if event.text and event.calls else ""
        case ev.CallExecuted():
            found = f" · {len(event.pool)} matches, {event.shown} shown" if event.pool else ""
            return f"  {event.call} {event.ran or event.tool} → {event.state}{found}"
        case ev.ModelFailed():
            return event.error
        case _:
            return ""
