"""A pipeline as a plain listing (matches, perhaps reranked), or as written (what it prints)."""

from __future__ import annotations

import os
import shlex
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from rarg_tui.errors import RargError
from rarg_tui.search.context import ScopeView
from rarg_tui.search.execute import TOO_MANY, Executor
from rarg_tui.search.guard import Listed, PipelinePlan, Program, Search, Step
from rarg_tui.search.keywords import focused, keywords
from rarg_tui.search.observation import documents_in, show_matches, show_text
from rarg_tui.search.outcome import Outcome
from rarg_tui.search.process import CANCELLED, TIMED_OUT, Children
from rarg_tui.search.refusal import CommandError
from rarg_tui.search.rg import find_rg
from rarg_tui.search.ripgrep import ScanResult, scan
from rarg_tui.search.rule import Listing, follows, scopes_named
from rarg_tui.trace.events import Match

OnMatches = Callable[[Sequence[Match]], None]

#: How much of a pipeline's output is read when names are what it makes.
_NAMES = 64 * 1_024 * 1_024


def run_listing(
    listing: Listing,
    executor: Executor,
    timeout_s: float,
    cancel: threading.Event | None,
    on_matches: OnMatches | None,
    pipefail: bool,
    before: int,
) -> Outcome:
    """Run a plain listing. ``before`` matches of the same command came earlier: positions go on there."""
    context, limits, call = executor.context, executor.context.limits, listing.search.call
    outcome = Outcome("ok", 0, "", searches=True, pattern=_pattern(call.patterns, call.pattern_files))
    began = time.perf_counter()
    scope: ScopeView | None = None
    with Children(cancel, timeout_s, readable=executor.readable) as children:
        try:
            names, scope, notes = _names(listing, executor, children, outcome)
        except CommandError as error:
            return _failed(outcome, str(error))
        ranks = {path: rank for rank, path in enumerate(scope.paths, 1)} if scope is not None else None
        result = scan(
            find_rg(),
            call,
            names,
            root=executor.root,
            children=children,
            pool=limits.pool,
            line_length=limits.line_length,
            ranks=ranks,
            refusal=executor.admission.refusal,
            on_matches=on_matches,
        )
    outcome.scan_ms = (time.perf_counter() - began) * 1000
    outcome.ran = _ran(listing, len(names), scope)
    if result.error:
        return _failed(outcome, result.error)
    pool = [replace(match, position=match.position + before) for match in result.matches]
    shown = min(limits.shown, listing.cap) if listing.cap is not None else limits.shown
    order: Sequence[Match] = pool
    if context.reorder is not None and scope is not None and len(pool) > shown and follows(names, scope):
        words = keywords(call.patterns, call.fixed)
        outcome.rerank_query = focused(scope.query, words, context.rerank_query)
        began = time.perf_counter()
        try:
            order = context.reorder.rerank(outcome.rerank_query, words, pool)
            outcome.reranked = True
        except RargError as error:
            notes.append(f"not reranked: {str(error).rstrip('.')}")
        outcome.rerank_ms = (time.perf_counter() - began) * 1000
    elif listing.tail:
        order = pool[-shown:]
    _finish(outcome, result, notes, len(names))
    if pool:
        view = show_matches(
            order[:shown],
            limits,
            total=len(pool),
            full=result.full,
            reranked=outcome.reranked,
            notes=[*notes, *_trouble(result.stopped, result.problems.sentence(), limits.timeout_s),
                   *filter(None, [result.problems.binary_sentence()])],
        )  # fmt: skip
        outcome.text, outcome.shown = view.text, len(view.matches)
        outcome.seen = tuple(dict.fromkeys(match.path for match in view.matches))
        outcome.pool = _with_marks(order, pool, {m.position: m.shown_at for m in view.matches})
    outcome.pool_full = result.full
    outcome.exit_code = _listing_code(outcome, listing.cap is not None, pipefail)
    return outcome


