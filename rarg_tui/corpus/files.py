"""The corpus: which files under a directory are documents, and which are not and why."""

from __future__ import annotations

import errno
import os
import stat
import threading
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rarg_tui.corpus.documents import Document as Document
from rarg_tui.corpus.documents import Documents, Paths
from rarg_tui.corpus.progress import check
from rarg_tui.errors import RargError

#: A NUL byte among so many first bytes makes a file binary (unless it starts with a UTF-16 mark).
HEAD = 8192

_VERSION_CONTROL = frozenset({"CVS", "_darcs", "RCS", "SCCS"})
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or directory that could not become a document although it looks like one."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What one walk found. ``documents`` are in path order (byte order of the path); ``binary`` counts
    the files left out for their NUL bytes."""

    documents: Documents
    problems: tuple[Problem, ...]
    binary: int


class Corpus:
    """A directory of documents.

    Hidden files, version-control folders and symlinks are left out; ``include`` and ``exclude`` are
    globs on the relative path (``*`` also matches ``/``; a glob without ``/`` is held against the file
    name as well; an excluded folder is not entered). Raises :class:`RargError` when ``root`` is no
    readable directory.
    """

    def __init__(self, root: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        try:
            resolved = Path(root).expanduser().resolve(strict=True)
            os.scandir(resolved).close()
        except (OSError, RuntimeError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise RargError(
                f"The corpus {os.fspath(root)!r} cannot be opened ({why}); name a directory of text files."
            ) from None
        self.root: Path = resolved
        self.name: str = resolved.name or os.fspath(resolved)
        self.include: tuple[str, ...] = tuple(include)
        self.exclude: tuple[str, ...] = tuple(exclude)
        self._listing: Listing | None = None
        self._lock = threading.Lock()

    def listing(self, cancel: threading.Event | None = None) -> Listing:
        """The documents, walked once and then remembered until :meth:`refresh`."""
        with self._lock:
            if self._listing is None:
                self._listing = self._walk(cancel)
            return self._listing

    def refresh(self, cancel: threading.Event | None = None) -> Listing:
        """Walk again. Equal content keeps the earlier :class:`Listing` object, so callers can compare
        by identity."""
        with self._lock:
            fresh = self._walk(cancel)
            if self._listing is None or fresh != self._listing:
                self._listing = fresh
            return self._listing

    def require_documents(self, cancel: threading.Event | None = None) -> Listing:
        """The listing, or :class:`RargError` when there is nothing to search in."""
        listing = self.listing(cancel)
        if not listing.documents:
            left_out = f" ({listing.binary} binary files were left out)" if listing.binary else ""
            raise RargError(
                f"The corpus {str(self.root)!r} holds no text documents{left_out}; "
                "name another directory or change the include and exclude globs."
            )
        return listing

    def paths(self) -> list[str]:
        """All documents' paths in path order."""
        return list(self.listing().documents.paths)

    def absolute(self, path: str) -> Path:
        """Where the document ``path`` lies on disk."""
        return self.root / path

    def contains(self, path: str) -> bool:
        """Whether ``path`` is a regular file below the root with no symlink on the way."""
        parts = path.split("/")
        if "\0" in path or any(part in ("", ".", "..") for part in parts):
            return False
        current = os.fspath(self.root)
        mode = 0
        for part in parts:
            current = f"{current}/{part}"
            try:
                mode = os.lstat(current).st_mode
            except (OSError, ValueError):
                return False
            if stat.S_ISLNK(mode):
                return False
        return stat.S_ISREG(mode)

    def _walk(self, cancel: threading.Event | None) -> Listing:
        documents: list[Document] = []
        problems: list[Problem] = []
        binary = 0
        for relative, entry in self._files(problems, cancel):
            if "\n" in relative:
                problems.append(Problem(relative, "name contains a newline"))
                continue
            try:
                status = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    continue
                is_text = status.st_size == 0 or _is_text(read_head(entry.path))
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ELOOP):
                    problems.append(Problem(relative, f"unreadable: {error.strerror}"))
                continue
            if is_text:
                documents.append(Document(relative, status.st_size, status.st_mtime_ns))
            else:
                binary += 1
        documents.sort(key=lambda document: os.fsencode(document.path))
        problems.sort(key=lambda problem: os.fsencode(problem.path))
        listed = Documents(
            Paths.of(document.path for document in documents),
            array("q", [document.size for document in documents]),
            array("q", [document.mtime_ns for document in documents]),
        )
        return Listing(listed, tuple(problems), binary)

    def _files(
        self, problems: list[Problem], cancel: threading.Event | None
    ) -> Iterator[tuple[str, os.DirEntry[str]]]:
        pending = [("", os.fspath(self.root))]
        while pending:
            check(cancel)
            prefix, directory = pending.pop()
            try:
                entries = list(os.scandir(directory))
            except OSError as error:
                problems.append(Problem(prefix.rstrip("/"), f"unreadable: {error.strerror}"))
                continue
            for entry in entries:
                name = entry.name
                if name.startswith("."):
                    continue
                relative = prefix + name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if name not in _VERSION_CONTROL and not matches(relative, self.exclude):
                            pending.append((relative + "/", entry.path))
                    elif entry.is_file(follow_symlinks=False) and self._wanted(relative):
                        yield relative, entry
                except OSError as error:
                    problems.append(Problem(relative, f"unreadable: {error.strerror}"))

    def _wanted(self, relative: str) -> bool:
        if self.exclude and matches(relative, self.exclude):
            return False
        return not self.include or matches(relative, self.include)


def matches(relative: str, globs: Sequence[str]) -> bool:
    """Whether one of ``globs`` matches the path, or its name where the glob has no ``/``."""
    for glob in globs:
        pattern = glob.rstrip("/")
        if fnmatchcase(relative, pattern):
            return True
        if pattern.startswith("**/") and fnmatchcase(relative, pattern[3:]):
            return True
        if "/" not in pattern and fnmatchcase(relative.rpartition("/")[2], pattern):
            return True
    return False


def read_head(path: str, size: int = HEAD) -> bytes:
    """The first ``size`` bytes of a regular file. Never blocks on a pipe, never follows a symlink."""
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def open_regular(path: str) -> int:
    """A descriptor for reading the regular file ``path``; :class:`OSError` for anything else."""
    descriptor = os.open(path, _OPEN_FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", path)
    return descriptor


def _is_text(head: bytes) -> bool:
    return b"\0" not in head or head.startswith(_UTF16_MARKS)
