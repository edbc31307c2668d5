"""The embedder that a person's options stand for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from rarg_tui.relevance.presets import DenseOptions
from rarg_tui.relevance.vectors import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DenseModel(Embedder, Protocol):
    """An embedder that also takes texts of their own, and can be looked at."""

    @property
    def destination(self) -> str:
        """The server that is not on this machine to which texts go; empty: they stay here."""

    def texts(self, texts: Sequence[str], cancel: threading.Event | None = None) -> NDArray[np.float32]:
        """One vector for each of ``texts``, such as lines."""

    def about(self, cancel: threading.Event | None = None) -> str:
        """One line about the model, which is tried for it. Raises ``RargError`` when it does not serve."""


def embedder(options: DenseOptions, permit: Callable[[], None] = lambda: None) -> DenseModel:
    """A server if one is named, which is sent text of documents once ``permit`` lets it; else a model on
    this machine. Nothing is loaded yet."""
    if options.embeddings_url is not None:
        from rarg_tui.relevance.remote import RemoteEmbedder

        return RemoteEmbedder(options, permit)
    from rarg_tui.relevance.dense import DenseEmbedder

    return DenseEmbedder(options)
