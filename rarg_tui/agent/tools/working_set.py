"""Tools that fill a workspace: RISE's ``search`` and DR-DCI's ``pull``."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from rarg_tui.agent.tools.base import Call, World, argument, milliseconds, schema, texts
from rarg_tui.agent.tools.recall import created
from rarg_tui.agent.tools.snippets import beginnings, one_line
from rarg_tui.agent.workspace import Workspace
from rarg_tui.relevance.scope import Scope
from rarg_tui.trace import events as ev

#: How much of a document a preview shows.
_PREVIEW_TOKENS = 64
_PREVIEW_CHARACTERS = 100


class SearchMore:
    """RISE (arXiv 2606.06880): the best documents of several queries join the working set."""

    name = "search"
    previewed = 10

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            f"Rank the corpus for each query and add the best {world.profile.scope_cap} documents of each to "
            "the working set, which bash and read work on.",
            ["queries"],
            queries=texts("What to look for: a few different wordings or parts of the question."),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        queries = list(dict.fromkeys(query.strip() for query in call.given["queries"] if query.strip()))
        return _fill(call, world, self.name, queries, world.profile.scope_cap, self.previewed)


class Pull:
    """DR-DCI (arXiv 2606.14885): the best documents of one query are pulled into the workspace."""

    name = "pull"
    previewed = 20
    fewest, most = 300, 600

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            "Bring the documents most relevant to a query into the workspace, which is empty at first.",
            ["query"],
            query=argument("string", "What the documents should be about."),
            top_k=argument("integer", "How many documents (400).", minimum=self.fewest, maximum=self.most),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        top = call.given.get("top_k", 400)
        return _fill(call, world, self.name, [call.given["query"]], top, self.previewed)


def _fill(
    call: Call, world: World, tool: str, queries: Sequence[str], top: int, previewed: int
) -> list[ev.Event]:
    started = perf_counter()
    workspace = world.workspace if world.workspace is not None else Workspace(world.corpus)
    events: list[ev.Event] = []
    blocks: list[str] = []
    seen: dict[str, int | None] = {}
    number, fresh = len(call.state.scopes), 0
    for query in queries:
        began = perf_counter()
        number += 1
        scope = world.recall(query, top, number, call.cancel)
        added = workspace.add(scope.paths)
        fresh += len(added)
        events.append(created(number, call, scope, milliseconds(began)))
        lines, shown = _preview(world, scope, added[:previewed])
        blocks.append("\n".join([f'"{query}": {len(added)} new documents', *lines]))
        seen = shown | seen
    total = f"{fresh} documents added; {len(workspace)} in all."
    return [
        *events,
        ev.CallExecuted(
            call=call.number,
            tool=tool,
            state="ok" if len(workspace) else "no_match",
            observation="\n\n".join([*blocks, total]),
            ran=f"{tool} {' | '.join(queries)}",
            scope=number,
            seen=seen,
            elapsed_ms={"recall": milliseconds(started)},
        ),
    ]


def _preview(world: World, scope: Scope, paths: Sequence[str]) -> tuple[list[str], dict[str, int | None]]:
    ranks: dict[str, int | None] = {path: rank for rank, path in enumerate(scope.paths, start=1)}
    lines = [
        f"{ranks[one.path]}. {one.path}: {one_line(one, _PREVIEW_CHARACTERS)}"
        for one in beginnings(world.corpus, paths, _PREVIEW_TOKENS)
    ]
    return lines, {path: ranks[path] for path in paths}
