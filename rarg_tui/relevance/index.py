"""The index of a corpus: its rankers, recall, entry points and match reranking."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rarg_tui.corpus.decoding import read_text, title
from rarg_tui.corpus.files import HEAD, Corpus
from rarg_tui.corpus.fingerprint import fingerprint
from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.relevance.fusion import WEIGHTS, fuse, placed
from rarg_tui.relevance.lexical import Lexical, LexicalSearcher, rarity
from rarg_tui.relevance.manifest import Shelf
from rarg_tui.relevance.presets import DenseOptions
from rarg_tui.relevance.scope import Scope
from rarg_tui.relevance.slot import RankerStatus, Slot
from rarg_tui.trace.events import EntryPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rarg_tui.relevance.ranker import Ranker
    from rarg_tui.relevance.rerank import MatchReranker
    from rarg_tui.relevance.seen import PartlySeen
    from rarg_tui.relevance.static import StaticTable
    from rarg_tui.relevance.store import VectorStorage

__all__ = ["QUICK", "Index", "RankerStatus"]

#: What serves at once: built within seconds when nothing is ready yet.
QUICK = ("lexical", "static")

#: So many documents of each ranker are fused, so that a smaller scope is the beginning of a larger one.
DEPTH = 10_000


class Index:
    """Everything that relevance knows about one corpus. Safe to use from several threads."""

    def __init__(
        self,
        corpus: Corpus,
        cache: Path,
        dense: DenseOptions,
        milvus: str | Path | None,
        cross_encoder: Path | None,
        permit: Callable[[], None],
    ) -> None:
        from rarg_tui.relevance.cross import CrossEncoder
        from rarg_tui.relevance.embedders import embedder
        from rarg_tui.relevance.released import ReleasedRanker, with_released
        from rarg_tui.relevance.remembered import Remembered
        from rarg_tui.relevance.static import StaticEmbedder, StaticTable
        from rarg_tui.relevance.vectors import VectorRanker

        self.corpus = corpus
        self._shelf = Shelf(cache, corpus)
        self._table: StaticTable = StaticTable()
        self._embed = Remembered(self._table.embed)
        static = VectorRanker(StaticEmbedder(self._table), _storage("static", milvus))
        self._dense = embedder(with_released(dense), permit)
        self._cross = CrossEncoder(cross_encoder, dense.device)
        ranker: Ranker = VectorRanker(self._dense, _storage("dense", milvus))
        self._released = dense.released_index is not None
        if dense.released_index is not None:
            ranker = ReleasedRanker(dense.released_index, dense, self._dense)
        self._slots = {
            "lexical": Slot(Lexical(), corpus, self._shelf),
            "static": Slot(static, corpus, self._shelf),
            "dense": Slot(ranker, corpus, self._shelf),
        }
        self._title = lru_cache(maxsize=20_000)(self._read_title)

    def replace(self, ranker: Ranker) -> None:
        """Let ``ranker`` serve in the place of the one of its name, as measurements do."""
        self._slots[ranker.name] = Slot(ranker, self.corpus, self._shelf)

    @classmethod
    def open(
        cls,
        corpus: Corpus,
        cache: Path | None = None,
        dense: DenseOptions | None = None,
        milvus: str | Path | None = None,
        cross_encoder: Path | None = None,
        permit: Callable[[], None] = lambda: None,
    ) -> Self:
        """Open the index of ``corpus`` below the directory ``cache`` (default: the user's cache).

        ``dense`` says which model serves the dense ranker, and how (default: the packaged MiniLM). ``milvus``
        is the address of a server, or a file, that keeps the vectors (default: the index). ``cross_encoder``
        is the model directory of the reranker ``cross``. ``permit`` is called before text of documents goes
        to a server of embeddings, and raises where it must not. Nothing is read or built yet.
        """
        if cache is None:
            from rarg_tui.paths import cache_dir

            cache = cache_dir()
        return cls(corpus, Path(cache), dense or DenseOptions(), milvus, cross_encoder, permit)

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

    def partly_seen(self, ranker: str) -> list[PartlySeen]:
        """The documents of which ``ranker`` has seen only a part, least seen first; none while it has no
        index."""
        from rarg_tui.relevance.seen import partly_seen

        served = self._slot(ranker).table()
        return partly_seen(*served) if served is not None else []

    @property
    def destination(self) -> str:
        """The server that is not on this machine to which the text of documents goes when the dense ranker
        is built; empty: it stays here."""
        return "" if self._released else self._dense.destination

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
        found = self._search(query, top if len(weights) == 1 else max(top, DEPTH), list(weights), cancel)
        if len(found) == 1:
            (places, scores) = next(iter(found.values()))
        else:
            places, scores = fuse({name: at for name, (at, _) in found.items()}, weights, top)
        by = {name: placed(places, *ranking) for name, ranking in found.items()}
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

    def reranker(
        self,
        kind: str = "fused",
        quota: int = 0,
        model: str = "static",
        cancel: threading.Event | None = None,
    ) -> MatchReranker:
        """One of the ``KINDS`` of :mod:`rarg_tui.relevance.rerank`; ``model`` is that for matches."""
        from rarg_tui.relevance.rerank import MatchReranker, Sources

        if kind == "cross":
            self._cross.folder()  # what is missing is said now, not with the first lines
        sources = Sources(
            static=self._embed,
            dense=lambda texts: self._dense.texts(texts, cancel),
            cross=lambda query, texts: self._cross.scores(query, texts, cancel),
            title=self.title,
            rarity=self.rarity,
        )
        return MatchReranker(kind, sources, model, quota)

    def title(self, path: str) -> str:
        """A document's title, never empty."""
        return self._title(path)

    def close(self) -> None:
        """Stop the model processes and let go of files."""
        self._cross.close()
        for slot in self._slots.values():
            slot.close()

    def _search(
        self, query: str, top: int, names: Sequence[str], cancel: threading.Event | None
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """What each ranker finds; they search side by side, but are opened one after the other: Python
        3.11 cannot parse the headers of two numpy files at the same time."""
        for name in names:
            self._slots[name].searcher()

        def search(name: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            return self._slots[name].search(query, top, cancel)

        if len(names) == 1:
            return {names[0]: search(names[0])}
        with ThreadPoolExecutor(len(names)) as threads:
            return dict(zip(names, threads.map(search, names), strict=True))

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


def _storage(ranker: str, milvus: str | Path | None) -> VectorStorage:
    if milvus is None:
        from rarg_tui.relevance.store import DiskStorage

        return DiskStorage()
    from rarg_tui.relevance.milvus import MilvusStorage
    from rarg_tui.relevance.milvus_server import MilvusServer

    return MilvusStorage(MilvusServer(milvus), ranker)
