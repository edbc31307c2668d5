"""A workbench and a session that need no index, no rg and no model: scripted events through the real
reducer, with a fixed clock. They serve every test of the interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event as Flag
from typing import Any

from rarg_tui.consent import ConsentNeeded
from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.reducer import reduce
from rarg_tui.trace.state import RunState
from tests.ui.scenario import GOLD, QUESTION, documents, ranked_paths, script

Script = Sequence[Sequence[ev.Event]]


@dataclass(frozen=True)
class FakeStatus:
    name: str
    ready: bool = True
    done: int = 252
    total: int = 252
    detail: str = ""
    eta_s: float | None = None
    error: str = ""


@dataclass(frozen=True)
class FakeScope:
    paths: list[str]
    scores: list[float]
    by: Mapping[str, Sequence[tuple[int, float] | None]]


@dataclass(frozen=True)
class FakeQuestion:
    id: str
    text: str
    gold: Mapping[str, int]


def fake_scope(paths: Sequence[str]) -> FakeScope:
    """A scope whose ranks by each ranker are scattered around the fused one, always the same way."""
    count = len(paths)
    scores = [1.0 / (20 + rank) for rank in range(1, count + 1)]
    by: dict[str, list[tuple[int, float] | None]] = {}
    for name, stride in (("lexical", 7), ("static", 13), ("dense", 5)):
        ranks = [
            1 + (rank * stride + rank // 3) % count if rank % 11 else None for rank in range(1, count + 1)
        ]
        by[name] = [None if rank is None else (rank, 1.0 / rank) for rank in ranks]
    return FakeScope(list(paths), scores, by)


class FakeSession:
    """Plays groups of events, one group a half-step, and answers what a person does."""

    def __init__(self, groups: Script, live: bool = True, directory: Path = Path("/runs/demo")) -> None:
        self._groups = [list(group) for group in groups]
        self.live = live
        self.directory = directory
        self.state = RunState()
        self.notices: tuple[str, ...] = ()
        self.block: Flag | None = None
        self.started = Flag()
        self.error = ""
        self._subscribers: list[Callable[[ev.Event], None]] = []
        if live:
            self._play(self._groups.pop(0))

    def subscribe(self, callback: Callable[[ev.Event], None]) -> None:
        self._subscribers.append(callback)

    def _play(self, group: Sequence[ev.Event]) -> None:
        for event in group:
            self.add(event)

    def add(self, event: ev.Event) -> None:
        stamped = replace(event, seq=self.state.seq + 1, at="2026-01-02T03:04:05.000Z")
        self.state = reduce(self.state, stamped)
        for callback in self._subscribers:
            callback(stamped)

    def next_step(self) -> str:
        call = self.state.next_call
        if self.state.ended or not self._groups:
            return "nothing is left to do"
        if call is None:
            return f"ask for turn {len(self.state.turns) + 1}"
        if call.tool == "bash":
            return f"run call {call.number}"
        return f"run call {call.number}"

    def step(
        self, cancel: Flag | None = None, on_matches: Callable[[Sequence[ev.Match]], None] | None = None
    ) -> bool:
        self.started.set()
        if self.error:
            raise RargError(self.error)
        if self.block is not None:
            while not self.block.wait(0.01):
                if cancel is not None and cancel.is_set():
                    return True
        if self._groups:
            group = self._groups.pop(0)
            for event in group:
                if on_matches is not None and isinstance(event, ev.CallExecuted):
                    on_matches(event.pool)
            self._play(group)
        return bool(self._groups)

    def edit(self, number: int, arguments: Mapping[str, Any]) -> None:
        before = self.state.calls[number - 1].arguments
        self.add(ev.CallEdited(call=number, before=before, after=arguments))

    def skip(self, number: int, note: str = "") -> None:
        self.add(ev.CallSkipped(call=number, note=note))

    def insert(self, tool: str, arguments: Mapping[str, Any]) -> None:
        self._propose(tool, arguments)

    def _propose(self, tool: str, arguments: Mapping[str, Any]) -> int:
        number = len(self.state.calls) + 1
        turn = self.state.turns[-1].number if self.state.turns else 0
        self.add(ev.CallProposed(call=number, turn=turn, tool=tool, arguments=arguments, by="user"))
        return number

    def manual(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        cancel: Flag | None = None,
        on_matches: Callable[[Sequence[ev.Match]], None] | None = None,
    ) -> None:
        if self.error:
            raise RargError(self.error)
        number = self._propose(tool, arguments)
        if tool == "embed_recall":
            self.add(
                ev.ScopeCreated(
                    scope=len(self.state.scopes) + 1,
                    call=number,
                    query=str(arguments.get("query", "")),
                    ranker="hybrid",
                    rankers={"lexical": 1.0},
                    documents=len(ranked_paths()),
                )
            )
        pool = tuple(
            ev.Match(path=path, line=1, text=documents()[path][0], position=at, document_rank=at, shown_at=at)
            for at, path in enumerate(ranked_paths()[:3], start=1)
            if "rg" in str(arguments.get("command", ""))
        )
        self.add(
            ev.CallExecuted(
                call=number,
                tool=tool,
                state="ok",
                observation="done by hand",
                document=str(arguments.get("path", "")),
                scope=len(self.state.scopes) or None,
                pool=pool if tool == "bash" else (),
                shown=3 if tool == "bash" else 0,
                seen={match.path: match.document_rank for match in pool} if tool == "bash" else {},
            )
        )

    def mark_gold(self, path: str, relevance: int = 1) -> None:
        self.add(ev.GoldMarked(path=path, relevance=relevance))


@dataclass(frozen=True)
class FakeSettings:
    strategy: str = "rarg++"
    profile: str = "bcplus"
    model: str | None = None
    theme: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    ascii: bool = False


@dataclass
class FakeWorkbench:
    """Everything at once and always the same. ``started`` records what the app asked for."""

    groups: Script = field(default_factory=script)
    name: str = "sample_corpus"
    status: dict[str, FakeStatus] = field(
        default_factory=lambda: {
            "lexical": FakeStatus("lexical"),
            "static": FakeStatus("static"),
            "dense": FakeStatus("dense", ready=False, done=154, eta_s=14.0),
        }
    )
    paths: Sequence[str] = field(default_factory=ranked_paths)
    texts: Mapping[str, list[str]] = field(default_factory=documents)
    started: list[tuple[str, str, str, str]] = field(default_factory=list)
    sessions: list[FakeSession] = field(default_factory=list)
    error: str = ""
    lost: str = ""
    fault: Exception | None = None
    block: Flag | None = None
    closed: bool = False
    #: A server that text would go to, until somebody agrees.
    server: str = ""
    settings: FakeSettings = field(default_factory=FakeSettings)

    def prepare(self, progress: Callable[[Progress], None] | None = None, cancel: Flag | None = None) -> None:
        if self.error:
            raise RargError(self.error)
        if self.fault is not None:
            raise self.fault
        while self.block is not None and not self.block.wait(0.01):
            if cancel is not None and cancel.is_set():
                return
        if progress is not None:
            progress(Progress("lexical", 252, 252, 0.0))

    def build_dense(
        self, progress: Callable[[Progress], None] | None = None, cancel: Flag | None = None
    ) -> None:
        if progress is not None:
            progress(Progress("dense", 154, 252, 14.0))

    def index_status(self) -> dict[str, FakeStatus]:
        return self.status

    def start(
        self,
        question: str,
        strategy: str = "",
        model: str = "",
        profile: str = "",
        gold: Mapping[str, int] | None = None,
    ) -> FakeSession:
        if self.server:
            raise ConsentNeeded(Path("/corpus"), self.server)
        self.started.append((question, strategy, model, profile))
        groups = [list(group) for group in self.groups]
        first = groups[0][0]
        assert isinstance(first, ev.RunStarted)
        groups[0][0] = replace(
            first,
            question=question,
            strategy=strategy or first.strategy,
            model=model or first.model,
            gold=dict(gold) if gold is not None else first.gold,
        )
        self.sessions.append(FakeSession(groups))
        return self.sessions[-1]

    def consent(self) -> None:
        self.server = ""

    def open_run(self, run: str | Path) -> FakeSession:
        if str(run) != "demo":
            raise RargError(f"There is no run {run}: `rarg runs` lists them.")
        self.sessions.append(FakeSession(self.groups, live=False))
        return self.sessions[-1]

    def unfinished(self, run: str | Path) -> bool:
        return str(run) == "fork"

    def resume(self, run: str | Path) -> FakeSession:
        self.sessions.append(FakeSession(self.groups))
        return self.sessions[-1]

    def scope(self, directory: Path, number: int) -> FakeScope:
        if self.lost:
            raise RargError(self.lost)
        return fake_scope(self.paths)

    def document(self, path: str) -> list[str]:
        if path not in self.texts:
            raise RargError(f"The document {path} is gone: index the corpus again.")
        return self.texts[path]

    def questions(self) -> list[FakeQuestion]:
        return [FakeQuestion("q1", QUESTION, GOLD)]

    def strategies(self) -> dict[str, str]:
        return {
            "rarg": "searches files in relevance order",
            "rarg+": "and starts from the scope's entry points",
            "rarg++": "and reranks the matches",
        }

    def profiles(self) -> dict[str, str]:
        return {"bcplus": "answer a question, with citations", "bright": "rank ten documents"}

    def models(self) -> list[str]:
        return ["offline planner", "gpt-5.4-mini"]

    def keep(self, session: FakeSession) -> Path:
        return session.directory

    def close(self) -> None:
        self.closed = True
