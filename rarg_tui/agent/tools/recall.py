"""``embed_recall``: rank the corpus, and write the order to a scope file."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from rarg_tui.agent.tools.base import Call, World, argument, milliseconds, schema
from rarg_tui.relevance.scope import Scope
from rarg_tui.trace import events as ev


class EmbedRecall:
    name = "embed_recall"

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            "Rank the corpus by relevance to a query and write the paths, best first, to a new scope file.",
            ["query"],
            query=argument("string", "What to look for, in plain words; first the question itself."),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        started = perf_counter()
        query, profile = call.given["query"], world.profile
        number = len(call.state.scopes) + 1
        scope = world.recall(query, profile.scope_cap, number, call.cancel)
        points: list[ev.EntryPoint] = []
        if world.strategy.entry_points:
            points = world.index.entry_points(
                query, scope.paths, documents=profile.entry_documents, top=profile.entry_points
            )
        elapsed = milliseconds(started)
        ranks = {path: rank for rank, path in enumerate(scope.paths, start=1)}
        return [
            created(number, call, scope, elapsed, points),
            ev.CallExecuted(
                call=call.number,
                tool=self.name,
                state="ok" if scope.paths else "no_match",
                observation=_observation(query, number, len(scope.paths), points),
                ran=f"recall {query}",
                scope=number,
                seen={point.path: ranks.get(point.path) for point in points},
                elapsed_ms={"recall": elapsed},
            ),
        ]


def created(
    number: int, call: Call, scope: Scope, elapsed_ms: float, points: Sequence[ev.EntryPoint] = ()
) -> ev.ScopeCreated:
    """The event that tells of ``scope``."""
    return ev.ScopeCreated(
        scope=number,
        call=call.number,
        query=scope.query,
        ranker=scope.ranker,
        rankers=scope.rankers,
        documents=len(scope.paths),
        entry_points=tuple(points),
        elapsed_ms=elapsed_ms,
    )


def _observation(query: str, number: int, documents: int, points: Sequence[ev.EntryPoint]) -> str:
    lines = [f'"{query}" → scope_{number}.txt ({documents} documents, best first)']
    if points:
        lines += ["", "<entry_points> (for orientation only)"]
        by_document: dict[str, list[ev.EntryPoint]] = {}
        for point in points:
            by_document.setdefault(point.path, []).append(point)
        for path, group in by_document.items():
            lines += ["", f"{path}:"]
            for point in sorted(group, key=lambda p: p.first_line):
                lines += [f"Lines {point.first_line}-{point.last_line}: {point.text}"]
        lines += ["</entry_points>"]
    return "\n".join(lines)
