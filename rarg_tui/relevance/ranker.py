"""What a ranker is, what a build hands it, and what a build can take over from an earlier one."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rarg_tui.corpus.decoding import clean, decode, plain_text, title
from rarg_tui.corpus.files import Corpus, Document, Listing, open_regular
from rarg_tui.corpus.progress import check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rarg_tui.relevance.manifest import Part
    from rarg_tui.relevance.table import Table


#: A part with a larger share of dead rows is written anew.
WORN = 0.2

#: The time of a file that changed while it was read: no file has it, so the next build reads it again.
CHANGING = -1


@dataclass(frozen=True, slots=True)
class Content:
    """A document as rankers see it. An unreadable one has no ``text`` and a ``digest`` of zeros, and is
    known by its title alone. ``size`` and ``mtime_ns`` are the file's when it was read, for its row."""

    title: str
    text: str
    digest: bytes
    size: int = 0
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """One build. ``directory`` is empty and becomes the part; ``work`` keeps unfinished pieces; ``old``
    is the part in force and ``old_table`` its table, if it was built with the same settings."""

    corpus: Corpus
    listing: Listing
    directory: Path
    work: Path
    old: Part | None
    old_table: Table | None
    report: Callable[[int], None]
    cancel: threading.Event | None


@dataclass(frozen=True, slots=True)
class Held:
    """An earlier table, and for each row the place of its document in the listing, -1 for a dead row;
    ``places`` has shape ``(len(table),)``."""

    table: Table
    places: NDArray[np.int64]

    def live(self) -> NDArray[np.bool_]:
        """Which rows hold a document of the listing."""
        return self.places >= 0


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
    data, size, mtime_ns = _read(corpus, document)
    if data is None:
        return Content(title(document.path, ""), "", bytes(16), size, mtime_ns)
    text = decode(data)
    plain = clean(plain_text(document.path, text))
    return Content(title(document.path, text), plain, _digest(data), size, mtime_ns)


def hold(job: Job, table: Table) -> Held:
    """What of an earlier ``table`` still holds. A file that was only touched (same size and content, other
    time) holds, and its row gets the new time; files whose rows say so already are not read."""
    import numpy as np

    documents = job.listing.documents
    places = table.places(documents)
    live = table.same_state(documents, places)
    rows = table.rows
    doubtful = np.flatnonzero((places >= 0) & (~live | table.unread()))
    if len(doubtful):
        rows = rows.copy()
    live[doubtful] = False
    done = int(live.sum())
    for row in doubtful.tolist():
        check(job.cancel)
        document = documents[places[row]]
        if document.size == rows["size"][row]:
            data, size, mtime_ns = _read(job.corpus, document)
            if rows["digest"][row].tobytes() == (bytes(16) if data is None else _digest(data)):
                rows["size"][row], rows["mtime_ns"][row], live[row] = size, mtime_ns, True
                done += 1
                job.report(done)
    return Held(type(table)(table.paths, rows), np.where(live, places, -1))


def missing(listing: Listing, held: Sequence[Held]) -> NDArray[np.int64]:
    """The places in the listing that no row of ``held`` stands for, ascending."""
    import numpy as np

    there = np.zeros(len(listing.documents), np.bool_)
    for one in held:
        there[one.places[one.live()]] = True
    return np.flatnonzero(~there)


def worn(rows: int, live: int) -> bool:
    """Whether so many of a part's rows are dead that it is to be written anew."""
    return rows - live > WORN * rows


def _read(corpus: Corpus, document: Document) -> tuple[bytes | None, int, int]:
    """The document's bytes, ``None`` if it is unreadable; size and time of what was read."""
    try:
        with open(open_regular(os.fspath(corpus.absolute(document.path))), "rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            data = file.read()
            after = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None, document.size, document.mtime_ns
    steady = before.st_mtime_ns == after.st_mtime_ns and len(data) == before.st_size == after.st_size
    return data, len(data), after.st_mtime_ns if steady else CHANGING


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
