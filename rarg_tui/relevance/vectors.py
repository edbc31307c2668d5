"""A ranker over vectors, built in pieces that survive a kill; only changed documents are embedded again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rarg_tui.corpus.progress import check
from rarg_tui.relevance import table as tables
from rarg_tui.relevance.manifest import IndexProblem, Part
from rarg_tui.relevance.pieces import Piece, Pieces
from rarg_tui.relevance.ranker import Built, Content, Job, content, hold, worn
from rarg_tui.relevance.store import VectorStorage, VectorStore
from rarg_tui.relevance.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    #: How many vectors each of some documents has, and the vectors.
    Batch = tuple[NDArray[np.int32], NDArray[np.float32]]

#: A piece is written after so many seconds, and at the latest after so many vectors.
PIECE_SECONDS = 20.0
PIECE_VECTORS = 16_384

_NOTHING = tables.concatenate([]), np.zeros(0, np.bool_)
_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of one document, shape ``(n, dimension)``, n > 0, and how many of its ``total``
    characters they cover."""

    vectors: NDArray[np.float32]
    seen: int
    total: int


class Embedder(Protocol):
    """Turns text into unit vectors. ``batch`` documents at a time are a good number."""

    name: str
    batch: int

    def settings(self) -> Mapping[str, Any]:
        """JSON-able identity: equal settings give equal vectors."""

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        """The vectors of each document."""

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        """The vector of a query, shape ``(dimension,)``."""

    def close(self) -> None:
        """End what this embedder started."""


class VectorRanker:
    """Documents by their best vector: ``embedder`` makes the vectors, ``storage`` keeps them."""

    def __init__(self, embedder: Embedder, storage: VectorStorage) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._storage = storage
        self._store: VectorStore | None = None

    def settings(self) -> Mapping[str, Any]:
        return {**self._embedder.settings(), **self._storage.settings()}

    def build(self, job: Job) -> Built:
        """Rows of the old part keep their places and new ones come behind them; with too many dead rows the
        part is written anew without them."""
        documents = job.listing.documents
        there = np.zeros(len(documents), np.bool_)
        part = job.old
        table, live = _take(job, job.old_table, there) if job.old_table is not None else _NOTHING
        pieces = Pieces(job.work, self.settings())
        added = [(piece, *_take(job, piece.table, there)) for piece in pieces.load()]
        job.report(int(there.sum()))
        for piece in self._embed(job, np.flatnonzero(~there), pieces):
            added.append((piece, piece.table, np.ones(len(piece.table), np.bool_)))
        batches = _added(added)
        dimension = _dimension(part, added)
        rows = len(table) + sum(int(keep.sum()) for _, _, keep in added)
        if part is not None and worn(rows, len(documents)):
            store = self._storage.open(part, table.rows["vectors"])
            batches = chain(_living(store, table, live), batches)
            part, table, live = None, table.take(live), live[live]
        kept = self._storage.write(job.directory, part, dimension, batches, job.cancel)
        joined = tables.concatenate([table, *(rows.take(keep) for _, rows, keep in added)])
        facts = _facts(np.delete(joined.rows, np.flatnonzero(~live)))
        return Built(joined, {"dimension": dimension, **facts, **kept})

    def sweep(self, directory: Path, facts: Mapping[str, Any]) -> None:
        self._storage.sweep(directory, facts)

    def open(self, part: Part, table: Table) -> VectorSearcher:
        self._store = self._storage.open(part, table.rows["vectors"])
        return VectorSearcher(self._embedder, self._store)

    def close(self) -> None:
        self._embedder.close()
        if self._store is not None:
            self._store.close()
        self._storage.close()

    def _embed(self, job: Job, places: NDArray[np.int64], pieces: Pieces) -> list[Piece]:
        """Embed the documents at ``places`` in the listing."""
        documents = job.listing.documents
        done = len(documents) - len(places)
        written: list[Piece] = []
        paths: list[str] = []
        rows: list[tuple[int, int, bytes, int, int, int]] = []
        vectors: list[NDArray[np.float32]] = []
        held = 0
        began = time.monotonic()

        def flush() -> None:
            nonlocal held, began
            if paths:
                written.append(pieces.write(Table(list(paths), tables.rows(rows)), np.concatenate(vectors)))
                paths.clear()
                rows.clear()
                vectors.clear()
            held, began = 0, time.monotonic()

        try:
            for at in range(0, len(places), self._embedder.batch):
                check(job.cancel)
                batch = [documents[place] for place in places[at : at + self._embedder.batch].tolist()]
                contents = [content(job.corpus, document) for document in batch]
                made = self._embedder.documents(contents, job.cancel)
                for document, read, one in zip(batch, contents, made, strict=True):
                    paths.append(document.path)
                    rows.append(
                        (read.size, read.mtime_ns, read.digest, len(one.vectors), one.seen, one.total)
                    )
                    vectors.append(one.vectors)
                    held += len(one.vectors)
                done += len(batch)
                job.report(done)
                if time.monotonic() - began > PIECE_SECONDS or held >= PIECE_VECTORS:
                    flush()
        finally:
            flush()
        return written


class VectorSearcher:
    """Vectors that were opened."""

    def __init__(self, embedder: Embedder, store: VectorStore) -> None:
        self._embedder = embedder
        self._store = store

    def search(
        self, query: str, k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        vector = self._embedder.query(query, cancel)
        if vector.shape != (self._store.dimension,):
            raise IndexProblem(
                f"The {self._embedder.name} index holds vectors of {self._store.dimension} numbers, its "
                f"model gives {len(vector)}; run `rarg index` to rebuild it."
            )
        return self._store.search(vector, k, cancel)


def _take(job: Job, table: Table, there: NDArray[np.bool_]) -> tuple[Table, NDArray[np.bool_]]:
    """What an earlier table still has that is not ``there`` yet (shape: documents of the listing), which it
    then is: the table, with new times, and which of its rows live."""
    held = hold(job, table)
    live = held.live()
    live[live] = ~there[held.places[live]]
    there[held.places[live]] = True
    return held.table, live


def _dimension(part: Part | None, added: Sequence[tuple[Piece, Table, NDArray[np.bool_]]]) -> int:
    if part is not None:
        return int(part.facts["dimension"])
    return int(added[0][0].vectors().shape[1]) if added else 0


def _added(added: Sequence[tuple[Piece, Table, NDArray[np.bool_]]]) -> Iterator[Batch]:
    for piece, table, keep in added:
        counts = table.rows["vectors"]
        yield counts[keep], piece.vectors()[np.repeat(keep, counts)]


def _living(store: VectorStore, table: Table, live: NDArray[np.bool_]) -> Iterator[Batch]:
    """What is not dead of an old part, so many rows at a time that little is held."""
    counts = table.rows["vectors"]
    for first in range(0, len(table), _ROWS):
        here = slice(first, min(first + _ROWS, len(table)))
        vectors = store.vectors(here.start, here.stop)
        yield counts[here][live[here]], vectors[np.repeat(live[here], counts[here])]
    store.close()


def _facts(rows: NDArray[np.void]) -> Mapping[str, Any]:
    return {
        "vectors": int(rows["vectors"].sum()),
        "partly_seen": int((rows["seen"] < rows["total"]).sum()),
        "characters_seen": int(rows["seen"].sum()),
        "characters": int(rows["total"].sum()),
    }
