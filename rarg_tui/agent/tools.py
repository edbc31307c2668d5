"""The agent's tools: ``embed_recall``, ``bash`` and ``read``, for a model and for a person alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Cancel
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rarg_tui.agent.profiles import Profile, unknown
from rarg_tui.agent.strategies import Strategy
from rarg_tui.corpus.decoding import read_text
from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.rerank_query import FALLBACK
from rarg_tui.relevance.scope import Scope
from rarg_tui.search import shell
from rarg_tui.trace import events as ev
from rarg_tui.trace.state import RunState

if TYPE_CHECKING:
    from rarg_tui.relevance.rerank import MatchReranker

OnMatches = Callable[[Sequence[ev.Match]], None]

#: The read tool shows at most this many lines and bytes at once, as the released agent does.
READ_LINES = 2_000
READ_BYTES = 51_200


def _schema(
    name: str, description: str, required: Sequence[str], **properties: tuple[str, str]
) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {
                    key: {"type": kind, "description": text} for key, (kind, text) in properties.items()
                },
                "required": list(required),
                "additionalProperties": False,
            },
        },
    }


SCHEMAS: Mapping[str, dict[str, Any]] = {
    "embed_recall": _schema(
        "embed_recall",
        "Rank the corpus by relevance to a query and write the paths, best first, to a new scope file.",
        ["query"],
        query=("string", "What to look for, in plain words; first the question itself."),
    ),
    "bash": _schema(
        "bash",
        "Run a read-only search command, such as: cat scope_1.txt | xargs -d '\\n' rg -n -i \"word|other\". "
        "Allowed: cat, xargs, rg, grep, head, tail, sed -n, sort, uniq, wc, cut, tr, nl, comm, echo, printf.",
        ["command"],
        command=("string", "The command line."),
        timeout=("number", "Seconds after which it is stopped."),
    ),
    "read": _schema(
        "read",
        f"Read a document: up to {READ_LINES} numbered lines.",
        ["path"],
        path=("string", "The document's path, as a scope or a match gives it."),
        offset=("integer", "The first line to read, from 1."),
        limit=("integer", "How many lines to read."),
    ),
}

_TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}


def _with_full_bash(schema: dict[str, Any]) -> dict[str, Any]:
    function = schema["function"]
    if function["name"] != "bash":
        return schema
    more = (
        " Anything else (loops, awk, Python) runs in full bash, read-only and without network; "
        "its output is in no scope order."
    )
    return {**schema, "function": {**function, "description": function["description"] + more}}


@dataclass(slots=True)
class Toolbox:
    """What the tools of one run work on. ``rankers``, ``rerank`` and ``match_model`` are fixed when the run
    starts, so that its scopes do not change while an index is still being built. ``sandbox``: where bash
    runs what the guard does not model, or ``None``."""

    corpus: Corpus
    index: Index
    strategy: Strategy
    profile: Profile
    rankers: Mapping[str, float]
    rerank: str
    directory: Path
    sandbox: shell.Sandbox | None = None
    match_model: str = "static"
    _scopes: dict[int, Scope] = field(default_factory=dict)

    def schemas(self) -> list[dict[str, Any]]:
        """The tools of the strategy in the form of Chat Completions."""
        schemas = [SCHEMAS[name] for name in self.strategy.tools]
        return schemas if self.sandbox is None else [_with_full_bash(schema) for schema in schemas]

    def execute(
        self,
        call: int,
        tool: str,
        arguments: Mapping[str, Any] | None,
        state: RunState,
        cancel: Cancel | None = None,
        on_matches: OnMatches | None = None,
    ) -> list[ev.Event]:
        """Run a call; what happened, as events that end with its ``CallExecuted``.

        Never raises for what a model can do wrong: such a call has the state ``error`` and an observation
        that says how to do it right.
        """
        try:
            given = self.checked(tool, arguments)
            match tool:
                case "embed_recall":
                    return self._recall(call, given["query"], state, cancel)
                case "bash":
                    return [self._bash(call, given, state, cancel, on_matches)]
                case _:
                    return [self._read(call, given, state)]
        except RargError as error:
            return [_failure(call, tool, "error", str(error))]

    def checked(self, tool: str, arguments: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """``arguments`` held against the tool's schema; raises ``RargError`` with what is wrong."""
        if tool not in self.strategy.tools:
            raise RargError(unknown("tool", tool, dict.fromkeys(self.strategy.tools)))
        parameters = SCHEMAS[tool]["function"]["parameters"]
        given = arguments if arguments is not None else {}
        for name in parameters["required"]:
            if name not in given:
                raise RargError(f"{tool} needs the argument {name!r}.")
        for name, value in given.items():
            if name not in parameters["properties"]:
                raise RargError(f"{tool}: {unknown('argument', name, parameters['properties'])}")
            kind = parameters["properties"][name]["type"]
            if not isinstance(value, _TYPES[kind]) or isinstance(value, bool):
                raise RargError(f"{tool}: the argument {name!r} must be of type {kind}.")
        if any(not str(given[name]).strip() for name in parameters["required"]):
            raise RargError(f"{tool}: {' and '.join(parameters['required'])} must not be empty.")
        return given

    def scope(self, number: int) -> Scope:
        """Scope ``number`` of this run; ``RargError`` when its files are gone."""
        if number not in self._scopes:
            self._scopes[number] = Scope.read(self.directory, number)
        return self._scopes[number]

    def _recall(self, call: int, query: str, state: RunState, cancel: Cancel | None) -> list[ev.Event]:
        started = perf_counter()
        scope = self.index.recall(query, top=self.profile.scope_cap, rankers=self.rankers, cancel=cancel)
        number = len(state.scopes) + 1
        try:
            scope.write(self.directory, number)
        except OSError as error:
            raise RargError(
                f"The scope cannot be saved in {self.directory}: {error.strerror or error}."
            ) from None
        self._scopes[number] = scope
        points = (
            self.index.entry_points(
                query, scope.paths, documents=self.profile.entry_documents, top=self.profile.entry_points
            )
            if self.strategy.entry_points
            else []
        )
        elapsed = _milliseconds(started)
        ranks = {path: rank for rank, path in enumerate(scope.paths, start=1)}
        return [
            ev.ScopeCreated(
                scope=number,
                call=call,
                query=query,
                ranker=scope.ranker,
                rankers=scope.rankers,
                documents=len(scope.paths),
                entry_points=tuple(points),
                elapsed_ms=elapsed,
            ),
            ev.CallExecuted(
                call=call,
                tool="embed_recall",
                state="ok" if scope.paths else "no_match",
                observation=_recalled(query, number, len(scope.paths), points),
                ran=f"recall {query}",
                scope=number,
                seen={point.path: ranks.get(point.path) for point in points},
                elapsed_ms={"recall": elapsed},
            ),
        ]

    def _bash(
        self,
        call: int,
        given: Mapping[str, Any],
        state: RunState,
        cancel: Cancel | None,
        on_matches: OnMatches | None,
    ) -> ev.CallExecuted:
        profile = self.profile
        timeout_s = given.get("timeout", profile.timeout_s)
        if not timeout_s > 0:
            raise RargError("bash: timeout must be more than 0 seconds.")
        limits = shell.ShellLimits(
            pool=profile.pool,
            shown=profile.shown,
            line_length=profile.line_length,
            timeout_s=min(timeout_s, profile.timeout_s),
        )
        rerank_query = given.get("rerank_query", "")
        views = {}
        for known in state.scopes:
            scope = self.scope(known.number)
            views[known.number] = shell.ScopeView(known.number, scope.query, scope.paths)
        result = shell.run(
            given["command"],
            shell.ShellContext(
                root=self.corpus.root,
                run_dir=self.directory,
                scopes=views,
                limits=limits,
                reorder=self._reranker(cancel),
                whole_corpus=self.strategy.whole_corpus,
                paths=self.corpus.paths,
                rerank_query=rerank_query,
                sandbox=self.sandbox,
            ),
            cancel,
            on_matches,
        )
        said = result.message or result.reason
        if result.reranked and self.rerank == "generative" and not rerank_query:
            said = f"{said}; {FALLBACK}" if said else FALLBACK
        searched = result.scope or (state.scopes[-1].number if state.scopes else None)
        return ev.CallExecuted(
            call=call,
            tool="bash",
            state=result.state,
            observation=result.observation,
            message=said,
            ran=result.ran,
            exit_code=result.exit_code,
            scope=result.scope,
            pattern=result.pattern,
            reranked=result.reranked,
            rerank_query=result.rerank_query,
            pool=result.pool,
            pool_full=result.pool_full,
            shown=result.shown,
            seen=self._ranked(result.seen, searched),
            elapsed_ms=result.elapsed_ms,
        )

    def _reranker(self, cancel: Cancel | None) -> MatchReranker | None:
        if not self.strategy.reranks or self.rerank == "off":
            return None
        return self.index.reranker(self.rerank, self.profile.quota, self.match_model, cancel)

    def _read(self, call: int, given: Mapping[str, Any], state: RunState) -> ev.CallExecuted:
        started = perf_counter()
        path, offset = given["path"].removeprefix("./"), given.get("offset", 1)
        if not self.corpus.contains(path):
            raise RargError(f"There is no document {path!r}; give a path as a scope or a match shows it.")
        if offset < 1 or given.get("limit", 1) < 1:
            raise RargError("read: offset and limit count from 1.")
        lines = read_text(self.corpus, path).splitlines()
        if offset > max(1, len(lines)):
            raise RargError(f"{path} has {len(lines)} lines; line {offset} is beyond its end.")
        chosen = lines[offset - 1 : offset - 1 + min(given.get("limit", READ_LINES), READ_LINES)]
        return ev.CallExecuted(
            call=call,
            tool="read",
            state="ok",
            observation=_numbered(path, chosen, offset, len(lines)),
            ran=f"read {path}:{offset}",
            seen=self._ranked([path], state.scopes[-1].number if state.scopes else None),
            document=path,
            elapsed_ms={"read": _milliseconds(started)},
        )

    def _ranked(self, paths: Sequence[str], number: int | None) -> dict[str, int | None]:
        if number is None or not paths:
            return dict.fromkeys(paths)
        wanted = set(paths)
        ranks = {path: rank for rank, path in enumerate(self.scope(number).paths, start=1) if path in wanted}
        return {path: ranks.get(path) for path in paths}


def _recalled(query: str, number: int, documents: int, points: Sequence[ev.EntryPoint]) -> str:
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


def _numbered(path: str, lines: Sequence[str], offset: int, total: int) -> str:
    shown: list[str] = []
    size = 0
    for number, line in enumerate(lines, start=offset):
        row = f"{number}: {line}"
        size += len(row.encode("utf-8", "replace")) + 1
        if size > READ_BYTES:
            if not shown:
                shown.append(f"{row[: READ_BYTES // 4]} […{len(row) - READ_BYTES // 4} characters cut]")
            break
        shown.append(row)
    last = offset + len(shown) - 1
    head = f"{path}, lines {offset}-{last} of {total}" if lines else f"{path} is empty"
    tail = (
        [f"[{total - last} more lines. Use offset={last + 1} to continue.]"] if last < total and lines else []
    )
    return "\n".join([head, *shown, *tail])


def _failure(call: int, tool: str, state: str, message: str) -> ev.CallExecuted:
    return ev.CallExecuted(
        call=call, tool=tool, state=state, observation=f"(error: {message})", message=message
    )


def _milliseconds(started: float) -> float:
    return round((perf_counter() - started) * 1000, 1)
