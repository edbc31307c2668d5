"""One ranker of one index: what is on disk, whether it may be served, and building it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rarg_tui.corpus.files import Corpus, Listing
from rarg_tui.corpus.progress import Meter, Progress
from rarg_tui.errors import RargError
from rarg_tui.relevance.manifest import IndexProblem, Part, Shelf, damaged, mismatch
from rarg_tui.relevance.ranker import Built, Job, Ranker, Searcher, worn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rarg_tui.relevance.table import Table


@dataclass(frozen=True, slots=True)
class RankerStatus:
    """Whether ranker ``name`` serves (``ready``); ``done`` of ``total`` documents are indexed as they
    are now. ``detail`` is for people; ``error`` is the sentence why it must not be served, or empty."""

    name: str
    ready: bool
    done: int
    total: int
    detail: str
    eta_s: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class _View:
    """What was found on disk for one listing: ``positions[row]`` is the document's place in the listing,
    -1 for a dead row, whose document is gone or has changed; ``current`` counts the others."""

    stamp: str
    listing: Listing
    part: Part | None
    table: Table | None
    positions: NDArray[np.int64] | None
    current: int
    error: IndexProblem | None


class Slot:
    """Serves one ranker. A part is ready when it covers every document of the listing as it is now and is
    not worn: a fifth of its rows at most are dead. No search returns a dead row, but BM25 still counts
    it in its statistics."""

    def __init__(self, ranker: Ranker, corpus: Corpus, shelf: Shelf) -> None:
        self.name = ranker.name
        self._ranker = ranker
        self._corpus = corpus
        self._shelf = shelf
        self._view: _View | None = None
        self._opened: tuple[str, Searcher] | None = None
        self._progress: Progress | None = None
        self._lock = threading.RLock()

    def ready(self) -> bool:
        """Whether a search can be answered now, and rightly."""
        try:
            view = self._look()
        except RargError:
            return False
        return view.error is None and self._covers(view)

    def outdated(self) -> bool:
        """Whether there is a part that only lacks the latest changes of files."""
        try:
            view = self._look()
        except RargError:
            return False
        return view.part is not None and view.error is None and not self._covers(view)

    def problem(self) -> RargError | None:
        """Why the part on disk must not be served, if it is damaged or was built otherwise."""
        try:
            return self._look().error
        except RargError as error:
            return error

    def settings_key(self) -> str:
        """The identity of the served part, for fingerprints."""
        part = self._look().part
        return "" if part is None else repr(sorted(part.settings.items()))

    def status(self) -> RankerStatus:
        total = len(self._corpus.listing().documents)
        progress = self._progress
        if progress is not None:
            detail = "building" if progress.stage == self.name else progress.stage
            return RankerStatus(self.name, False, progress.done, total, detail, progress.eta_s)
        try:
            view = self._look()
        except RargError as error:
            return RankerStatus(self.name, False, 0, total, "not available", None, str(error))
        if view.error is not None:
            return RankerStatus(self.name, False, 0, total, "not usable", None, str(view.error))
        ready = self._covers(view)
        detail = self._detail(view, ready)
        return RankerStatus(self.name, ready, view.current, total, detail)

    def build(self, report: Callable[[Progress], None] | None, cancel: threading.Event | None) -> None:
        """Bring the part on disk up to date with the files as they are now. A damaged part, or one built
        with other settings, is built anew. Files that change meanwhile are looked at again: the corpus is
        then walked once more. Raises ``Cancelled``; what was finished is kept."""
        listing = self._corpus.require_documents(cancel)
        total = len(listing.documents)

        def note(progress: Progress) -> None:
            self._progress = progress
            if report is not None:
                report(progress)

        def wait() -> None:
            note(Progress(f"{self.name}: waiting for another rarg that builds this index", 0, total))

        try:
            settings = self._ranker.settings()
            with self._shelf.build(self.name, cancel, wait) as directory:
                if self.ready():
                    note(Progress(self.name, total, total, 0.0))
                    return
                view = self._look()
                old = view.part if view.error is None else None
                meter = Meter(note, self.name, total)
                work = self._shelf.work(self.name)
                job = Job(self._corpus, listing, directory, work, old, view.table, meter.at, cancel)
                built = self._ranker.build(job)
                built.table.write(directory)
                self._publish(directory, settings, listing, built)
            if not self.ready():
                self._corpus.refresh(cancel)
            note(Progress(self.name, total, total, 0.0))
        except OSError as error:
            raise RargError(
                f"The {self.name} index could not be written ({error.strerror or error}); "
                "free some space or name another place with --cache."
            ) from None
        finally:
            self._progress = None

    def search(
        self, query: str, k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Places in the listing and scores of the best ``k`` documents; ties in path order. Raises
        :class:`IndexProblem` when the part must not be served."""
        import numpy as np

        view, table, positions, searcher = self._serving()
        most = k + len(table) - view.current
        asked = min(most, k * len(table) // max(1, view.current))
        while True:
            rows, scores = searcher.search(query, asked, cancel)
            places = positions[rows]
            there = places >= 0
            if there.sum() >= k or len(rows) < asked or asked == most:
                break
            asked = min(most, asked * 2)
        places, scores = places[there], scores[there]
        order = np.lexsort((places, -scores))[:k]
        return places[order], scores[order]

    def table(self) -> tuple[Table, NDArray[np.int64]] | None:
        """The table of the part on disk and each row's place in the listing, -1 where the document is gone
        or has changed; ``None`` when there is none that may be served."""
        view = self._look()
        if view.table is None or view.positions is None:
            return None
        return view.table, view.positions

    def searcher(self) -> Searcher:
        """What serves now. Raises :class:`IndexProblem` when the part must not be served."""
        return self._serving()[3]

    def close(self) -> None:
        self._ranker.close()
        self._opened = None

    def _serving(self) -> tuple[_View, Table, NDArray[np.int64], Searcher]:
        with self._lock:
            view = self._look()
            if view.error is not None:
                raise view.error
            if view.part is None or view.table is None or view.positions is None:
                raise IndexProblem(f"There is no {self.name} index yet; run `rarg index`.")
            if self._opened is None or self._opened[0] != view.stamp:
                self._opened = view.stamp, self._ranker.open(view.part, view.table)
            return view, view.table, view.positions, self._opened[1]

    def _covers(self, view: _View) -> bool:
        if view.table is None or view.current < len(view.listing.documents):
            return False
        return not worn(len(view.table), view.current)

    def _publish(self, directory: Path, settings: Mapping[str, Any], listing: Listing, built: Built) -> None:
        """Publish what was built and serve it: it was just written, so it is not read again."""
        table = _sharing(built.table, listing)
        positions = _positions(table, listing)
        live = positions >= 0
        facts = {"documents": int(live.sum()), "unreadable": int(table.unread()[live].sum()), **built.facts}
        part = self._shelf.publish(self.name, directory, settings, facts)
        self._ranker.sweep(part.directory.parent, facts)
        stamp = self._shelf.stamp(self.name)
        with self._lock:
            self._view = _View(stamp, listing, part, table, positions, int(live.sum()), None)

    def _look(self) -> _View:
        with self._lock:
            listing = self._corpus.listing()
            stamp = self._shelf.stamp(self.name)
            view = self._view
            if view is None or view.stamp != stamp:
                view = self._read(stamp, listing)
            elif view.listing is not listing:
                view = _placed(stamp, listing, view.part, view.table, view.error)
            self._view = view
            return view

    def _read(self, stamp: str, listing: Listing) -> _View:
        from rarg_tui.relevance.table import Table

        try:
            part = self._shelf.current(self.name)
            if part is None:
                return _placed(stamp, listing, None, None, None)
            wanted = self._ranker.settings()
            if part.settings != wanted:
                raise mismatch(self.name, part.directory, part.settings, wanted)
            with contextlib.suppress(OSError, ValueError):
                return _placed(stamp, listing, part, _sharing(Table.read(part.directory), listing), None)
            raise damaged(self.name, part.directory, "its table of documents")
        except IndexProblem as error:
            return _placed(stamp, listing, None, None, error)

    def _detail(self, view: _View, ready: bool) -> str:
        if view.part is None or view.table is None:
            return "not built"
        facts = view.part.facts
        said = [f"{facts['documents']} documents"]
        if "vectors" in facts:
            said.append(f"{facts['vectors']} vectors")
        if facts.get("partly_seen"):
            said.append(
                f"{facts['partly_seen']} longer documents seen in part "
                f"({facts['characters_seen']} of {facts['characters']} characters in all)"
            )
        if facts["unreadable"]:
            said.append(f"{facts['unreadable']} unreadable, known by title only")
        said += facts.get("notes", ())
        if not ready:
            dead = len(view.table) - view.current
            said.append(
                f"{len(view.listing.documents) - view.current} files to index, {dead} changed or gone"
            )
        if self._shelf.notice:
            said.append(self._shelf.notice)
        return "; ".join(said)


def _placed(
    stamp: str, listing: Listing, part: Part | None, table: Table | None, error: IndexProblem | None
) -> _View:
    if table is None:
        return _View(stamp, listing, part, None, None, 0, error)
    positions = _positions(table, listing)
    return _View(stamp, listing, part, table, positions, int((positions >= 0).sum()), error)


def _positions(table: Table, listing: Listing) -> NDArray[np.int64]:
    import numpy as np

    places = table.places(listing.documents)
    return np.where(table.same_state(listing.documents, places), places, -1)


def _sharing(table: Table, listing: Listing) -> Table:
    """``table``, with the paths of the listing where they are equal: a million of them are kept once."""
    paths = listing.documents.paths
    return type(table)(paths, table.rows) if table.paths == paths else table
