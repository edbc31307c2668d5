"""``bash``: a read-only command line, guarded and in scope order."""

from __future__ import annotations

from typing import Any

from rarg_tui.agent.tools.base import Call, World, argument, schema
from rarg_tui.errors import RargError
from rarg_tui.relevance.rerank_query import FALLBACK
from rarg_tui.search import shell
from rarg_tui.trace import events as ev

_SEARCH = "Run a read-only search command, such as: "
_IN_A_SCOPE = "cat scope_1.txt | xargs -d '\\n' rg -n -i \"word|other\""
_EVERYWHERE = 'rg -n -i "word|other" | head -n 40'
_ALLOWED = (
    ". Allowed: cat, xargs, rg, grep, head, tail, sed -n, sort, uniq, wc, cut, tr, nl, comm, echo, printf."
)
_FULL_BASH = (
    " Anything else (loops, awk, Python) runs in full bash, read-only and without network; "
    "its output is in no scope order."
)


class Bash:
    name = "bash"

    def schema(self, world: World) -> dict[str, Any]:
        strategy = world.strategy
        text = _EVERYWHERE if strategy.whole_corpus or strategy.workspace else _IN_A_SCOPE
        arguments = {
            "command": argument("string", "The command line."),
            "timeout": argument("number", "Seconds after which it is stopped."),
        }
        if strategy.rerank_query:
            arguments["rerank_query"] = argument(
                "string",
                "For a search with rg: two short sentences, the fact that is sought in the end and what this "
                "step is to verify. When more lines match than are shown, those nearest to it come first.",
            )
        more = _FULL_BASH if world.sandbox is not None else ""
        return schema(self.name, _SEARCH + text + _ALLOWED + more, ["command"], **arguments)

    def run(self, call: Call, world: World) -> list[ev.Event]:
        profile, given = world.profile, call.given
        timeout_s = given.get("timeout", profile.timeout_s)
        if not timeout_s > 0:
            raise RargError("bash: timeout must be more than 0 seconds.")
        views = {}
        for known in call.state.scopes:
            scope = world.scope(known.number)
            views[known.number] = shell.ScopeView(known.number, scope.query, scope.paths)
        workspace = world.workspace
        rerank_query = given.get("rerank_query", "")
        result = shell.run(
            given["command"],
            shell.ShellContext(
                root=workspace.root if workspace is not None else world.corpus.root,
                run_dir=world.directory,
                scopes=views,
                limits=shell.ShellLimits(
                    pool=profile.pool,
                    shown=profile.shown,
                    line_length=profile.line_length,
                    timeout_s=min(timeout_s, profile.timeout_s),
                    output_bytes=profile.output_bytes,
                ),
                reorder=world.reranker(call.cancel),
                whole_corpus=world.strategy.whole_corpus or workspace is not None,
                paths=workspace.paths if workspace is not None else world.corpus.paths,
                rerank_query=rerank_query,
                sandbox=world.sandbox,
            ),
            call.cancel,
            call.on_matches,
        )
        said = result.message or result.reason
        if result.reranked and world.rerank == "generative" and not rerank_query:
            said = f"{said}; {FALLBACK}" if said else FALLBACK
        newest = call.state.scopes[-1].number if call.state.scopes else None
        return [
            ev.CallExecuted(
                call=call.number,
                tool=self.name,
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
                seen=world.ranked(result.seen, result.scope or newest),
                elapsed_ms=result.elapsed_ms,
            )
        ]
