"""The offline planner: an agent without a language model. It drives the same tools through the same
session as a model does, and gives evidence, not prose.

Each reply is worked out anew from what the run has shown, so that a person may edit, skip or insert
calls, and a fork goes on as the run itself would have:

1. rank the corpus for the question; without entry points, list and read the best documents;
2. search the scope for the names in the question, then for lines that hold two of its words;
3. follow the names that the best sentences give, the most telling first, and read where they lead to;
4. when no name is worth it, or two searches in a row changed nothing, cite the best sentences.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event as Cancel
from typing import Any

from rarg_tui.agent import planner_shown as shown
from rarg_tui.agent import planner_terms as terms
from rarg_tui.agent.model import Reply, Request
from rarg_tui.agent.planner_answer import MOST_CITED, answer
from rarg_tui.agent.planner_evidence import Evidence, Lead, Weights
from rarg_tui.agent.planner_names import Rarity
from rarg_tui.trace.events import ToolCall
from rarg_tui.trace.state import RunState


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the planner goes. Searches are those with ripgrep."""

    #: Calls after which it answers, whatever else there might be.
    calls: int = 14
    #: Searches in a row that may bring nothing new.
    stale: int = 2
    #: Documents that are read at the beginning where there are no entry points, …
    first_reads: int = 3
    #: … and those that are read because a name led to them.
    reads: int = 3
    #: A document is read when it is among so many best ones.
    worth_reading: int = 3
    #: Lines that one read asks for, and those before the best sentence.
    read_lines: int = 60
    read_before: int = 20
    #: Question words that one search pairs.
    words: int = 6
    #: Names that one search looks for, …
    names: int = 3
    #: … the documents that all of them but the first may be expected in, …
    crowd: int = 10
    #: … and how much less than the first they may be worth.
    equal: float = 0.7
    #: The least worth of a name that is followed, and of one that is looked for again, by itself.
    worth: float = 0.3
    worth_again: float = 0.4
    #: Documents beyond which a name is no guide: a search could not even show a line of each.
    most_documents: int = 30


