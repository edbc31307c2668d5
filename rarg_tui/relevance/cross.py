"""How relevant a line is to a query, by a model that reads both together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.errors import MissingPart
from rarg_tui.relevance.model_process import ModelServer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHILD = "rarg_tui.relevance.cross_process"


class CrossEncoder:
    """A sentence-transformers ``CrossEncoder`` with one score a pair, from the directory ``model``, in a
    process of its own."""

    def __init__(self, model: Path | None, device: str | None) -> None:
        self._model = model
        self._server = ModelServer(_CHILD, "cross-encoder", self.folder, lambda: {"device": device})

    def folder(self) -> Path:
        """Where the model lies. Raises :class:`MissingPart` when none is set or there is none."""
        if self._model is None:
            raise MissingPart(
                "The reranker cross needs a model: set cross_encoder to the directory of a "
                "sentence-transformers CrossEncoder, or choose --rerank fused."
            )
        folder = self._model.expanduser().absolute()
        if not (folder / "config.json").is_file():
            raise MissingPart(
                f"There is no cross-encoder in {str(folder)!r}: set cross_encoder to a directory with "
                "config.json, or choose --rerank fused."
            )
        return folder

    def scores(
        self, query: str, texts: Sequence[str], cancel: threading.Event | None = None
    ) -> NDArray[np.float64]:
        """One score for each of ``texts``, rounded to 6 places: the more relevant to ``query``, the larger.
        What is longer than the model's window is seen up to there."""
        request = {"query": clean(query), "texts": [clean(text) for text in texts]}
        _, payload = self._server.ask(request, cancel)
        return np.frombuffer(payload, np.float64).round(6)

    def close(self) -> None:
        self._server.close()