def run_written(
    pipeline: PipelinePlan,
    executor: Executor,
    timeout_s: float,
    cancel: threading.Event | None,
    pipefail: bool,
) -> Outcome:
    """Run a pipeline exactly as written; its output is cut to the budget."""
    limits = executor.context.limits
    began = time.perf_counter()
    with Children(cancel, timeout_s, readable=executor.readable) as children:
        piped = executor.run(pipeline.steps, children, limits.output_bytes * 2)
        stopped = children.reason if children.reason in (CANCELLED, TIMED_OUT) else ""
    code = _status(piped.codes, pipefail)
    searches = any(_searches(step) for step in pipeline.steps)
    outcome = Outcome("ok", code, "", searches=searches, ran=_written(pipeline.steps))
    outcome.scan_ms = (time.perf_counter() - began) * 1000
    scopes = scopes_named(pipeline.steps)
    outcome.scope = scopes[0] if len(scopes) == 1 else None
    outcome.pattern = "|".join(next((p for s in pipeline.steps if (p := _patterns(s))), ()))
    error = piped.failure or next((s.error for s in piped.scans if s.error), "")
    if error:
        return _failed(outcome, error)
    trouble = [s.problems.sentence() for s in piped.scans if s.problems]
    output = _without_run_dir(piped.output, executor)
    has_output = bool(output)
    errors = _without_run_dir(piped.errors.encode("utf-8", "surrogateescape"), executor).decode(
        "utf-8", "replace"
    )
    outcome.message = "; ".join(trouble) or errors.strip().partition("\n")[0]
    if stopped:
        outcome.state, outcome.exit_code = stopped, 124 if stopped == TIMED_OUT else 130
    elif trouble or (errors and code):
        outcome.state = "partial" if has_output else "failed"
        if code == 2 and not has_output and _bad_pattern(pipeline.steps[-1], errors):
            return _failed(outcome, errors.strip())
    elif searches and not has_output and (code == 1 or any(not s.found for s in piped.scans)):
        outcome.state = "no_match"
    elif code not in (0, 1):
        outcome.state = "failed"
    notes = _trouble(stopped, "; ".join(trouble), limits.timeout_s)
    outcome.text = show_text(output, piped.cut, errors, limits, notes)
    if not outcome.text:
        outcome.text = "(no matches)" if outcome.state == "no_match" else ""
    outcome.seen = _seen(outcome.text, pipeline.steps, executor)
    return outcome


def _names(
    listing: Listing, executor: Executor, children: Children, outcome: Outcome
) -> tuple[list[str], ScopeView | None, list[str]]:
    """The names to search, the one scope they come from, and what to tell about them."""
    search, context = listing.search, executor.context
    if search.xargs is None:
        filters = [word for option in search.call.filters for word in option.argv()]
        return executor.documents(search.places, filters, children), None, []
    steps = (*listing.upstream, search)
    numbers = scopes_named(steps)
    scope = context.scopes[numbers[0]] if len(numbers) == 1 else None
    outcome.scope = scope.number if scope is not None else None
    data = b""
    if listing.upstream:
        piped = executor.run(listing.upstream, children, _NAMES)
        failure = piped.failure or next((s.error for s in piped.scans if s.error), "")
        if failure or piped.cut:
            raise CommandError(failure or TOO_MANY)
        data = piped.output
    names = executor.names(search.xargs, data)
    notes = []
    if search.call.filters:
        notes.append("-g, -t and the like do not filter files that are named, as in rg itself")
    if len(numbers) > 1:
        files = " and ".join(f"scope_{number}.txt" for number in numbers)
        notes.append(f"the names come from {files}: matches stand in the order of that list")
    elif scope is not None and not follows(names, scope):
        notes.append("the names are not in the order of the scope: matches stand in the order of the list")
    return names, scope, notes


def _finish(outcome: Outcome, result: ScanResult, notes: Sequence[str], given: int) -> None:
    """State, message and the text for a listing without matches."""
    outcome.message = result.problems.sentence()
    if result.stopped:
        outcome.state = result.stopped
        outcome.text = f"(no matches before the search was stopped: {_reason(result.stopped)})"
    elif result.matches:
        outcome.state = "partial" if result.problems else "ok"
    elif result.problems.all:
        outcome.state = "failed"
        outcome.text = f"(error: none of the files could be read: {outcome.message})"
    elif result.problems:
        outcome.state = "partial"
        outcome.text = f"(no matches in the files that could be read; {outcome.message})"
    else:
        outcome.state = "no_match"
        outcome.text = "(no matches)" if given else "(no matches: the list of files is empty)"
        if notes:
            outcome.text += f"\n[{'; '.join(notes)}]"


