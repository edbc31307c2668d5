"""The index of a corpus: its rankers, recall, entry points and match reranking."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rarg_tui.corpus.decoding import read_text, title
from rarg_tui.corpus.files import HEAD, Corpus
from rarg_tui.corpus.fingerprint import fingerprint
from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.relevance.fusion import WEIGHTS, fuse
from rarg_tui.relevance.lexical import Lexical, LexicalSearcher, rarity
from rarg_tui.relevance.manifest import Shelf
from rarg_tui.relevance.scope import Scope
from rarg_tui.relevance.slot import RankerStatus, Slot
from rarg_tui.trace.events import EntryPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rarg_tui.relevance.rerank import MatchReranker
    from rarg_tui.relevance.static import StaticTable

__all__ = ["QUICK", "Index", "RankerStatus"]

#: What serves at once: built within seconds when nothing is ready yet.
QUICK = ("lexical", "static")


class Index:
    """Everything that relevance knows about one corpus. Safe to use from several threads."""

    def __init__(self, corpus: Corpus, cache: Path, device: str | None, model: Path | None) -> None:
        from rarg_tui.relevance.dense import DenseEmbedder
        from rarg_tui.relevance.remembered import Remembered
        from rarg_tui.relevance.static import StaticEmbedder, StaticTable
        from rarg_tui.relevance.vectors import VectorRanker

        self.corpus = corpus
        self._shelf = Shelf(cache, corpus)
        self._table: StaticTable = StaticTable()
        self._embed = Remembered(self._table.embed)
        dense = DenseEmbedder(model, device)
        self._slots = {
            "lexical": Slot(Lexical(), corpus, self._shelf, exact=True),
            "static": Slot(VectorRanker(StaticEmbedder(self._table)), corpus, self._shelf, exact=False),
            "dense": Slot(VectorRanker(dense), corpus, self._shelf, exact=False),
        }
        self._title = lru_cache(maxsize=20_000)(self._read_title)

    @classmethod
    def open(
        cls,
        corpus: Corpus,
        cache: Path | None = None,
        device: str | None = None,
        model: Path | None = None,
    ) -> Self:
        """Open the index of ``corpus`` below the directory ``cache`` (default: the user's cache).

        ``model`` is a sentence-transformers model directory for the dense ranker (default: the packaged
        MiniLM), ``device`` where it runs (``cpu``, ``cuda``, ``mps``; default: the best there is).
        Nothing is read or built yet.
        """
        if cache is None:
            from rarg_tui.paths import cache_dir

            cache = cache_dir()
        return cls(corpus, Path(cache), device, model)

    @property
    def documents(self) -> int:
        """How many documents the corpus has."""
        return len(self.corpus.listing().documents)

    @property
    def directory(self) -> Path:
        """Where the index lies on disk."""
        return self._shelf.directory

    @property
    def fingerprint(self) -> str:
        """32 hex digits over the documents and the settings of every ranker that is ready."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(fingerprint(self.corpus.listing().documents).encode())
        for name in self.ready():
            digest.update(f"\n{name} {self._slots[name].settings_key()}".encode())
        return digest.hexdigest()

    def build(
        self,
        rankers: Sequence[str],
        progress: Callable[[Progress], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        """Walk the corpus again and bring ``rankers`` up to date; blocks. Raises ``Cancelled`` when
        ``cancel`` is set (what was finished is kept) and :class:`RargError` for what a person can mend."""
        for name in rankers:
            self._slot(name)
        self.corpus.refresh(cancel)
        self._title.cache_clear()
        for name in rankers:
            self._slots[name].build(progress, cancel)

    def status(self) -> dict[str, RankerStatus]:
        """The state of every ranker."""
        return {name: slot.status() for name, slot in self._slots.items()}

    def ready(self) -> tuple[str, ...]:
        """The rankers that serve now."""
        return tuple(name for name, slot in self._slots.items() if slot.ready())

    def weights(self, ranker: str = "hybrid") -> dict[str, float]:
        """Names and weights that ``ranker`` would use now: one name, ``a+b``, or ``hybrid`` for all that
        are ready, and those that lack only the latest changes and are quickly brought up to date (where
        there is none of these, the quick ones are built)."""
        if ranker == "hybrid":
            updated = [name for name in QUICK if self._slots[name].outdated()]
            names: Sequence[str] = [*self.ready(), *updated] or QUICK
        else:
            names = ranker.split("+")
        if len(set(names)) < len(names):
            raise RargError(f"The ranker {ranker!r} names one twice.")
        for name in names:
            self._slot(name)
        if len(names) == 1:
            return {names[0]: 1.0}
        return {name: WEIGHTS[name] for name in self._slots if name in names}

    def recall(
        self,
        query: str,
        top: int = 10_000,
        ranker: str = "hybrid",
        rankers: Mapping[str, float] | None = None,
        cancel: threading.Event | None = None,
    ) -> Scope:
        """The best ``top`` documents for ``query``.

        ``rankers`` fixes names and weights, and so the result. A ranker that is named but not up to date
        is built first. Raises :class:`RargError` for an empty query, an unknown ranker, a corpus without
        documents, and a part that must not be served.
        """
        if not query.strip():
            raise RargError("The query is empty; give a question or some words.")
        if top < 1:
            raise RargError(f"A scope needs room for at least one document, not {top}.")
        listing = self.corpus.require_documents(cancel)
        weights = dict(rankers) if rankers is not None else self.weights(ranker)
        if not weights:
            raise RargError("No ranker is named; name lexical, static, dense or several joined by +.")
        self._ensure(weights, cancel)
        listing = self.corpus.listing(cancel)
        began = time.monotonic()
        found = {name: self._slots[name].search(query, top, cancel) for name in weights}
        if len(found) == 1:
            (places, scores) = next(iter(found.values()))
        else:
            places, scores = fuse({name: at for name, (at, _) in found.items()}, weights, top)
        by: dict[str, list[tuple[int, float] | None]] = {}
        for name, (at, given) in found.items():
            ranked = dict(zip(at.tolist(), enumerate(given.tolist(), 1), strict=True))
            by[name] = [ranked.get(place) for place in places.tolist()]
        paths = [listing.documents[place].path for place in places.tolist()]
        elapsed = (time.monotonic() - began) * 1000
        return Scope(query, ranker, weights, paths, scores.tolist(), by, elapsed)

    def entry_points(
        self, query: str, paths: Sequence[str], documents: int = 20, top: int = 10
    ) -> list[EntryPoint]:
        """The ``top`` paragraphs of the first ``documents`` of ``paths`` that are most similar to
        ``query`` by the static table, best first."""
        from rarg_tui.relevance.entry import entry_points

        return entry_points(self.corpus, self._embed, query, paths[:documents], top)

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        """How many documents hold each term: its stem, upper or lower case; of several words, the rarest
        word's number. Builds the lexical index if it is not up to date."""
        if not terms or not self.documents:
            return [0] * len(terms)
        self._ensure(("lexical",), None)
        searcher = self._slots["lexical"].searcher()
        return (
            searcher.document_frequency(terms) if isinstance(searcher, LexicalSearcher) else [0] * len(terms)
        )

    def rarity(self, terms: Sequence[str]) -> list[float]:
        """The inverse document frequency of each term, 0 for a term without a letter or digit."""
        found = self.document_frequency(terms)
        counted = zip(terms, found, strict=True)
        return [rarity(n, self.documents) if any(map(str.isalnum, t)) else 0.0 for t, n in counted]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Static vectors of length 1, shape ``(len(texts), 256)``."""
        return self._table.embed(texts)

    def reranker(self, kind: str = "fused", quota: int = 0) -> MatchReranker:
        """``fused`` or ``paper`` over the static table."""
        from rarg_tui.relevance.rerank import MatchReranker

        return MatchReranker(kind, self._embed, self.title, self.rarity, quota)

    def title(self, path: str) -> str:
        """A document's title, never empty."""
        return self._title(path)

    def close(self) -> None:
        """Stop the model process and let go of files."""
        for slot in self._slots.values():
            slot.close()

    def _ensure(self, names: Sequence[str] | Mapping[str, float], cancel: threading.Event | None) -> None:
        for name in names:
            slot = self._slot(name)
            problem = slot.problem()
            if problem is not None:
                raise problem
            if not slot.ready():
                slot.build(None, cancel)

    def _slot(self, name: str) -> Slot:
        try:
            return self._slots[name]
        except KeyError:
            known = ", ".join(self._slots)
            raise RargError(
                f"There is no ranker {name!r}; choose {known}, hybrid, or several joined by +."
            ) from None

    def _read_title(self, path: str) -> str:
        try:
            return title(path, read_text(self.corpus, path, HEAD))
        except RargError:
            return title(path, "")
