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
from rarg_tui.agent.budget import too_much
from rarg_tui.agent.model import ContextOverflow, Model, ModelError, OnText, Reply, Request
from rarg_tui.agent.toolbox import Toolbox
from rarg_tui.agent.tools.base import OnMatches
from rarg_tui.agent.tools.retrieval import RANKED, fused
from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.log import RunLog
from rarg_tui.trace.reducer import reduce, replay
from rarg_tui.trace.state import CallState, RunState

#: So often is a conversation that is too long for the server asked for with fewer results.
OVERFLOW_TRIES = 20

#: So many turns in a row with nothing but malformed calls pause the run.
MALFORMED_TURNS = 3

_MALFORMED = (
    "The model's last {turns} turns were nothing but calls that cannot be run: step to ask once more, insert "
    "a call by hand, or use another model."
)


class Session:
    """A live run. All that happens goes through :meth:`_append`: log, then state, then subscribers.

    Only one of step, run and manual is at work at a time; a second one is refused with a sentence.
    ``on_text``, where it is set, is told of a reply while the model writes it, in the thread that steps.
    """

    live = True
    on_text: OnText | None = None

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
        if spent := too_much(state, profile):
            self._append(ev.RunEnded(ended="budget", error=spent))
            return False
        if not state.model_error and self._only_malformed():
            # Whoever steps again asks once more.
            self._append(ev.ModelFailed(turn=turn, error=_MALFORMED.format(turns=MALFORMED_TURNS)))
            return False
        # The last turn that the limit allows has to be the answer.
        force = turn >= min(profile.force_answer_turn, profile.max_turns)
        self._compact(turn)
        started = perf_counter()
        try:
            reply = self._reply(turn, force, cancel)
        except ModelError as error:
            if not (cancel is not None and cancel.is_set()):
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
                kept=reply.kept,
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

    def _reply(self, turn: int, force: bool, cancel: Cancel | None) -> Reply:
        """The model's reply; with fewer results, a few at a time, while the conversation is too long."""
        world, tries = self._world, 0
        best = fused(world, self.state) if force and world.strategy.closing else ()
        while True:
            request = Request(
                question=self.state.question,
                strategy=world.strategy,
                profile=world.profile,
                tools=self._schemas(force),
                state=self.state,
                force_answer=force,
                best=best,
            )
            try:
                return self._model.reply(request, cancel, self.on_text)
            except ContextOverflow:
                fewer = context.fewer_results(self.state, world.profile.keep_results)
                if not fewer or tries == OVERFLOW_TRIES:
                    raise
            tries += 1
            self._clear(turn, fewer)

    def _only_malformed(self) -> bool:
        """Whether the last turns brought nothing but calls that do not fit any tool."""
        last = self.state.turns[-MALFORMED_TURNS:]
        return len(last) == MALFORMED_TURNS and all(
            turn.calls and all(self._misfits(call) for call in self.state.calls_of(turn.number))
            for turn in last
        )

    def _misfits(self, call: CallState) -> bool:
        try:
            self._toolbox.checked(call.tool, call.arguments)
        except RargError:
            return True
        return bool(call.error)

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
        self._clear(turn, cleared)

    def _clear(self, turn: int, cleared: tuple[int, ...]) -> None:
        event = ev.ContextCompacted(
            turn=turn,
            cleared=cleared,
            tokens_before=context.estimated_tokens(self.state),
            tokens_after=0,
        )
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
