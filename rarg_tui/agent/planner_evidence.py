"""How the offline planner weighs what was shown: what each sentence says about the question, and which
names lead from one document to the next."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from rarg_tui.agent import planner_shown
from rarg_tui.agent import planner_terms as terms
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
    #: What remains of a sentence's weight on the way over a name to another document.
    hop: float = 0.95
    #: The part of a name's pull that only a document of that title receives.
    about: float = 0.3
    #: Words between a name and what led to its sentence that halve its pull.
    distance: float = 30.0
    #: The number of documents up to which a name is as telling as can be, …
    rare: float = 3.0
    #: … and the doublings of that number that halve it.
    dullness: float = 4.0
    #: The share of a lone word that may owe its capital to the beginning of the sentence.
    doubtful: float = 0.5
    phrase: float = 0.5
    anchor: int = 30
    unanchored: float = 0.7
    part: float = 0.5
    partial: float = 0.9
    small: float = 1.0
    #: A weight below which nothing is followed.
    least: float = 0.2
    #: Documents up to which the rarest word of a name finds it without the others.
    alone: int = 12


@dataclass(frozen=True, slots=True)
class Clue:
    """What is to be known of a name before anyone has looked it up: the words that find it, their
    pattern, how many documents hold it at most, and how telling that makes it."""

    key: tuple[str, ...]
    content: tuple[str, ...]
    pattern: str
    expected: int
    telling: float


@dataclass(frozen=True, slots=True)
class Lead:
    """A name worth looking up, and the fact that gives it (``None``: the question does)."""

    text: str
    clue: Clue
    strength: float
    source: Fact | None


@lru_cache(maxsize=16384)
def title_words(path: str) -> frozenset[str]:
    """The words of a document's file name without an addition in brackets, which says its kind."""
    name = PurePosixPath(path).stem.replace("_", " ")
    return terms.parse(re.sub(r"\(.*?\)", " ", name)).words or terms.parse(name).words


