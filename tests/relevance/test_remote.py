"""Vectors from a server, and every way in which it can fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import MissingPart, RargError
from rarg_tui.relevance import remote_call
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.presets import DenseOptions
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.remote import RemoteEmbedder
from tests.relevance.embeddings_server import FakeEmbeddings, body, says, serving, status, vector


@pytest.fixture
def server() -> Iterator[FakeEmbeddings]:
    with serving() as fake:
        yield fake


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, which nobody waits for."""
    noted: list[float] = []
    monkeypatch.setattr(remote_call, "pause", lambda seconds, cancel: noted.append(seconds))
    monkeypatch.delenv("EMBEDDINGS_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    return noted


def embedder(server: FakeEmbeddings, **options: Any) -> RemoteEmbedder:
    options = {"embeddings_url": server.url, "embeddings_model": "fake", **options}
    return RemoteEmbedder(DenseOptions(**options))


def test_texts_come_back_as_unit_vectors_in_order(server: FakeEmbeddings) -> None:
    texts = ["a bird", "the loom and the clock", "sea sea bird"]
    made = embedder(server).texts(texts)
    expected = np.array([vector(text) for text in texts])
    np.testing.assert_allclose(made, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    raw = embedder(server, normalize=False).texts(texts)
    np.testing.assert_allclose(raw, expected, atol=1e-6)


def test_prefixes_of_the_model_named(server: FakeEmbeddings) -> None:
    e5 = embedder(server, embeddings_model="intfloat/e5-base-v2")
    e5.query("where?", None)
    e5.texts(["a line", " "])
    e5.documents([Content("Title", "Text.", b"")], None)
    assert server.texts == ["query: where?", "passage: a line", "passage: -", "passage: Title\nText."]
    assert e5.settings()["prefixes"] == ["query: ", "passage: "]


def test_requests_are_bounded_and_shrink_for_a_server_that_takes_less(server: FakeEmbeddings) -> None:
    texts = [f"bird {at}" for at in range(70)]
    embedder(server).texts(texts)
    assert [len(request["input"]) for request in server.asked] == [32, 32, 6]
    server.asked.clear()
    server.most = 10
    few = embedder(server)
    assert few.texts(texts).shape == (70, 4)
    assert server.texts.count("bird 69") == 1
    server.asked.clear()
    few.texts(texts)
    assert max(len(request["input"]) for request in server.asked) <= 8


def test_a_long_document_has_windows_and_says_how_much_was_seen(server: FakeEmbeddings) -> None:
    text = "word " * 1000 + "sea"
    short, whole = embedder(server, windows=2, max_length=64), embedder(server, windows=0, max_length=64)
    part = short.documents([Content("T", text, b"")], None)[0]
    assert (len(part.vectors), part.total) == (2, len(text))
    assert 250 < part.seen < 400
    for sent in server.texts:
        assert sent.startswith("T\nword")
        assert len(sent) <= 64 * 3
    server.asked.clear()
    every = whole.documents([Content("T", text, b"")], None)[0]
    assert every.seen == every.total == len(text)
    assert server.texts[-1].endswith("sea")
    joined = "".join(sent.removeprefix("T\n") for sent in server.texts)
    assert joined.count("word") >= 1000
    # A script of three bytes a character has about a token each.
    server.asked.clear()
    whole.documents([Content("T", "鳥" * 500, b"")], None)
    assert max(len(sent) for sent in server.texts) <= 64


def test_the_tokenizer_of_a_model_here_cuts_the_windows(server: FakeEmbeddings) -> None:
    counted = embedder(server, dense_model="all-MiniLM-L6-v2", max_length=64, windows=0)
    one = counted.documents([Content("T", "bird " * 200, b"")], None)[0]
    assert one.seen == one.total - 1 or one.seen == one.total
    assert 45 <= server.texts[0].count("bird") <= 62


@pytest.mark.parametrize("text", ["", " \n ", "\udcff", "x" * 100_000, "\0\x1b[31m"])
def test_awkward_documents(server: FakeEmbeddings, text: str) -> None:
    made = embedder(server).documents([Content("t", text, b"")], None)[0]
    assert len(made.vectors) >= 1
    assert made.seen <= made.total == len(text)


@pytest.mark.parametrize(
    "fault", [status(429), status(500), status(503), status(408), "reset", status(502, "<html>")]
)
def test_a_passing_fault_is_tried_again(server: FakeEmbeddings, waits: list[float], fault: Any) -> None:
    server.faults = [fault, fault]
    assert embedder(server).query("bird", None).shape == (4,)
    assert waits == [0.5, 1.0]


def test_the_server_says_how_long_to_wait(server: FakeEmbeddings, waits: list[float]) -> None:
    server.faults = [
        status(429, Retry_After="7"),
        status(503, Retry_After="99999"),
        status(503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
        status(503, Retry_After="soon"),
    ]
    embedder(server).query("bird", None)
    assert waits == [7.0, 60.0, 0.0, 4.0]


def test_tries_are_bounded(server: FakeEmbeddings, waits: list[float]) -> None:
    server.faults = [status(503)] * 50
    with pytest.raises(RargError, match=r"status 503.*goes on where it stopped"):
        embedder(server).query("bird", None)
    assert len(server.asked) == remote_call.TRIES == len(waits) + 1


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (status(401), "refused the key: set EMBEDDINGS_API_KEY"),
        (status(403), "refused the key"),
        (status(404), "check embeddings_url"),
        (status(400, "too long"), r"refuses a text of 4 characters \(status 400.*set max_length below 512"),
        (status(418), "status 418"),
        (status(307, Location="http://127.0.0.1:9/v1/embeddings"), "status 307"),
        (says(b"<html>"), "another form"),
        (says(b"[]"), "another form"),
        (says(b'{"data": 3}'), "another form"),
        (says(b'{"data": [{"embedding": "AAAA"}]}'), "another form"),
        (says(b'{"data": [{"embedding": [[[1]], 2]}]}'), "another form"),
        (says(b"[" * 100_000), "another form"),
        (says(b'{"data": []}'), "sent 0 vectors for 1 texts"),
        (says(json.dumps(body(["a", "b"])).encode()), "sent 2 vectors for 1 texts"),
        (says(b'{"data": [{"embedding": [1.0], "index": 5}]}'), "sent 1 vectors"),
        (says(b'{"data": [{"embedding": [1.0, NaN]}]}'), "no rows of finite numbers"),
        (says(b'{"data": [{"embedding": [1.0, null]}]}'), "no rows of finite numbers"),
        (says(b'{"data": [{"embedding": [1e999, 1.0]}]}'), "no rows of finite numbers"),
        (says(b'{"data": [{"embedding": []}]}'), "no rows of finite numbers"),
    ],
)
def test_a_lasting_fault_is_one_sentence(
    server: FakeEmbeddings, waits: list[float], fault: Any, sentence: str
) -> None:
    server.faults = [fault]
    with pytest.raises(RargError, match=sentence) as caught:
        embedder(server).query("bird", None)
    assert server.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.asked) == 1


