"""A ranker over vectors, built in pieces that survive a kill; only changed documents are embedded again."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rarg_tui.corpus.files import Document
from rarg_tui.corpus.progress import check
from rarg_tui.relevance import table as tables
from rarg_tui.relevance.manifest import IndexProblem, Part
from rarg_tui.relevance.pieces import Piece, Pieces
from rarg_tui.relevance.ranker import Built, Content, Job, content
from rarg_tui.relevance.store import VectorStorage, VectorStore
from rarg_tui.relevance.table import UNREAD, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    #: How many vectors each of some documents has, and the vectors.
    Batch = tuple[NDArray[np.int32], NDArray[np.float32]]

#: A piece is written after so many seconds, and at the latest after so many vectors.
PIECE_SECONDS = 20.0
PIECE_VECTORS = 16_384

#: Dead rows that a part may have, as a share of all; one with more is written anew.
DEAD_SHARE = 0.2
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
        wanted = {document.path: document for document in job.listing.documents}
        part, table = _earlier(job.old)
        table, live = _keep(job, table, wanted)
        pieces = Pieces(job.work, self.settings())
        added = [(piece, *_keep(job, piece.table, wanted)) for piece in pieces.load()]
        done = len(job.listing.documents) - len(wanted)
        job.report(done)
        for piece in self._embed(job, list(wanted.values()), pieces, done):
            added.append((piece, piece.table, np.ones(len(piece.table), np.bool_)))
        batches = _added(added)
        dimension = _dimension(part, added)
        if part is not None and np.count_nonzero(~live) > DEAD_SHARE * len(live):
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

    def _embed(self, job: Job, documents: Sequence[Document], pieces: Pieces, done: int) -> list[Piece]:
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
            for at in range(0, len(documents), self._embedder.batch):
                check(job.cancel)
                batch = documents[at : at + self._embedder.batch]
                contents = [content(job.corpus, document) for document in batch]
                made = self._embedder.documents(contents, job.cancel)
                for document, read, one in zip(batch, contents, made, strict=True):
                    paths.append(document.path)
                    rows.append(
                        (document.size, document.mtime_ns, read.digest, len(one.vectors), one.seen, one.total)
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


def _earlier(part: Part | None) -> tuple[Part | None, Table]:
    """``part`` and its table, or none and an empty one."""
    if part is not None:
        with contextlib.suppress(OSError, ValueError):
            return part, Table.read(part.directory)
    return None, tables.concatenate([])


def _keep(job: Job, table: Table, wanted: dict[str, Document]) -> tuple[Table, NDArray[np.bool_]]:
    """Which rows of an earlier table still hold; these leave ``wanted``. Of several rows of one path only
    the last counts. A file that was only touched (same size and content, other time) holds, with its new
    time."""
    keep = np.zeros(len(table), np.bool_)
    rows = table.rows.copy()
    for path, row in {path: row for row, path in enumerate(table.paths)}.items():
        document = wanted.get(path)
        digest = bytes(rows["digest"][row])
        if document is None or digest == UNREAD or document.size != rows["size"][row]:
            continue
        if document.mtime_ns != rows["mtime_ns"][row]:
            if content(job.corpus, document).digest != digest:
                continue
            rows["mtime_ns"][row] = document.mtime_ns
        keep[row] = True
        del wanted[path]
    return Table(table.paths, rows), keep


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
