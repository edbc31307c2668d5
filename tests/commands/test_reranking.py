"""The options of reranking on the command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rarg_tui.cli import Parser, main
from rarg_tui.commands import shared
from rarg_tui.errors import RargError
from rarg_tui.evaluation import reranking
from rarg_tui.relevance.cross import CrossEncoder
from rarg_tui.relevance.dense import DenseEmbedder
from tests import small

QUERY = "who mended the orrery?"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return small.write(tmp_path / "corpus")


def grep(corpus: Path, *options: str) -> int:
    """Searches for what more lines match than are shown."""
    words = ["grep", "-C", str(corpus), "--ranker", "lexical+static", "--query", QUERY, "--show", "1"]
    return main([*words, *options, "the|of|at"])


def test_each_kind(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, query in (("fused", ""), ("paper", ""), ("generative", "eggs"), ("fused", "eggs")):
        own = ["--rerank-query", query] if query else []
        assert grep(corpus, "--json", "--rerank", kind, *own) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["reranked"] is True
        assert found["rerank_query"] == (query or f"{QUERY}\n\nRG focus: the of at")
        assert {"similarity", "keywords", "traversal"} <= set(found["shown"][0]["parts"])
        if kind == "generative":
            assert "eggs" in found["shown"][0]["text"]


def test_off_reranks_nothing(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grep(corpus, "--json", "--rerank", "off", "--rerank-query", "eggs") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["reranked"], found["rerank_query"]) == (False, "")
    assert found["shown"][0]["position"] == 1
    assert found["shown"][0]["parts"] is None


def test_off_holds_for_a_shell_too(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RARG_RERANK", "off")
    (corpus.parent / "run").mkdir()
    words = ["shell", "-C", str(corpus), "--run-dir", str(corpus.parent / "run"), "--strategy", "rarg++"]
    assert main([*words, "--", "echo fine"]) == 0
    assert capsys.readouterr().out == "fine\n"


def test_generative_without_a_query_says_so(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grep(corpus, "--rerank", "generative") == 0
    assert "constructed" in capsys.readouterr().err
    assert grep(corpus, "--rerank", "generative", "--rerank-query", "eggs") == 0
    assert "constructed" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--rerank", "magic"], 2, "--rerank must be one of fused, paper, generative, cross, off"),
        (["--match-model", "magic"], 2, "--match-model must be one of static, dense"),
        (["--quota", "-1"], 2, "--quota must be a whole number"),
        (["--rerank", "cross"], 3, "set cross_encoder"),
    ],
)
def test_faults(
    corpus: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, words: str
) -> None:
    assert grep(corpus, *options) == code
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_a_model_that_fails_leaves_the_order_and_says_so(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RargError("The cross-encoder failed (no weights).")

    monkeypatch.setattr(CrossEncoder, "scores", fail)
    (corpus.parent / "config.json").write_text("{}")
    monkeypatch.setenv("RARG_CROSS_ENCODER", str(corpus.parent))
    assert grep(corpus, "--rerank", "cross") == 0
    printed = capsys.readouterr()
    assert "not reranked: The cross-encoder failed (no weights)" in printed.err
    assert grep(corpus, "--rerank", "cross", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["reranked"], found["rerank_query"]) == (False, "")


def test_as_published() -> None:
    parser = Parser()
    parser.add_argument("--config")
    shared.relevance_options(parser)

    def settings(*words: str) -> tuple[object, ...]:
        args: argparse.Namespace = parser.parse_args(words)
        found = shared.settings(args)
        return found.ranker, found.rerank, found.match_model, found.quota

    assert settings("--as-published") == ("dense", "paper", "dense", 0)
    assert settings("--as-published", "--match-model", "static", "--quota", "2") == (
        *("dense", "paper", "static"),
        2,
    )


def test_the_bench(corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def texts(_: DenseEmbedder, lines: Sequence[str], cancel: Any = None) -> np.ndarray[Any, Any]:
        asked.append(len(lines) - 1)
        return np.ones((len(lines), 2), np.float32)

    monkeypatch.setattr(DenseEmbedder, "texts", texts)
    assert main(["bench", "rerank", "--runs", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["bench"] == "rerank"
    assert [row["name"] for row in printed["rows"]] == ["fused", "fused, the best by the sentence model"]
    assert all(row["ratio"] > 0 for row in printed["rows"])
    assert asked == [100, reranking.LINES] * 2
