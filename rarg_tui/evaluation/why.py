"""The way of one document, or of one of its lines, from the corpus to what is shown: how far it came, and
what would have brought it further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from rarg_tui.agent.profiles import Profile
from rarg_tui.corpus.decoding import read_text
from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.left_out import why_left_out
from rarg_tui.errors import RargError
from rarg_tui.relevance.index import Index
from rarg_tui.search.context import Reorder, ShellLimits
from rarg_tui.search.grep import GrepResult, grep
from rarg_tui.search.keywords import keywords
from rarg_tui.search.rg_options import read_rg
from rarg_tui.trace.events import Match

StageName = Literal["corpus", "scope", "matched", "pool", "rerank", "observation"]

STAGES: tuple[StageName, ...] = get_args(StageName)

#: Matches before the one asked for are counted up to here.
_FAR = 100_000

#: So many of a document's matching lines are named.
_NAMED = 5

#: Other quotas that are tried for a line under the cut.
_QUOTAS = (0, 1, 3)


@dataclass(frozen=True, slots=True)
class Stage:
    """``at`` of ``of``: rank in the scope, which of the document's matching lines, position in the traversal
    order of all matches, reranked position, place in the observation. ``None`` where there is none."""

    stage: StageName
    reached: bool
    at: int | None = None
    of: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """``stages`` in order; from ``lost_at`` on none is reached. ``would_help``: clauses. ``line`` is the one
    asked for, or the document's line that came furthest."""

    document: str
    line: int | None
    stages: tuple[Stage, ...]
    would_help: tuple[str, ...] = ()

    @property
    def lost_at(self) -> StageName | None:
        return next((stage.stage for stage in self.stages if not stage.reached), None)


