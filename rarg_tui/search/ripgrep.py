"""The ordered engine: ripgrep over a list of paths, in their order, at the speed of many processes.

:func:`scan` gives matches, :func:`~rarg_tui.search.raw.raw` bytes. Both give what ONE
``rg -j1 --no-config --no-mmap -H OPTIONS -e PATTERN -- PATH…`` over the whole list would.
"""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rarg_tui.search.batches import SEARCH_SIZES, Batch, Batches, BatchSizes
from rarg_tui.search.call import Call
from rarg_tui.search.problems import Problems, pattern_error
from rarg_tui.search.process import Children
from rarg_tui.search.rg import Rg
from rarg_tui.search.rg_options import RgCall
from rarg_tui.trace.events import Match

#: After how many seconds without output it is looked why; after that for twice as long.
_QUIET = 1.0

#: Options that say how a line is printed; with --json they do nothing, or take the line number away.
_PRINTING = {
    *("-n", "--line-number", "-N", "--no-line-number", "-H", "--with-filename", "--no-heading"),
    *("-M", "--max-columns", "--max-columns-preview", "--no-max-columns-preview"),
}


@dataclass(frozen=True, slots=True)
class ScanResult:
    """``matches`` in traversal order; ``full``: there are more than were wanted. ``error`` is rg's own
    message when it did not accept the pattern or an option. ``stopped``: ``cancelled``, ``timed_out`` or
    empty."""

    matches: tuple[Match, ...]
    full: bool
    problems: Problems
    error: str = ""
    stopped: str = ""


def scan(
    rg: Rg,
    call: RgCall,
    paths: Sequence[str],
    *,
    root: str,
    children: Children,
    pool: int,
    line_length: int,
    ranks: Mapping[str, int] | None = None,
    refusals: Callable[[Batch], Mapping[str, str]] = lambda paths: {},
    on_matches: Callable[[Sequence[Match]], None] | None = None,
    sizes: BatchSizes = SEARCH_SIZES,
) -> ScanResult:
    """The first ``pool`` matching lines of ``paths`` (relative to ``root``), in their order.

    ``refusals`` names those of some paths that may not be read, and why. ``on_matches`` is given new
    matches as soon as their place in the order is known.
    """
    problems = Problems(given=len(paths))
    matches: list[Match] = []
    full = tried = False
    error = ""
    argv = [rg.path, "--json", "--no-config", "--no-ignore", "--no-mmap", *_arguments(call), "--max-depth=0"]
    plan = Batches(paths, pool + 1, sizes)
    calls: deque[Call] = deque()  # in the order of the paths; only what the first one finds has its place
    quiet = _QUIET
    with Children(parent=children) as flight, selectors.DefaultSelector() as ready:
        while not (full or error or children.stopped):
            running = sum(not one.done for one in calls)
            while running < sizes.workers and len(calls) < sizes.workers + sizes.ahead:
                batch = plan.next()
                if not batch:
                    break
                limit = pool + 1 - len(matches)
                one = Call(
                    argv,
                    batch,
                    refusals(batch),
                    root=root,
                    flight=flight,
                    ready=ready,
                    limit=limit,
                    line_length=line_length,
                    rare=plan.rare,
                )
                one.start()
                calls.append(one)
                running += not one.done
            if not calls:
                break
            if running:
                events = ready.select(quiet)
                for key, _ in events:
                    key.data()
                if not events:
                    quiet *= 2
                    for one in calls:
                        if not one.done:
                            one.look()
            while calls:
                head, ended = calls[0], calls[0].done
                found = head.take()
                fresh = [
                    _placed(match, at, ranks)
                    for at, match in enumerate(found[: pool - len(matches)], len(matches) + 1)
                ]
                full = len(found) > len(fresh)
                matches += fresh
                if fresh and on_matches is not None:
                    on_matches(fresh)
                if full or not ended:
                    break
                calls.popleft()
                plan.note(len(head.batch), head.found)
                problems.add(head.problems)
                if head.failed and not matches and not tried:
                    tried = True
                    error = pattern_error(rg, call, root, children)
    problems = Problems(problems.given) if error else problems
    return ScanResult(tuple(matches), full, problems, error, children.reason)


def _arguments(call: RgCall) -> list[str]:
    options = tuple(option for option in call.options if option.name not in _PRINTING)
    return replace(call, options=options).arguments()


def _placed(match: Match, position: int, ranks: Mapping[str, int] | None) -> Match:
    rank = ranks.get(match.path) if ranks is not None else None
    return Match(match.path, match.line, match.text, match.spans, position, rank, cut=match.cut)
