"""The event log's vocabulary: everything that can happen in a run, as plain immutable records.

This module imports nothing of ours, so every package may use it. A run is a sequence of
:class:`Event`; each one is one JSON object on one line of ``events.jsonl``. The records that an
event carries (:class:`Match`, :class:`EntryPoint`, …) are what the packages hand to each other, so
that what was seen and what was logged can never differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

SCHEMA_VERSION = 1

#: States of an executed call. ``ok`` found something, ``no_match`` ran and found nothing,
#: ``partial`` has valid matches but some files could not be read, ``failed`` has none because
#: something broke, ``timed_out`` was stopped by the clock, ``refused`` was stopped by the guard,
#: ``error`` was no valid call (bad arguments, bad pattern), ``cancelled`` was stopped by a person.
STATES = ("ok", "no_match", "partial", "failed", "timed_out", "refused", "error", "cancelled")


def now() -> str:
    """The current time as ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Match:
    """One line that ripgrep found.

    ``path`` is relative to the corpus root, surrogate-escaped. ``line`` counts from 1. ``spans`` are
    character offsets ``[start, end)`` into ``text``, which may be an excerpt of a longer line:
    ``cut`` says how many characters were left out. ``position`` counts from 1 in traversal order;
    ``document_rank`` is the rank of the document in the scope searched (``None``: out of scope, or
    no scope). ``score``, ``parts`` and ``shown_at`` are set by reranking and by the budget cut.
    """

    path: str
    line: int
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    position: int = 0
    document_rank: int | None = None
    score: float | None = None
    parts: Mapping[str, float] | None = None
    shown_at: int | None = None
    cut: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "line": self.line,
            "text": self.text,
            "spans": [list(span) for span in self.spans],
            "position": self.position,
            "document_rank": self.document_rank,
            "score": self.score,
            "parts": dict(self.parts) if self.parts is not None else None,
            "shown_at": self.shown_at,
            "cut": self.cut,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        known = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        known["spans"] = tuple((int(a), int(b)) for a, b in known.get("spans", ()))
        return cls(**known)


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A query-relevant paragraph: lines ``first_line`` to ``last_line`` (from 1) of a document."""

    path: str
    first_line: int
    last_line: int
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model reply cost. ``estimated`` marks counts that no server gave."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False

    def plus(self, other: Usage) -> Usage:
        """Both together: the cost is unknown when one of them is, estimated what holds an estimate."""
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model asked for it. ``raw`` is its argument string, kept even when it is not
    JSON; then ``arguments`` is ``None`` and ``error`` says what is wrong with it."""

    id: str
    tool: str
    arguments: Mapping[str, Any] | None
    raw: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events. ``seq`` counts from 1 in a run and is given by the log, as is ``at``."""

    kind: ClassVar[str] = "Event"
    seq: int = 0
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A run begins: all that fixes its outcome, so that it can be compared and repeated."""

    kind: ClassVar[str] = "RunStarted"
    run: str
    question: str
    strategy: str
    profile: str
    model: str
    rankers: Mapping[str, float]
    rerank: str
    limits: Mapping[str, Any]
    corpus: str
    corpus_name: str
    documents: int
    corpus_fingerprint: str
    index_fingerprint: str
    versions: Mapping[str, str]
    gold: Mapping[str, int] = field(default_factory=dict)
    parent: str = ""
    match_model: str = "static"
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplied(Event):
    """One turn: the model's text and the calls it wants. ``kept`` is what its server wants back with the
    next request, such as reasoning that only the server can read; ``elapsed_ms`` is the time of the turn."""

    kind: ClassVar[str] = "ModelReplied"
    turn: int
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    elapsed_ms: float = 0.0
    kept: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailed(Event):
    """The model could not be asked; the run is paused and the turn can be tried again."""

    kind: ClassVar[str] = "ModelFailed"
    turn: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProposed(Event):
    """A call waits to be executed. ``by`` is ``model`` or ``user``; ``call`` counts from 1 in a run."""

    kind: ClassVar[str] = "CallProposed"
    call: int
    turn: int
    tool: str
    arguments: Mapping[str, Any] | None
    by: str = "model"
    call_id: str = ""
    raw: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEdited(Event):
    """A person changed a proposed call before it ran."""

    kind: ClassVar[str] = "CallEdited"
    call: int
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSkipped(Event):
    """A person skipped a proposed call; the model is shown the note."""

    kind: ClassVar[str] = "CallSkipped"
    call: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCreated(Event):
    """``embed_recall`` produced a scope. Its ranked paths lie beside the log in ``scope_N.txt``."""

    kind: ClassVar[str] = "ScopeCreated"
    scope: int
    call: int
    query: str
    ranker: str
    rankers: Mapping[str, float]
    documents: int
    entry_points: tuple[EntryPoint, ...] = ()
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExecuted(Event):
    """A call has run. ``observation`` is exactly the text that the model is shown.

    ``pool`` holds the matches in traversal order, each with ``shown_at`` set when it is in the
    observation. ``ran`` is the command after our changes, for people to read. ``seen`` are the
    documents of which the observation holds text, in order of first appearance, each with its rank
    in the scope searched (``None``: out of scope).
    """

    kind: ClassVar[str] = "CallExecuted"
    call: int
    tool: str
    state: str
    observation: str
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
    document: str = ""
    elapsed_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompacted(Event):
    """Older tool results were left out of the request. ``cleared`` are call numbers."""

    kind: ClassVar[str] = "ContextCompacted"
    turn: int
    cleared: tuple[int, ...]
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakpointHit(Event):
    """The run stopped because a condition held."""

    kind: ClassVar[str] = "BreakpointHit"
    call: int
    breakpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldMarked(Event):
    """A person judged a document; relevance 0 takes the mark away."""

    kind: ClassVar[str] = "GoldMarked"
    path: str
    relevance: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded(Event):
    """A person wrote a note; ``about`` is the sequence number it belongs to, 0 for the run."""

    kind: ClassVar[str] = "NoteAdded"
    text: str
    about: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked(Event):
    """This run continues ``parent`` from its event ``parent_seq``."""

    kind: ClassVar[str] = "Forked"
    parent: str
    parent_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Event):
    """``ended`` is one of answered, turn_limit, budget, stopped, failed."""

    kind: ClassVar[str] = "RunEnded"
    ended: str
    answer: str = ""
    citations: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()
    error: str = ""