def test_another_dimension_than_before(server: FakeEmbeddings) -> None:
    one = embedder(server)
    one.query("bird", None)
    server.faults = [says(b'{"data": [{"embedding": [1.0, 2.0]}]}')]
    with pytest.raises(RargError, match="vectors of 2 numbers after vectors of 4"):
        one.query("bird", None)


def test_nobody_there() -> None:
    with serving() as gone:
        pass
    with pytest.raises(MissingPart, match="cannot be reached: check embeddings_url"):
        embedder(gone).query("bird", None)


def test_a_model_must_be_named(server: FakeEmbeddings) -> None:
    with pytest.raises(MissingPart, match="set embeddings_model"):
        embedder(server, embeddings_model=None).settings()


def test_cancelling_does_not_wait_for_the_server(server: FakeEmbeddings) -> None:
    server.faults = ["wait"]
    cancel = threading.Event()
    threading.Thread(target=lambda: (server.waiting.wait(), cancel.set()), daemon=True).start()
    with pytest.raises(Cancelled):
        embedder(server).query("bird", cancel)
    assert not server.stopped.is_set()


def test_a_wait_is_cancelled_too() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        genuine_pause(3600.0, cancel)


genuine_pause = remote_call.pause


def test_the_key_is_its_own_and_is_never_said(
    server: FakeEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenAI's key goes to OpenAI alone."""
    embedder(server).query("bird", None)
    monkeypatch.setenv("EMBEDDINGS_API_KEY", "sk-secret")
    embedder(server).query("bird", None)
    assert server.keys == ["Bearer none", "Bearer sk-secret"]
    server.faults = [status(418, "no tea for sk-secret")]
    with pytest.raises(RargError, match=r"no tea for \[key\]"):
        embedder(server).query("bird", None)


@pytest.mark.parametrize(
    ("url", "destination"),
    [
        ("http://127.0.0.1:8000/v1", ""),
        ("http://localhost/v1", ""),
        ("http://[::1]:8000/v1", ""),
        ("https://api.openai.com/v1", "api.openai.com"),
        ("http://127.0.0.1.example.org:80/v1", "127.0.0.1.example.org:80"),
        ("http://10.0.0.7:8000/v1", "10.0.0.7:8000"),
    ],
)
def test_where_the_text_goes(url: str, destination: str) -> None:
    assert RemoteEmbedder(DenseOptions(embeddings_url=url)).destination == destination


def test_a_build_goes_on_where_it_stopped(
    server: FakeEmbeddings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    for at in range(40):
        (root / f"{at:02}.txt").write_text(f"Document {at}\n\nAbout the {'sea' if at == 33 else 'bird'}.\n")
    options = DenseOptions(embeddings_url=server.url, embeddings_model="fake")
    index = Index.open(Corpus(root), tmp_path / "cache", options)
    server.faults = [None, None, status(401)]
    with pytest.raises(MissingPart, match="refused the key"):
        index.build(["dense"])
    before = len(server.texts)
    assert not index.status()["dense"].ready
    index.build(["dense"])
    assert len(server.texts) - before == 8, "the two finished batches of 16 are kept"
    assert index.recall("sea", ranker="dense").paths[0] == "33.txt"
    part = index._shelf.current("dense")
    assert part is not None
    assert part.facts["dimension"] == 4
    index.close()


def test_an_index_of_another_model_is_refused(server: FakeEmbeddings, tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "a.txt").write_text("bird")
    given: dict[str, Any] = {"embeddings_url": server.url, "embeddings_model": "fake"}
    Index.open(Corpus(root), tmp_path / "cache", DenseOptions(**given)).build(["dense"])
    for name, value in (("query_prefix", "q: "), ("windows", 0), ("max_length", 99)):
        other = Index.open(Corpus(root), tmp_path / "cache", DenseOptions(**{**given, name: value}))
        with pytest.raises(RargError, match=r"built with other settings .* run `rarg index`"):
            other.recall("bird", ranker="dense")
    server.faults = [says(b'{"data": [{"embedding": [1.0, 2.0], "index": 0}]}')]
    changed = Index.open(Corpus(root), tmp_path / "cache", DenseOptions(**given))
    with pytest.raises(RargError, match="holds vectors of 4 numbers, its model gives 2"):
        changed.recall("bird", ranker="dense")
