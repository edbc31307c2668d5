"""A ranker over vectors, built in pieces that survive a kill; only changed documents are embedded again."""

from __future__ import annotations

import contextlib
import threading
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rarg_tui.corpus.files import Document
from rarg_tui.corpus.progress import check
from rarg_tui.relevance import table as tables
from rarg_tui.relevance.manifest import IndexProblem, Part, damaged
from rarg_tui.relevance.ranker import Built, Content, Job, content
from rarg_tui.relevance.store import FaissStore, VectorStore
from rarg_tui.relevance.table import UNREAD, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A piece is written after so many seconds, and at the latest after so many documents.
PIECE_SECONDS = 20.0
PIECE_DOCUMENTS = 20_000

_SETTINGS = "settings.json"


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
    """Documents by their best vector."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder

    def settings(self) -> Mapping[str, Any]:
        return self._embedder.settings()

    def build(self, job: Job) -> Built:
        pieces = _Pieces(job.work, self.settings())
        wanted = {document.path: document for document in job.listing.documents}
        sources: list[tuple[Table, FaissStore | Path]] = []
        if job.old is not None:
            with contextlib.suppress(OSError, ValueError):
                sources.append((Table.read(job.old.directory), FaissStore.open(job.old.directory)))
        sources += pieces.load()
        kept = [_keep(job, table, wanted) for table, _ in sources]
        done = len(job.listing.documents) - len(wanted)
        job.report(done)
        embedded = self._embed(job, list(wanted.values()), pieces, done)
        sources += embedded
        kept += [(table, np.ones(len(table), np.bool_)) for table, _ in embedded]
        dimension = next((_dimension(source) for table, source in sources if len(table)), 0)
        total = FaissStore.write(
            job.directory,
            dimension,
            (
                _vectors(source)[np.repeat(keep, table.rows["vectors"])]
                for (table, source), (_, keep) in zip(sources, kept, strict=True)
                if len(table)
            ),
        )
        joined = tables.concatenate([table.take(keep) for table, keep in kept])
        partly = joined.rows["seen"] < joined.rows["total"]
        facts = {
            "dimension": dimension,
            "vectors": total,
            "partly_seen": int(partly.sum()),
            "characters_seen": int(joined.rows["seen"].sum()),
            "characters": int(joined.rows["total"].sum()),
        }
        return Built(joined, facts)

    def open(self, part: Part, table: Table) -> VectorSearcher:
        try:
            store = FaissStore.open(part.directory)
        except (OSError, ValueError) as error:
            raise damaged(self.name, part.directory, str(error)) from None
        counts = table.rows["vectors"]
        if len(store) != int(counts.sum()) or store.dimension != part.facts.get("dimension"):
            raise damaged(self.name, part.directory, "vectors and documents do not fit")
        owner = np.repeat(np.arange(len(table), dtype=np.int64), counts)
        return VectorSearcher(self._embedder, store, owner, len(table))

    def close(self) -> None:
        self._embedder.close()

    def _embed(
        self, job: Job, documents: Sequence[Document], pieces: _Pieces, done: int
    ) -> list[tuple[Table, FaissStore | Path]]:
        written: list[tuple[Table, FaissStore | Path]] = []
        paths: list[str] = []
        rows: list[tuple[int, int, bytes, int, int, int]] = []
        vectors: list[NDArray[np.float32]] = []
        began = time.monotonic()

        def flush() -> None:
            if paths:
                table = Table(list(paths), tables.rows(rows))
                written.append((table, pieces.write(table, np.concatenate(vectors))))
                paths.clear()
                rows.clear()
                vectors.clear()

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
                done += len(batch)
                job.report(done)
                if time.monotonic() - began > PIECE_SECONDS or len(paths) >= PIECE_DOCUMENTS:
                    flush()
                    began = time.monotonic()
        finally:
            flush()
        return written


class VectorSearcher:
    """Vectors that were opened: vector ``i`` of ``store`` is one of document ``owner[i]``."""

    def __init__(
        self, embedder: Embedder, store: VectorStore, owner: NDArray[np.int64], documents: int
    ) -> None:
        self._embedder = embedder
        self._store = store
        self._owner = owner
        self._documents = documents

    def search(
        self, query: str, k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        store = self._store
        vector = self._embedder.query(query, cancel)
        if vector.shape != (store.dimension,):
            raise IndexProblem(
                f"The {self._embedder.name} index holds vectors of {store.dimension} numbers, its model "
                f"gives {len(vector)}; run `rarg index` to rebuild it."
            )
        k = min(k, self._documents)
        if k <= 0:
            return np.empty(0, np.int64), np.empty(0, np.float64)
        limit = min(len(store), k * max(1, round(len(store) / self._documents)))
        while True:
            check(cancel)
            found, similarity = store.search(vector, limit)
            scores = similarity.astype(np.float64).round(6)
            owners, first = np.unique(self._owner[found], return_index=True)
            best = scores[first]
            complete = len(found) >= len(store) or len(found) < limit
            if complete or (len(owners) >= k and np.partition(best, -k)[-k] > scores[-1]):
                order = np.lexsort((owners, -best))
                return owners[order], best[order]
            limit = min(len(store), limit * 2)


class _Pieces:
    """Finished batches of an unfinished build: ``piece-000001.npz`` and so on, each complete in itself."""

    def __init__(self, directory: Path, settings: Mapping[str, Any]) -> None:
        import json

        self._directory = directory
        wanted = json.dumps(settings, sort_keys=True)
        note = directory / _SETTINGS
        if not note.exists() or note.read_text("utf-8") != wanted:
            for stale in directory.iterdir():
                stale.unlink()
            note.write_text(wanted, "utf-8")
        numbers = [int(piece.stem.rpartition("-")[2]) for piece in directory.glob("piece-*.npz")]
        self._next = 1 + max(numbers, default=0)

    def load(self) -> list[tuple[Table, FaissStore | Path]]:
        """The pieces of an earlier build. A torn or damaged one is removed, and so embedded again."""
        found: list[tuple[Table, FaissStore | Path]] = []
        for file in sorted(self._directory.glob("piece-*.npz")):
            try:
                with np.load(file, allow_pickle=False) as piece:
                    paths = _unpack(piece["paths"].tobytes())
                    table = Table(paths, piece["rows"])
                    fits = len(piece["vectors"]) == int(table.rows["vectors"].sum())
                    if table.rows.dtype != tables.ROW or len(table.rows) != len(paths) or not fits:
                        raise ValueError("a piece that does not fit")
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
                file.unlink(missing_ok=True)
                continue
            found.append((table, file))
        return found

    def write(self, table: Table, vectors: NDArray[np.float32]) -> Path:
        packed = np.frombuffer(_pack(table.paths), np.uint8)
        file = self._directory / f"piece-{self._next:06d}.npz"
        self._next += 1
        unfinished = file.with_suffix(".new")
        with open(unfinished, "wb") as opened:
            np.savez(opened, paths=packed, rows=table.rows, vectors=vectors)
        unfinished.replace(file)
        return file


def _pack(paths: Sequence[str]) -> bytes:
    import os

    return b"\0".join(os.fsencode(path) for path in paths)


def _unpack(packed: bytes) -> list[str]:
    import os

    return [os.fsdecode(path) for path in packed.split(b"\0")]


def _keep(job: Job, table: Table, wanted: dict[str, Document]) -> tuple[Table, NDArray[np.bool_]]:
    """Which rows of an earlier table still hold; these leave ``wanted``. A file that was only touched
    (same size and content, other time) holds, with its new time."""
    keep = np.zeros(len(table), np.bool_)
    rows = table.rows.copy()
    for row, path in enumerate(table.paths):
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


def _vectors(source: FaissStore | Path) -> NDArray[np.float32]:
    if isinstance(source, FaissStore):
        return source.vectors(0, len(source))
    with np.load(source, allow_pickle=False) as piece:
        return np.asarray(piece["vectors"], np.float32)


def _dimension(source: FaissStore | Path) -> int:
    return source.dimension if isinstance(source, FaissStore) else int(_vectors(source).shape[1])


def windows(text: str, size: int, most: int) -> Iterator[str]:
    """``text`` cut at white space into at most ``most`` windows of ``size`` characters; a longer text
    gets longer windows, so that all of it is covered. An empty text has one empty window."""
    size = max(size, -(-len(text) // most))
    at = 0
    while len(text) - at > size:
        cut = max(text.rfind(" ", at + size // 2, at + size), text.rfind("\n", at + size // 2, at + size))
        cut = cut + 1 if cut >= 0 else at + size
        yield text[at:cut]
        at = cut
    yield text[at:]
