"""A scope: the ranked paths that one recall produced, and its files on disk."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rarg_tui.corpus.files import open_regular
from rarg_tui.errors import RargError


@dataclass(frozen=True, slots=True)
class Scope:
    """``paths`` best first with their ``scores``. ``rankers`` are names and weights; ``by`` holds for each
    ranker, aligned with ``paths``, the rank (from 1) and score that it gave, ``None`` where it gave none.
    ``ranker`` is what was asked for. A scope of one ranker has that ranker's scores."""

    query: str
    ranker: str
    rankers: dict[str, float]
    paths: list[str]
    scores: list[float]
    by: dict[str, list[tuple[int, float] | None]] = field(default_factory=dict)
    elapsed_ms: float = 0.0

    def write(self, directory: Path, number: int) -> Path:
        """Write ``scope_N.txt`` (a path a line), ``scope_N.meta`` and ``scope_N.ranks.json``; returns the
        first, which appears last and whole."""
        listed = directory / f"scope_{number}.txt"
        meta = {
            "query": self.query,
            "top_k": len(self.paths),
            "doc_count": len(self.paths),
            "elapsed_ms": self.elapsed_ms,
            "ranker": self.ranker,
            "rankers": self.rankers,
        }
        listed.with_suffix(".meta").write_text(json.dumps(meta), "utf-8")
        ranks = {"scores": self.scores, "by": self.by}
        (directory / f"scope_{number}.ranks.json").write_text(json.dumps(ranks), "utf-8")
        unfinished = directory / f"scope_{number}.new"
        unfinished.write_bytes(b"".join(os.fsencode(path) + b"\n" for path in self.paths))
        unfinished.replace(listed)
        return listed

    @classmethod
    def read(cls, directory: Path, number: int) -> Scope:
        """The scope that :meth:`write` or another program wrote; only ``scope_N.txt`` must be there, and
        of the others what makes no sense is left out. Raises :class:`RargError` when it cannot be read; a
        link or a pipe is not: a run may come from somebody else."""
        listed = directory / f"scope_{number}.txt"
        try:
            lines = _read(listed).split(b"\n")
        except OSError as error:
            raise RargError(f"The scope {str(listed)!r} cannot be read: {error.strerror}.") from None
        paths = [os.fsdecode(line) for line in lines if line]
        meta = _object(listed.with_suffix(".meta"))
        ranks = _object(directory / f"scope_{number}.ranks.json")
        scores: list[float] = [0.0] * len(paths)
        by: dict[str, list[tuple[int, float] | None]] = {}
        if _is_column(ranks.get("scores"), len(paths), _is_number):
            scores = [float(score) for score in ranks["scores"]]
            for name, places in _mapping(ranks.get("by")).items():
                if _is_column(places, len(paths), _is_place):
                    by[name] = [None if at is None else (int(at[0]), float(at[1])) for at in places]
        elapsed, rankers = meta.get("elapsed_ms", 0), _mapping(meta.get("rankers"))
        return cls(
            query=str(meta.get("query", "")),
            ranker=str(meta.get("ranker", "")),
            rankers={name: float(weight) for name, weight in rankers.items() if _is_number(weight)},
            paths=paths,
            scores=scores,
            by=by,
            elapsed_ms=float(elapsed) if _is_number(elapsed) else 0.0,
        )


def _read(file: Path) -> bytes:
    with os.fdopen(open_regular(os.fspath(file)), "rb") as opened:
        return opened.read()


def _is_column(value: Any, length: int, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) == length and all(map(fits, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e300


def _is_place(value: Any) -> bool:
    """A rank and a score, or none."""
    return value is None or (isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _object(file: Path) -> Mapping[str, Any]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        return _mapping(json.loads(_read(file)))
    return {}
