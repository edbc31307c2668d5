"""Vectors from a sentence-transformers model, which runs in a process of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.relevance import models
from rarg_tui.relevance.model_process import ModelServer
from rarg_tui.relevance.presets import DenseOptions, Recipe, recipe
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.vectors import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A document longer than the model's window has several, which share so many tokens with their neighbours.
#: What lies behind the last is not seen, and the index says so.
OVERLAP = 16

_CHILD = "rarg_tui.relevance.dense_process"


class DenseEmbedder:
    """One vector a window, the document's title in front of each; the process starts with the first
    text and serves builds and queries alike."""

    name = "dense"
    batch = 32
    destination = ""

    def __init__(self, options: DenseOptions) -> None:
        self._options = options
        self._server = ModelServer(_CHILD, "dense model", lambda: self._folder, self._how)
        self._settings: Mapping[str, Any] | None = None

    @cached_property
    def _recipe(self) -> Recipe:
        folder = self._folder
        found = recipe(self._options, models.label(folder), models.prompts(folder) or None)
        # A preset's pooling is for directories that do not say it; what a person set holds anyway.
        own = self._options.pooling is None and models.is_whole(folder)
        return replace(found, pooling=None) if own else found

    @cached_property
    def _folder(self) -> Path:
        return models.model_folder(self._options.dense_model)

    def settings(self) -> Mapping[str, Any]:
        if self._settings is None:
            folder, made = self._folder, self._recipe
            pooling = (made.pooling or "the model's own") + ", maximum over windows"
            self._settings = {
                "model": models.label(folder),
                "model_fingerprint": models.fingerprint(folder),
                "tokenizer": "the model's own",
                "pooling": pooling if self._options.normalize else f"{pooling}, not normalised",
                "max_length": made.max_length or models.own_length(folder),
                "windows_at_most": self._options.windows or "all",
                "overlap_tokens": OVERLAP,
                "title_in_front": True,
                "prefixes": [made.query_prefix, made.document_prefix],
            }
        return self._settings

    def about(self, cancel: threading.Event | None = None) -> str:
        """One line about the model, which is loaded for it."""
        self.query("", cancel)
        said = "{dimension} numbers a vector, {max_length} tokens a window, on {device}"
        return said.format(**self._server.about)

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        items = [[clean(one.title), clean(one.text)] for one in contents]
        request = {
            "op": "documents",
            "items": items,
            "windows": self._options.windows,
            "overlap": OVERLAP,
            "prefix": self._recipe.document_prefix,
        }
        header, vectors = self._ask(request, cancel)
        ends = np.cumsum(header["counts"])
        each = np.split(vectors, ends[:-1])
        return [
            Embedded(rows, int(seen), len(one.text))
            for rows, seen, one in zip(each, header["seen"], contents, strict=True)
        ]

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        request = {"op": "query", "text": clean(text), "prefix": self._recipe.query_prefix}
        vector: NDArray[np.float32] = self._ask(request, cancel)[1][0]
        return vector

    def texts(self, texts: Sequence[str], cancel: threading.Event | None = None) -> NDArray[np.float32]:
        """One unit vector for each of ``texts``, such as lines: they are what is looked for, so they have the
        prefix of documents. What is longer than the model's window is seen up to there."""
        request = {
            "op": "texts",
            "texts": [clean(text) for text in texts],
            "prefix": self._recipe.document_prefix,
        }
        return self._ask(request, cancel)[1]

    def close(self) -> None:
        self._server.close()

    def _ask(
        self, request: Mapping[str, Any], cancel: threading.Event | None
    ) -> tuple[dict[str, Any], NDArray[np.float32]]:
        header, payload = self._server.ask(request, cancel)
        return header, np.frombuffer(payload, np.float32).reshape(-1, self._server.about["dimension"])

    def _how(self) -> Mapping[str, Any]:
        return {
            "device": self._options.device,
            "pooling": self._recipe.pooling,
            "max_length": self._recipe.max_length,
            "normalize": self._options.normalize,
        }
