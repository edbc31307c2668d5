"""What a command runs in, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rarg_tui.trace.events import Match


class Reorder(Protocol):
    """Puts matches in a better order; returns all of them, with score and parts set."""

    def rerank(self, query: str, keywords: Sequence[str], matches: Sequence[Match]) -> list[Match]: ...


@dataclass(frozen=True, slots=True)
class ShellLimits:
    """``pool`` matches are collected (M), ``shown`` of them reach the observation (m), each at most
    about ``line_length`` characters. ``timeout_s`` bounds the scan of one command, ``output_bytes`` and
    ``output_lines`` the observation."""

    pool: int = 500
    shown: int = 30
    line_length: int = 1000
    timeout_s: float = 30
    output_bytes: int = 51_200
    output_lines: int = 2000


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A scope of the run: its number, the query that made it, its paths, best first."""

    number: int
    query: str
    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """bubblewrap as it works here: the path of ``bwrap``, and whether it may mount a ``/proc``."""

    bwrap: str
    proc: bool


@dataclass(frozen=True, slots=True)
class ShellContext:
    """``run_dir`` holds the files of the ``scopes``. ``reorder``: what reranks a plain listing, or
    ``None``. ``whole_corpus``: whether a search without a scope is allowed; then it covers ``paths()``,
    all documents in path order. ``rerank_query``: the model's own words for this call, if it has any.
    ``sandbox``: where full bash runs what the guard does not; ``None``: nowhere."""

    root: Path
    run_dir: Path
    scopes: Mapping[int, ScopeView]
    limits: ShellLimits
    reorder: Reorder | None
    whole_corpus: bool
    paths: Callable[[], Sequence[str]]
    rerank_query: str = ""
    sandbox: Sandbox | None = None


@dataclass(frozen=True, slots=True)
class ShellResult:
    """What a command came to. ``state`` is one of :data:`rarg_tui.trace.events.STATES`; ``pool`` is in
    traversal order with ``shown_at`` set on what the observation shows; ``seen`` are the documents of
    which the observation holds text."""

    command: str
    verdict: str
    reason: str = ""
    exit_code: int | None = None
    state: str = "ok"
    message: str = ""
    observation: str = ""
    ran: str = ""
    scope: int | None = None
    pattern: str = ""
    reranked: bool = False
    rerank_query: str = ""
    pool: tuple[Match, ...] = ()
    pool_full: bool = False
    shown: int = 0
    seen: tuple[str, ...] = ()
    elapsed_ms: Mapping[str, float] = field(default_factory=lambda: {"scan": 0.0, "rerank": 0.0})
