"""What a name is worth before anyone has looked it up: which words find it, and how telling they are."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from rarg_tui.agent import planner_terms as terms

#: The rarest word of a name finds it without the others when at most so many documents hold it.
_ALONE = 12

#: What a word counts that cannot be counted: rare, but in more than one document.
_UNCOUNTED = 2


@dataclass(frozen=True, slots=True)
class Clue:
    """How to find a name: the folded words that every finding holds, all its words that carry meaning,
    a pattern (for searches that ignore case), and how many documents it may find."""

    key: tuple[str, ...]
    content: tuple[str, ...]
    pattern: str
    expected: int


class Rarity:
    """How many documents hold a word, asked once a word, and what follows from it.

    ``frequencies`` gives the document frequencies of words, ``documents`` is the size of the corpus.
    """

    def __init__(self, frequencies: Callable[[Sequence[str]], Sequence[int]], documents: int) -> None:
        self._frequencies = frequencies
        self._documents = max(documents, 2)
        self._known: dict[str, int] = {}
        self._clues: dict[tuple[tuple[str, ...], bool], Clue | None] = {}

    def count(self, word: str) -> int:
        """In how many documents ``word`` occurs; of a number with letters, its rarest part. Words of
        scripts without spaces cannot be counted by the lexical ranker and are taken to be rare."""
        if word not in self._known:
            parts = re.findall(r"[^\W_]+", word)
            known = min(self._frequencies(parts), default=0) if parts else 0
            self._known[word] = known or (_UNCOUNTED if terms.unspaced(word) else 0)
        return self._known[word]

    def idf(self, word: str) -> float:
        return math.log(1 + self._documents / (1 + self.count(word)))

    def together(self, words: Iterable[str]) -> float:
        """In how many documents all ``words`` would meet by chance: a low guess for those of a name."""
        share = math.prod((self.count(word) or self._documents) / self._documents for word in words)
        return self._documents * share

    def clue(self, words: tuple[str, ...], whole: bool = False) -> Clue | None:
        """How to find a name: by its rarest word if that is rare, else by the words around that, or by
        all of them (``whole``). ``None``: no word of it is in the corpus, or none carries meaning."""
        if (words, whole) not in self._clues:
            self._clues[words, whole] = self._clue(words, whole)
        return self._clues[words, whole]

    def _clue(self, words: tuple[str, ...], whole: bool) -> Clue | None:
        originals = {terms.folded(word): word for word in reversed(words) if terms.is_content(word)}
        content = tuple(reversed(originals))
        if not any(map(self.count, content)):
            return None
        # Of equals the last one: a family name is a better key than a given name.
        rare = min(originals, key=lambda word: self.count(word) or self._documents)
        count = self.count(rare)
        if len(content) == 1 or (count <= _ALONE and not rare.isdigit()):
            return Clue((rare,), content, terms.word_pattern(originals[rare]), count)
        if not whole:
            begin = max(0, min(words.index(originals[rare]) - 1, len(words) - 3))
            words = words[begin : begin + 3]
        expected = min(count, max(2, round(self.together(content))))
        return Clue(tuple(map(terms.folded, words)), content, terms.phrase_pattern(words), expected)


@lru_cache(maxsize=16384)
def title_words(path: str) -> frozenset[str]:
    """The words of a document's file name without an addition in brackets, which says its kind."""
    name = PurePosixPath(path).stem.replace("_", " ")
    return terms.parse(re.sub(r"\(.*?\)", " ", name)).words or terms.parse(name).words
