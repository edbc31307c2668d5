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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event as Cancel

from rarg_tui.agent import planner_terms as terms
from rarg_tui.agent.model import OnText, Reply, Request
from rarg_tui.agent.planner_answer import answer
from rarg_tui.agent.planner_evidence import Evidence, Lead, Weights
from rarg_tui.agent.planner_history import History
from rarg_tui.agent.planner_moves import MOST_CITED, Moves, Wanted, as_calls
from rarg_tui.agent.planner_names import Rarity

_LISTING = "Listing the best documents of {place}."


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
    #: Names of the question that are looked for.
    asked: int = 4
    #: Names that one search looks for, …
    names: int = 3
    #: … the documents that all of them but the first may be expected in, …
    crowd: int = 10
    #: … and how much less than the first they may be worth.
    equal: float = 0.7
    #: The least worth of a name that is followed, and of one that is looked for again, by itself.
    worth: float = 0.25
    worth_again: float = 0.4
    #: Documents beyond which a name is no guide: a search could not even show a line of each.
    most_documents: int = 30


class OfflinePlanner:
    """Decides the next step from what was shown and how rare words are; the same run state always gives
    the same reply.

    ``rarity`` gives the number of documents that hold each of some words, out of ``documents``.
    """

    label = "offline planner"
    server = ""

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

    def reply(self, request: Request, cancel: Cancel | None = None, on_text: OnText | None = None) -> Reply:
        """The next call or calls, or the answer. Takes some ten milliseconds, so ``cancel`` is not
        looked at."""
        state = request.state
        evidence = Evidence(request.question, state, self._rarity, self._weights)
        if not request.force_answer:
            turn = Turn(request, evidence, History(state), Moves(request.strategy, state))
            if turn.moves.must_rank and not state.scopes and not turn.history.ranked:
                return turn.reply(
                    "Ranking the documents by the question.", *turn.moves.rank(request.question)
                )
            if not turn.moves.must_rank or (state.scopes and state.scopes[-1].documents):
                steps = (self._look, self._names, self._words, self._read, self._follow, self._fill)
                for step in steps:
                    if reply := step(turn):
                        return reply
        return answer(evidence, request)

    def _look(self, turn: Turn) -> Reply | None:
        """Without entry points the best documents themselves are where to begin."""
        if not turn.moves.reads or (turn.request.strategy.entry_points and turn.evidence.facts):
            return None
        if not turn.history.listed and (listing := turn.moves.listing()):
            return turn.reply(_LISTING.format(place=turn.moves.place), listing)
        best = list(turn.evidence.shown)[: self._bounds.first_reads]
        if turn.history.read or not best:
            return None
        reads = [turn.moves.read(path, 1, self._bounds.read_lines) for path in best]
        return turn.reply(f"Reading the best documents of {turn.moves.place}.", *reads)

    def _names(self, turn: Turn) -> Reply | None:
        names = [
            lead
            for lead in turn.evidence.asked
            if lead.clue.expected <= self._bounds.most_documents and not turn.tried(lead)
        ]
        return turn.look_for("The question names", names[: self._bounds.asked]) if names else None

    def _words(self, turn: Turn) -> Reply | None:
        """Lines with two words of the question: of each half by itself where the question is long, since
        its steps have their answers in different places."""
        if not turn.moves.searches:
            return None
        evidence, history = turn.evidence, turn.history

        def rarest(words: Sequence[str], most: int) -> list[str]:
            return sorted(words, key=lambda word: -evidence.terms[word])[:most]

        most = self._bounds.words
        order = list(evidence.terms)
        half = (len(order) + 1) // 2
        parts = {"question": order}
        if len(order) > most:
            parts = {"first half of the question": order[:half], "second half of the question": order[half:]}
        for name, part in parts.items():
            patterns = _pairs(rarest(part, most))
            if patterns and not history.tried(*patterns):
                return turn.grep(f"Looking for lines with two words of the {name}.", patterns)
            narrower = _pairs(rarest(part, most), more=1) if len(part) > 2 else []
            if narrower and not history.tried(*narrower) and not all(map(history.exhausted, patterns)):
                text = f"Not all of them were shown; looking for lines with three words of the {name}."
                return turn.grep(text, narrower)
        alone = [terms.stem_pattern(word) for word in rarest(order, self._bounds.names)]
        if alone and not history.found and not history.tried(*alone):
            return turn.grep("Nothing found yet; looking for single words of the question.", alone)
        return None

    def _read(self, turn: Turn) -> Reply | None:
        """The document that the last search led to by a name, if it is among the best: what it has to
        tell need not stand in the line that holds the name."""
        state, evidence, history, bounds = turn.request.state, turn.evidence, turn.history, self._bounds
        most = bounds.reads + (0 if turn.request.strategy.entry_points else bounds.first_reads)
        if not turn.moves.reads or len(history.read) >= most or len(state.calls) >= bounds.calls:
            return None
        for path in evidence.ranking()[: bounds.worth_reading]:
            hit, lead = state.hits.get(path), evidence.led_to(path)
            if path in history.read or lead is None or hit is None or hit.calls[0] != state.calls[-1].number:
                continue
            first = max(1, evidence.best(path)[0][0].line - bounds.read_before)
            read = turn.moves.read(path, first, bounds.read_lines)
            return turn.reply(f"{lead.text} leads to {path}; reading it.", read)
        return None

    def _follow(self, turn: Turn) -> Reply | None:
        """The names worth most that have not been looked for, or of which a search together with other
        names did not show all."""
        evidence, history, bounds = turn.evidence, turn.history, self._bounds
        if len(turn.request.state.calls) >= bounds.calls or self._is_stale(turn):
            return None
        chosen: list[Lead] = []
        crowd = bounds.crowd
        for lead in sorted(evidence.leads.values(), key=lambda lead: (-lead.worth, lead.clue.key)):
            pattern, expected = lead.clue.pattern, lead.clue.expected
            if lead.worth < max(bounds.worth, bounds.equal * chosen[0].worth if chosen else 0.0):
                break
            if history.exhausted(pattern) or expected > bounds.most_documents:
                continue
            if turn.tried(lead):
                if turn.moves.searches and not chosen and lead.worth >= bounds.worth_again:
                    text = f"Not all lines with {lead.text} were shown; looking for it alone."
                    return turn.grep(text, [pattern])
            elif not chosen or (expected <= crowd and len(chosen) < bounds.names):
                chosen.append(lead)
                crowd -= expected
        if not chosen:
            return None
        source = chosen[0].source
        only = source is not None and all(lead.source and lead.source.path == source.path for lead in chosen)
        return turn.look_for(f"{source.path} names" if only and source else "The best lines name", chosen)

    def _fill(self, turn: Turn) -> Reply | None:
        """A ranking needs ten documents: where fewer were seen, the scope's own order gives the rest."""
        ranking = turn.request.profile.answer_form == "ranking"
        if not ranking or turn.history.listed or len(turn.evidence.shown) >= MOST_CITED:
            return None
        listing = turn.moves.listing()
        return turn.reply(_LISTING.format(place=turn.moves.place), listing) if listing else None

    def _is_stale(self, turn: Turn) -> bool:
        """Whether the last searches for names brought none of the documents that are now the best."""
        evidence, hits = turn.evidence, turn.request.state.hits
        leads = {lead.clue.pattern.lower() for lead in evidence.leads.values()}
        leads |= {lead.text.lower() for lead in evidence.leads.values()}
        last = [number for number, patterns in turn.history.searches if not leads.isdisjoint(patterns)]
        best = evidence.ranking()[:MOST_CITED]
        first = {hits[path].calls[0] for path in best if path in hits}
        return len(last) >= self._bounds.stale and first.isdisjoint(last[-self._bounds.stale :])


