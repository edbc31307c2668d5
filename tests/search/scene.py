"""A run in a small corpus, for tests: two scopes, a context, and a reranker that turns the order round."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rarg_tui.search.context import Reorder, ScopeView, ShellContext, ShellLimits
from rarg_tui.trace.events import Match


@dataclass
class Backwards:
    """Reranks by turning the order round, and remembers what it was asked."""

    asked: list[tuple[str, tuple[str, ...], int]] = field(default_factory=list)

    def rerank(self, query: str, keywords: Sequence[str], matches: Sequence[Match]) -> list[Match]:
        self.asked.append((query, tuple(keywords), len(matches)))
        return [
            replace(match, score=1.0 / at, parts={"traversal": float(match.position)})
            for at, match in enumerate(reversed(matches), 1)
        ]


def write_scope(run_dir: Path, number: int, paths: Sequence[str]) -> ScopeView:
    run_dir.mkdir(exist_ok=True)
    data = b"".join(os.fsencode(path) + b"\n" for path in paths)
    (run_dir / f"scope_{number}.txt").write_bytes(data)
    return ScopeView(number, "which bird is green", tuple(paths))


def context(
    root: Path,
    run_dir: Path,
    *scopes: Sequence[str],
    limits: ShellLimits | None = None,
    reorder: Reorder | None = None,
    whole_corpus: bool = False,
    rerank_query: str = "",
) -> ShellContext:
    """A context with the given scopes, numbered from 1."""
    views = [write_scope(run_dir, number, paths) for number, paths in enumerate(scopes, 1)]
    every = sorted({path for paths in scopes for path in paths}, key=os.fsencode)
    return ShellContext(
        root=root,
        run_dir=run_dir,
        scopes={view.number: view for view in views},
        limits=limits or ShellLimits(),
        reorder=reorder,
        whole_corpus=whole_corpus,
        paths=lambda: every,
        rerank_query=rerank_query,
    )


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
