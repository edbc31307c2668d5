"""Scoped search for people: rg's own options, over a list of documents, in their order."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rarg_tui.errors import RargError
from rarg_tui.search.context import Reorder, ShellLimits
from rarg_tui.search.documents import filtered
from rarg_tui.search.keywords import focused, keywords
from rarg_tui.search.observation import show_matches, show_text, stop_sentence
from rarg_tui.search.places import Admission, Policy
from rarg_tui.search.problems import Problems
from rarg_tui.search.process import Children, Stopped
from rarg_tui.search.raw import raw
from rarg_tui.search.refusal import CommandError
from rarg_tui.search.rg import find_rg
from rarg_tui.search.rg_options import RgCall, read_rg
from rarg_tui.search.ripgrep import scan
from rarg_tui.trace.events import Match

#: How much of an output is read: a line of megabytes is shortened, and others come after it.
_OUTPUT = 4 * 1_024 * 1_024


@dataclass(frozen=True, slots=True)
class GrepResult:
    """``state`` is ``ok``, ``no_match``, ``partial``, ``failed``, ``timed_out`` or ``cancelled``.

    ``pool`` holds the first matches in traversal order, ``shown`` those of the budget in the order to
    show. ``text`` is the same for reading, and ``notice`` says what was cut of it; where options ask for
    something else than matching lines (``-c``, ``-l``, ``-C``, …) it is rg's output cut to the budget, with
    its notice, and there is no pool.
    """

    pattern: str
    state: str
    message: str
    rg_version: str
    text: str
    notice: str = ""
    reranked: bool = False
    rerank_query: str = ""
    keywords: tuple[str, ...] = ()
    pool: tuple[Match, ...] = ()
    shown: tuple[Match, ...] = ()
    pool_full: bool = False
    elapsed_ms: Mapping[str, float] = field(default_factory=lambda: {"scan": 0.0, "rerank": 0.0})


@dataclass(frozen=True, slots=True)
class RawResult:
    """How a raw search ended. ``exit_code``: 0 found, 1 nothing found, 2 failed, 130 cancelled."""

    state: str
    message: str
    exit_code: int


def grep(
    root: Path,
    paths: Sequence[str],
    rg_args: Sequence[str],
    *,
    scope_query: str | None,
    ranked: bool,
    limits: ShellLimits,
    reorder: Reorder | None,
    rerank_query: str = "",
    cancel: threading.Event | None = None,
    on_matches: Callable[[Sequence[Match]], None] | None = None,
) -> GrepResult:
    """Search ``paths`` (relative to ``root``) in their order.

    ``rg_args`` are options and pattern as typed. ``ranked``: the order is that of a scope, so matches
    have document ranks and may be reranked with ``reorder``, for ``scope_query`` or the caller's own
    ``rerank_query``; other lists are reranked only when one of the two is given. Filters (``-g``, ``-t``)
    leave documents out. Raises :class:`~rarg_tui.errors.RargError` for options that are not available.
    """
    rg = find_rg()
    call = _read(rg_args)
    began = time.perf_counter()
    result = GrepResult("|".join(call.patterns), "ok", "", rg.version, "")
    admission = _admission(root)
    with Children(cancel, limits.timeout_s, readable=_readable(root, call)) as children:
        try:
            names = _filtered(call, paths, str(root), children)
        except Stopped:
            names = ()
        if not call.plain:
            return _written(result, call, names, root, children, limits, began)
        ranks = {path: rank for rank, path in enumerate(paths, 1)} if ranked else None
        found = scan(
            rg,
            call,
            names,
            root=str(root),
            children=children,
            pool=limits.pool,
            line_length=limits.line_length,
            ranks=ranks,
            refusals=admission.refusals_of_documents,
            on_matches=on_matches,
        )
    elapsed = {"scan": _ms(began), "rerank": 0.0}
    stopped = "" if found.full else found.stopped
    state, message = _state(bool(found.matches), found.problems, found.error, stopped, limits)
    words = keywords(call.patterns, call.fixed)
    query = focused(scope_query or "", words, rerank_query)
    order: Sequence[Match] = found.matches
    wanted = bool(scope_query or rerank_query)
    reranked, notes = False, [note for note in (found.problems.binary_sentence(),) if note]
    if reorder is not None and wanted and len(found.matches) > limits.shown:
        began = time.perf_counter()
        try:
            order, reranked = reorder.rerank(query, words, found.matches), True
        except RargError as error:
            notes.append(f"not reranked: {str(error).rstrip('.')}")
        elapsed["rerank"] = _ms(began)
    view = show_matches(
        order[: limits.shown],
        limits,
        total=len(found.matches),
        full=found.full,
        reranked=reranked,
        notes=[*filter(None, [message]), *notes] if found.matches else [],
    )
    scored = {match.position: replace(match, shown_at=None) for match in order}
    scored.update({match.position: match for match in view.matches})
    return replace(
        result,
        state=state,
        message=message,
        text=view.rows,
        notice=view.notice,
        reranked=reranked,
        rerank_query=query if reranked else "",
        keywords=tuple(words),
        pool=tuple(scored[match.position] for match in found.matches),
        shown=view.matches,
        pool_full=found.full,
        elapsed_ms=elapsed,
    )


def grep_raw(
    root: Path,
    paths: Sequence[str],
    rg_args: Sequence[str],
    write: Callable[[bytes], object],
    cancel: threading.Event | None = None,
    *,
    whole_corpus: bool = False,
) -> RawResult:
    """rg's own output over ``paths``, in their order, given to ``write`` as it comes: nothing reranked,
    nothing cut, byte for byte what one ordered rg would print.

    As in rg itself, filters do not touch files that are named, unless ``paths`` are the ``whole_corpus``.
    """
    call = _read(rg_args)
    with Children(cancel, readable=_readable(root, call)) as children:
        names = _filtered(call, paths, str(root), children) if whole_corpus else paths
        done = raw(
            find_rg(),
            call,
            names,
            root=str(root),
            children=children,
            write=write,
            refusal=_admission(root).refusal,
        )
    state, message = _state(done.found, done.problems, done.error, done.stopped, ShellLimits())
    code = {"ok": 0, "partial": 0 if done.found else 2, "no_match": 1, "cancelled": 130}.get(state, 2)
    return RawResult(state, message, code)


def _read(rg_args: Sequence[str]) -> RgCall:
    call = read_rg(rg_args)
    if call.files:
        raise CommandError("rg --files is not available here; rarg recall lists the documents of a scope.")
    if call.paths:
        raise CommandError(
            f"{call.paths[0]!r} follows the pattern, but what is searched comes from the scope; leave it "
            "out, or quote the pattern if it is part of it."
        )
    files = tuple(os.path.abspath(file) if os.path.exists(file) else file for file in call.pattern_files)
    return replace(call, pattern_files=files)


def _admission(root: Path) -> Admission:
    return Admission(Policy(str(root), str(root), (), whole_corpus=True, hidden=True))


def _readable(root: Path, call: RgCall) -> tuple[str, ...]:
    return (str(root), *call.pattern_files)


def _filtered(call: RgCall, paths: Sequence[str], root: str, children: Children) -> Sequence[str]:
    filters = [word for option in call.filters for word in option.argv()]
    if not filters:
        return paths
    allowed = frozenset(filtered(filters, root, children))
    return [path for path in paths if path in allowed]


def _written(
    result: GrepResult,
    call: RgCall,
    names: Sequence[str],
    root: Path,
    children: Children,
    limits: ShellLimits,
    began: float,
) -> GrepResult:
    kept = bytearray()
    limit = max(_OUTPUT, limits.output_bytes)

    def write(chunk: bytes) -> None:
        kept.extend(chunk[: limit + 1 - len(kept)])
        if len(kept) > limit:
            raise BrokenPipeError

    refusal = _admission(root).refusal
    done = raw(find_rg(), call, names, root=str(root), children=children, write=write, refusal=refusal)
    state, message = _state(done.found, done.problems, done.error, done.stopped, limits)
    text = show_text(bytes(kept), done.cut, "", limits, [message] if message and kept else [])
    return replace(
        result, state=state, message=message, text=text, elapsed_ms={"scan": _ms(began), "rerank": 0.0}
    )


def _state(found: bool, problems: Problems, error: str, stopped: str, limits: ShellLimits) -> tuple[str, str]:
    if stopped:
        said = f"{stop_sentence(stopped, limits.timeout_s)}, there may be more"
        return stopped, "; ".join(filter(None, [said, problems.sentence()]))
    if error:
        return "failed", error
    if problems:
        return "partial" if found or not problems.all else "failed", problems.sentence()
    return "ok" if found else "no_match", ""


def _ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)
