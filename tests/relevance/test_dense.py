"""The dense ranker with the packaged model, in its process; one small index for all tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import MissingPart, RargError
from rarg_tui.relevance import dense
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.presets import MOST_WINDOWS, DenseOptions
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.vectors import Embedded

TEXTS = {
    "bird.txt": "The resplendent quetzal\n\nA green bird of the cloud forest.\n",
    "loom.txt": "The loom\n\nIt weaves thread into cloth.\n",
    "clock.txt": "The clock\n\nA pendulum keeps the time.\n",
    "long.txt": "A long tale\n\n" + "Nothing happens here. " * 800 + "\nA submarine dives.\n",
    "empty.txt": "",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """A small corpus with its dense index built."""
    root = tmp_path_factory.mktemp("dense")
    for name, text in TEXTS.items():
        (root / name).write_text(text)
    opened = Index.open(Corpus(root), tmp_path_factory.mktemp("cache"), DenseOptions(device="cpu"))
    opened.build(["dense"])
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def embedder() -> Iterator[dense.DenseEmbedder]:
    opened = dense.DenseEmbedder(DenseOptions(device="cpu"))
    yield opened
    opened.close()


def test_ranks(index: Index) -> None:
    assert index.ready() == ("dense",)
    assert index.recall("an animal with feathers", ranker="dense").paths[0] == "bird.txt"
    assert index.recall("making textiles", ranker="dense").paths[0] == "loom.txt"
    assert len(index.recall("telling the hour", ranker="hybrid").paths) == len(TEXTS)


def test_a_document_seen_in_part_is_reported(index: Index) -> None:
    assert "1 longer documents seen in part" in index.status()["dense"].detail


def test_an_edit_is_embedded_alone(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[str] = []
    genuine = dense.DenseEmbedder.documents

    def spy(
        self: dense.DenseEmbedder, contents: Sequence[Content], cancel: threading.Event | None
    ) -> list[Embedded]:
        embedded.extend(one.title for one in contents)
        return genuine(self, contents, cancel)

    monkeypatch.setattr(dense.DenseEmbedder, "documents", spy)
    (index.corpus.root / "clock.txt").write_text("The volcano\n\nIt throws lava.\n")
    index.build(["dense"])
    assert embedded == ["The volcano"]
    assert index.recall("eruption of a mountain", ranker="dense").paths[0] == "clock.txt"


def test_windows_reach_far_into_a_document(embedder: dense.DenseEmbedder) -> None:
    hidden = "Filler about nothing at all. " * 200 + "The submarine dives into the deep sea."
    short, long = embedder.documents([Content("t", "Filler.", b""), Content("t", hidden, b"")], None)
    assert (len(short.vectors), short.seen, short.total) == (1, 7, 7)
    assert len(long.vectors) > 3
    assert long.seen == long.total == len(hidden)
    similarity = long.vectors @ embedder.query("submarine in the sea", None)
    assert similarity.argmax() == len(long.vectors) - 1
    assert np.linalg.norm(long.vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_awkward_texts(embedder: dense.DenseEmbedder) -> None:
    texts = ["", " \n", "\0\x1b[31m", "漢字" * 5000, "x" * 200_000, "\udce9", "title " * 500]
    made = embedder.documents([Content(text or "t", text, b"") for text in texts], None)
    assert all(1 <= len(one.vectors) <= MOST_WINDOWS for one in made)
    assert all(np.isfinite(one.vectors).all() for one in made)
    assert all(one.seen <= one.total for one in made)


def test_texts_of_their_own(embedder: dense.DenseEmbedder) -> None:
    """Each text has the vector that it has as a query; a text with a torn character is no fault."""
    texts = ["a green bird", "", "torn \udcff character"]
    vectors = embedder.texts(texts)
    assert vectors.shape == (3, 384)
    np.testing.assert_allclose(vectors[0], embedder.query(texts[0], None), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_process_may_die_at_any_time(embedder: dense.DenseEmbedder) -> None:
    before = embedder.query("bird", None)
    killed = child_of(embedder)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    np.testing.assert_allclose(embedder.query("bird", None), before, atol=1e-6)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        embedder.query("bird", cancel)
    assert child_of(embedder, alive=False).returncode == -signal.SIGKILL


def test_the_process_ends_with_its_parent() -> None:
    command = [sys.executable, "-m", "rarg_tui.relevance.dense_process", "no model", "{}"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    child.communicate(timeout=60)
    assert child.returncode in (0, 1)


def child_of(embedder: dense.DenseEmbedder, alive: bool = True) -> subprocess.Popen[bytes]:
    process = embedder._server._process
    assert process is not None
    assert process.alive() is alive
    return process._child


def test_missing_model(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"modules\.json"):
        dense.DenseEmbedder(DenseOptions(dense_model=str(tmp_path))).settings()


def test_an_unknown_device_fails_with_a_sentence() -> None:
    opened = dense.DenseEmbedder(DenseOptions(device="abacus"))
    with pytest.raises(RargError, match="dense model failed"):
        opened.query("x", None)
    opened.close()


def test_prefixes_pooling_length_and_windows_take_effect(embedder: dense.DenseEmbedder) -> None:
    options = DenseOptions(
        device="cpu",
        query_prefix="a ",
        document_prefix="a loom ",
        pooling="cls",
        max_length=64,
        windows=0,
    )
    otherwise = dense.DenseEmbedder(options)
    try:
        made = otherwise.query("loom song", None)
        np.testing.assert_allclose(otherwise.texts(["song"])[0], made, atol=1e-4)
        assert not np.allclose(made, embedder.query("a loom song", None), atol=1e-2), "pooled as it is itself"
        whole = otherwise.documents([Content("t", "word " * 600 + "sea", b"")], None)[0]
        assert whole.seen == whole.total
        assert len(whole.vectors) > 600 / 64
        assert "64 tokens a window, on cpu" in otherwise.about()
        settings = otherwise.settings()
        assert settings["prefixes"] == ["a ", "a loom "]
        assert (settings["max_length"], settings["windows_at_most"]) == (64, "all")
        assert settings["pooling"] == "cls, maximum over windows"
    finally:
        otherwise.close()


def test_a_length_that_the_model_cannot_read() -> None:
    opened = dense.DenseEmbedder(DenseOptions(device="cpu", max_length=5000))
    with pytest.raises(RargError, match="max_length 5000 is more than the 512 tokens"):
        opened.query("x", None)
    opened.close()
