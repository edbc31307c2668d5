"""Vectors from a table of token vectors: fast, without torch."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.errors import MissingPart
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.vectors import Embedded

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
#: Words whose sums are kept, 1 KB each.
_REMEMBERED = 65_536
#: Words that are tokenized together.
_JOINED = 64
#: How the tokenizer writes the space before a word.
_SPACE = "\u2581"


class StaticTable:
    """The 256-dimension table of the ``wordllama`` package, loaded by path; the package itself is not
    imported. A text's vector is the plain mean of its tokens' vectors (as wordllama pools), at length 1;
    the vector of a text without tokens is 0.

    Tokens never reach over white space, so the sum of a word's vectors is made once and remembered. White
    space itself, for which the tokenizer has tokens of its own, is left out.
    """

    def __init__(self) -> None:
        self._loaded: tuple[Tokenizer, NDArray[np.float32]] | None = None
        self._rows: dict[str, int] = {}
        self._sums = np.empty((0, 0), np.float32)
        self._counts = np.empty(0, np.int64)
        self._begins = np.empty(0, np.bool_)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape ``(len(texts), 256)``."""
        return _unit(self.means(texts))

    def means(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Means of the token vectors, not normalised."""
        with self._lock:
            weights = self._load()[1]
            made = np.zeros((len(texts), weights.shape[1]), np.float32)
            for at in range(0, len(texts), _BATCH):
                batch = [clean(text).replace(_SPACE, " ").split() for text in texts[at : at + _BATCH]]
                self._remember({word for words in batch for word in words})
                for row, words in enumerate(batch, at):
                    if words:
                        found = np.fromiter(map(self._rows.__getitem__, words), np.int64, len(words))
                        sums = self._sums.take(found, axis=0).sum(axis=0)
                        made[row] = sums / self._counts.take(found).sum()
            return made

    def _remember(self, words: Set[str]) -> None:
        """Have the sums of all ``words``, and forget others when there are too many."""
        new = sorted(words - self._rows.keys())
        if len(self._rows) + len(new) > len(self._sums):
            new = sorted(words)
            self._rows.clear()
            if len(new) > len(self._sums):
                size = max(len(new), _REMEMBERED)
                self._sums = np.zeros((size, self._load()[1].shape[1]), np.float32)
                self._counts = np.zeros(size, np.int64)
        ids, counts = self._tokens(new)
        rows = range(len(self._rows), len(self._rows) + len(new))
        self._rows.update(zip(new, rows, strict=True))
        self._counts[rows.start : rows.stop] = counts
        weights = self._load()[1]
        starts = np.cumsum(counts) - counts
        for count in np.unique(counts):
            for some in _split(np.flatnonzero(counts == count), max(1, _JOINED // count)):
                found = ids[starts[some][:, None] + np.arange(count)]
                self._sums[rows.start + some] = weights.take(found, axis=0).sum(axis=1)

    def _tokens(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tokens of ``words``, and how many each has. Many words in one text cost a third of as many
        texts; a token that begins with a space begins a word."""
        tokenizer, _ = self._load()
        joined = [" ".join(words[at : at + _JOINED]) for at in range(0, len(words), _JOINED)]
        encoded = tokenizer.encode_batch_fast(joined, add_special_tokens=False)
        ids = np.fromiter(chain.from_iterable(each.ids for each in encoded), np.int64)
        return ids, np.diff(np.flatnonzero(self._begins[ids]), append=len(ids))

    def _load(self) -> tuple[Tokenizer, NDArray[np.float32]]:
        if self._loaded is None:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            folder = package_folder()
            weights = load_file(folder / _WEIGHTS)[_TENSOR].astype(np.float32)
            tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            tokenizer.encode_special_tokens = True  # "<s>" in a text is text
            vocabulary = tokenizer.get_vocab()
            self._begins = np.zeros(len(weights), np.bool_)
            self._begins[[at for token, at in vocabulary.items() if token.startswith(_SPACE)]] = True
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
            "pooling": "mean of the tokens of words, maximum over windows",
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


def _split(rows: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    return (rows[at : at + most] for at in range(0, len(rows), most))


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    made: NDArray[np.float32] = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return made
