"""``rarg recall``, ``grep`` and ``shell``: the engine by hand."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rarg_tui.agent.strategies import strategy
from rarg_tui.cli import common, place
from rarg_tui.commands import shared
from rarg_tui.errors import RargError
from rarg_tui.relevance.fusion import K
from rarg_tui.relevance.rerank_query import FALLBACK
from rarg_tui.relevance.scope import Scope
from rarg_tui.search import shell as bash
from rarg_tui.search.grep import grep as search
from rarg_tui.search.grep import grep_raw
from rarg_tui.search.sandbox import find_sandbox
from rarg_tui.trace.events import Match
from rarg_tui.workbench import Workbench

#: States in which a search has told all it could.
_FOUND = {"ok": 0, "partial": 0, "no_match": 1, "timed_out": 2, "failed": 2, "cancelled": 130}


def recall(words: Sequence[str]) -> int:
    parser = common("recall")
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("--top", type=int, default=10_000, metavar="N", help="documents at most (10000)")
    parser.add_argument("--explain", action="store_true", help="each ranker's rank, score and weight")
    shared.relevance_options(parser)
    args = parser.parse_args(words)
    if args.top < 1:
        raise RargError(f"--top must be 1 or more, not {args.top}.")
    with shared.workbench(args) as bench:
        scope = _recalled(args, bench, args.query, args.top)
        if args.json:
            shared.out_json(_recall_json(scope, bench.index.documents))
        elif args.explain:
            _explain(scope)
        else:
            for path in scope.paths:
                shared.out(path)
        return 0 if scope.paths else 1


def grep(words: Sequence[str]) -> int:
    ours, theirs = shared.split_dashes(words)
    parser = common(
        "grep",
        usage="rarg grep (--query Q | --scope FILE | --all) [OPTIONS] (PATTERN | -- RG-OPTIONS PATTERN)",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--query", metavar="Q", help="search the scope of this query")
    where.add_argument("--scope", type=place, metavar="FILE", help="search the paths in FILE, in its order")
    where.add_argument("--all", action="store_true", help="search the whole corpus in path order")
    parser.add_argument("--raw", action="store_true", help="rg's own output: nothing reranked, nothing cut")
    parser.add_argument("--rerank-query", metavar="TEXT", help="rank matches by this text alone")
    shared.relevance_options(parser)
    if theirs is None:
        parser.add_argument("pattern", metavar="PATTERN")
    args = parser.parse_args(ours)
    if args.raw and args.json:
        raise RargError("--raw prints what rg prints, which is no JSON; leave one of --raw and --json out.")
    rg_args = ["-e", args.pattern] if theirs is None else theirs
    with shared.workbench(args) as bench:
        query, paths = _scope_paths(args, bench)
        if args.raw:
            with shared.raw_output() as write:
                raw = grep_raw(bench.corpus.root, paths, rg_args, write, whole_corpus=args.all)
            if raw.message:
                shared.say(args, raw.message)
            return _FOUND[raw.state]
        profile = bench.profile()
        result = search(
            bench.corpus.root,
            paths,
            rg_args,
            scope_query=query,
            ranked=not args.all,
            limits=bash.ShellLimits(pool=profile.pool, shown=profile.shown, line_length=profile.line_length),
            reorder=bench.reranker() if query or args.rerank_query else None,
            rerank_query=args.rerank_query or "",
        )
        if result.reranked and bench.settings.rerank == "generative" and not args.rerank_query:
            shared.say(args, f"{FALLBACK}; --rerank-query gives it.")
        if args.json:
            shared.out_json(
                {
                    "pattern": result.pattern,
                    "scope": {"query": query, "documents": len(paths)},
                    "state": result.state,
                    "message": result.message,
                    "rg_version": result.rg_version,
                    "reranked": result.reranked,
                    "rerank_query": result.rerank_query,
                    "pool": [_match_json(match) for match in result.pool],
                    "shown": [_match_json(match) for match in result.shown],
                    "elapsed_ms": result.elapsed_ms,
                }
            )
        else:
            if result.text:
                shared.out(result.text)
            if (
                notice := result.notice
                or result.message
                or ("no matches" if result.state == "no_match" else "")
            ):
                shared.say(args, notice)
        return _FOUND[result.state]


def shell(words: Sequence[str]) -> int:
    ours, command = shared.split_dashes(words)
    parser = common("shell", usage="rarg shell [--run-dir DIR] [--strategy S] [OPTIONS] -- COMMAND")
    parser.add_argument(
        "--run-dir", type=place, metavar="DIR", help="a run, whose scope_N.txt can be searched"
    )
    parser.add_argument("--strategy", default="rarg", metavar="S", help="whose rules hold (rarg)")
    parser.add_argument(
        "--sandbox", metavar="BOX", help="bwrap: full bash, shut in, for what the guard does not model (off)"
    )
    if command is None and not {"-h", "--help"} & set(ours):
        raise RargError("rarg shell: give the command after --, as in `rarg shell -- 'wc -l scope_1.txt'`.")
    args = parser.parse_args(ours)
    line = command[0] if command and len(command) == 1 else shlex.join(command or ())
    rules = strategy(args.strategy)
    with shared.workbench(args) as bench, tempfile.TemporaryDirectory() as empty:
        run_dir = args.run_dir or Path(empty)
        if not run_dir.is_dir():
            raise RargError(f"--run-dir: there is no directory {run_dir}.")
        scopes = {number: Scope.read(run_dir, number) for number in _scope_numbers(run_dir)}
        profile = bench.profile()
        result = bash.run(
            line,
            bash.ShellContext(
                root=bench.corpus.root,
                run_dir=run_dir.resolve(),
                scopes={n: bash.ScopeView(n, scope.query, scope.paths) for n, scope in scopes.items()},
                limits=bash.ShellLimits(
                    pool=profile.pool, shown=profile.shown, line_length=profile.line_length
                ),
                reorder=bench.reranker() if rules.reranks else None,
                whole_corpus=rules.whole_corpus,
                paths=bench.corpus.paths,
                sandbox=find_sandbox(bench.settings.sandbox, bench.corpus.root),
            ),
        )
    if args.json:
        shared.out_json(
            {
                "command": line,
                "verdict": result.verdict,
                "reason": result.reason,
                "exit_code": result.exit_code,
                "observation": result.observation,
                "state": result.state,
                "scope": result.scope,
                "reranked": result.reranked,
            }
        )
    elif result.verdict == "run":
        shared.out(result.observation)
    else:
        shared.say(args, result.reason)
    return min(result.exit_code or 0, 2) if result.verdict == "run" else 2


def _recalled(args: argparse.Namespace, bench: Workbench, query: str, top: int) -> Scope:
    if not query.strip():
        raise RargError("The query is empty: say what to look for.")
    bench.prepare(shared.progress(args))
    shared.say_destination(args, bench, bench.settings.ranker.split("+"))
    scope = bench.index.recall(query, top=top, ranker=bench.settings.ranker)
    shared.say_rankers(args, bench, scope.rankers)
    return scope


def _scope_paths(args: argparse.Namespace, bench: Workbench) -> tuple[str, Sequence[str]]:
    """The query, if any, and the paths to search, in order."""
    if args.query is not None:
        scope = _recalled(args, bench, args.query, 10_000)
        return args.query, scope.paths
    if args.all:
        bench.corpus.require_documents()
        return "", bench.corpus.paths()
    try:
        data = args.scope.read_bytes()
    except OSError as error:
        raise RargError(f"--scope: {args.scope} cannot be read ({error.strerror}).") from None
    return "", [os.fsdecode(line) for line in data.split(b"\n") if line]


def _scope_numbers(run_dir: Path) -> list[int]:
    names = (re.fullmatch(r"scope_([1-9]\d*)\.txt", file.name) for file in run_dir.iterdir())
    return sorted(int(name[1]) for name in names if name)


def _recall_json(scope: Scope, documents: int) -> Mapping[str, Any]:
    rows = []
    for at, path in enumerate(scope.paths):
        found = {name: ranked[at] for name, ranked in scope.by.items()}
        by = {name: {"rank": pair[0], "score": pair[1]} for name, pair in found.items() if pair}
        rows.append(shared.with_bytes({"path": path, "rank": at + 1, "score": scope.scores[at], "by": by}))
    return {
        "query": scope.query,
        "ranker": scope.ranker,
        "rankers": scope.rankers,
        "documents": documents,
        "elapsed_ms": scope.elapsed_ms,
        "paths": rows,
    }


def _match_json(match: Match) -> dict[str, Any]:
    return shared.with_bytes(match.to_json())


def _explain(scope: Scope) -> None:
    """How scores are made, then a table: rank and score, and each ranker's rank, score and share in it."""
    weights = scope.rankers
    if len(weights) > 1:
        made = " + ".join(f"{weights[name]:g} ÷ ({K} + rank by {name})" for name in scope.by)
    else:
        made = f"that of {scope.ranker}"
    shared.out(f"score = {made}")
    heads = [f"{'rank':>5}", f"{'score':>8}", *(f"{name:>23}" for name in scope.by)]
    shared.out("  ".join([*heads, "document"]))
    for at, path in enumerate(scope.paths):
        cells = [_share(found[at], weights[name], len(weights)) for name, found in scope.by.items()]
        shared.out("  ".join([f"{at + 1:>5}", f"{scope.scores[at]:>8.5f}", *cells, path]))


def _share(found: tuple[int, float] | None, weight: float, rankers: int) -> str:
    if found is None:
        return f"{'–':>23}"
    rank, score = found
    share = f" +{weight / (K + rank):.5f}" if rankers > 1 else ""
    return f"{f'#{rank} {score:.4f}{share}':>23}"
