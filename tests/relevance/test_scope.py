"""Scopes on disk."""

from __future__ import annotations

import json
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
