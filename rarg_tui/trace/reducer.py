"""From events to state: a pure function, so that replay, fork and crash recovery need no code of
their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from rarg_tui.trace import events as ev
from rarg_tui.trace.state import CallState, HitState, NoteState, RunState, ScopeState, TurnState


def replay(events: Iterable[ev.Event], state: RunState | None = None) -> RunState:
    """The state after ``events``, starting from ``state`` (default: nothing has happened)."""
    result = state or RunState()
    for event in events:
        result = reduce(result, event)
    return result


def reduce(state: RunState, event: ev.Event) -> RunState:
    """The state after ``event``; neither argument is changed. Unknown events change nothing but
    ``seq``."""
    handler = _HANDLERS.get(event.kind)
    after = handler(state, event) if handler else state
    return replace(after, seq=event.seq)


def _run_started(state: RunState, event: ev.RunStarted) -> RunState:
    return replace(
        state,
        run=event.run,
        question=event.question,
        strategy=event.strategy,
        profile=event.profile,
        model=event.model,
        rankers=event.rankers,
        rerank=event.rerank,
        match_model=event.match_model,
        limits=event.limits,
        corpus=event.corpus,
        corpus_name=event.corpus_name,
        documents=event.documents,
        corpus_fingerprint=event.corpus_fingerprint,
        index_fingerprint=event.index_fingerprint,
        versions=event.versions,
        gold=event.gold,
        parent=event.parent,
        started_at=event.at,
    )


def _model_replied(state: RunState, event: ev.ModelReplied) -> RunState:
    turn = TurnState(
        number=event.turn,
        text=event.text,
        reasoning=event.reasoning,
        calls=event.calls,
        usage=event.usage,
        elapsed_ms=event.elapsed_ms,
        seq=event.seq,
        kept=event.kept,
    )
    return replace(state, turns=(*state.turns, turn), model_error="", breakpoint="")


def _model_failed(state: RunState, event: ev.ModelFailed) -> RunState:
    return replace(state, model_error=event.error)


def _call_proposed(state: RunState, event: ev.CallProposed) -> RunState:
    call = CallState(
        number=event.call,
        turn=event.turn,
        tool=event.tool,
        arguments=event.arguments,
        by=event.by,
        call_id=event.call_id,
        raw=event.raw,
        error=event.error,
        seq=event.seq,
    )
    return replace(state, calls=(*state.calls, call))


def _change_call(state: RunState, number: int, /, **changes: Any) -> RunState:
    return replace(
        state,
        calls=tuple(replace(call, **changes) if call.number == number else call for call in state.calls),
    )


def _call_edited(state: RunState, event: ev.CallEdited) -> RunState:
    return _change_call(state, event.call, arguments=event.after, edited_from=event.before, error="")


def _call_skipped(state: RunState, event: ev.CallSkipped) -> RunState:
    return _change_call(state, event.call, state="skipped", note=event.note)


def _scope_created(state: RunState, event: ev.ScopeCreated) -> RunState:
    scope = ScopeState(
        number=event.scope,
        call=event.call,
        query=event.query,
        ranker=event.ranker,
        rankers=event.rankers,
        documents=event.documents,
        entry_points=event.entry_points,
        elapsed_ms=event.elapsed_ms,
    )
    return replace(state, scopes=(*state.scopes, scope))


def _call_executed(state: RunState, event: ev.CallExecuted) -> RunState:
    hits = dict(state.hits)
    for path, rank in event.seen.items():
        before = hits.get(path)
        hits[path] = (
            HitState(path, 1, (event.call,), rank)
            if before is None
            else replace(before, count=before.count + 1, calls=(*before.calls, event.call))
        )
    new_gold = tuple(path for path in event.seen if state.gold.get(path, 0) > 0 and path not in state.hits)
    after = _change_call(
        state,
        event.call,
        state=event.state,
        observation=event.observation,
        message=event.message,
        ran=event.ran,
        exit_code=event.exit_code,
        scope=event.scope,
        pattern=event.pattern,
        reranked=event.reranked,
        rerank_query=event.rerank_query,
        pool=event.pool,
        pool_full=event.pool_full,
        shown=event.shown,
        seen=event.seen,
        new_gold=new_gold,
        document=event.document,
        elapsed_ms=event.elapsed_ms,
    )
    return replace(after, hits=hits, breakpoint="", rereads=state.rereads + _repeats(state, event))


def _repeats(state: RunState, event: ev.CallExecuted) -> bool:
    """Whether the call asks for what had been cleared: the same document, or the same again."""
    call = state.call(event.call)
    if call is None:
        return False
    cleared = [other for other in state.calls if other.number in state.cleared and other.tool == call.tool]
    return any(
        other.arguments == call.arguments or (event.document and other.document == event.document)
        for other in cleared
    )


def _context_compacted(state: RunState, event: ev.ContextCompacted) -> RunState:
    return replace(
        state,
        compactions=(*state.compactions, event.cleared),
        cleared=state.cleared | set(event.cleared),
    )


def _breakpoint_hit(state: RunState, event: ev.BreakpointHit) -> RunState:
    return replace(state, breakpoint=event.breakpoint)


def _gold_marked(state: RunState, event: ev.GoldMarked) -> RunState:
    gold = {**state.gold, event.path: event.relevance}
    if event.relevance <= 0:
        del gold[event.path]
    return replace(state, gold=gold)


def _note_added(state: RunState, event: ev.NoteAdded) -> RunState:
    return replace(state, notes=(*state.notes, NoteState(event.seq, event.text, event.about)))


def _forked(state: RunState, event: ev.Forked) -> RunState:
    # The events copied from the parent may end with its end; the fork goes on from before it.
    return replace(state, parent=event.parent, ended="", answer="", citations=(), ranking=(), error="")


def _run_ended(state: RunState, event: ev.RunEnded) -> RunState:
    return replace(
        state,
        ended=event.ended,
        answer=event.answer,
        citations=event.citations,
        ranking=event.ranking,
        error=event.error,
    )


_HANDLERS: Mapping[str, Callable[[RunState, Any], RunState]] = {
    "RunStarted": _run_started,
    "ModelReplied": _model_replied,
    "ModelFailed": _model_failed,
    "CallProposed": _call_proposed,
    "CallEdited": _call_edited,
    "CallSkipped": _call_skipped,
    "ScopeCreated": _scope_created,
    "CallExecuted": _call_executed,
    "ContextCompacted": _context_compacted,
    "BreakpointHit": _breakpoint_hit,
    "GoldMarked": _gold_marked,
    "NoteAdded": _note_added,
    "Forked": _forked,
    "RunEnded": _run_ended,
}
