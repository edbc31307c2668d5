"""The dense ranker over an index that the paper's released code built; that is only ever read.

Its directory holds ``index.faiss`` (a flat index of inner products, one vector of length 1 a document),
``paths.json`` (the document of each row, relative to the corpus) and ``meta.json`` (the model and how it was
used). Written by ``scripts/build_embedding_index.py`` of that code.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.progress import check
from rarg_tui.errors import MissingPart
from rarg_tui.relevance import flat_file
from rarg_tui.relevance import table as tables
from rarg_tui.relevance.manifest import IndexProblem, Part, damaged
from rarg_tui.relevance.presets import DenseOptions
from rarg_tui.relevance.ranker import Built, Job
from rarg_tui.relevance.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rarg_tui.relevance.embedders import DenseModel

_VECTORS, _PATHS, _META = "index.faiss", "paths.json", "meta.json"
_ROWS = "rows.npy"

#: That code puts this in front of a query where ``meta.json`` gives the style in place of a prefix, unless it
#: is told otherwise (``format_query_text`` in ``scripts/embedding_backends.py``).
_STYLES = {
    "qwen_instruction": "Instruct: Given a web search query, retrieve relevant passages that answer the "
    "query\nQuery: "
}

_LENGTHS = range(16, 1 << 20)

#: Documents are not read for this ranker, so their content is not known.
_NOT_READ = b"\xff" * 16


@dataclass(frozen=True, slots=True)
class Meta:
    """What ``meta.json`` says, ``None`` where it says nothing that can be used."""

    model: str | None = None
    dimension: int | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    max_length: int | None = None

    @classmethod
    def read(cls, directory: Path) -> Meta:
        """A missing or broken file says nothing."""
        try:
            said = json.loads((directory / _META).read_bytes())
        except (OSError, ValueError, RecursionError):
            said = {}
        if not isinstance(said, Mapping):
            return cls()

        def first(kind: type, *names: str) -> Any:
            found = (said.get(name) for name in names)
            return next((value for value in found if isinstance(value, kind) and value), None)

        max_length = first(int, "max_model_len", "max_length")
        return cls(
            first(str, "model", "model_name", "model_path", "embedding_model"),
            first(int, "embedding_dim", "dimension", "dim"),
            _STYLES.get(str(said.get("query_prefix_style")), first(str, "query_prefix", "query_instruction")),
            first(str, "passage_prefix", "document_prefix", "doc_prefix"),
            max_length if max_length in _LENGTHS else None,
        )


def with_released(options: DenseOptions) -> DenseOptions:
    """``options`` with what ``meta.json`` says where the person says nothing. A path on the machine that
    built the index stands for the model of that name, where there is no such path."""
    if options.released_index is None:
        return options
    meta = Meta.read(options.released_index)
    if _by_meta(options) and meta.model is not None:
        here = os.path.exists(os.path.expanduser(meta.model))
        name = meta.model if here or not os.path.isabs(meta.model) else posixpath.basename(meta.model)
        options = replace(options, dense_model=name)
    if options.dense_preset is not None:
        return options
    return replace(
        options,
        query_prefix=meta.query_prefix if options.query_prefix is None else options.query_prefix,
        document_prefix=meta.document_prefix if options.document_prefix is None else options.document_prefix,
        max_length=options.max_length or meta.max_length,
    )


def _by_meta(options: DenseOptions) -> bool:
    """Whether the model for queries is the one that ``meta.json`` names."""
    return options.dense_model is None and options.embeddings_url is None


class ReleasedRanker:
    """Documents by their vector in the released index. A part of this ranker says only which row belongs to
    which document; the vectors stay where they are."""

    name = "dense"

    def __init__(self, directory: Path, options: DenseOptions, embedder: DenseModel) -> None:
        """``options`` are the person's own, ``embedder`` that of :func:`with_released`."""
        self._directory = directory.expanduser().absolute()
        self._by_meta = _by_meta(options)
        self._embedder = embedder

    def settings(self) -> Mapping[str, Any]:
        count, dimension = self._head
        embedder = self._embedder_settings()
        return {
            "released_index": os.fsencode(self._directory).decode("utf-8", "replace"),
            "fingerprint": self._fingerprint(),
            "vectors": count,
            "dimension": dimension,
            "model": embedder["model"],
            "prefixes": embedder["prefixes"],
        }

    def build(self, job: Job) -> Built:
        paths = self._paths()
        places = {document.path: place for place, document in enumerate(job.listing.documents)}
        rows = np.fromiter((places.get(path, -1) for path in paths), np.int64, len(paths))
        check(job.cancel)
        count = np.bincount(rows[rows >= 0], minlength=len(places))
        if not count.any():
            raise IndexProblem(
                f"None of the {len(paths)} paths of the released index in {str(self._directory)!r} is a "
                f"document of {str(job.corpus.root)!r}; give the corpus that it was built for with -C."
            )
        np.save(job.directory / _ROWS, rows, allow_pickle=False)
        values = [
            (document.size, document.mtime_ns, _NOT_READ, int(vectors), 0, 0)
            for document, vectors in zip(job.listing.documents, count, strict=True)
        ]
        table = Table([document.path for document in job.listing.documents], tables.rows(values))
        job.report(len(table))
        foreign, without = int((rows < 0).sum()), int((count == 0).sum())
        notes = [f"from the released index in {self._directory}; how much of each was seen is not known"]
        if foreign:
            notes.append(f"{foreign} of its {len(paths)} paths are no documents of this corpus")
        if without:
            notes.append(f"{without} documents have no vector there, and this ranker does not find them")
        facts = {"dimension": self._head[1], "vectors": int(count.sum()), "notes": notes}
        return Built(table, facts)

    def sweep(self, directory: Path, facts: Mapping[str, Any]) -> None:
        pass

    def open(self, part: Part, table: Table) -> ReleasedSearcher:
        try:
            rows = np.load(part.directory / _ROWS, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise damaged(self.name, part.directory, str(error)) from None
        try:
            vectors = flat_file.read_vectors(self._directory / _VECTORS)
        except (OSError, ValueError, MemoryError) as error:
            raise self._unfit(error) from None
        fits = rows.dtype == np.int64 and rows.shape == (len(vectors),)
        if not fits or (rows.size and not -1 <= rows.min() <= rows.max() < len(table)):
            raise damaged(self.name, part.directory, "vectors and documents do not fit")
        return ReleasedSearcher(self._embedder, vectors, rows, len(table))

    def close(self) -> None:
        self._embedder.close()

    def _embedder_settings(self) -> Mapping[str, Any]:
        model = Meta.read(self._directory).model
        try:
            if model is not None or not self._by_meta:
                return self._embedder.settings()
            why = f"{_META} names no model"
        except MissingPart as error:
            if not self._by_meta:
                raise
            why = (
                f"it was built with {model!r}, and {str(error)[0].lower()}{str(error)[1:].partition(';')[0]}"
            )
        raise MissingPart(
            f"Queries for the released index in {str(self._directory)!r} cannot be embedded: {why}; set "
            "dense_model to the model's directory, or embeddings_url and embeddings_model to a server that "
            "has it."
        )

    @cached_property
    def _head(self) -> tuple[int, int]:
        try:
            count, dimension = flat_file.read_head(self._directory / _VECTORS)
        except (OSError, ValueError) as error:
            raise self._unfit(error) from None
        said = Meta.read(self._directory).dimension
        if said not in (None, dimension):
            raise IndexProblem(
                f"The released index in {str(self._directory)!r} has vectors of {dimension} numbers, its "
                f"{_META} says {said}; copy the three files of one index there."
            )
        return count, dimension

    def _paths(self) -> list[str]:
        """The document of each row."""
        try:
            said = json.loads((self._directory / _PATHS).read_bytes())
            if isinstance(said, dict):
                said = [said[str(row)] for row in range(len(said))]
            paths = [posixpath.normpath(path) for path in said]
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._unfit(error, _PATHS) from None
        if len(paths) != self._head[0]:
            raise IndexProblem(
                f"The released index in {str(self._directory)!r} has {self._head[0]} vectors and "
                f"{len(paths)} paths; copy the three files of one index there."
            )
        return paths

    def _fingerprint(self) -> str:
        """16 hex digits over the sizes and times of the three files: they may be large."""
        digest = hashlib.blake2b(digest_size=8)
        for name in (_VECTORS, _PATHS, _META):
            try:
                found = (self._directory / name).stat()
                digest.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
            except OSError:
                digest.update(f"{name}\0".encode())
        return digest.hexdigest()

    def _unfit(self, error: Exception, name: str = _VECTORS) -> MissingPart:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return MissingPart(
            f"{str(self._directory / name)!r} cannot be used as a part of a released index ({why}); name the "
            "directory of a whole one, or leave released_index out."
        )


class ReleasedSearcher:
    """Row ``i`` of ``vectors`` (shape ``(n, dimension)``) is of the document in row ``owner[i]`` of the
    table, of none where that is -1."""

    def __init__(
        self, embedder: DenseModel, vectors: NDArray[np.float32], owner: NDArray[np.int64], documents: int
    ) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._owner = owner
        self._documents = documents

    def search(
        self, query: str, k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        vector = self._embedder.query(query, cancel)
        dimension = self._vectors.shape[1]
        if vector.shape != (dimension,):
            raise IndexProblem(
                f"The released index holds vectors of {dimension} numbers, the model for queries gives "
                f"{len(vector)}; set dense_model, or embeddings_url and embeddings_model, to the model that "
                "it was built with."
            )
        best = np.full(self._documents, -np.inf)
        there = self._owner >= 0
        np.maximum.at(best, self._owner[there], (self._vectors @ vector)[there].round(6))
        rows = np.flatnonzero(best > -np.inf)
        if k < len(rows):
            rows = rows[best[rows] >= np.partition(best[rows], -k)[-k]] if k > 0 else rows[:0]
        rows = rows[np.lexsort((rows, -best[rows]))]
        return rows, best[rows]
