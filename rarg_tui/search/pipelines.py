"""A pipeline as a plain listing (matches, perhaps reranked), or as written (what it prints)."""

from __future__ import annotations

import os
import shlex
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rarg_tui.errors import RargError
from rarg_tui.search.context import ScopeView, ShellContext
from rarg_tui.search.execute import TOO_MANY, Executor, Piped
from rarg_tui.search.guard import Listed, PipelinePlan, Program, Search, Step
from rarg_tui.search.keywords import focused, keywords
from rarg_tui.search.observation import documents_in, show_matches, show_nothing, show_text, stop_sentence
from rarg_tui.search.outcome import Outcome, rejection, searches, state_of
from rarg_tui.search.process import CANCELLED, TIMED_OUT, Children, Stopped
from rarg_tui.search.refusal import CommandError
from rarg_tui.search.rg import find_rg
from rarg_tui.search.ripgrep import scan
from rarg_tui.search.rule import Listing, follows, scopes_named
from rarg_tui.trace.events import Match

OnMatches = Callable[[Sequence[Match]], None]

#: How much of a pipeline's output is read when names are what it makes.
_NAMES = 64 * 1_024 * 1_024
#: How much of any other output is read: a line of megabytes is shortened, and others come after it.
_OUTPUT = 4 * 1_024 * 1_024
#: How many complaints of the programs that list the names are told.
_SAID = 3
_STOPPED = {TIMED_OUT: 124, CANCELLED: 130}


@dataclass(frozen=True, slots=True)
class _Names:
    """The ``paths`` to search, the one ``scope`` they come from, what to tell about them, and what the
    programs that listed them complained of."""

    paths: Sequence[str] = ()
    scope: ScopeView | None = None
    notes: Sequence[str] = ()
    trouble: str = ""


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
    rg = find_rg()
    began = time.perf_counter()
    with Children(cancel, timeout_s, readable=executor.readable) as children:
        try:
            given = _names(listing, executor, children, outcome)
        except Stopped:
            given = _Names()
        except (CommandError, OSError) as error:
            return _failed(outcome, _sentence(error))
        scope, names = given.scope, given.paths
        ranks = {path: rank for rank, path in enumerate(scope.paths, 1)} if scope is not None else None
        result = scan(
            rg,
            call,
            names,
            root=executor.root,
            children=children,
            pool=limits.pool,
            line_length=limits.line_length,
            ranks=ranks,
            refusals=executor.admission.refusals,
            on_matches=on_matches,
        )
    outcome.scan_ms = (time.perf_counter() - began) * 1000
    outcome.ran = _ran(listing, len(names), scope)
    if result.error:
        return _failed(outcome, result.error)
    pool = [replace(match, position=match.position + before) for match in result.matches]
    shown = min(limits.shown, listing.cap) if listing.cap is not None else limits.shown
    order, notes = _ordered(pool, shown, listing, given, context, outcome)
    notes += filter(None, [result.problems.binary_sentence()])
    # What stopped a search that had all it wanted does not matter.
    stopped = "" if result.full else result.stopped
    troubles = [text for text in (given.trouble, result.problems.sentence()) if text]
    outcome.pool_full = result.full
    if pool:
        view = show_matches(
            order[:shown],
            limits,
            total=len(pool),
            full=result.full,
            reranked=outcome.reranked,
            last=listing.tail and not outcome.reranked,
            notes=[*notes, *_stop_notes(stopped, limits.timeout_s), *troubles],
        )
        outcome.text, outcome.shown = view.text, len(view.matches)
        outcome.seen = tuple(dict.fromkeys(match.path for match in view.matches))
        outcome.pool = _with_marks(order, pool, {m.position: m.shown_at for m in view.matches})
        outcome.state = stopped or ("partial" if troubles else "ok")
    else:
        read_none = bool(troubles) and (result.problems.all or not names)
        outcome.text = show_nothing(
            files=len(names),
            stopped=stopped,
            timeout_s=limits.timeout_s,
            read_none=read_none,
            trouble="; ".join(troubles),
            notes=notes,
        )
        outcome.state = stopped or ("failed" if read_none else "partial" if troubles else "no_match")
    outcome.message = "; ".join([*_stop_notes(stopped, limits.timeout_s), *troubles])
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
    limits, steps = executor.context.limits, pipeline.steps
    if searches(steps):
        find_rg()  # said here when it is missing: the threads of a pipeline could not
    began = time.perf_counter()
    with Children(cancel, timeout_s, readable=executor.readable) as children:
        piped = executor.run(steps, children, max(_OUTPUT, limits.output_bytes))
        stopped = children.reason if children.reason in (CANCELLED, TIMED_OUT) else ""
    outcome = Outcome("ok", _status(piped.codes, pipefail), "", searches=searches(steps))
    outcome.scan_ms = (time.perf_counter() - began) * 1000
    outcome.ran = _written(steps)
    scopes = scopes_named(steps)
    outcome.scope = scopes[0] if len(scopes) == 1 else None
    outcome.pattern = "|".join(next((p for s in steps if (p := _patterns(s))), ()))
    errors = _without_run_dir(os.fsencode(piped.errors), executor).decode("utf-8", "replace")
    piped = replace(piped, output=_without_run_dir(piped.output, executor), errors=errors)
    if error := piped.failure or rejection(steps, piped):
        return _failed(outcome, error)
    outcome.state = stopped or state_of(steps, piped, outcome.exit_code)
    outcome.exit_code = _STOPPED.get(stopped, outcome.exit_code)
    trouble = "; ".join(scan.problems.sentence() for scan in piped.scans if scan.problems)
    notes = [*_stop_notes(stopped, limits.timeout_s), *filter(None, [trouble])]
    outcome.message = "; ".join(notes) or errors.strip().partition("\n")[0]
    if piped.output:
        many = piped.output.count(b"\n") > limits.shown
        if many and executor.context.reorder is not None and any(isinstance(s, Search) for s in steps):
            notes.append("run as written, not reranked")
        outcome.text = show_text(piped.output, piped.cut, errors, limits, notes)
        outcome.seen = _seen(outcome.text, steps, executor)
    elif errors or not searches(steps) or outcome.state == "ok":
        outcome.text = show_text(b"", False, errors, limits, notes)
    elif outcome.state == "failed" and not trouble:
        outcome.text = f"(error: exit status {max(piped.codes)}, and nothing was printed)"
    else:
        outcome.text = show_nothing(
            files=sum(scan.problems.given for scan in piped.scans) if piped.scans else 1,
            stopped=stopped,
            timeout_s=limits.timeout_s,
            read_none=outcome.state == "failed",
            trouble=trouble,
        )
    return outcome


