"""How long a scope of 10,000 documents takes, and how much memory the index that serves it.

``python -m rarg_tui.evaluation.recalling CORPUS CACHE TIMES`` recalls that often and prints the seconds, a
JSON list. The dense vectors are made up, since to embed the documents would take a day: a search takes as
long over them.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rarg_tui.corpus.files import Corpus
from rarg_tui.evaluation.child import measured
from rarg_tui.evaluation.startup import python
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.manifest import Shelf
from rarg_tui.relevance.ranker import Content

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rarg_tui.relevance.vectors import Embedded

TOP = 10_000
RANKERS = "lexical+static+dense"

#: Numbers in a made-up vector, as many as the packaged sentence model gives.
DIMENSION = 384
#: The plain way holds 4 bytes a number: at most so many vectors are measured, and the rest is scaled.
_MOST = 1_000_000


class MadeUp:
    """An embedder whose vectors follow from the document's bytes alone, one a document."""

    name = "dense"
    batch = 1_000

    def settings(self) -> Mapping[str, Any]:
        return {"model": "made up"}

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        from rarg_tui.relevance.vectors import Embedded

        return [Embedded(_direction(one.digest)[None, :], len(one.text), len(one.text)) for one in contents]

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        return _direction(text.encode())

    def close(self) -> None:
        pass


def recalls(corpus: Path, cache: Path, times: int) -> tuple[list[float], int]:
    """Seconds of each of ``times`` recalls in a program of its own, and its peak of resident memory, MB.
    The index is built first, in this program."""
    with_made_up(corpus, cache).build(RANKERS.split("+"))
    child = measured(python("-m", "rarg_tui.evaluation.recalling", str(corpus), str(cache), str(times)))
    return json.loads(child.output), child.peak_mb


def vectors(corpus: Path, cache: Path) -> dict[int, int]:
    """How many vectors of how many numbers the index holds."""
    shelf = Shelf(cache, Corpus(corpus))
    parts = [part for name in RANKERS.split("+") if (part := shelf.current(name))]
    return {part.facts["dimension"]: part.facts["vectors"] for part in parts if "vectors" in part.facts}


def flat(counts: Mapping[int, int], documents: int, times: int) -> list[float]:
    """The plain way: seconds of searching vectors of so many numbers, ``counts`` of each kind, one after
    the other in a flat float32 FAISS index each, for as many vectors as :data:`TOP` documents have."""
    import faiss
    import numpy as np

    seconds = [0.0] * times
    for dimension, count in counts.items():
        held = min(count, _MOST)
        some = np.random.default_rng(1).standard_normal((10_000, dimension)).astype(np.float32)
        index = faiss.IndexFlatIP(dimension)
        for at in range(0, held, len(some)):
            index.add(some[: held - at])
        wanted = min(held, TOP * max(1, count // documents) * held // count)
        index.search(some[:1], wanted)
        for turn in range(times):
            began = perf_counter()
            index.search(some[turn : turn + 1], wanted)
            seconds[turn] += (perf_counter() - began) * count / held
    return seconds


def with_made_up(corpus: Path, cache: Path) -> Index:
    from rarg_tui.relevance.store import DiskStorage
    from rarg_tui.relevance.vectors import VectorRanker

    index = Index.open(Corpus(corpus), cache)
    index.replace(VectorRanker(MadeUp(), DiskStorage()))
    return index


def _direction(seed: bytes) -> NDArray[np.float32]:
    import numpy as np

    made = np.random.default_rng(list(seed)).standard_normal(DIMENSION, np.float32)
    return made / np.linalg.norm(made)


def main(arguments: Sequence[str]) -> int:
    corpus, cache, times = arguments
    index = with_made_up(Path(corpus), Path(cache))
    seconds = []
    for turn in range(int(times) + 1):
        began = perf_counter()
        index.recall(f"kestrel ba do {turn} doba", top=TOP, ranker=RANKERS)
        seconds.append(perf_counter() - began)
    print(json.dumps(seconds[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
