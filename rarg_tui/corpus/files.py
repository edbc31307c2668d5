"""The corpus: which files under a directory are documents, and which are not and why."""

from __future__ import annotations

import errno
import os
import stat
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import compress
from pathlib import Path

from rarg_tui.corpus.documents import Document as Document
from rarg_tui.corpus.documents import Documents, Paths
from rarg_tui.corpus.known import BINARY, TEXT, UNKNOWN, Known, load, save
from rarg_tui.corpus.progress import check
from rarg_tui.errors import RargError

#: A NUL byte among so many first bytes makes a file binary (unless it starts with a UTF-16 mark).
HEAD = 8192

VERSION_CONTROL = frozenset({b"CVS", b"_darcs", b"RCS", b"SCCS"})
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
        #: A file where walks keep what they know of files, if there is a place for it.
        self.memory: Path | None = None
        self._root = os.path.join(os.fsencode(resolved), b"")
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
        problems: list[Problem] = []
        paths: list[bytes] = []
        sizes, times, ctimes = array("q"), array("q"), array("q")
        for path in self._files(problems, cancel):
            try:
                status = os.lstat(self._root + path)
            except OSError as error:
                self._note(problems, path, error)
                continue
            if stat.S_ISREG(status.st_mode):
                paths.append(path)
                sizes.append(status.st_size)
                times.append(status.st_mtime_ns)
                ctimes.append(status.st_ctime_ns)
        marks = self._marks(paths, sizes, ctimes, problems, cancel)
        text = [mark == TEXT for mark in marks]
        listed = Documents(
            Paths(b"\0".join(compress(paths, text))),
            array("q", compress(sizes, text)),
            array("q", compress(times, text)),
        )
        problems.sort(key=lambda problem: os.fsencode(problem.path))
        return Listing(listed, tuple(problems), marks.count(BINARY))

    def _marks(
        self,
        paths: list[bytes],
        sizes: array[int],
        ctimes: array[int],
        problems: list[Problem],
        cancel: threading.Event | None,
    ) -> bytearray:
        """Whether each file is text, binary, or (then it is among ``problems``, or has vanished) unknown."""
        known = load(self.memory) if self.memory is not None else None
        marks = known.of(paths, sizes, ctimes) if known is not None else bytearray([UNKNOWN]) * len(paths)
        at = marks.find(UNKNOWN)
        while at >= 0:
            check(cancel)
            try:
                head = read_head(self._root + paths[at]) if sizes[at] else b""
                marks[at] = TEXT if _is_text(head) else BINARY
            except OSError as error:
                self._note(problems, paths[at], error)
            at = marks.find(UNKNOWN, at + 1)
        fresh = Known(Paths(b"\0".join(paths)), sizes, ctimes, bytes(marks))
        if self.memory is not None and fresh != known:
            save(fresh, self.memory)
        return marks

    def _files(self, problems: list[Problem], cancel: threading.Event | None) -> Iterator[bytes]:
        """The relative paths of what may be documents, in byte order."""
        pending = [b""]
        while pending:
            check(cancel)
            path = pending.pop()
            if path and not path.endswith(b"/"):
                if b"\n" in path:
                    problems.append(Problem(os.fsdecode(path), "name contains a newline"))
                else:
                    yield path
                continue
            try:
                with os.scandir(self._root + path) as entries:
                    pending += sorted(self._wanted_below(path, entries, problems), reverse=True)
            except OSError as error:
                problems.append(Problem(os.fsdecode(path.rstrip(b"/")), f"unreadable: {error.strerror}"))

    def _wanted_below(
        self, prefix: bytes, entries: Iterable[os.DirEntry[bytes]], problems: list[Problem]
    ) -> Iterator[bytes]:
        """The files and, with a ``/`` behind them, the directories among ``entries`` to look at."""
        for entry in entries:
            name = entry.name
            if name.startswith(b"."):
                continue
            path = prefix + name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if name not in VERSION_CONTROL and not self._excluded(path):
                        yield path + b"/"
                elif entry.is_file(follow_symlinks=False) and self._wanted(path):
                    yield path
            except OSError as error:
                problems.append(Problem(os.fsdecode(path), f"unreadable: {error.strerror}"))

    def _note(self, problems: list[Problem], path: bytes, error: OSError) -> None:
        if error.errno not in (errno.ENOENT, errno.ELOOP):
            problems.append(Problem(os.fsdecode(path), f"unreadable: {error.strerror}"))

    def _excluded(self, path: bytes) -> bool:
        return bool(self.exclude) and matches(os.fsdecode(path), self.exclude)

    def _wanted(self, path: bytes) -> bool:
        if self._excluded(path):
            return False
        return not self.include or matches(os.fsdecode(path), self.include)


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


def read_head(path: str | bytes, size: int = HEAD) -> bytes:
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
