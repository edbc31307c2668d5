"""What a tool is, and what it works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Cancel
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from rarg_tui.agent.profiles import Profile, unknown
from rarg_tui.agent.strategies import Strategy
from rarg_tui.agent.workspace import Workspace
from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.scope import Scope
from rarg_tui.search.context import Sandbox
from rarg_tui.trace import events as ev
from rarg_tui.trace.state import RunState

if TYPE_CHECKING:
    from rarg_tui.relevance.rerank import MatchReranker

OnMatches = Callable[[Sequence[ev.Match]], None]


@dataclass(slots=True)
class World:
    """What the tools of one run work on. ``rankers``, ``rerank`` and ``match_model`` are fixed when the run
    starts, so that its scopes do not change while an index is still being built. ``workspace``: the
    documents that a strategy with a growing set of them has so far. ``sandbox``: where bash runs what the
    guard does not model, or ``None``."""

    corpus: Corpus
    index: Index
    strategy: Strategy
    profile: Profile
    rankers: Mapping[str, float]
    rerank: str
    directory: Path
    sandbox: Sandbox | None = None
    match_model: str = "static"
    workspace: Workspace | None = None
    _scopes: dict[int, Scope] = field(default_factory=dict)

    def scope(self, number: int) -> Scope:
        """Scope ``number`` of this run; ``RargError`` when its files are gone."""
        if number not in self._scopes:
            self._scopes[number] = Scope.read(self.directory, number)
        return self._scopes[number]

    def recall(self, query: str, top: int, number: int, cancel: Cancel | None) -> Scope:
        """Rank the corpus for ``query`` and keep the best ``top`` documents as scope ``number``."""
        scope = self.index.recall(query, top=top, rankers=self.rankers, cancel=cancel)
        try:
            scope.write(self.directory, number)
        except OSError as error:
            raise RargError(
                f"The scope cannot be saved in {self.directory}: {error.strerror or error}."
            ) from None
        self._scopes[number] = scope
        return scope

    def reranker(self, cancel: Cancel | None) -> MatchReranker | None:
        """What reranks the matches of a plain listing; ``None``: nothing does."""
        if not self.strategy.reranks or self.rerank == "off":
            return None
        return self.index.reranker(self.rerank, self.profile.quota, self.match_model, cancel)

    def ranked(self, paths: Sequence[str], number: int | None) -> dict[str, int | None]:
        """``paths`` with their ranks in scope ``number``. In a workspace, which several scopes have
        filled, with the best rank in any of them up to that one."""
        if number is None or not paths:
            return dict.fromkeys(paths)
        numbers = range(1, number + 1) if self.workspace is not None else (number,)
        wanted = set(paths)
        ranks: dict[str, int] = {}
        for one in numbers:
            for rank, path in enumerate(self.scope(one).paths, start=1):
                if path in wanted:
                    ranks[path] = min(rank, ranks.get(path, rank))
        return {path: ranks.get(path) for path in paths}


@dataclass(frozen=True, slots=True)
class Call:
    """A call to run: its ``number`` in the run, and its arguments, which fit the tool's schema."""

    number: int
    given: Mapping[str, Any]
    state: RunState
    cancel: Cancel | None = None
    on_matches: OnMatches | None = None


class Tool(Protocol):
    """One tool."""

    name: str

    def schema(self, world: World) -> dict[str, Any]:
        """How the model is told of it, in the form of Chat Completions."""

    def run(self, call: Call, world: World) -> list[ev.Event]:
        """What happened, as events; the call's ``CallExecuted`` is among them. Raises ``RargError`` for what
        the model can do better."""


def schema(
    name: str, description: str, required: Sequence[str], **properties: Mapping[str, Any]
) -> dict[str, Any]:
    """A tool's schema; ``properties`` are those of its arguments, in JSON Schema."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            },
        },
    }


def argument(kind: str, text: str, **more: Any) -> dict[str, Any]:
    """An argument of JSON type ``kind``."""
    return {"type": kind, "description": text, **more}


def texts(text: str) -> dict[str, Any]:
    """An argument that is a list of strings."""
    return argument("array", text, items={"type": "string"})


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list, tuple),
}


def checked(told: Mapping[str, Any], arguments: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """``arguments`` held against a tool's schema; raises ``RargError`` with what is wrong."""
    tool, parameters = told["function"]["name"], told["function"]["parameters"]
    given = arguments if arguments is not None else {}
    for name in parameters["required"]:
        if name not in given:
            raise RargError(f"{tool} needs the argument {name!r}.")
    for name, value in given.items():
        if name not in parameters["properties"]:
            raise RargError(f"{tool}: {unknown('argument', name, parameters['properties'])}")
        _fit(tool, name, value, parameters["properties"][name])
    empty = [name for name in parameters["required"] if not _says_something(given[name])]
    if empty:
        raise RargError(f"{tool}: {' and '.join(empty)} must not be empty.")
    return given


def _fit(tool: str, name: str, value: Any, rule: Mapping[str, Any]) -> None:
    kind = rule["type"]
    fits = isinstance(value, _TYPES[kind]) and not isinstance(value, bool)
    if not fits:
        raise RargError(f"{tool}: the argument {name!r} must be of type {kind}.")
    if kind == "array" and not all(isinstance(item, str) for item in value):
        raise RargError(f"{tool}: the argument {name!r} must be a list of strings.")
    if "enum" in rule and value not in rule["enum"]:
        raise RargError(f"{tool}: {name} must be one of {', '.join(rule['enum'])}.")
    low, high = rule.get("minimum"), rule.get("maximum")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"{low} to {high}" if high is not None else f"{low} or more"
        raise RargError(f"{tool}: {name} must be {bounds}, not {value}.")


def _says_something(value: Any) -> bool:
    said = value if isinstance(value, list | tuple) else (value,)
    return any(str(text).strip() for text in said)


def milliseconds(started: float) -> float:
    """Since ``started``, a reading of ``perf_counter``."""
    return round((perf_counter() - started) * 1000, 1)
