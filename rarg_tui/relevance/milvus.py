"""Vectors in Milvus: a collection for each part's history, searched where it lies."""

from __future__ import annotations

import contextlib
import json
import platform
import re
import secrets
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.progress import check
from rarg_tui.errors import RargError
from rarg_tui.relevance.manifest import IndexProblem, Part, damaged
from rarg_tui.relevance.milvus_server import MilvusServer
from rarg_tui.relevance.store import quantise, restored, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The most hits of one search, and rows of one query, that a Milvus server gives
#: (https://milvus.io/docs/limitations.md).
MOST_HITS = 16_384
#: Bytes of vectors in one call; a server takes 64 MB.
CALL_BYTES = 4 << 20
#: Seconds that a build waits for a lost server, and anybody for a collection to be loaded.
PATIENCE_S = 300.0
LOAD_S = 600.0

_KEY = "milvus"


class MilvusStorage:
    """Vector ``i`` of a part is the entity with the primary key ``i`` of the collection that the part
    names. What stands behind the part's own number of vectors, left by a build that did not end, is
    never looked at and overwritten by the next.

    A collection gets a random name, written into a ledger beside the parts before it is made: what is
    dropped later is in the ledger, and so is nobody else's.
    """

    name = "milvus"

    def __init__(self, server: MilvusServer, ranker: str) -> None:
        self._server = server
        self._ranker = ranker

    def settings(self) -> Mapping[str, Any]:
        """Raises ``MissingPart`` when a package is not installed."""
        self._server.require()
        return {"store": self.name}

    def write(
        self,
        directory: Path,
        old: Part | None,
        dimension: int,
        batches: Iterable[tuple[NDArray[np.int32], NDArray[np.float32]]],
        cancel: threading.Event | None,
    ) -> Mapping[str, Any]:
        """Append ``batches`` (vectors a row, vectors) behind those of ``old``, or begin afresh; what the
        facts must keep. A server that is lost on the way is waited for."""
        ledger = _Ledger(directory.parent, self._ranker)
        kept = {} if old is None else _facts(old, self._ranker)
        collection, first = str(kept.get("collection", "")), int(kept.get("vectors", 0))
        if collection and not self._server.call("has_collection", collection, cancel=cancel):
            raise self._missing(collection, Path() if old is None else old.directory)
        if dimension and collection not in ledger.names:
            # The cache was copied: the collection is the original's, which goes on with it.
            copied, rest = collection, first
            collection, first = self._create(ledger, dimension, cancel), 0
            if rest:
                self._server.call("load_collection", copied, cancel=cancel, timeout=LOAD_S)
            for at, until in _spans(0, rest, dimension):
                vectors = read(self._server, copied, at, until, dimension)
                first = self._append(collection, first, vectors, cancel)
        for _, vectors in batches:
            for at, until in _spans(0, len(vectors), dimension):
                # As they are on disk, so that both stores find the same.
                same = restored(quantise(vectors[at:until]))
                first = self._append(collection, first, same, cancel)
        if collection:
            self._server.call("flush", collection, cancel=cancel, timeout=LOAD_S, patience=PATIENCE_S)
        where = {"uri": self._server.uri, "collection": collection}
        return {_KEY: {**where, "vectors": first, "dimension": dimension}}

    def sweep(self, directory: Path, facts: Mapping[str, Any]) -> None:
        """Drop the collections of earlier parts and builds, now that a part with ``facts`` is published in
        the index's ``directory``; called with the build lock held. What cannot be dropped now is dropped
        after a later build."""
        ledger = _Ledger(directory, self._ranker)
        current = facts[_KEY]["collection"]
        with contextlib.suppress(RargError):
            for name in [name for name in ledger.names if name != current]:
                self._server.call("drop_collection", name)
                ledger.remove(name)

    def open(self, part: Part, counts: NDArray[np.int32]) -> MilvusStore:
        """Raises ``IndexProblem`` when the collection is not what the part says, ``MissingPart`` when the
        server cannot be reached."""
        facts = _facts(part, self._ranker)
        collection, total = str(facts["collection"]), int(counts.sum())
        if facts["vectors"] != total:
            raise damaged(self._ranker, part.directory, "vectors and documents do not fit")
        dimension = int(facts["dimension"])
        if total:
            self._verify(part, collection, dimension, total)
        return MilvusStore(self._server, collection, dimension, counts)

    def close(self) -> None:
        self._server.close()

    def _verify(self, part: Part, collection: str, dimension: int, total: int) -> None:
        if not self._server.call("has_collection", collection):
            raise self._missing(collection, part.directory)
        fields = self._server.call("describe_collection", collection)["fields"]
        there = {field["name"]: field["params"].get("dim") for field in fields}
        if int(there.get("vector") or 0) != dimension:
            raise self._other(
                part, collection, f"vectors of {there.get('vector')} numbers, the index {dimension}"
            )
        self._server.call("load_collection", collection, timeout=LOAD_S)
        # Strong once: a bounded search afterwards sees at least what this count has seen.
        counted = self._server.call(
            "query",
            collection,
            filter=f"id < {total}",
            output_fields=["count(*)"],
            consistency_level="Strong",
        )
        if int(counted[0]["count(*)"]) != total:
            raise self._other(part, collection, f"{counted[0]['count(*)']} vectors, the index {total}")

    def _create(self, ledger: _Ledger, dimension: int, cancel: threading.Event | None) -> str:
        from pymilvus import DataType, MilvusClient

        collection = ledger.add()
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
        index = MilvusClient.prepare_index_params()
        # A server chooses an index for its size, and may approximate; a file is searched exactly.
        index.add_index(
            "vector", index_type="FLAT" if self._server.is_file else "AUTOINDEX", metric_type="IP"
        )
        self._server.call("create_collection", collection, schema=schema, index_params=index, cancel=cancel)
        return collection

    def _append(
        self, collection: str, first: int, vectors: NDArray[np.float32], cancel: threading.Event | None
    ) -> int:
        check(cancel)
        rows = [{"id": first + at, "vector": vector} for at, vector in enumerate(vectors)]
        self._server.call("upsert", collection, rows, cancel=cancel, patience=PATIENCE_S)
        return first + len(rows)

    def _missing(self, collection: str, directory: Path) -> IndexProblem:
        return IndexProblem(
            f"The collection {collection} of the {self._ranker} index is not in Milvus at "
            f"{self._server.uri}; name the right --uri, or remove {str(directory)!r} and run `rarg index` "
            "to rebuild it."
        )

    def _other(self, part: Part, collection: str, difference: str) -> IndexProblem:
        return IndexProblem(
            f"The collection {collection} in Milvus at {self._server.uri} holds {difference}; remove "
            f"{str(part.directory)!r} and run `rarg index` to rebuild it."
        )


