"""What one pipeline came to, and how those of a command make one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rarg_tui.search.context import ShellResult
from rarg_tui.trace.events import Match

#: When pipelines end differently, the first of these that occurs is the state of the command.
_WEIGHT = ("cancelled", "timed_out", "partial", "ok", "error", "failed", "no_match")


@dataclass(slots=True)
class Outcome:
    """One pipeline. ``searches``: it looked for something, so its state counts before that of an echo.
    The other fields are those of :class:`~rarg_tui.search.context.ShellResult`."""

    state: str
    exit_code: int
    text: str
    message: str = ""
    searches: bool = False
    ran: str = ""
    scope: int | None = None
    pattern: str = ""
    reranked: bool = False
    rerank_query: str = ""
    pool: tuple[Match, ...] = ()
    pool_full: bool = False
    shown: int = 0
    seen: tuple[str, ...] = ()
    scan_ms: float = 0.0
    rerank_ms: float = 0.0


def combine(command: str, outcomes: Sequence[Outcome]) -> ShellResult:
    """The result of a command from those of its pipelines, in order."""
    counted = [o for o in outcomes if o.searches] or list(outcomes)
    states = {o.state for o in counted}
    state = next((s for s in _WEIGHT if s in states), "ok")
    message = next((o.message for o in counted if o.state == state and o.message), "")
    main = next((o for o in counted if o.pool), counted[-1] if counted else None)
    texts = [o.text for o in outcomes if o.text]
    return ShellResult(
        command=command,
        verdict="error" if state == "error" else "run",
        reason=message if state == "error" else "",
        exit_code=outcomes[-1].exit_code if outcomes else 0,
        state=state,
        message=message,
        observation="\n".join(texts) or "(no output)",
        ran="; ".join(o.ran for o in outcomes if o.ran),
        scope=next((o.scope for o in counted if o.scope is not None), None),
        pattern=" | ".join(dict.fromkeys(o.pattern for o in outcomes if o.pattern)),
        reranked=any(o.reranked for o in outcomes),
        rerank_query=main.rerank_query if main is not None else "",
        pool=tuple(match for o in outcomes for match in o.pool),
        pool_full=any(o.pool_full for o in outcomes),
        shown=sum(o.shown for o in outcomes),
        seen=tuple(dict.fromkeys(path for o in outcomes for path in o.seen)),
        elapsed_ms={
            "scan": round(sum(o.scan_ms for o in outcomes), 3),
            "rerank": round(sum(o.rerank_ms for o in outcomes), 3),
        },
    )
