"""The front door: what the agent's bash tool does with a command."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rarg_tui.search.command import parse
from rarg_tui.search.context import Reorder, Sandbox, ScopeView, ShellContext, ShellLimits, ShellResult
from rarg_tui.search.execute import Executor, policy_of
from rarg_tui.search.guard import AndOrPlan, PipelinePlan, Settings, check
from rarg_tui.search.outcome import Outcome, combine
from rarg_tui.search.pipelines import run_listing, run_written
from rarg_tui.search.process import CANCELLED
from rarg_tui.search.refusal import CommandError, Refused
from rarg_tui.search.rule import listing_of
from rarg_tui.search.sandbox import can_be_given, run_bash
from rarg_tui.trace.events import Match

__all__ = ["Reorder", "Sandbox", "ScopeView", "ShellContext", "ShellLimits", "ShellResult", "run"]


def run(
    command: str,
    context: ShellContext,
    cancel: threading.Event | None = None,
    on_matches: Callable[[Sequence[Match]], None] | None = None,
) -> ShellResult:
    """Parse, check and run ``command``. Whatever a model can write ends in a result, never an exception;
    :class:`~rarg_tui.errors.MissingPart` is raised when there is no usable rg.

    ``on_matches`` is given matches of a plain listing as they come, in order, from another point of the
    same thread; setting ``cancel`` ends the command soon, with what was found by then.
    """
    try:
        plan = check(parse(command), policy_of(context))
    except (Refused, CommandError) as error:
        if context.sandbox is not None and _is_for_bash(command, context):
            return combine(command, [run_bash(command, context, cancel, str(error))])
        return _stopped(command, "refused" if isinstance(error, Refused) else "error", str(error))
    outcomes = _Run(context, cancel, on_matches).script(plan)
    return combine(command, outcomes)


def _is_for_bash(command: str, context: ShellContext) -> bool:
    """Whether the guard cannot read ``command``, or does not allow what bash could do in the sandbox.

    Not so: a search of the whole corpus, which is the strategy's to refuse, and a mistake in a command
    that the guard understands, which it explains better.
    """
    if not can_be_given(command):
        return False
    try:
        script = parse(command)
    except (Refused, CommandError):
        return True
    try:
        check(script, replace(policy_of(context), whole_corpus=True))
    except Refused:
        return True
    except CommandError:
        pass
    return False


def _stopped(command: str, verdict: str, reason: str) -> ShellResult:
    return ShellResult(
        command=command,
        verdict=verdict,
        reason=reason,
        exit_code=2,
        state=verdict,
        message=reason,
        observation=f"({verdict}: {reason})",
    )


@dataclass(slots=True)
class _Run:
    """One command: its settings, its clock, and what its pipelines came to."""

    context: ShellContext
    cancel: threading.Event | None
    on_matches: Callable[[Sequence[Match]], None] | None
    outcomes: list[Outcome] = field(default_factory=list)
    pipefail: bool = False
    errexit: bool = False
    ends: float = 0.0
    matched: int = 0

    def script(self, plan: Sequence[AndOrPlan]) -> list[Outcome]:
        self.ends = time.monotonic() + self.context.limits.timeout_s
        executor = Executor(self.context)
        for and_or in plan:
            status = self._and_or(and_or, executor)
            if status is None:
                break
        return self.outcomes

    def _and_or(self, and_or: AndOrPlan, executor: Executor) -> int | None:
        """The exit status, or ``None`` when the command is over."""
        status, last = 0, -1
        for at, pipeline in enumerate(and_or.pipelines):
            if at and (status == 0) != (and_or.operators[at - 1] == "&&"):
                continue
            outcome = self._pipeline(pipeline, executor)
            if outcome is None:
                status = 0
            else:
                self.outcomes.append(outcome)
                self.matched += len(outcome.pool)
                if outcome.state in ("timed_out", "cancelled"):
                    return None
                status = outcome.exit_code
            if pipeline.negated:
                status = 0 if status else 1
                if outcome is not None:
                    outcome.exit_code = status
            last = at
        failed = status != 0 and last == len(and_or.pipelines) - 1
        return None if self.errexit and failed else status

    def _pipeline(self, pipeline: PipelinePlan, executor: Executor) -> Outcome | None:
        step = pipeline.steps[0]
        if isinstance(step, Settings):
            for name, on in step.options:
                self.pipefail = on if name == "pipefail" else self.pipefail
                self.errexit = on if name == "errexit" else self.errexit
            return None
        if self.cancel is not None and self.cancel.is_set():
            return Outcome(state=CANCELLED, exit_code=130, text="(cancelled)")
        left = max(0.0, self.ends - time.monotonic())
        listing = listing_of(pipeline, self.context.reorder is not None)
        if listing is not None:
            return run_listing(
                listing, executor, left, self.cancel, self.on_matches, self.pipefail, self.matched
            )
        return run_written(pipeline, executor, left, self.cancel, self.pipefail)
