"""Scopes on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.relevance.scope import Scope

SCOPE = Scope(
    query="wér?",
    ranker="hybrid",
    rankers={"lexical": 1.0, "static": 0.5},
    paths=["a b.txt", "caf\udce9.txt", "tab\t\r.txt"],
    scores=[0.5, 0.25, 0.1],
    by={"lexical": [(1, 9.5), None, (2, 3.0)], "static": [(1, 0.9), (2, 0.5), (3, 0.1)]},
    elapsed_ms=3.5,
)


def test_round_trip(tmp_path: Path) -> None:
    listed = SCOPE.write(tmp_path, 7)
    assert listed == tmp_path / "scope_7.txt"
    assert listed.read_bytes() == b"a b.txt\ncaf\xe9.txt\ntab\t\r.txt\n"
    assert Scope.read(tmp_path, 7) == SCOPE
    meta = json.loads((tmp_path / "scope_7.meta").read_text())
    assert (meta["query"], meta["top_k"], meta["doc_count"], meta["ranker"]) == ("wér?", 3, 3, "hybrid")


def test_a_bare_list_of_paths(tmp_path: Path) -> None:
    (tmp_path / "scope_1.txt").write_text("a\nb")
    assert Scope.read(tmp_path, 1) == Scope("", "", {}, ["a", "b"], [0.0, 0.0])


def test_a_scope_of_the_released_code(tmp_path: Path) -> None:
    (tmp_path / "scope_1.txt").write_text("a\nb\n")
    (tmp_path / "scope_1.meta").write_text('{"query": "q", "top_k": 2, "doc_count": 2, "elapsed_ms": 5}')
    (tmp_path / "scope_1.ranks.json").write_text("broken")
    assert Scope.read(tmp_path, 1) == Scope("q", "", {}, ["a", "b"], [0.0, 0.0], elapsed_ms=5.0)


def test_no_scope(tmp_path: Path) -> None:
    with pytest.raises(RargError, match=r"scope_3\.txt"):
        Scope.read(tmp_path, 3)


@pytest.mark.parametrize("make", [lambda file: file.symlink_to("/etc/passwd"), os.mkfifo, Path.mkdir])
def test_a_scope_is_a_regular_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A run may come from somebody else: nothing else is read, and a pipe is not waited for."""
    make(tmp_path / "scope_1.txt")
    with pytest.raises(RargError, match="cannot be read"):
        Scope.read(tmp_path, 1)


@pytest.mark.parametrize(
    ("meta", "ranks"),
    [
        ('{"query": 5, "rankers": {"a": "x", "b": null}, "elapsed_ms": "x"}', "{}"),
        ("[" * 100_000, "[" * 100_000),
        ("{}", '{"scores": ["x"], "by": {}}'),
        ("{}", '{"scores": [1], "by": {"a": [5]}}'),
        ("{}", '{"scores": [1], "by": {"a": 5, "b": [[1, "x"]], "c": [[1]], "d": []}}'),
        ("{}", '{"scores": [null], "by": 5}'),
        ("{}", '{"scores": [1e999], "by": {"a": [[1e999, 1]]}}'),
    ],
)
def test_what_makes_no_sense_beside_a_scope_is_left_out(tmp_path: Path, meta: str, ranks: str) -> None:
    (tmp_path / "scope_1.txt").write_text("a.txt\n")
    (tmp_path / "scope_1.meta").write_text(meta)
    (tmp_path / "scope_1.ranks.json").write_text(ranks)
    scope = Scope.read(tmp_path, 1)
    assert scope.paths == ["a.txt"]
    assert (scope.rankers, scope.by, scope.elapsed_ms) == ({}, {}, 0.0)
