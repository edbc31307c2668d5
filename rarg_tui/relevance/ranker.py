"""What a ranker is, and what a build hands it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rarg_tui.corpus.decoding import clean, decode, plain_text, read_bytes, title
from rarg_tui.corpus.files import Corpus, Document, Listing
from rarg_tui.errors import RargError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rarg_tui.relevance.manifest import Part
    from rarg_tui.relevance.table import Table


@dataclass(frozen=True, slots=True)
class Content:
    """A document as rankers see it. An unreadable one has no ``text`` and a ``digest`` of zeros, and is
    known by its title alone."""

    title: str
    text: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Job:
    """One build. ``directory`` is empty and becomes the part; ``work`` keeps unfinished pieces;
    ``old`` is the part in force, if it was built with the same settings."""

    corpus: Corpus
    listing: Listing
    directory: Path
    work: Path
    old: Part | None
    report: Callable[[int], None]
    cancel: threading.Event | None


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made, besides the files in its directory."""

    table: Table
    facts: Mapping[str, Any]


class Searcher(Protocol):
    """A part that was opened. Rows are positions in its table."""

    def search(
        self, query: str, k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows and scores, best first: at least the best ``k`` (if there are so many) and all that tie
        with the last of them."""


class Ranker(Protocol):
    """Builds and opens parts."""

    name: str

    def settings(self) -> Mapping[str, Any]:
        """JSON-able identity of this ranker. Raises ``MissingPart`` when its model is not installed."""

    def build(self, job: Job) -> Built:
        """Write the part's files into ``job.directory``."""

    def sweep(self, directory: Path, facts: Mapping[str, Any]) -> None:
        """Let go of what earlier parts kept elsewhere, now that one with ``facts`` is published in the
        index's ``directory``; called with the build lock held."""

    def open(self, part: Part, table: Table) -> Searcher:
        """Read ``part``. Raises ``IndexProblem`` when it is damaged."""

    def close(self) -> None:
        """End the processes that this ranker started."""


def content(corpus: Corpus, document: Document) -> Content:
    """Read a document for indexing; one that has become unreadable does not stop a build."""
    try:
        data = read_bytes(corpus, document.path)
    except RargError:
        return Content(title(document.path, ""), "", bytes(16))
    text = decode(data)
    digest = hashlib.blake2b(data, digest_size=16).digest()
    return Content(title(document.path, text), clean(plain_text(document.path, text)), digest)
