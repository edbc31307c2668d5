"""Vectors from a table of token vectors: fast, without torch."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.errors import MissingPart
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.vectors import Embedded, windows

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

#: Characters a window; a document has at most so many windows, longer ones if need be.
WINDOW = 450
MOST_WINDOWS = 8
#: Share of the title's vector in each window's vector.
TITLE_SHARE = 0.4

_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_BATCH = 256


class StaticTable:
    """The 256-dimension table of the ``wordllama`` package, loaded by path; the package itself is not
    imported. A text's vector is the plain mean of its tokens' vectors (as wordllama pools), at length 1;
    the vector of a text without tokens is 0."""

    def __init__(self) -> None:
        self._loaded: tuple[Tokenizer, NDArray[np.float32]] | None = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape ``(len(texts), 256)``."""
        return _unit(self.means(texts))

    def means(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Means of the token vectors, not normalised."""
        tokenizer, weights = self._load()
        made = np.zeros((len(texts), weights.shape[1]), np.float32)
        for at in range(0, len(texts), _BATCH):
            batch = [clean(text) for text in texts[at : at + _BATCH]]
            for row, encoded in enumerate(tokenizer.encode_batch_fast(batch, add_special_tokens=False), at):
                if encoded.ids:
                    made[row] = weights.take(encoded.ids, axis=0).mean(axis=0)
        return made

    def _load(self) -> tuple[Tokenizer, NDArray[np.float32]]:
        with self._lock:
            if self._loaded is None:
                from safetensors.numpy import load_file
                from tokenizers import Tokenizer

                folder = package_folder()
                weights = load_file(folder / _WEIGHTS)[_TENSOR].astype(np.float32)
                tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
                tokenizer.no_padding()
                tokenizer.no_truncation()
                self._loaded = tokenizer, weights
            return self._loaded


class StaticEmbedder:
    """Windows of a document, the title's vector mixed into each: the whole document is covered."""

    name = "static"
    batch = 256

    def __init__(self, table: StaticTable) -> None:
        self._table = table

    def settings(self) -> Mapping[str, Any]:
        weights = package_folder() / _WEIGHTS
        return {
            "model": f"wordllama/{weights.stem}",
            "bytes": weights.stat().st_size,
            "tokenizer": Path(_TOKENIZER).stem,
            "pooling": "mean of tokens, maximum over windows",
            "window_characters": WINDOW,
            "windows_at_most": MOST_WINDOWS,
            "title_share": TITLE_SHARE,
            "prefixes": ["", ""],
        }

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        cut = [list(windows(one.text, WINDOW, MOST_WINDOWS)) for one in contents]
        titles = self._table.embed([one.title for one in contents])
        bodies = self._table.embed([window for each in cut for window in each])
        made: list[Embedded] = []
        at = 0
        for one, head, each in zip(contents, titles, cut, strict=True):
            body = bodies[at : at + len(each)]
            at += len(each)
            mixed = _unit(TITLE_SHARE * head + (1 - TITLE_SHARE) * body)
            made.append(Embedded(mixed, len(one.text), len(one.text)))
        return made

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._table.embed([text])[0]
        return vector

    def close(self) -> None:
        pass


def package_folder() -> Path:
    """Where ``wordllama`` is installed. Raises :class:`MissingPart` if it is not."""
    found = importlib.util.find_spec(_PACKAGE)
    for place in (found.submodule_search_locations or []) if found else []:
        if (Path(place) / _WEIGHTS).is_file():
            return Path(place)
    raise MissingPart(
        "The static ranker needs the token table of the package `wordllama`; "
        "install it with `pip install wordllama`, or choose --ranker lexical."
    )


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    made: NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return made
