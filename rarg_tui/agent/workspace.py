"""The documents that an agent has brought in so far, for strategies that begin with none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from rarg_tui.corpus.files import Corpus, open_regular
from rarg_tui.errors import RargError


class Workspace:
    """A directory of copies, each under its own path in the corpus: whatever searches it cannot see the
    rest. It lies in the system's temporary directory and goes with :meth:`close`; what it holds follows
    from the run's scopes."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._directory = tempfile.TemporaryDirectory(prefix="rarg-workspace-")
        self._paths: set[str] = set()
        self.root = Path(self._directory.name).resolve()

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def paths(self) -> list[str]:
        """The paths of all documents, in path order."""
        return sorted(self._paths, key=os.fsencode)

    def add(self, paths: Iterable[str]) -> list[str]:
        """Bring documents in; those that were not there yet, in the order given. What is no document of
        the corpus, or has become unreadable, is left out. Raises :class:`RargError` for a full disk."""
        added = []
        for path in paths:
            if path in self._paths or not self._corpus.contains(path):
                continue
            try:
                source = open_regular(os.fspath(self._corpus.absolute(path)))
            except OSError:
                continue
            target = self.root / path
            try:
                with os.fdopen(source, "rb") as opened:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as copy:
                        shutil.copyfileobj(opened, copy)
            except OSError as error:
                target.unlink(missing_ok=True)
                raise RargError(
                    f"{path} cannot be copied to {self.root} ({error.strerror}); free some space there."
                ) from None
            self._paths.add(path)
            added.append(path)
        return added

    def close(self) -> None:
        self._directory.cleanup()
