"""Vectors of texts that were embedded a moment ago."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: So many texts are remembered.
MOST = 8_192


class Remembered:
    """``embed`` for texts that come again and again: the lines of one pool, in several orders. Safe to use
    from several threads."""

    def __init__(self, embed: Callable[[Sequence[str]], NDArray[np.float32]], most: int = MOST) -> None:
        self._embed = embed
        self._most = most
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same as ``embed`` gives: one row a text."""
        import numpy as np

        known = self._known
        if len(known) > self._most:
            known = self._known = {}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(missing, self._embed(missing), strict=True))
        return np.stack([known[text] for text in texts]) if texts else self._embed(texts)
