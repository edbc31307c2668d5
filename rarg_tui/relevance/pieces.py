"""Finished batches of an unfinished build of vectors: a kill loses little."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rarg_tui.relevance import table as tables
from rarg_tui.relevance.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SETTINGS = "settings.json"


@dataclass(frozen=True, slots=True)
class Piece:
    """The documents of one batch; their vectors stay on disk."""

    table: Table
    file: Path

    def vectors(self) -> NDArray[np.float32]:
        """All vectors, one document after the other, shape ``(n, dimension)``."""
        with np.load(self.file, allow_pickle=False) as piece:
            return np.asarray(piece["vectors"], np.float32)


class Pieces:
    """``piece-000001.npz`` and so on in ``directory``, each complete in itself; those of other
    ``settings`` are removed."""

    def __init__(self, directory: Path, settings: Mapping[str, Any]) -> None:
        self._directory = directory
        wanted = json.dumps(settings, sort_keys=True)
        note = directory / _SETTINGS
        if not note.exists() or note.read_text("utf-8") != wanted:
            for stale in directory.iterdir():
                stale.unlink()
            note.write_text(wanted, "utf-8")
        numbers = [int(piece.stem.rpartition("-")[2]) for piece in directory.glob("piece-*.npz")]
        self._next = 1 + max(numbers, default=0)

    def load(self) -> list[Piece]:
        """The pieces of an earlier build. A torn or damaged one is removed, and so embedded again."""
        found: list[Piece] = []
        for file in sorted(self._directory.glob("piece-*.npz")):
            try:
                with np.load(file, allow_pickle=False) as piece:
                    paths = _unpack(piece["paths"].tobytes())
                    table = Table(paths, piece["rows"])
                    fits = len(piece["vectors"]) == int(table.rows["vectors"].sum())
                    if table.rows.dtype != tables.ROW or len(table.rows) != len(paths) or not fits:
                        raise ValueError("a piece that does not fit")
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
                file.unlink(missing_ok=True)
                continue
            found.append(Piece(table, file))
        return found

    def write(self, table: Table, vectors: NDArray[np.float32]) -> Piece:
        """Keep the next batch. Half precision takes half the room and is finer than what stores keep."""
        packed = np.frombuffer(_pack(table.paths), np.uint8)
        file = self._directory / f"piece-{self._next:06d}.npz"
        self._next += 1
        unfinished = file.with_suffix(".new")
        with open(unfinished, "wb") as opened:
            np.savez(opened, paths=packed, rows=table.rows, vectors=vectors.astype(np.float16))
        unfinished.replace(file)
        return Piece(table, file)


def _pack(paths: Sequence[str]) -> bytes:
    return b"\0".join(os.fsencode(path) for path in paths)


def _unpack(packed: bytes) -> list[str]:
    return [os.fsdecode(path) for path in packed.split(b"\0")]
