"""What is a plain listing, and what of it is reranked: the one rule, in one place.

A pipeline is a plain listing when rg lists matching lines of files, with options that do not change
what is printed, and at most one ``head`` or ``tail`` follows:

========================================  ==========================  =======================
pipeline                                  is shown as                 reranked
========================================  ==========================  =======================
names of one scope | xargs rg             the first m matches         when more than m matched
the same | head -n N, or | tail -n N      the first min(m, N)         when more than that
rg FILE …, rg over the whole corpus       the first m matches         never
anything else                             what it prints, cut         never
========================================  ==========================  =======================

"Names of one scope" is judged by the names: all from that scope, in its order. Where nothing can be
reranked, for want of a reranker or of one scope, ``| tail`` makes a pipeline run as written, since the
last matches are only known at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rarg_tui.search.context import ScopeView
from rarg_tui.search.guard import Listed, PipelinePlan, Program, Search, Step


@dataclass(frozen=True, slots=True)
class Listing:
    """A pipeline that lists matching lines: ``upstream`` makes the names, ``search`` is rg, ``cap`` the
    number of a head or tail after it, ``tail`` whether it is a tail."""

    upstream: tuple[Step, ...]
    search: Search
    cap: int | None = None
    tail: bool = False


def listing_of(plan: PipelinePlan, reranks: bool) -> Listing | None:
    """``plan`` as a plain listing, or ``None`` when it runs as written."""
    steps = list(plan.steps)
    cap, tail = None, False
    if len(steps) > 1 and (number := _head_or_tail(steps[-1])) is not None:
        last = steps.pop()
        cap, tail = number, isinstance(last, Program) and last.argv[0] == "tail"
    search = steps[-1]
    if not isinstance(search, Search) or not search.call.plain or search.redirects.stdout != "pipe":
        return None
    if search.xargs is None and any(isinstance(step, Search | Listed) for step in steps[:-1]):
        return None
    if tail and not (reranks and search.xargs is not None and len(scopes_named(steps)) == 1):
        return None
    return Listing(tuple(steps[:-1]), search, cap, tail)


def scopes_named(steps: Sequence[Step]) -> list[int]:
    """The scopes that a pipeline reads names from, each once, in order."""
    found: dict[int, None] = {}
    for step in steps:
        if isinstance(step, Program):
            found.update(dict.fromkeys(place.scope for place in step.files if place.kind == "scope"))
        elif isinstance(step, Search | Listed) and step.xargs is not None and step.xargs.scope:
            found[step.xargs.scope] = None
    return list(found)


def follows(names: Sequence[str], scope: ScopeView) -> bool:
    """Whether all ``names`` are of ``scope``, in its order."""
    ranks = {path: rank for rank, path in enumerate(scope.paths)}
    last = -1
    for name in names:
        rank = ranks.get(name, -1)
        if rank <= last:
            return False
        last = rank
    return True


def _head_or_tail(step: Step) -> int | None:
    if not isinstance(step, Program) or step.argv[0] not in ("head", "tail") or step.files:
        return None
    words = step.argv[1:]
    if step.redirects.stdout != "pipe":
        return None
    if not words:
        return 10
    value = words[1] if len(words) == 2 and words[0] == "-n" else ""
    if len(words) == 1 and (found := re.fullmatch(r"--lines=(\d+)", words[0])):
        value = found[1]
    return int(value) if re.fullmatch(r"[1-9]\d{0,8}", value) else None