@dataclass(frozen=True, slots=True)
class Turn:
    """What one reply is made from."""

    request: Request
    evidence: Evidence
    history: History
    moves: Moves

    def tried(self, lead: Lead) -> bool:
        """Whether a name was looked for, as a pattern or in a query."""
        return self.history.tried(lead.clue.pattern) or self.history.asked(lead.text)

    def look_for(self, who: str, leads: Sequence[Lead]) -> Reply:
        """A search for names, with a sentence that says who names them."""
        names = [lead.text for lead in leads]
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        refer = "these names" if len(names) > 1 else "that name"
        if not self.moves.searches:
            return self.reply(f"{who} {listed}; asking for {refer}.", *self.moves.rank(*names))
        text = f"{who} {listed}; looking for {refer} in {self.moves.place}."
        return self.grep(text, [lead.clue.pattern for lead in leads], *self.moves.widen(names))

    def grep(self, text: str, patterns: Sequence[str], *before: Wanted) -> Reply:
        return self.reply(text, *before, self.moves.grep(patterns))

    def reply(self, text: str, *wanted: Wanted) -> Reply:
        return Reply(text, calls=as_calls(self.request.state, wanted))


def _pairs(words: Sequence[str], more: int = 0) -> list[str]:
    """Patterns for a line that holds two of ``words``, or as many ``more``, in whatever order; a lone
    word stands for itself."""
    if len(words) == 1:
        return [terms.stem_pattern(words[0])]
    patterns = []
    for word in words:
        others = "|".join(terms.stem_pattern(other) for other in words if other != word)
        patterns.append(terms.stem_pattern(word) + f".*(?:{others})" * (1 + more))
    return patterns