def _ordered(
    pool: Sequence[Match],
    shown: int,
    listing: Listing,
    given: _Names,
    context: ShellContext,
    outcome: Outcome,
) -> tuple[Sequence[Match], list[str]]:
    """The pool in the order to show it, and what to tell about that. Only what does not fit is reranked."""
    order, notes, call = pool[-shown:] if listing.tail else pool, list(given.notes), listing.search.call
    scope = given.scope
    if context.reorder is None or scope is None or len(pool) <= shown or not follows(given.paths, scope):
        return order, notes
    words = keywords(call.patterns, call.fixed)
    outcome.rerank_query = focused(scope.query, words, context.rerank_query)
    began = time.perf_counter()
    try:
        order = context.reorder.rerank(outcome.rerank_query, words, pool)
        outcome.reranked = True
    except RargError as error:
        notes.append(f"not reranked: {str(error).rstrip('.')}")
    outcome.rerank_ms = (time.perf_counter() - began) * 1000
    return order, notes


def _names(listing: Listing, executor: Executor, children: Children, outcome: Outcome) -> _Names:
    """Raises :class:`CommandError` for a list that cannot be made, ``OSError`` and :class:`Stopped` for a
    file or a program that is needed for it."""
    search, context = listing.search, executor.context
    if search.xargs is None:
        filters = [word for option in search.call.filters for word in option.argv()]
        return _Names(executor.documents(search.places, filters, children))
    steps = (*listing.upstream, search)
    numbers = scopes_named(steps)
    scope = context.scopes[numbers[0]] if len(numbers) == 1 else None
    outcome.scope = scope.number if scope is not None else None
    piped = Piped(b"", False, [], "", [])
    if listing.upstream:
        piped = executor.run(listing.upstream, children, _NAMES)
        failure = piped.failure or rejection(listing.upstream, piped)
        if failure or piped.cut:
            raise CommandError(failure or TOO_MANY)
    names = executor.names(search.xargs, piped.output)
    notes = []
    if search.call.filters:
        notes.append("-g, -t and the like do not filter files that are named, as in rg itself")
    if len(numbers) > 1:
        files = " and ".join(f"scope_{number}.txt" for number in numbers)
        notes.append(f"the names come from {files}: matches stand in the order of that list")
    elif scope is not None and not follows(names, scope):
        notes.append("the names are not in the order of the scope: matches stand in the order of the list")
    troubles = [scan.problems.sentence() for scan in piped.scans if scan.problems]
    said = _without_run_dir(os.fsencode(piped.errors), executor).decode("utf-8", "replace")
    if lines := said.strip().splitlines():
        more = f" and {len(lines) - _SAID} more" if len(lines) > _SAID else ""
        troubles.append("; ".join(lines[:_SAID]) + more)
    return _Names(names, scope, notes, "; ".join(troubles))


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{os.path.basename(os.fsdecode(error.filename))}: {error.strerror}"
    return str(error)


def _listing_code(outcome: Outcome, headed: bool, pipefail: bool) -> int:
    code = {"ok": 0, "partial": 0 if outcome.pool else 2, "no_match": 1, **_STOPPED}.get(outcome.state, 2)
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


def _stop_notes(stopped: str, timeout_s: float) -> list[str]:
    return [f"{stop_sentence(stopped, timeout_s)}, there may be more"] if stopped else []


def _with_marks(
    ranked: Sequence[Match], pool: Sequence[Match], marks: dict[int, int | None]
) -> tuple[Match, ...]:
    """The pool in traversal order, with the scores it was ranked by and what was shown."""
    scored = {match.position: match for match in (*pool, *ranked)}
    return tuple(replace(scored[match.position], shown_at=marks.get(match.position)) for match in pool)


def _pattern(patterns: Sequence[str], files: Sequence[str]) -> str:
    return "|".join([*patterns, *(f"-f {file}" for file in files)])


def _patterns(step: Step) -> tuple[str, ...]:
    if isinstance(step, Search):
        return step.call.patterns
    return step.patterns if isinstance(step, Program) else ()


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
