"""The state of a run: what the reducer makes of its events, and all that the workbench renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from rarg_tui.trace.events import EntryPoint, Match, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class ScopeState:
    """A scope as the log knows it; its ranked paths lie in ``scope_N.txt`` beside the log."""

    number: int
    call: int
    query: str
    ranker: str
    rankers: Mapping[str, float]
    documents: int
    entry_points: tuple[EntryPoint, ...]
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class CallState:
    """One tool call from proposal to result.

    ``state`` is ``proposed``, ``skipped`` or one of :data:`rarg_tui.trace.events.STATES`.
    ``new_gold`` are the gold documents that this call's observation showed first.
    """

    number: int
    turn: int
    tool: str
    arguments: Mapping[str, Any] | None
    by: str
    call_id: str
    raw: str
    error: str
    state: str = "proposed"
    edited_from: Mapping[str, Any] | None = None
    note: str = ""
    observation: str = ""
    message: str = ""
    ran: str = ""
    exit_code: int | None = None
    scope: int | None = None
    pattern: str = ""
    reranked: bool = False
    rerank_query: str = ""
    pool: tuple[Match, ...] = ()
    pool_full: bool = False
    shown: int = 0
    seen: Mapping[str, int | None] = field(default_factory=dict)
    new_gold: tuple[str, ...] = ()
    document: str = ""
    elapsed_ms: Mapping[str, float] = field(default_factory=dict)
    seq: int = 0

    @property
    def waiting(self) -> bool:
        return self.state == "proposed"


@dataclass(frozen=True, slots=True)
class TurnState:
    """One model reply."""

    number: int
    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    elapsed_ms: float
    seq: int = 0
    kept: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class HitState:
    """A document that observations showed: how often, by which calls, and its rank in the scope
    that the first of them searched (``None``: out of scope)."""

    path: str
    count: int
    calls: tuple[int, ...]
    rank: int | None


@dataclass(frozen=True, slots=True)
class NoteState:
    seq: int
    text: str
    about: int


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything about a run up to some event. Equal logs give equal states."""

    run: str = ""
    question: str = ""
    strategy: str = ""
    profile: str = ""
    model: str = ""
    rankers: Mapping[str, float] = field(default_factory=dict)
    rerank: str = ""
    match_model: str = "static"
    limits: Mapping[str, Any] = field(default_factory=dict)
    corpus: str = ""
    corpus_name: str = ""
    documents: int = 0
    corpus_fingerprint: str = ""
    index_fingerprint: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    parent: str = ""
    started_at: str = ""
    turns: tuple[TurnState, ...] = ()
    calls: tuple[CallState, ...] = ()
    scopes: tuple[ScopeState, ...] = ()
    hits: Mapping[str, HitState] = field(default_factory=dict)
    gold: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[NoteState, ...] = ()
    compactions: tuple[tuple[int, ...], ...] = ()
    cleared: frozenset[int] = frozenset()
    rereads: int = 0  #: calls that repeated one whose result had been cleared: what a compaction costs
    breakpoint: str = ""
    model_error: str = ""
    ended: str = ""
    answer: str = ""
    citations: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()
    error: str = ""
    seq: int = 0

    @property
    def next_call(self) -> CallState | None:
        """The call that the next step executes, if one waits: what a person inserted goes first."""
        waiting = [call for call in self.calls if call.waiting]
        return next((call for call in waiting if call.by == "user"), waiting[0] if waiting else None)

    @property
    def current_scope(self) -> ScopeState | None:
        """The newest scope: what manual commands search."""
        return self.scopes[-1] if self.scopes else None

    @property
    def gold_seen(self) -> tuple[str, ...]:
        """Gold documents of which some observation showed text."""
        return tuple(path for path, relevance in self.gold.items() if relevance > 0 and path in self.hits)

    @property
    def usage(self) -> Usage:
        """The sum over all turns; ``cost_usd`` is ``None`` as soon as one turn's cost is unknown."""
        return reduce(Usage.plus, (turn.usage for turn in self.turns), Usage(cost_usd=0.0))

    def call(self, number: int) -> CallState | None:
        return self.calls[number - 1] if 0 < number <= len(self.calls) else None

    def calls_of(self, turn: int) -> tuple[CallState, ...]:
        """The calls that the model made in a turn."""
        return tuple(call for call in self.calls if call.turn == turn and call.by == "model")

    def scope(self, number: int | None) -> ScopeState | None:
        if number is None or not 0 < number <= len(self.scopes):
            return None
        return self.scopes[number - 1]