EVENTS: Mapping[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        RunStarted,
        ModelReplied,
        ModelFailed,
        CallProposed,
        CallEdited,
        CallSkipped,
        ScopeCreated,
        CallExecuted,
        ContextCompacted,
        BreakpointHit,
        GoldMarked,
        NoteAdded,
        Forked,
        RunEnded,
    )
}


def to_json(event: Event) -> dict[str, Any]:
    """``event`` as a JSON object whose first key, ``event``, names its kind."""
    data: dict[str, Any] = {"event": event.kind}
    for f in fields(event):
        data[f.name] = _plain(getattr(event, f.name))
    return data


def from_json(data: Mapping[str, Any]) -> Event:
    """The event that :func:`to_json` wrote.

    Unknown keys are ignored, so that a later version's log still opens. Raises ``ValueError`` for an
    unknown kind or a missing field.
    """
    kind = data.get("event")
    cls = EVENTS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ValueError(f"unknown event {kind!r}")
    known = {f.name: data[f.name] for f in fields(cls) if f.name in data}
    try:
        for name, revive in _REVIVE.get(cls.kind, {}).items():
            if name in known:
                known[name] = revive(known[name])
        return cls(**known)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"bad {kind}: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Match):
        return value.to_json()
    if isinstance(value, EntryPoint | Usage | ToolCall):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


_REVIVE: Mapping[str, Mapping[str, Any]] = {
    "ModelReplied": {
        "calls": lambda items: tuple(ToolCall(**item) for item in items),
        "usage": lambda item: Usage(**item),
        "kept": tuple,
    },
    "ScopeCreated": {"entry_points": lambda items: tuple(EntryPoint(**item) for item in items)},
    "CallExecuted": {
        "pool": lambda items: tuple(Match.from_json(item) for item in items),
    },
    "ContextCompacted": {"cleared": tuple},
    "RunEnded": {"citations": tuple, "ranking": tuple},
}
