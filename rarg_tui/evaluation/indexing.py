"""From nothing to a scope, step by step, each in a program of its own, as a user would start it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter

from rarg_tui.corpus.files import Corpus
from rarg_tui.evaluation.child import Child, measured
from rarg_tui.evaluation.generated import COMMON, Generated
from rarg_tui.evaluation.startup import python
from rarg_tui.relevance.ranker import content

#: Documents that a sentence model embeds to see how long it would take for all; and documents edited.
SAMPLE = 200
EDITED = 100


class Indexing:
    """The index of ``corpus`` below ``cache``, which does not exist yet; each call is one measurement."""

    def __init__(self, corpus: Generated, cache: Path) -> None:
        self._corpus = corpus
        self._cache = cache

    def scope(self, ranker: str) -> Child:
        """``rarg recall``: walk, bring ``ranker`` up to date, search, print the best 10,000 paths."""
        where = ["-C", str(self._corpus.root), "--cache", str(self._cache), "--quiet"]
        return measured(python("-m", "rarg_tui", "recall", *where, "--ranker", ranker, COMMON))

    def edit(self) -> None:
        """Append a line to :data:`EDITED` documents."""
        for path in self._corpus.scope[:EDITED]:
            with open(self._corpus.root / path, "a") as document:
                document.write("another line\n")

    def model(self) -> tuple[float, int]:
        """The plain way: seconds in which the packaged sentence model embeds the first tokens, as many as
        it can see at once, of :data:`SAMPLE` documents; and how many these are."""
        from rarg_tui.relevance.dense import DenseEmbedder
        from rarg_tui.relevance.presets import DenseOptions

        texts = _texts(self._corpus, SAMPLE)
        embedder = DenseEmbedder(DenseOptions())
        try:
            embedder.query("the model is loaded", threading.Event())
            began = perf_counter()
            embedder.texts(texts)
            return perf_counter() - began, len(texts)
        finally:
            embedder.close()


def _texts(corpus: Generated, most: int) -> Sequence[str]:
    opened = Corpus(corpus.root)
    return [content(opened, document).text for document in islice(opened.listing().documents, most)]
