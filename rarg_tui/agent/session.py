"""The step machine of a run: ask for a turn, execute its calls one by one, log each thing first.

A *step* is one of two half-steps: *propose* (the model's next turn is shown, nothing has run) and
*execute* (the call that waits). Between any two of them a person may look, edit, skip or insert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event as Cancel
from threading import Lock
from time import perf_counter
from typing import Any

from rarg_tui.agent import context
from rarg_tui.agent.answer import cited
from rarg_tui.agent.breakpoints import Breakpoint
from rarg_tui.agent.model import Model, ModelError, Reply, Request
from rarg_tui.agent.toolbox import Toolbox
from rarg_tui.agent.tools.base import OnMatches
from rarg_tui.agent.tools.retrieval import RANKED, fused
from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.log import RunLog
from rarg_tui.trace.reducer import reduce, replay
from rarg_tui.trace.state import CallState, RunState


class Session:
    """A live run. All that happens goes through :meth:`_append`: log, then state, then subscribers.

    Only one of step, run and manual is at work at a time; a second one is refused with a sentence.
    """

    live = True

    def __init__(self, log: RunLog, model: Model, toolbox: Toolbox, notices: tuple[str, ...] = ()) -> None:
        self._log = log
        self._model = model
        self._toolbox = toolbox
        self._world = toolbox.world
        self._busy = Lock()
        self._subscribers: list[Callable[[ev.Event], None]] = []
        self.notices = notices
        #: What stops :meth:`run`; a single step goes on over them.
        self.breakpoints: tuple[Breakpoint, ...] = ()
        self.state: RunState = replay(log.events)

    @property
    def directory(self) -> Path:
        return self._log.directory

    def subscribe(self, callback: Callable[[ev.Event], None]) -> None:
        """``callback`` gets each later event once it is logged and :attr:`state` holds it."""
        self._subscribers.append(callback)

    def next_step(self) -> str:
        """In words, what :meth:`step` would do."""
        if self.state.ended:
            return "nothing: the run has ended"
        call = self.state.next_call
        if call:
            return f"run call {call.number}"
        opening = self._world.strategy.opening
        if opening and not self.state.calls and not self.state.turns:
            return f"{opening} for the question"
        return f"ask for turn {len(self.state.turns) + 1}"

    def step(self, cancel: Cancel | None = None, on_matches: OnMatches | None = None) -> bool:
        """One half-step. False when nothing was left to do, or the model could not be asked (then
        ``state.model_error`` says why and the next step tries again)."""
        with self._working():
            return self._step(cancel, on_matches)

    def run(self, cancel: Cancel | None = None, on_matches: OnMatches | None = None) -> None:
        """Steps until the run has ended, ``cancel`` is set, the model fails, or one of
        :attr:`breakpoints` holds; one at which the run stands already does not stop it again."""
        with self._working():
            stands = bool(self.state.breakpoint)
            while not (cancel and cancel.is_set()):
                call = self.state.next_call
                waiting = self.breakpoints if call is not None and not stands else ()
                if self._breaks(one for one in waiting if call is not None and one.before(call)):
                    return
                before, stands = self.state, False
                if not self._step(cancel, on_matches):
                    return
                if self._breaks(one for one in self.breakpoints if one.after(before, self.state)):
                    return

    def manual(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        cancel: Cancel | None = None,
        on_matches: OnMatches | None = None,
    ) -> None:
        """Run a call of the user's own at once; the model is shown it with its next turn.

        Raises ``RargError``, and logs nothing, when the arguments do not fit the tool.
        """
        with self._working():
            self._toolbox.checked(tool, arguments, by="user")
            self._execute(self._propose_by("user", tool, arguments), cancel, on_matches)

    def insert(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Put a call of the user's own before the one that waits."""
        with self._working():
            self._toolbox.checked(tool, arguments, by="user")
            self._propose_by("user", tool, arguments)

    def edit(self, number: int, arguments: Mapping[str, Any]) -> None:
        """Change the arguments of a call that waits; ``RargError`` when they do not fit the tool."""
        with self._working():
            call = self._waiting(number)
            self._toolbox.checked(call.tool, arguments, call.by)
            self._append(ev.CallEdited(call=number, before=call.arguments, after=dict(arguments)))

    def skip(self, number: int, note: str = "") -> None:
        """Do not run a call that waits; the model is shown ``note``."""
        with self._working():
            self._append(ev.CallSkipped(call=self._waiting(number).number, note=note))

    def mark_gold(self, path: str, relevance: int = 1) -> None:
        """Judge a document; 0 takes the mark away."""
        with self._working():
            self._append(ev.GoldMarked(path=path, relevance=relevance))

    def note(self, text: str, about: int = 0) -> None:
        with self._working():
            self._append(ev.NoteAdded(text=text, about=about))

    def end(self, ended: str = "stopped", error: str = "") -> None:
        """End a run that has not ended yet."""
        with self._working():
            if not self.state.ended:
                self._append(ev.RunEnded(ended=ended, error=error))

    def close(self) -> None:
        self._log.close()
        self._toolbox.close()

    @contextmanager
    def _working(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise RargError("The run is at work: pause it first.")
        try:
            yield
        finally:
            self._busy.release()

    def _step(self, cancel: Cancel | None, on_matches: OnMatches | None) -> bool:
        if self.state.ended:
            return False
        call = self.state.next_call
        if call is not None:
            return self._execute(call, cancel, on_matches)
        return self._propose(cancel)

    def _propose(self, cancel: Cancel | None) -> bool:
        state, profile, strategy = self.state, self._world.profile, self._world.strategy
        if strategy.opening and not state.calls and not state.turns:
            self._propose_by("strategy", strategy.opening, {"query": state.question})
            return True
        turn = len(state.turns) + 1
        if turn > profile.max_turns:
            self._append(self._end_at_limit())
            return False
        if spent := self._spent():
            self._append(ev.RunEnded(ended="budget", error=spent))
            return False
        # The last turn that the limit allows has to be the answer.
        force = turn >= min(profile.force_answer_turn, profile.max_turns)
        best = fused(self._world, state) if force and strategy.closing else ()
        self._compact(turn)
        started = perf_counter()
        try:
            reply = self._model.reply(
                Request(
                    question=self.state.question,
                    strategy=strategy,
                    profile=profile,
                    tools=self._schemas(force),
                    state=self.state,
                    force_answer=force,
                    best=best,
                ),
                cancel,
            )
        except ModelError as error:
            self._append(ev.ModelFailed(turn=turn, error=str(error)))
            return False
        if cancel is not None and cancel.is_set():
            return False  # a reply that nobody waited for is not part of the run
        self._append(
            ev.ModelReplied(
                turn=turn,
                text=reply.text,
                reasoning=reply.reasoning,
                calls=reply.calls,
                usage=reply.usage,
                elapsed_ms=round((perf_counter() - started) * 1000, 1),
            )
        )
        if not reply.calls and not strategy.closing:
            self._answer(reply)
            return False
        for wanted in reply.calls:
            self._append(
                ev.CallProposed(
                    call=len(self.state.calls) + 1,
                    turn=turn,
                    tool=wanted.tool,
                    arguments=wanted.arguments,
                    call_id=wanted.id,
                    raw=wanted.raw,
                    error=wanted.error,
                )
            )
        return True

    def _schemas(self, force: bool) -> list[dict[str, Any]]:
        """The tools of a turn; of one that has to end the run, the tool that ends it, if there is one."""
        closing = self._world.strategy.closing
        if force:
            return self._toolbox.schemas(closing) if closing else []
        return self._toolbox.schemas()

    def _end_at_limit(self) -> ev.RunEnded:
        """Without an answer; where a tool should have ended the run, with what its searches ranked best."""
        limit = f"The limit of {self._world.profile.max_turns} turns is reached"
        if not self._world.strategy.closing:
            return ev.RunEnded(ended="turn_limit", error=f"{limit}.")
        best = tuple(fused(self._world, self.state)[:RANKED])
        return ev.RunEnded(
            ended="turn_limit",
            citations=best,
            ranking=best,
            error=f"{limit}; the ranking is that of all searches taken together.",
        )

    def _breaks(self, hits: Iterable[Breakpoint]) -> bool:
        """Log the first of the breakpoints that hold, if there is one."""
        hit = next(iter(hits), None)
        if hit is None or self.state.ended:
            return False
        number = self.state.next_call.number if self.state.next_call else len(self.state.calls)
        self._append(ev.BreakpointHit(call=number, breakpoint=hit.text))
        return True

    def _spent(self) -> str:
        """The sentence that ends a run whose budget is used up, or nothing."""
        profile, usage = self._world.profile, self.state.usage
        tokens = usage.input_tokens + usage.output_tokens
        if profile.max_tokens is not None and tokens >= profile.max_tokens:
            return f"The budget of {profile.max_tokens} tokens is used up ({tokens} used)."
        cost = usage.cost_usd
        if profile.max_cost_usd is not None and cost is not None and cost >= profile.max_cost_usd:
            return f"The budget of {profile.max_cost_usd:g} USD is used up ({cost:.4f} used)."
        return ""

    def _answer(self, reply: Reply) -> None:
        documents = cited(reply.text, self._world.corpus.contains)
        ranking = self._world.profile.answer_form == "ranking"
        self._append(
            ev.RunEnded(
                ended="answered",
                answer=reply.text,
                citations=documents,
                ranking=documents if ranking else (),
            )
        )

    def _compact(self, turn: int) -> None:
        profile = self._world.profile
        before = context.estimated_tokens(self.state)
        cleared = context.to_clear(self.state, profile.keep_results)
        if before <= profile.compaction_tokens or not cleared:
            return
        event = ev.ContextCompacted(turn=turn, cleared=cleared, tokens_before=before, tokens_after=0)
        after = context.estimated_tokens(reduce(self.state, event))
        self._append(replace(event, tokens_after=after))

    def _execute(self, call: CallState, cancel: Cancel | None, on_matches: OnMatches | None) -> bool:
        if call.error:
            events: list[ev.Event] = [
                ev.CallExecuted(
                    call=call.number,
                    tool=call.tool,
                    state="error",
                    observation=f"(error: {call.error})",
                    message=call.error,
                )
            ]
        else:
            events = self._toolbox.execute(
                call.number, call.tool, call.arguments, self.state, cancel, on_matches, call.by
            )
        if cancel is not None and cancel.is_set():
            # The call goes on waiting, so that a stopped step can be taken again; one that a person
            # typed is put away, so that it does not run when they step on.
            if call.by == "user":
                self._append(ev.CallSkipped(call=call.number, note="cancelled"))
            return False
        for event in events:
            self._append(event)
        return True

    def _propose_by(self, who: str, tool: str, arguments: Mapping[str, Any]) -> CallState:
        number = len(self.state.calls) + 1
        self._append(
            ev.CallProposed(
                call=number, turn=len(self.state.turns), tool=tool, arguments=dict(arguments), by=who
            )
        )
        return self.state.calls[number - 1]

    def _waiting(self, number: int) -> CallState:
        call = self.state.call(number)
        if call is None or not call.waiting:
            raise RargError(f"Call {number} does not wait to be run.")
        return call

    def _append(self, event: ev.Event) -> None:
        logged = self._log.append(event)
        self.state = reduce(self.state, logged)
        for callback in self._subscribers:
            callback(logged)
