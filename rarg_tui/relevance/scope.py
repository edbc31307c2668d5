"""A scope: the ranked paths that one recall produced, and its files on disk."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        """The scope that :meth:`write` or another program wrote; only ``scope_N.txt`` must be there.
        Raises :class:`RargError` when it cannot be read."""
        listed = directory / f"scope_{number}.txt"
        try:
            lines = listed.read_bytes().split(b"\n")
        except OSError as error:
            raise RargError(f"The scope {str(listed)!r} cannot be read: {error.strerror}.") from None
        paths = [os.fsdecode(line) for line in lines if line]
        meta = _object(listed.with_suffix(".meta"))
        ranks = _object(directory / f"scope_{number}.ranks.json")
        scores = ranks.get("scores")
        fits = isinstance(scores, list) and len(scores) == len(paths)
        by = ranks.get("by") if fits else None
        return cls(
            query=str(meta.get("query", "")),
            ranker=str(meta.get("ranker", "")),
            rankers={str(k): float(v) for k, v in _mapping(meta.get("rankers")).items()},
            paths=paths,
            scores=[float(score) for score in scores] if fits and scores else [0.0] * len(paths),
            by={
                str(name): [None if at is None else (int(at[0]), float(at[1])) for at in places]
                for name, places in _mapping(by).items()
            },
            elapsed_ms=float(meta.get("elapsed_ms", 0.0)),
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _object(file: Path) -> Mapping[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        return _mapping(json.loads(file.read_bytes()))
    return {}
