"""Tools of agents that are given documents instead of searching files: the retriever of an embedding
agent, and those of NVIDIA NeMo's agentic retrieval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from rarg_tui.agent.tools.base import Call, World, argument, milliseconds, schema, texts
from rarg_tui.agent.tools.recall import created
from rarg_tui.agent.tools.snippets import beginnings, shown
from rarg_tui.errors import RargError
from rarg_tui.relevance.fusion import K
from rarg_tui.trace import events as ev
from rarg_tui.trace.state import RunState

#: Tokens of a document that are shown, as in the compared systems.
_TOKENS = 512

#: Documents in a ranking, and those among which one that is forced is chosen.
RANKED = 10
_FUSED = 50


class Search:
    """The embedding agent's one tool: the five documents nearest to a query."""

    name = "search"
    top = 5

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            f"The {self.top} documents most relevant to a query, with the beginning of each.",
            ["query"],
            query=argument("string", "What to look for, in plain words."),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        return _retrieve(call, world, self.name, self.top, only_new=False)


class Retrieve:
    """NeMo's retriever: the best documents that were not shown before."""

    name = "retrieve"
    top = 20

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            f"The {self.top} documents most relevant to a query that you have not seen yet.",
            ["query"],
            query=argument("string", "What to look for, in plain words."),
            top_k=argument("integer", f"How many ({self.top}).", minimum=1, maximum=100),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        return _retrieve(call, world, self.name, call.given.get("top_k", self.top), only_new=True)


class Think:
    """Room to reason: nothing happens."""

    name = "think"

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            "Write down what you think: what is asked, what is missing, what to look for next.",
            ["thought"],
            thought=argument("string", "Your thought."),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        return [ev.CallExecuted(call=call.number, tool=self.name, state="ok", observation="(noted)")]


class FinalResults:
    """NeMo's end of a run: exactly ten documents, best first."""

    name = "final_results"

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            f"End the search with exactly {RANKED} documents, the most relevant first.",
            ["doc_ids", "message", "search_successful"],
            doc_ids=texts("The paths of the documents."),
            message=argument("string", "What was found, in a few sentences."),
            search_successful=argument(
                "string", "Whether what was asked for was found.", enum=["true", "false", "partial"]
            ),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        documents = tuple(path.strip().removeprefix("./") for path in call.given["doc_ids"])
        wanted = min(RANKED, len(world.corpus.listing().documents))
        if unknown := [path for path in documents if not world.corpus.contains(path)]:
            raise RargError(f"There is no document {unknown[0]!r}; give paths as retrieve shows them.")
        if len(set(documents)) != wanted or len(documents) != wanted:
            raise RargError(
                f"final_results needs exactly {wanted} different documents, not {len(set(documents))}."
            )
        message = call.given["message"].strip()
        return [
            ev.CallExecuted(
                call=call.number, tool=self.name, state="ok", observation="(the search has ended)"
            ),
            ev.RunEnded(ended="answered", answer=message, citations=documents, ranking=documents),
        ]


def fused(world: World, state: RunState) -> list[str]:
    """The documents of all scopes by reciprocal rank fusion, best first."""
    scores: defaultdict[str, float] = defaultdict(float)
    for scope in state.scopes:
        for rank, path in enumerate(world.scope(scope.number).paths, start=1):
            scores[path] += 1 / (K + rank)
    return sorted(scores, key=lambda path: (-round(scores[path], 12), path))[:_FUSED]


def _retrieve(call: Call, world: World, tool: str, top: int, only_new: bool) -> list[ev.Event]:
    started = perf_counter()
    query, number = call.given["query"], len(call.state.scopes) + 1
    scope = world.recall(query, world.profile.scope_cap, number, call.cancel)
    ranks = {path: rank for rank, path in enumerate(scope.paths, start=1)}
    before = call.state.hits if only_new else {}
    fresh = [path for path in scope.paths if path not in before][:top]
    snippets = beginnings(world.corpus, fresh, _TOKENS)
    elapsed = milliseconds(started)
    text = shown(snippets, ranks) or "(no documents)"
    return [
        created(number, call, scope, elapsed, snippets),
        ev.CallExecuted(
            call=call.number,
            tool=tool,
            state="ok" if snippets else "no_match",
            observation="\n\n".join([text, *_known(scope.paths, fresh, before)]),
            ran=f"{tool} {query}",
            scope=number,
            seen={one.path: ranks[one.path] for one in snippets},
            elapsed_ms={"recall": elapsed},
        ),
    ]


def _known(paths: Sequence[str], fresh: Sequence[str], before: Any) -> list[str]:
    """A note on documents that rank among the fresh ones and were shown before."""
    last = paths.index(fresh[-1]) if fresh else len(paths)
    known = [path for path in paths[:last] if path in before]
    return [f"[shown before: {', '.join(known)}]"] if known else []