class Why:
    """Follows documents through a search: ``profile`` has its limits, ``ranker`` ranks the documents,
    ``rerank`` with ``match_model`` the matches (``off``: they stay in scope order), by ``rerank_query`` if it
    is not empty."""

    def __init__(
        self,
        corpus: Corpus,
        index: Index,
        profile: Profile,
        *,
        ranker: str,
        rerank: str,
        match_model: str = "static",
        rerank_query: str = "",
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._profile = profile
        self._ranker = ranker
        self._rerank = rerank
        self._match_model = match_model
        self._rerank_query = rerank_query

    def way(self, query: str, rg_args: Sequence[str], document: str, line: int | None = None) -> Way:
        """The way of ``document``, or of its ``line`` (from 1), when ``rg_args`` (options and pattern) are
        searched in the scope of ``query``. Raises :class:`RargError` for a pattern that ripgrep rejects, and
        for options that list something else than matching lines."""
        if not read_rg(rg_args).plain:
            raise RargError("Only matching lines have a way: leave out options such as -c, -l, -o or -C.")
        reason = why_left_out(self._corpus, document)
        documents = len(self._corpus.listing().documents)
        stages = [Stage("corpus", not reason, of=documents, note=reason or "a document")]
        if reason:
            return _lost(document, line, stages)

        scope, paths = self._scope_stage(query, document)
        stages.append(scope)
        own = self._every_match([document], rg_args)
        matched = _matched_stage(own, line)
        stages.append(matched)
        if not scope.reached:
            rank = "no ranker names it" if scope.at is None else f"it is at rank {scope.at}"
            help_ = f"another query or ranker: {rank}, and a scope holds {len(paths)} documents"
            return _lost(document, line, stages, help_)
        if not matched.reached:
            return _lost(document, line, stages, *self._patterns_that_match(document, line, rg_args))

        found = self._grep(paths, rg_args, query, self._reorder())
        return self._within(found, paths, rg_args, document, line, stages)

    def _within(
        self,
        found: GrepResult,
        paths: Sequence[str],
        rg_args: Sequence[str],
        document: str,
        line: int | None,
        stages: list[Stage],
    ) -> Way:
        """The rest of the way: pool, rerank, observation."""
        pool, shown = self._profile.pool, self._profile.shown
        order: Sequence[Match] = found.pool
        reorder = self._reorder()
        if found.reranked and reorder is not None:
            order = reorder.rerank(found.rerank_query, found.keywords, found.pool)
        place = _first(order, document, line)
        if place is None:
            before = paths[: paths.index(document) + 1]
            position = _first(self._every_match(before, rg_args), document, line)
            note = f"the pool holds {pool}" if position else f"{_FAR} matches and more come before it"
            stages.append(Stage("pool", False, position, pool, note))
            wider = [f"--pool {position}"] if position else []
            return _lost(document, line, stages, *wider, "a narrower pattern", "a query that ranks it higher")
        match = order[place - 1]
        line = match.line
        stages.append(Stage("pool", True, match.position, pool))
        note = _scores(match) if found.reranked else _unmoved(self._rerank, len(found.pool), shown)
        stages.append(Stage("rerank", True, place, len(order), note))
        seen = next((m for m in found.shown if m.position == match.position), None)
        if seen is not None:
            stages.append(Stage("observation", True, seen.shown_at, shown))
            return Way(document, line, tuple(stages))
        cut = f"{len(found.shown)} are shown"
        if place <= shown:
            stages.append(Stage("observation", False, place, shown, f"{cut}: no more fit"))
            return _lost(document, line, stages, "a pattern that fewer long lines match")
        stages.append(Stage("observation", False, place, shown, cut))
        return _lost(document, line, stages, f"--show {place}", *self._orders_that_show(found, match))

    def _scope_stage(self, query: str, document: str) -> tuple[Stage, Sequence[str]]:
        cap = self._profile.scope_cap
        scope = self._index.recall(query, top=cap, ranker=self._ranker)
        wide = scope
        if document not in scope.paths:
            everything = len(self._corpus.listing().documents)
            if everything > cap:
                wide = self._index.recall(query, top=everything, rankers=scope.rankers)
        if document not in wide.paths:
            return Stage("scope", False, None, len(scope.paths), "no ranker names it"), scope.paths
        at = wide.paths.index(document)
        by = ((name, ranks[at]) for name, ranks in wide.by.items())
        note = ", ".join(f"{name} {place[0] if place else '–'}" for name, place in by)
        reached = wide is scope
        note = note if reached else f"{note}; the cap is {cap}"
        return Stage("scope", reached, at + 1, len(scope.paths), note), scope.paths

    def _patterns_that_match(self, document: str, line: int | None, rg_args: Sequence[str]) -> list[str]:
        """What could be changed in a pattern that does not match."""
        found = []
        folded = _matched_stage(self._every_match([document], ["-i", *rg_args]), line)
        if folded.reached:
            found.append(f"-i (upper and lower case alike): then {folded.note}")
        text, where = read_text(self._corpus, document), "the document"
        if line is not None:
            lines = text.splitlines()
            if line > len(lines):
                return [f"another line: the document has {len(lines)}"]
            text, where = lines[line - 1], "the line"
        call = read_rg(rg_args)
        asked = keywords(call.patterns, call.fixed)
        there = [word for word in asked if word.casefold() in text.casefold()]
        if there:
            found.append(f"a pattern of fewer words: {where} has {', '.join(there)}")
        elif asked:
            found.append(f"other words: {where} has none of {', '.join(asked)}")
        return found

    def _orders_that_show(self, found: GrepResult, match: Match) -> list[str]:
        """Other orders in which the line would be shown."""
        helps = []
        if found.reranked:
            if match.position <= self._profile.shown:
                helps.append(f"--rerank off: then it is at place {match.position}")
            for quota in _QUOTAS:
                if quota == self._profile.quota:
                    continue
                order = self._index.reranker(self._rerank, quota, self._match_model).rerank(
                    found.rerank_query, found.keywords, found.pool
                )
                place = next(at for at, one in enumerate(order, 1) if one.position == match.position)
                if place <= self._profile.shown:
                    helps.append(f"--quota {quota}: then it is at place {place}")
        return [*helps, "a narrower pattern"]

    def _reorder(self) -> Reorder | None:
        if self._rerank == "off":
            return None
        return self._index.reranker(self._rerank, self._profile.quota, self._match_model)

    def _every_match(self, paths: Sequence[str], rg_args: Sequence[str]) -> Sequence[Match]:
        return self._grep(paths, rg_args, pool=_FAR).pool

    def _grep(
        self,
        paths: Sequence[str],
        rg_args: Sequence[str],
        query: str = "",
        reorder: Reorder | None = None,
        pool: int = 0,
    ) -> GrepResult:
        profile = self._profile
        found = grep(
            self._corpus.root,
            paths,
            rg_args,
            scope_query=query,
            ranked=True,
            limits=ShellLimits(
                pool=pool or profile.pool,
                shown=profile.shown,
                line_length=profile.line_length,
                timeout_s=profile.timeout_s,
            ),
            reorder=reorder,
            rerank_query=self._rerank_query,
        )
        if found.state in ("failed", "timed_out"):
            raise RargError(found.message)
        return found


def _matched_stage(own: Sequence[Match], line: int | None) -> Stage:
    """``own``: all matches of the document."""
    lines = [match.line for match in own]
    if line is not None:
        others = f"lines {_some(lines)} match" if lines else "no line of the document matches"
        if line not in lines:
            return Stage("matched", False, None, len(lines), others)
        return Stage("matched", True, lines.index(line) + 1, len(lines), f"line {line} matches")
    if not lines:
        return Stage("matched", False, None, 0, "no line of the document matches")
    return Stage("matched", True, 1, len(lines), f"lines {_some(lines)} match")


def _some(lines: Sequence[int]) -> str:
    more = f" and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
    return ", ".join(map(str, lines[:_NAMED])) + more


def _first(matches: Sequence[Match], document: str, line: int | None) -> int | None:
    """The place, from 1, of the document's first match, or of its ``line``, in ``matches``."""
    return next(
        (
            place
            for place, match in enumerate(matches, start=1)
            if match.path == document and (line is None or match.line == line)
        ),
        None,
    )


def _scores(match: Match) -> str:
    """The parts of a reranked match's score."""
    parts = ", ".join(f"{name} {value:.4g}" for name, value in (match.parts or {}).items())
    return f"from {match.position}; {parts}"


def _unmoved(rerank: str, matches: int, shown: int) -> str:
    if rerank == "off":
        return "not reranked: it is off"
    return f"not reranked: only {matches} matched" if matches <= shown else "not reranked"


def _lost(document: str, line: int | None, stages: Sequence[Stage], *would_help: str) -> Way:
    later = STAGES[len(stages) :]
    return Way(document, line, (*stages, *(Stage(stage, False) for stage in later)), would_help)