class Evidence:
    """The facts that a run has shown, weighed. Built anew for each reply, so that equal runs give equal
    evidence, whatever a person has changed in between."""

    def __init__(
        self,
        question: str,
        state: RunState,
        frequency: Callable[[str], int],
        documents: int,
        weights: Weights,
    ) -> None:
        self.frequency = frequency
        self.documents = max(documents, 2)
        self.weights = weights
        self.shown = planner_shown.documents(state)
        self.facts = [fact for shown in self.shown.values() for fact in shown.facts()]
        self.searched = frozenset()
        self.common = {t.text for f in self.facts for t in terms.parse(f.text).tokens if t.text.islower()}
        self.terms = self._terms(question)
        self.asked = self._asked(question)
        self.weight = self._direct()
        self.leads: dict[tuple[str, ...], Lead] = {}
        self._clues: dict[tuple[str, ...], Clue | None] = {}
        self._idf: dict[str, float] = {}
        self.searched = planner_shown.counted(state)
        self._spread()

    def idf(self, word: str) -> float:
        return math.log(1 + self.documents / (1 + self.frequency(word)))

    def _terms(self, question: str) -> dict[str, float]:
        """The stems of the question in order, with their idf; of two forms of a word the common one
        says how telling it is."""
        found: dict[str, float] = {}
        for token in terms.parse(question).tokens:
            if terms.is_content(token.text):
                value = self.idf(token.text)
                found[token.stem] = min(found.get(token.stem, value), value)
        return found

    def _asked(self, question: str) -> list[Lead]:
        leads = {}
        for name in terms.parse(question).names:
            clue = self.clue(name.words, whole=True)
            if clue and clue.key not in leads:
                leads[clue.key] = Lead(name.text, clue, clue.telling, None)
        return list(leads.values())

    def _direct(self) -> list[float]:
        """The weight of each fact by the question's words alone: its share of what the best fact says
        about the whole question, or about its beginning, middle or end, since the steps of a question
        have their answers in different documents."""
        around: dict[str, set[str]] = {}
        for fact in self.facts:
            if fact.path not in around:
                around[fact.path] = {terms.stem(word) for word in title_words(fact.path)}
            around[fact.path].update(terms.parse(fact.text).content)
        best = [0.0] * len(self.facts)
        order = list(self.terms)
        whole = 0.0
        for part, worth in self._parts(order):
            scores = self._scores(part, around)
            top = max(scores, default=0.0) or 1.0
            whole = whole or top
            for i, score in enumerate(scores):
                best[i] = max(best[i], worth * min(1.0, (top / whole) ** self.weights.small) * (score / top) ** self.weights.steepness)
        anchors = [lead for lead in self.asked if lead.clue.expected <= self.weights.anchor]
        if anchors:
            near = {p for p, stems in around.items() if any(all(terms.stem(w) in stems for w in l.clue.key if terms.is_content(w)) for l in anchors)}
            best = [w if f.path in near else w * self.weights.unanchored for f, w in zip(self.facts, best, strict=True)]
        return best

    def _parts(self, order: list[str]) -> list[tuple[list[str], float]]:
        size = math.ceil(len(order) * self.weights.part)
        if len(order) < 5:
            return [(order, 1.0)]
        middle = (len(order) - size) // 2
        return [(order, 1.0)] + [(order[i : i + size], self.weights.partial) for i in (0, middle, len(order) - size)]

    def _scores(self, order: list[str], around: Mapping[str, set[str]]) -> list[float]:
        w = self.weights
        values = {t: self.terms[t] for t in order}
        pairs = {(a, b): w.pair * min(values[a], values[b]) for a, b in zip(order, order[1:], strict=False)}
        base = {
            path: w.context * sum(values[t] for t in order if t in stems)
            for path, stems in around.items()
        }
        scores = []
        for fact in self.facts:
            content = terms.parse(fact.text).content
            score = base[fact.path]
            score += (1 - w.context) * sum(values.get(t, 0.0) for t in set(content))
            score += sum(pairs.get(pair, 0.0) for pair in zip(content, content[1:], strict=False))
            scores.append(score)
        return scores

    def clue(self, words: tuple[str, ...], whole: bool = False) -> Clue | None:
        """How to find a name: by its rarest word if that is rare, else by the words around it, or by
        all of them (``whole``)."""
        content = tuple(word for word in words if terms.is_content(word))
        counts = [self.frequency(word) for word in content]
        if not content or (max(counts) == 0 and not any(map(terms.unspaced, content))):
            return None
        # Of equals the last one: a family name is a better key than a given name.
        count, rare = min(zip((c or self.documents for c in counts[::-1]), content[::-1], strict=True), key=lambda x: x[0])
        alone = count <= self.weights.alone and len(rare) > 1 and not rare.isdigit() and rare.casefold() not in self.common
        if len(content) == 1 or alone:
            key: tuple[str, ...] = (rare.casefold(),)
            pattern = terms.word_pattern(rare)
            expected = count
        else:
            if not whole:
                begin = max(0, min(words.index(rare) - 1, len(words) - 3))
                words = words[begin : begin + 3]
            key = tuple(word.casefold() for word in words)
            pattern = terms.phrase_pattern(words)
            # Names of several words are rarer than their words; how much, nobody has counted.
            expected = max(2, int(count * self.weights.phrase))
        if self.searched and pattern in self.searched:
            expected = max(1, len({self.facts[i].path for i in set.intersection(*(self.holders.get(w, set()) for w in key if terms.is_content(w)))}))
        telling = 1 / (1 + max(0.0, math.log2(expected / self.weights.rare)) / self.weights.dullness)
        return Clue(key, tuple(w.casefold() for w in content), pattern, expected, telling)

    def _known_clue(self, words: tuple[str, ...]) -> Clue | None:
        if words not in self._clues:
            clue = self.clue(words)
            # A name that no other document holds leads nowhere.
            if clue and clue.expected == 1 or len(words) == 1 and words[0].casefold() in self.common:
                clue = None
            self._clues[words] = clue
        return self._clues[words]

    def _value(self, word: str) -> float:
        if word not in self._idf:
            self._idf[word] = self.idf(word)
        return self._idf[word]

    def _spread(self) -> None:
        """From each fact to the names in it, from each name to the facts that hold it, the heaviest
        first: a fact's weight is that of the best chain that leads to it."""
        holders: dict[str, set[int]] = {}
        self.holders = holders
        for i, fact in enumerate(self.facts):
            for word in terms.parse(fact.text).words | title_words(fact.path):
                holders.setdefault(word, set()).add(i)
        via: dict[int, tuple[str, ...]] = {}
        for lead in self.asked:
            self._pull(lead, holders, via)
        asked = {lead.clue.key for lead in self.asked}
        heap = [(-weight, i) for i, weight in enumerate(self.weight) if weight >= self.weights.least]
        heapq.heapify(heap)
        while heap:
            weight, i = heapq.heappop(heap)
            if -weight < self.weight[i]:
                continue  # a better chain has come here since
            for lead in self._named(i, via.get(i, ())):
                known = self.leads.get(lead.clue.key)
                if lead.clue.key in asked or (known and known.strength >= lead.strength):
                    continue
                self.leads[lead.clue.key] = lead
                for j in self._pull(lead, holders, via):
                    heapq.heappush(heap, (-self.weight[j], j))

    def _named(self, i: int, via: tuple[str, ...]) -> Iterator[Lead]:
        """The leads that a fact gives. A name counts the less, the farther it stands from a word of the
        question, or from the name that led here."""
        fact = self.facts[i]
        parsed = terms.parse(fact.text)
        anchors = [k for k, t in enumerate(parsed.tokens) if t.folded in via or t.stem in self.terms] or [0]
        for name in parsed.names:
            clue = self._known_clue(name.words)
            if clue is None:
                continue
            away = min(abs(name.at - anchor) for anchor in anchors)
            strength = self.weight[i] * clue.telling / (1 + away / self.weights.distance)
            if name.doubtful:
                strength *= self.weights.doubtful
            if strength >= self.weights.least:
                yield Lead(name.text, clue, strength, fact)

    def _pull(
        self, lead: Lead, holders: Mapping[str, set[int]], via: dict[int, tuple[str, ...]]
    ) -> list[int]:
        """Raises the weight of the facts that hold a name; gives those that rose."""
        clue = lead.clue
        needed = [word for word in clue.key if terms.is_content(word)]
        found = sorted(set.intersection(*(holders.get(word, set()) for word in needed)))
        fits = {path: self._fit(clue, path) for path in {self.facts[i].path for i in found}}
        most = max((about for _, about in fits.values()), default=0.0)
        total = sum(map(self._value, clue.content)) or 1.0
        rose = []
        for i in found:
            fact = self.facts[i]
            titled, about = fits[fact.path]
            words = terms.parse(fact.text).words
            covered = sum(self._value(w) for w in clue.content if w in words or w in titled) / total
            share = 1 - self.weights.about * (most - about)
            weight = self.weights.hop * lead.strength * covered * share
            if weight > self.weight[i]:
                self.weight[i] = weight
                via[i] = clue.key
                rose.append(i)
        return rose

    def _fit(self, clue: Clue, path: str) -> tuple[frozenset[str], float]:
        """The words of a document's title, and how far the title is the name."""
        title = title_words(path)
        total = sum(map(self._value, clue.content)) or 1.0
        other = sum(self._value(w) for w in title if w not in clue.content and terms.is_content(w))
        return title, sum(self._value(w) for w in clue.content if w in title) / (total + other)

    def ranking(self) -> list[str]:
        """The documents of which text was shown, best first."""
        best: dict[str, float] = {}
        for fact, weight in zip(self.facts, self.weight, strict=True):
            best[fact.path] = max(best.get(fact.path, 0.0), weight)
        return sorted(best, key=lambda path: -best[path])

    def best(self, path: str) -> list[tuple[Fact, float]]:
        """The facts of a document with their weights, best first."""
        own = [pair for pair in zip(self.facts, self.weight, strict=True) if pair[0].path == path]
        return sorted(own, key=lambda pair: (-pair[1], pair[0].line))
