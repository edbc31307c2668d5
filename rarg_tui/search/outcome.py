"""What one pipeline came to, and how those of a command make one result."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rarg_tui.search.context import ShellResult
from rarg_tui.search.execute import Piped
from rarg_tui.search.guard import Listed, Program, Search, Step
from rarg_tui.trace.events import Match

_STOPPED = ("cancelled", "timed_out")
#: When pipelines end differently, the first of these that occurs is the state of the command.
_WEIGHT = (*_STOPPED, "partial", "ok", "error", "failed", "no_match")

#: How a program ends that did its work: to its end, or until its reader wanted no more.
_DONE = (0, 128 + signal.SIGPIPE)
#: The same of one that searches, which found something or did not.
_SEARCHED = (*_DONE, 1)
_STRERRORS = "|".join(re.escape(os.strerror(number)) for number in errno.errorcode)
#: How programs end a complaint about a file; others are about the pattern or an option.
_ABOUT_A_FILE = re.compile(rf"(?:os error \d+\)|: (?:{_STRERRORS}))$", re.MULTILINE)


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


def searches(steps: Sequence[Step]) -> bool:
    """Whether one of ``steps`` looks for something."""
    return any(map(_searches, steps))


def rejection(steps: Sequence[Step], piped: Piped) -> str:
    """What a program that searches said against its pattern or an option, or ``""``."""
    said = next((scan.error for scan in piped.scans if scan.error), "")
    if said or piped.output or not piped.errors or _ABOUT_A_FILE.search(piped.errors):
        return said
    rejected = any(_searches(step) and code > 1 for step, code in zip(steps, piped.codes, strict=False))
    return piped.errors.strip() if rejected else ""


def state_of(steps: Sequence[Step], piped: Piped, exit_code: int) -> str:
    """The state of a pipeline that ran as written, to its end, and ends with ``exit_code``."""
    searched = [code for step, code in zip(steps, piped.codes, strict=False) if _searches(step)]
    unread = [scan.problems for scan in piped.scans if scan.problems]
    # What is killed when enough was read ends with 0.
    complained = bool(piped.errors) and (piped.cut or any(code not in _DONE for code in piped.codes))
    if unread or complained:
        some = any(not problems.all for problems in unread) or _read_some(steps, piped.errors)
        return "partial" if piped.output or some else "failed"
    if piped.output:
        return "ok" if exit_code in _SEARCHED else "partial"
    if any(code not in _SEARCHED for code in [*searched, exit_code]):
        return "failed"
    return "no_match" if 1 in searched else "ok"


def _searches(step: Step) -> bool:
    name = step.argv[0] if isinstance(step, Program | Listed) else ""
    return isinstance(step, Search) or name in ("rg", "grep")


def _read_some(steps: Sequence[Step], errors: str) -> bool:
    """Whether a program that searches was given more files than were complained of."""
    given = max((len(s.files) for s in steps if isinstance(s, Program) and _searches(s)), default=0)
    return given > len(_ABOUT_A_FILE.findall(errors)) > 0


def combine(command: str, outcomes: Sequence[Outcome]) -> ShellResult:
    """The result of a command from those of its pipelines, in order."""
    counted = [o for o in outcomes if o.searches or o.state in _STOPPED] or list(outcomes)
    states = {o.state for o in counted}
    state = next((s for s in _WEIGHT if s in states), "ok")
    message = next((o.message for o in counted if o.state == state and o.message), "")
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
        rerank_query=next((o.rerank_query for o in outcomes if o.reranked), ""),
        pool=_one_pool(outcomes),
        pool_full=any(o.pool_full for o in outcomes),
        shown=sum(o.shown for o in outcomes),
        seen=tuple(dict.fromkeys(path for o in outcomes for path in o.seen)),
        elapsed_ms={
            "scan": round(sum(o.scan_ms for o in outcomes), 3),
            "rerank": round(sum(o.rerank_ms for o in outcomes), 3),
        },
    )


def _one_pool(outcomes: Sequence[Outcome]) -> tuple[Match, ...]:
    """The matches of all listings; those shown are counted on, as they stand in the observation."""
    pool: list[Match] = []
    before = 0
    for outcome in outcomes:
        pool += (
            replace(match, shown_at=match.shown_at + before) if match.shown_at else match
            for match in outcome.pool
        )
        before += outcome.shown
    return tuple(pool)