class OfflinePlanner:
    """Decides the next step from what was shown and how rare words are; the same run state always gives
    the same reply.

    ``rarity`` gives the number of documents that hold each of some words, out of ``documents``.
    """

    label = "offline planner"

    def __init__(
        self,
        rarity: Callable[[Sequence[str]], Sequence[int]],
        documents: int,
        weights: Weights | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self._rarity = Rarity(rarity, documents)
        self._weights = weights or Weights()
        self._bounds = bounds or Bounds()

    def reply(self, request: Request, cancel: Cancel | None = None) -> Reply:
        """The next call or calls, or the answer. Takes some ten milliseconds, so ``cancel`` is not
        looked at."""
        evidence = Evidence(request.question, request.state, self._rarity, self._weights)
        if not request.force_answer:
            steps = (self._rank, self._look, self._names, self._words, self._read, self._follow, self._list)
            for step in steps:
                if reply := step(request, evidence):
                    return reply
        return answer(evidence, request.profile.answer_form == "ranking")

    def _rank(self, request: Request, evidence: Evidence) -> Reply | None:
        if request.state.scopes or any(call.tool == "embed_recall" for call in request.state.calls):
            return None
        query = {"query": request.question}
        return _reply(request.state, "Ranking the documents by the question.", ("embed_recall", query))

    def _look(self, request: Request, evidence: Evidence) -> Reply | None:
        """Without entry points the best documents themselves are where to begin."""
        state = request.state
        if request.strategy.entry_points or not _can_search(state):
            return None
        if not any(map(shown.is_listing, state.calls)):
            return self._listing(state)
        best = list(evidence.shown)[: self._bounds.first_reads]
        if shown.read_paths(state) or not best:
            return None
        reads = [("read", {"path": path, "limit": self._bounds.read_lines}) for path in best]
        return _reply(state, "Reading the best documents of the scope.", *reads)

    def _names(self, request: Request, evidence: Evidence) -> Reply | None:
        tried = shown.patterns(request.state)
        leads = [
            lead
            for lead in evidence.asked
            if lead.clue.expected <= self._bounds.most_documents and lead.clue.pattern not in tried
        ]
        return self._search(request.state, "The question names {}; looking for {} in scope {}.", leads[:4])

    def _words(self, request: Request, evidence: Evidence) -> Reply | None:
        """Lines with two words of the question: of each half by itself where the question is long, since
        its steps have their answers in different places."""
        state = request.state
        if not _can_search(state):
            return None
        tried = shown.patterns(state)
        order = list(evidence.terms)
        half = (len(order) + 1) // 2
        parts = [order] if len(order) <= self._bounds.words else [order[:half], order[half:]]
        for part in parts:
            rarest = sorted(part, key=lambda word: -evidence.terms[word])[: self._bounds.words]
            patterns = _pairs(rarest)
            if patterns and not tried.issuperset(patterns):
                which = "" if len(parts) == 1 else f" {'first' if part is parts[0] else 'second'} half of the"
                text = f"Looking for lines with two words of the{which} question."
                return _grep(state, text, patterns)
        rarest = sorted(order, key=lambda word: -evidence.terms[word])[: self._bounds.names]
        alone = [terms.stem_pattern(word) for word in rarest]
        if alone and not evidence.facts and not tried.issuperset(alone):
            return _grep(state, "No line holds two words of the question; looking for single ones.", alone)
        return None

    def _read(self, request: Request, evidence: Evidence) -> Reply | None:
        """The document that the last search led to by a name, if it is among the best: what a name has to
        tell need not stand in the line that holds it."""
        state = request.state
        before = shown.read_paths(state)
        most = self._bounds.reads + (0 if request.strategy.entry_points else self._bounds.first_reads)
        if not state.calls or len(before) >= most or len(state.calls) >= self._bounds.calls:
            return None
        for path in evidence.ranking()[: self._bounds.worth_reading]:
            hit = state.hits.get(path)
            lead = evidence.led_to(path)
            if path in before or lead is None or hit is None or hit.calls[0] != state.calls[-1].number:
                continue
            first = max(1, evidence.best(path)[0][0].line - self._bounds.read_before)
            arguments = {"path": path, "offset": first, "limit": self._bounds.read_lines}
            return _reply(state, f"{lead.text} leads to {path}; reading it.", ("read", arguments))
        return None

    def _follow(self, request: Request, evidence: Evidence) -> Reply | None:
        """The names worth most that have not been looked for, or of which a search together with other
        names did not show all."""
        state, bounds = request.state, self._bounds
        if len(state.calls) >= bounds.calls or self._is_stale(state, evidence):
            return None
        tried, exhausted = shown.patterns(state), shown.exhausted(state)
        chosen: list[Lead] = []
        crowd = bounds.crowd
        for lead in sorted(evidence.leads.values(), key=lambda lead: (-lead.worth, lead.clue.key)):
            pattern, expected = lead.clue.pattern, lead.clue.expected
            if lead.worth < max(bounds.worth, bounds.equal * chosen[0].worth if chosen else 0.0):
                break
            if pattern in exhausted or expected > bounds.most_documents or len(chosen) >= bounds.names:
                continue
            if pattern in tried:
                if not chosen and lead.worth >= bounds.worth_again:
                    text = "Not all lines with {} were shown; looking for {} alone in scope {}."
                    return self._search(state, text, [lead])
            elif not chosen or expected <= crowd:
                chosen.append(lead)
                crowd -= expected
        source = chosen[0].source if chosen else None
        who = source.path if source and len(chosen) == 1 else "What was found"
        return self._search(state, who + " names {}; looking for {} in scope {}.", chosen)

    def _list(self, request: Request, evidence: Evidence) -> Reply | None:
        """A ranking needs ten documents: where fewer were seen, the scope's own order gives the rest."""
        state = request.state
        if request.profile.answer_form != "ranking" and evidence.facts:
            return None
        if len(evidence.shown) >= MOST_CITED or any(map(shown.is_listing, state.calls)):
            return None
        return self._listing(state) if _can_search(state) else None

    def _is_stale(self, state: RunState, evidence: Evidence) -> bool:
        """Whether the last searches for names brought none of the documents that are now the best."""
        leads = {lead.clue.pattern for lead in evidence.leads.values()}
        last = [number for number, patterns in shown.searches(state) if not leads.isdisjoint(patterns)]
        best = evidence.ranking()[:MOST_CITED]
        first = {state.hits[path].calls[0] for path in best if path in state.hits}
        return len(last) >= self._bounds.stale and first.isdisjoint(last[-self._bounds.stale :])

    def _listing(self, state: RunState) -> Reply:
        scope = state.scopes[-1].number
        command = shown.listing(scope, MOST_CITED)
        return _reply(state, f"Listing the best documents of scope {scope}.", ("bash", {"command": command}))

    def _search(self, state: RunState, text: str, leads: Sequence[Lead]) -> Reply | None:
        """A search for names; ``text`` has room for them, for how to refer to them, and for the scope."""
        if not leads or not _can_search(state):
            return None
        named = [lead.text for lead in leads]
        listed = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
        if "alone" in text:
            refer = "it"
        else:
            refer = "that name" if len(named) == 1 else "these names"
        return _grep(
            state,
            text.format(listed, refer, state.scopes[-1].number),
            [lead.clue.pattern for lead in leads],
        )


def _can_search(state: RunState) -> bool:
    return bool(state.scopes) and state.scopes[-1].documents > 0


def _pairs(words: Sequence[str]) -> list[str]:
    """Patterns for a line that holds two of ``words``, in either order; a lone word stands for itself."""
    if len(words) == 1:
        return [terms.stem_pattern(words[0])]
    return [
        terms.stem_pattern(word) + ".*(?:" + "|".join(terms.stem_pattern(w) for w in words if w != word) + ")"
        for word in words
    ]


def _grep(state: RunState, text: str, patterns: Sequence[str]) -> Reply:
    quoted = " ".join(f"-e {shlex.quote(pattern)}" for pattern in patterns)
    command = f"cat scope_{state.scopes[-1].number}.txt | xargs -d '\\n' rg -n -i {quoted}"
    return _reply(state, text, ("bash", {"command": command}))


def _reply(state: RunState, text: str, *calls: tuple[str, Mapping[str, Any]]) -> Reply:
    first = len(state.calls) + 1
    return Reply(
        text,
        calls=tuple(
            ToolCall(f"planner-{number}", tool, arguments, json.dumps(arguments, ensure_ascii=False))
            for number, (tool, arguments) in enumerate(calls, first)
        ),
    )