def _listing_code(outcome: Outcome, headed: bool, pipefail: bool) -> int:
    code = {"ok": 0, "partial": 0, "no_match": 1, "timed_out": 124, "cancelled": 130}.get(outcome.state, 2)
    if outcome.state == "partial" and not outcome.pool:
        code = 2
    # The status of a pipeline is that of its last program, and head finds nothing wrong.
    return 0 if headed and not pipefail and code in (1, 2) else code


def _status(codes: Sequence[int], pipefail: bool) -> int:
    if not codes:
        return 2
    return next((code for code in reversed(codes) if code), 0) if pipefail else codes[-1]


def _failed(outcome: Outcome, reason: str) -> Outcome:
    outcome.state, outcome.exit_code, outcome.message = "error", 2, reason
    outcome.text = f"(error: {reason})"
    return outcome


def _trouble(stopped: str, unread: str, timeout_s: float) -> list[str]:
    parts = []
    if stopped == TIMED_OUT:
        parts.append(f"stopped after {timeout_s:g} s, there may be more")
    elif stopped:
        parts.append("stopped by a person, there may be more")
    if unread:
        parts.append(unread)
    return parts


def _reason(stopped: str) -> str:
    return "it took too long" if stopped == TIMED_OUT else "by a person"


def _with_marks(
    ranked: Sequence[Match], pool: Sequence[Match], marks: dict[int, int | None]
) -> tuple[Match, ...]:
    """The pool in traversal order, with the scores it was ranked by and what was shown."""
    scored = {match.position: match for match in (*pool, *ranked)}
    return tuple(replace(scored[match.position], shown_at=marks.get(match.position)) for match in pool)


def _pattern(patterns: Sequence[str], files: Sequence[str]) -> str:
    return "|".join([*patterns, *(f"-f {file}" for file in files)])


def _searches(step: Step) -> bool:
    name = step.argv[0] if isinstance(step, Program | Listed) else ""
    return isinstance(step, Search) or name in ("rg", "grep")


def _patterns(step: Step) -> tuple[str, ...]:
    if isinstance(step, Search):
        return step.call.patterns
    return step.patterns if isinstance(step, Program) else ()


def _bad_pattern(step: Step, errors: str) -> bool:
    return _searches(step) and "No such file" not in errors


def _ran(listing: Listing, count: int, scope: ScopeView | None) -> str:
    words = shlex.join(["rg", *listing.search.call.arguments()])
    where = f"of scope_{scope.number}.txt" if scope is not None else "as listed"
    cap = f" | {'tail' if listing.tail else 'head'} -n {listing.cap}" if listing.cap is not None else ""
    return f"{words} -- ({count} files {where}, in order){cap}"


def _written(steps: Sequence[Step]) -> str:
    parts = []
    for step in steps:
        if isinstance(step, Program):
            parts.append(shlex.join([*step.argv, *(place.text for place in step.files)]))
        elif isinstance(step, Search):
            parts.append(shlex.join(["rg", *step.call.arguments()]) + " -- (files in order)")
        elif isinstance(step, Listed):
            parts.append(shlex.join(step.argv) + " -- (files in order)")
    return " | ".join(parts)


def _without_run_dir(output: bytes, executor: Executor) -> bytes:
    """Scopes are called by their names: the run's directory is nobody's business."""
    return output.replace(os.fsencode(executor.context.run_dir) + b"/scope_", b"scope_")


def _seen(text: str, steps: Sequence[Step], executor: Executor) -> tuple[str, ...]:
    """The documents of which ``text`` holds something. A look at a scope or a directory shows none."""
    programs = [step for step in steps if isinstance(step, Program)]
    named = [p.text for step in programs for p in step.files if p.kind == "document"]
    searched = any(isinstance(step, Search | Listed) for step in steps)
    if not text or not (named or searched or any("-r" in step.argv for step in programs)):
        return ()
    found = documents_in(text, executor.documents_known.union(map(os.path.normpath, named)))
    counts = isinstance(steps[-1], Program) and steps[-1].argv[0] in ("wc", "ls")
    return found or (() if counts or searched else tuple(dict.fromkeys(map(os.path.normpath, named))))