class MilvusStore:
    """The vectors of one part, in ``collection``; row ``r`` of the part's table has ``counts[r]``."""

    def __init__(
        self, server: MilvusServer, collection: str, dimension: int, counts: NDArray[np.int32]
    ) -> None:
        self.dimension = dimension
        self._server = server
        self._collection = collection
        self._ends = np.cumsum(counts, dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def search(
        self, vector: NDArray[np.float32], k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Table rows and similarities (rounded to 6 places): the best ``k`` rows by their best vector, and
        all that tie with the last, best first, ties by row. ``vector`` has shape ``(dimension,)``.

        A search has at most :data:`MOST_HITS` hits. Where these may not be all that count, the vectors
        are searched again in two halves, and so on.
        """
        k = min(k, len(self._ends))
        rows, best = np.empty(0, np.int64), np.empty(0, np.float64)
        if k <= 0 or not len(self):
            return rows, best
        whole, unit = whole_numbers(vector)
        vector = (whole * unit).astype(np.float32)
        limit = min(MOST_HITS, k * max(1, round(len(self) / len(self._ends))) + 1)
        spans = [(0, len(self))]
        floor = -np.inf
        while spans:
            searched = [(span, *self._hits(vector, span, limit, cancel)) for span in spans]
            ids = np.concatenate([found for _, found, _ in searched])
            scores = np.concatenate([given for _, _, given in searched])
            owners = np.searchsorted(self._ends, ids, side="right")
            rows, best = _best(np.concatenate([rows, owners]), np.concatenate([best, scores]))
            if len(best) >= k:
                floor = np.partition(best, -k)[-k]
            spans = [
                span
                for span, found, given in searched
                if len(found) == limit < span[1] - span[0] and given.min() >= floor
            ]
            if limit == MOST_HITS:
                spans = [half for span in spans for half in _halves(*span)]
            limit = min(MOST_HITS, 4 * limit)
        rows, best = rows[best >= floor], best[best >= floor]
        order = np.lexsort((rows, -best))
        return rows[order], best[order]

    def vectors(self, first: int, last: int) -> NDArray[np.float32]:
        """The vectors of table rows ``first`` to ``last`` (exclusive), shape ``(n, dimension)``."""
        starts = np.concatenate([np.zeros(1, np.int64), self._ends])
        made = [
            read(self._server, self._collection, at, until, self.dimension)
            for at, until in _spans(int(starts[first]), int(starts[last]), self.dimension)
        ]
        return np.concatenate([np.empty((0, self.dimension), np.float32), *made])

    def close(self) -> None:
        """The connection is its storage's."""

    def _hits(
        self,
        vector: NDArray[np.float32],
        span: tuple[int, int],
        limit: int,
        cancel: threading.Event | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        check(cancel)
        (hits,) = self._server.call(
            "search",
            self._collection,
            [vector.tolist()],
            filter=f"id >= {span[0]} and id < {span[1]}",
            limit=limit,
            output_fields=["id"],
            search_params={"metric_type": "IP"},
            consistency_level="Bounded",
            cancel=cancel,
        )
        ids = np.fromiter((hit["id"] for hit in hits), np.int64, len(hits))
        scores = np.fromiter((hit["distance"] for hit in hits), np.float64, len(hits))
        return ids, scores.round(6)


class _Ledger:
    """The collections that the builds of one ranker made from this directory on this machine. A ledger
    that was copied from elsewhere counts as empty: its collections belong to the original."""

    def __init__(self, base: Path, ranker: str) -> None:
        self._file = base / f"{ranker}.milvus"
        self._place = f"{platform.node()}:{base.resolve()}"
        self._prefix = re.sub(r"\W", "_", f"rarg_{base.name}_{ranker}", flags=re.ASCII)[:200]
        self.names: list[str] = []
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            noted = json.loads(self._file.read_bytes())
            self.names = list(noted["collections"]) if noted["place"] == self._place else []

    def add(self) -> str:
        name = f"{self._prefix}_{secrets.token_hex(8)}"
        self.names.append(name)
        self._write()
        return name

    def remove(self, name: str) -> None:
        self.names.remove(name)
        self._write()

    def _write(self) -> None:
        fresh = self._file.with_suffix(".milvus.new")
        fresh.write_text(json.dumps({"place": self._place, "collections": self.names}), "utf-8")
        fresh.replace(self._file)


def read(server: MilvusServer, collection: str, first: int, last: int, dimension: int) -> NDArray[np.float32]:
    """Vectors ``first`` to ``last`` (exclusive) of a collection that is loaded."""
    found = server.call(
        "query",
        collection,
        filter=f"id >= {first} and id < {last}",
        output_fields=["id", "vector"],
        limit=last - first,
    )
    made = np.empty((last - first, dimension), np.float32)
    if len(found) != len(made):
        raise IndexProblem(
            f"The collection {collection} in Milvus at {server.uri} lacks {len(made) - len(found)} of the "
            f"vectors {first} to {last}; run `rarg index` to rebuild it."
        )
    for row in found:
        made[row["id"] - first] = row["vector"]
    return made


def _facts(part: Part, ranker: str) -> Mapping[str, Any]:
    facts = part.facts.get(_KEY)
    if not isinstance(facts, Mapping):
        raise damaged(ranker, part.directory, "it does not name its Milvus collection")
    return facts


def _spans(first: int, last: int, dimension: int) -> list[tuple[int, int]]:
    """``first`` to ``last`` in steps that one call can carry."""
    step = max(1, min(MOST_HITS, CALL_BYTES // (4 * max(1, dimension))))
    return [(at, min(at + step, last)) for at in range(first, last, step)]


def _halves(first: int, last: int) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = (first + last) // 2
    return (first, middle), (middle, last)


def _best(
    rows: NDArray[np.int64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each row once, with the best of its scores."""
    order = np.lexsort((-scores, rows))
    rows, scores = rows[order], scores[order]
    first = np.ones(len(rows), np.bool_)
    first[1:] = rows[1:] != rows[:-1]
    return rows[first], scores[first]
