"""Unpacking an archive of documents: regular files alone, all of them below one directory."""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from gzip import BadGzipFile
from lzma import LZMAError
from pathlib import Path
from typing import IO

from rarg_tui.errors import RargError

ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")

#: More, in files and bytes, is not unpacked: a small archive can hold any amount.
MOST_FILES = 5_000_000
MOST_BYTES = 64 << 30

_BLOCK = 1 << 20


def unpack(archive: Path, target: Path) -> int:
    """Write the regular files of ``archive`` below ``target``; returns how many there are. Links and
    devices are left out, as they are in a corpus. Raises ``RargError`` for a name that leads out of
    ``target``, for a damaged archive, and for one that holds too much."""
    left = MOST_BYTES
    count = 0
    made: set[Path] = set()
    try:
        for name, stream in _members(archive):
            file = target.joinpath(*_safe(archive, name))
            count += 1
            if file.parent not in made:
                file.parent.mkdir(parents=True, exist_ok=True)
                made.add(file.parent)
            with file.open("wb") as out:
                while block := stream.read(_BLOCK):
                    left -= len(block)
                    if left < 0 or count > MOST_FILES:
                        raise RargError(
                            f"{archive} holds more than {MOST_FILES:,} files or {MOST_BYTES >> 30} GB; "
                            "unpack it yourself and name the folder."
                        )
                    out.write(block)
    except (tarfile.TarError, zipfile.BadZipFile, BadGzipFile, EOFError, zlib.error, LZMAError) as error:
        raise RargError(f"{archive} is damaged after {count} documents ({error}).") from None
    except (RuntimeError, NotImplementedError) as error:  # an encrypted zip, or a method unknown to Python
        raise RargError(f"{archive} cannot be unpacked ({error}).") from None
    return count


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if not entry.is_dir() and kind in (0, stat.S_IFREG):
                    with packed.open(entry) as stream:
                        yield entry.filename, stream
        return
    with tarfile.open(archive, "r|*") as stored:
        for member in stored:
            content = stored.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, content


def _safe(archive: Path, name: str) -> list[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts or name.startswith("/") or ".." in parts or "\0" in name:
        raise RargError(f"{archive} holds {name!r}, which would lie outside of its folder.")
    return parts
