"""Published parts of an index on disk: manifests, checksums, atomic publication and build locks.

An index directory holds, for each ranker, ``NAME.current`` (one line: the directory of the published
part), that directory (``NAME-000007`` with ``manifest.json``) and ``NAME.lock``. A part is complete
before its directory gets that name, and visible only once ``NAME.current`` has been replaced, so a
killed build leaves the earlier part in force.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.progress import check
from rarg_tui.errors import RargError
from rarg_tui.paths import writable

SCHEMA_VERSION = 2

MANIFEST = "manifest.json"
_BLOCK = 1 << 20


class IndexProblem(RargError):
    """A part on disk must not be served: it is damaged, or was built with other settings."""


@dataclass(frozen=True, slots=True)
class Part:
    """A published part. ``settings`` identify how it was built (model, dimension, tokenizer, pooling,
    lengths, prefixes, …); ``facts`` say what came out (documents, vectors, what was not seen)."""

    directory: Path
    settings: Mapping[str, Any]
    facts: Mapping[str, Any]


class Shelf:
    """Where the parts of one index lie, and what walks of its corpus remember: a directory below the cache.
    Where that cannot be written, new parts go to a temporary directory, and ``notice`` says so. Raises
    :class:`RargError` for a cache whose name the libraries cannot open."""

    def __init__(self, cache: Path, corpus: Corpus) -> None:
        try:
            os.fspath(cache).encode()
        except UnicodeEncodeError:
            raise RargError(
                f"The cache {os.fspath(cache)!r} has a name that is not UTF-8, as an index needs it; name "
                "another with --cache."
            ) from None
        key = json.dumps([os.fsencode(corpus.root).hex(), corpus.include, corpus.exclude])
        name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in corpus.name)[:40]
        digest = hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
        self.directory = Path(cache) / "index" / f"{name}-{digest}"
        self.notice = ""
        corpus.memory = self.directory / "files.bin"
        self._corpus = corpus
        self._fallback: Path | None = None

    def current(self, name: str) -> Part | None:
        """The published part of ranker ``name``, its checksums verified; ``None`` if there is none.
        Raises :class:`IndexProblem` when it is damaged."""
        for _ in range(3):
            pointer = self._pointer(name)
            if pointer is None:
                return None
            try:
                return _verified(pointer, name)
            except IndexProblem:
                if self._pointer(name) == pointer:
                    raise
        raise IndexProblem(f"The {name} index in {str(self.directory)!r} keeps changing; try again.")

    def stamp(self, name: str) -> str:
        """Changes whenever another part of ``name`` is published; empty when there is none."""
        pointer = self._pointer(name)
        return "" if pointer is None else os.fspath(pointer)

    def work(self, name: str) -> Path:
        """A directory for the unfinished pieces of a build; kept from one build to the next."""
        directory = self._writable() / f"{name}.work"
        directory.mkdir(exist_ok=True)
        return directory

    @contextlib.contextmanager
    def build(self, name: str, cancel: threading.Event | None, waiting: Callable[[], None]) -> Iterator[Path]:
        """Hold the build lock of ``name`` and give an empty directory to build in, which is removed
        unless :meth:`publish` took it. ``waiting`` is called while another process has the lock."""
        base = self._writable()
        with open(base / f"{name}.lock", "a+b") as lock:
            _acquire(lock.fileno(), cancel, waiting)
            fresh = base / f"{name}.build"
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir()
            try:
                yield fresh
            finally:
                shutil.rmtree(fresh, ignore_errors=True)

    def publish(self, name: str, built: Path, settings: Mapping[str, Any], facts: Mapping[str, Any]) -> Part:
        """Make the finished directory ``built`` the part of ``name``; called with the lock held."""
        base = built.parent
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "ranker": name,
            "corpus": os.fsencode(self._corpus.root).decode("utf-8", "replace"),
            "settings": settings,
            "facts": facts,
            "files": self._measured(name, built),
        }
        written = json.dumps(manifest, indent=1)
        _write_durably(built / MANIFEST, written.encode())
        older = [entry for entry in base.glob(f"{name}-*") if entry.is_dir()]
        number = 1 + max((int(e.name.rpartition("-")[2]) for e in older if _numbered(e.name)), default=0)
        target = base / f"{name}-{number:06d}"
        os.rename(built, target)
        _write_durably(base / f"{name}.current.new", target.name.encode())
        os.replace(base / f"{name}.current.new", base / f"{name}.current")
        for entry in older:
            shutil.rmtree(entry, ignore_errors=True)
        shutil.rmtree(base / f"{name}.work", ignore_errors=True)
        return _part(target, json.loads(written))

    def _measured(self, name: str, built: Path) -> dict[str, dict[str, int]]:
        """The measures of the files in ``built``; those carried over from the part in force are taken
        over with it, so that nobody reads them, and damage to them stays visible."""
        carried: dict[tuple[int, int], dict[str, int]] = {}
        earlier = self._pointer(name)
        if earlier is not None:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                files = json.loads((earlier / MANIFEST).read_bytes())["files"]
                carried = {_inode(earlier / file): measured for file, measured in files.items()}
        return {
            entry.name: carried.get(_inode(entry)) or _measure(entry) for entry in sorted(built.iterdir())
        }

    def _pointer(self, name: str) -> Path | None:
        for base in filter(None, (self._fallback, self.directory)):
            try:
                target = (base / f"{name}.current").read_text("ascii")
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                continue
            except (OSError, ValueError):
                return base / f"{name}.current"
            return base / target if _numbered(target) else base / f"{name}.current"
        return None

    def _writable(self) -> Path:
        if self._fallback is not None:
            return self._fallback
        place, notice = writable(self.directory)
        if notice:
            self._fallback, self.notice = place, notice
        return place


def _verified(directory: Path, name: str) -> Part:
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
        if manifest["schema_version"] != SCHEMA_VERSION:
            raise IndexProblem(
                f"The {name} index in {str(directory)!r} has format {manifest['schema_version']!r}, this "
                f"version needs {SCHEMA_VERSION}; run `rarg index` to rebuild it."
            )
        for file, measured in manifest["files"].items():
            if _measure(directory / file) != measured:
                raise ValueError(f"{file} differs from its checksum")
        return _part(directory, manifest)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) else str(error)
        raise damaged(name, directory, why) from None


def _part(directory: Path, manifest: Mapping[str, Any]) -> Part:
    return Part(directory, dict(manifest["settings"]), dict(manifest["facts"]))


def carry(file: Path, directory: Path) -> None:
    """Have ``file`` of a published part in ``directory`` too: the same bytes on disk, where links work.
    Whoever carries it must never write into it."""
    try:
        os.link(file, directory / file.name)
    except OSError:
        shutil.copyfile(file, directory / file.name)


def damaged(name: str, directory: Path, why: str) -> IndexProblem:
    """The error for a part that cannot be trusted."""
    return IndexProblem(
        f"The {name} index in {str(directory)!r} is damaged ({why}); run `rarg index` to rebuild it."
    )


def mismatch(name: str, directory: Path, built: Mapping[str, Any], wanted: Mapping[str, Any]) -> IndexProblem:
    """The error for a part that was built with other settings than those in force."""
    keys = [key for key in {**wanted, **built} if built.get(key) != wanted.get(key)]
    differences = ", ".join(f"{key} {built.get(key)!r}, now {wanted.get(key)!r}" for key in keys)
    return IndexProblem(
        f"The {name} index in {str(directory)!r} was built with other settings ({differences}); "
        "run `rarg index` to rebuild it."
    )


def _measure(file: Path) -> dict[str, int]:
    crc = size = 0
    with open(file, "rb") as opened:
        while block := opened.read(_BLOCK):
            crc = zlib.crc32(block, crc)
            size += len(block)
    return {"size": size, "crc32": crc}


def _inode(file: Path) -> tuple[int, int]:
    status = file.lstat()
    return status.st_dev, status.st_ino


def _numbered(name: str) -> bool:
    head, _, number = name.rpartition("-")
    return head.isalpha() and number.isdecimal()


def _write_durably(file: Path, data: bytes) -> None:
    with open(file, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def _acquire(descriptor: int, cancel: threading.Event | None, waiting: Callable[[], None]) -> None:
    pause = cancel if cancel is not None else threading.Event()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            waiting()
            pause.wait(0.1)
            check(cancel)
