"""How the offline planner weighs what was shown: what each sentence says about the question, and which
names lead from one document to the next."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from rarg_tui.agent import planner_shown
from rarg_tui.agent import planner_terms as terms
from rarg_tui.agent.planner_names import Clue, Rarity, title_words
from rarg_tui.agent.planner_shown import Fact
from rarg_tui.trace.state import RunState


@dataclass(frozen=True, slots=True)
class Weights:
    """How evidence is weighed. Weights are shares of 1, the weight of the best sentence."""

    #: What two question words side by side add, as a share of the rarer one.
    pair: float = 0.5
    #: What a question word counts that stands in the title or in other shown lines of the document.
    context: float = 0.35
    #: How fast sentences fall behind the one that says most about the question.
    steepness: float = 2.0
    #: What part of the question is looked at by itself, …
    part: float = 0.5
    #: … and what the best sentence for a part weighs.
    partial: float = 0.9
    #: What remains of the weight of a sentence whose document holds no rare name of the question.
    unanchored: float = 0.7
    #: The share of a sentence's weight that hangs on its document's rank in the scope, …
    rank: float = 0.1
    #: … and the rank at which half of that is lost.
    rank_half: float = 20.0
    #: What remains of a sentence's weight on the way over a name to another document.
    hop: float = 0.95
    #: What a document loses that is not called by the name, where another one is.
    about: float = 0.3
    #: Words between a name and what led to its sentence that halve its pull.
    distance: float = 60.0
    #: The number of documents up to which a name is as telling as can be, …
    rare: float = 3.0
    #: … and the doublings of that number that halve it.
    dullness: float = 1.5
    #: The share of a lone word that may owe its capital to the beginning of the sentence.
    doubtful: float = 0.5
    #: A weight below which nothing is followed.
    least: float = 0.2
    #: Documents up to which a name of the question counts as rare.
    anchor: int = 30


@dataclass(frozen=True, slots=True)
class Lead:
    """A name that some fact gives (``None``: the question does). ``strength`` is what the fact lends it,
    ``worth`` what is left of that as the name is more or less telling."""

    text: str
    clue: Clue
    strength: float
    worth: float
    source: Fact | None


class Evidence:
    """The facts that a run has shown, weighed. Built anew for each reply, so that equal runs give equal
    evidence, whatever a person has changed in between."""

    def __init__(self, question: str, state: RunState, rarity: Rarity, weights: Weights) -> None:
        self.rarity = rarity
        self.weights = weights
        self._hits = state.hits
        self.shown = planner_shown.documents(state)
        self.facts = [fact for shown in self.shown.values() for fact in shown.facts()]
        parsed = [terms.parse(fact.text) for fact in self.facts]
        self._parsed = parsed
        self._words = [p.words | title_words(f.path) for p, f in zip(parsed, self.facts, strict=True)]
        #: Words that were shown without a capital: no names by themselves.
        self._common = {t.text for p in parsed for t in p.tokens if t.text.islower()}
        self._holders: dict[str, set[int]] = {}
        for i, words in enumerate(self._words):
            for word in words:
                self._holders.setdefault(word, set()).add(i)
        self.terms = self._terms(question)
        self.asked = self._asked(question)
        self.leads: dict[tuple[str, ...], Lead] = {}
        #: The key of the lead that gave a fact its weight, where a name did.
        self._via: dict[int, tuple[str, ...]] = {}
        self.weight = self._direct()
        self._spread()

    def _terms(self, question: str) -> dict[str, float]:
        """The stems of the question in order, with their idf; of two forms of a word the common one
        says how telling it is."""
        found: dict[str, float] = {}
        for token in terms.parse(question).tokens:
            if terms.is_content(token.text):
                value = self.rarity.idf(token.folded)
                found[token.stem] = min(found.get(token.stem, value), value)
        return found

    def _asked(self, question: str) -> list[Lead]:
        leads = {}
        for name in terms.parse(question).names:
            clue = self.rarity.clue(name.words, whole=True)
            if clue and clue.key not in leads:
                leads[clue.key] = Lead(name.text, clue, 1.0, self._telling(clue.content), None)
        return list(leads.values())

    def _direct(self) -> list[float]:
        """The weight of each fact by the question's words alone: its share of what the best fact says
        about the whole question, or about its beginning, middle or end, since the steps of a question
        have their answers in different documents."""
        around: dict[str, set[str]] = {}
        for fact, parsed in zip(self.facts, self._parsed, strict=True):
            if fact.path not in around:
                title = {terms.stem(word) for word in title_words(fact.path)}
                around[fact.path] = title & self.terms.keys()
            around[fact.path].update(self.terms.keys() & parsed.stems)
        best = [0.0] * len(self.facts)
        most = 0.0
        for part, worth in self._parts(list(self.terms)):
            scores = self._scores(part, around)
            top = max(scores, default=0.0) or 1.0
            most = most or top
            for i, score in enumerate(scores):
                best[i] = max(best[i], worth * min(1.0, top / most) * (score / top) ** self.weights.steepness)
        ranks = {path: hit.rank for path, hit in self._hits.items() if hit.rank}
        for i, fact in enumerate(self.facts):
            first = self.weights.rank_half / (self.weights.rank_half + ranks.get(fact.path, math.inf))
            best[i] *= 1 - self.weights.rank * (1 - first)
        anchored = {
            self.facts[i].path
            for lead in self.asked
            if lead.clue.expected <= self.weights.anchor
            for i in self._holding(lead.clue.key)
        }
        if anchored:
            for i, fact in enumerate(self.facts):
                if fact.path not in anchored:
                    best[i] *= self.weights.unanchored
        return best

    def _parts(self, order: list[str]) -> list[tuple[list[str], float]]:
        if len(order) < 5:
            return [(order, 1.0)]
        size = math.ceil(len(order) * self.weights.part)
        begins = sorted({0, (len(order) - size) // 2, len(order) - size})
        return [(order, 1.0), *((order[i : i + size], self.weights.partial) for i in begins)]

    def _scores(self, order: list[str], around: dict[str, set[str]]) -> list[float]:
        w = self.weights
        values = {t: self.terms[t] for t in order}
        pairs = {(a, b): w.pair * min(values[a], values[b]) for a, b in pairwise(order)}
        base = {
            path: w.context * sum(values[t] for t in order if t in stems) for path, stems in around.items()
        }
        scores = []
        for fact, parsed in zip(self.facts, self._parsed, strict=True):
            score = base[fact.path]
            inside = values.keys() & parsed.stems
            if inside:
                score += (1 - w.context) * sum(values[t] for t in order if t in inside)
            if len(inside) > 1:
                score += sum(pairs.get(pair, 0.0) for pair in pairwise(parsed.content))
            scores.append(score)
        return scores

    def _holding(self, words: Iterable[str]) -> set[int]:
        sets = [self._holders.get(word, set()) for word in words if terms.is_content(word)]
        return set.intersection(*sets) if sets else set()

    def _telling(self, words: Iterable[str]) -> float:
        """How telling it is that a document holds ``words``: by how many may, and how many are seen to."""
        words = tuple(words)
        seen = len({self.facts[i].path for i in self._holding(words)})
        many = max(seen, self.rarity.together(words), 1.0)
        return 1 / (1 + max(0.0, math.log2(many / self.weights.rare)) / self.weights.dullness)

    def _spread(self) -> None:
        """From each fact to the names in it, from each name to the facts that hold it, the heaviest
        first: a fact's weight is that of the best chain that leads to it."""
        for lead in self.asked:
            self._pull(lead)
        asked = {lead.clue.key for lead in self.asked}
        heap = [(-weight, i) for i, weight in enumerate(self.weight) if weight >= self.weights.least]
        heapq.heapify(heap)
        while heap:
            weight, i = heapq.heappop(heap)
            if -weight < self.weight[i]:
                continue  # a better chain has come here since
            for lead in self._named(i):
                known = self.leads.get(lead.clue.key)
                if lead.clue.key in asked or (known and known.worth >= lead.worth):
                    continue
                self.leads[lead.clue.key] = lead
                for j in self._pull(lead):
                    heapq.heappush(heap, (-self.weight[j], j))

    def _named(self, i: int) -> Iterator[Lead]:
        """The leads that a fact gives. A name counts the less, the farther it stands from a word of the
        question, or from the name that led here."""
        fact, parsed, via = self.facts[i], self._parsed[i], self._via.get(i, ())
        anchors = [k for k, t in enumerate(parsed.tokens) if t.folded in via or t.stem in self.terms] or [0]
        for name in parsed.names:
            if len(name.words) == 1 and terms.folded(name.words[0]) in self._common:
                continue
            clue = self.rarity.clue(name.words)
            if clue is None or clue.expected == 1:
                continue  # a name that no other document holds leads nowhere
            away = min(abs(name.at - anchor) for anchor in anchors)
            strength = self.weight[i] / (1 + away / self.weights.distance)
            if name.doubtful:
                strength *= self.weights.doubtful
            if strength >= self.weights.least:
                worth = strength * self._telling(clue.content)
                if worth >= self.weights.least:
                    yield Lead(name.text, clue, strength, worth, fact)

    def _pull(self, lead: Lead) -> list[int]:
        """Raises the weight of the facts that hold a name; gives those that rose."""
        found = sorted(self._holding(lead.clue.key))
        content = lead.clue.content
        total = sum(map(self.rarity.idf, content)) or 1.0
        matched = {i: tuple(word for word in content if word in self._words[i]) for i in found}
        share = {
            words: self._telling(words) * sum(map(self.rarity.idf, words)) / total
            for words in set(matched.values())
        }
        about = {path: self._about(lead.clue, path) for path in {self.facts[i].path for i in found}}
        most = max(about.values(), default=0.0)
        rose = []
        for i in found:
            titled = about[self.facts[i].path]
            loss = self.weights.about * (most - titled)
            # A document that is called by just this name is as telling as can be.
            part = 1.0 if titled > 0.99 else share[matched[i]]
            weight = self.weights.hop * lead.strength * part * (1 - loss)
            if weight > self.weight[i]:
                self.weight[i] = weight
                self._via[i] = lead.clue.key
                rose.append(i)
        return rose

    def _about(self, clue: Clue, path: str) -> float:
        """How far a document's title is the name: 1 for equal words, 0 for none in common."""
        title = {word for word in title_words(path) if terms.is_content(word)}
        either = sum(map(self.rarity.idf, title | set(clue.content))) or 1.0
        return sum(self.rarity.idf(word) for word in clue.content if word in title) / either

    def led_to(self, path: str) -> Lead | None:
        """The lead by which the best fact of a document was found; ``None``: by the question alone."""
        own = [i for i, fact in enumerate(self.facts) if fact.path == path and i in self._via]
        return self.leads.get(self._via[max(own, key=lambda i: self.weight[i])]) if own else None

    def ranking(self) -> list[str]:
        """The documents of which text was shown, best first."""
        best: dict[str, float] = {}
        for fact, weight in zip(self.facts, self.weight, strict=True):
            best[fact.path] = max(best.get(fact.path, 0.0), weight)
        return sorted(best, key=lambda path: -best[path])

    def weight_of(self, path: str) -> float:
        """The weight of a document's best fact, 0 where only its name was shown."""
        return max((w for f, w in zip(self.facts, self.weight, strict=True) if f.path == path), default=0.0)

    def best(self, path: str) -> list[tuple[Fact, float]]:
        """The facts of a document with their weights, best first."""
        own = [pair for pair in zip(self.facts, self.weight, strict=True) if pair[0].path == path]
        return sorted(own, key=lambda pair: (-pair[1], pair[0].line))
