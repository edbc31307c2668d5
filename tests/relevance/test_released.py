"""An index of the released code, served as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.relevance import flat_file
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.presets import DenseOptions
from rarg_tui.relevance.released import with_released
from tests.relevance.embeddings_server import serving, vector

PATHS = ["bird.txt", "./loom.txt", "gone.txt", "sub/clock.txt"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    (root / "sub").mkdir(parents=True)
    for name in ("bird.txt", "loom.txt", "sub/clock.txt", "new.txt"):
        (root / name).write_text(f"About the {name}\n")
    return root


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """Vectors as the fake server makes them of the paths."""
    import faiss

    directory = tmp_path / "released"
    directory.mkdir()
    made = np.array([vector(path) for path in PATHS], np.float32)
    index = faiss.IndexFlatIP(made.shape[1])
    index.add(made / np.linalg.norm(made, axis=1, keepdims=True))
    faiss.write_index(index, str(directory / "index.faiss"))
    (directory / "paths.json").write_text(json.dumps(PATHS))
    (directory / "meta.json").write_text(
        json.dumps({"model": "/far/away/fake", "embedding_dim": 4, "query_prefix": "query: "})
    )
    return directory


def opened(root: Path, directory: Path, **options: Any) -> Index:
    return Index.open(Corpus(root), root.parent / "cache", DenseOptions(released_index=directory, **options))


def test_serves_from_the_released_index_and_leaves_it_alone(root: Path, released: Path) -> None:
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in released.iterdir()}
    with serving() as server:
        index = opened(root, released, embeddings_url=server.url, embeddings_model="fake")
        index.build(["dense"])
        assert index.destination == ""
        assert server.asked == [], "documents are not sent"
        scope = index.recall("a clock", ranker="dense")
        assert server.texts == ["query: a clock"]
        detail = index.status()["dense"].detail
        index.close()
    assert scope.paths == ["sub/clock.txt", "bird.txt", "loom.txt"]
    assert "1 of its 4 paths are no documents of this corpus" in detail
    assert "1 documents have no vector there" in detail
    assert before == {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in released.iterdir()}


def test_the_vectors_are_those_that_faiss_reads(released: Path) -> None:
    import faiss

    file = released / "index.faiss"
    index = faiss.read_index(str(file))
    np.testing.assert_array_equal(flat_file.read_vectors(file), index.reconstruct_n(0, index.ntotal))


def test_what_meta_says_holds_where_the_person_says_nothing(released: Path) -> None:
    said = {
        "model": "Qwen/Qwen3-Embedding-4B",
        "query_prefix_style": "qwen_instruction",
        "max_model_len": 512,
    }
    (released / "meta.json").write_text(json.dumps(said))
    found = with_released(DenseOptions(released_index=released))
    assert found.dense_model == "Qwen/Qwen3-Embedding-4B"
    assert found.query_prefix is not None
    assert found.query_prefix.endswith("\nQuery: ")
    assert found.max_length == 512
    own = with_released(DenseOptions(released_index=released, dense_model="other", query_prefix=""))
    assert (own.dense_model, own.query_prefix) == ("other", "")
    for broken in ("", "[]", "3", "[" * 100_000, '{"model": 5, "max_model_len": -1, "query_prefix": []}'):
        (released / "meta.json").write_text(broken)
        assert with_released(DenseOptions(released_index=released)).dense_model is None


def test_a_model_that_is_not_here(root: Path, released: Path) -> None:
    with pytest.raises(RargError) as caught:
        opened(root, released).build(["dense"])
    said = str(caught.value)
    assert "'/far/away/fake'" in said
    assert "set dense_model to the model's directory" in said
    (released / "meta.json").unlink()
    with pytest.raises(RargError, match=r"meta\.json names no model"):
        opened(root, released).build(["dense"])


def test_a_model_of_another_dimension(root: Path, released: Path) -> None:
    with serving() as server:
        server.faults = [lambda _: (200, b'{"data": [{"embedding": [1.0, 2.0]}]}', {})]
        index = opened(root, released, embeddings_url=server.url, embeddings_model="fake")
        with pytest.raises(RargError, match="vectors of 4 numbers, the model for queries gives 2"):
            index.recall("bird", ranker="dense")


def _cut(data: bytes) -> bytes:
    return data[:-3]


FAULTS: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("index.faiss", lambda _: b"", "too short"),
    ("index.faiss", lambda _: b"garbage" * 1000, "no IndexFlatIP"),
    ("index.faiss", lambda data: data[:20], "too short"),
    ("index.faiss", _cut, "bytes in place of"),
    ("index.faiss", lambda data: data + b"more", "bytes in place of"),
    ("index.faiss", lambda data: b"IwFl" + data[4:], "no IndexFlatIP"),
    ("index.faiss", lambda data: data[:4] + b"\xff" * 4 + data[8:], "header says"),
    ("index.faiss", lambda data: data[:8] + b"\xff" * 7 + b"\x7f" + data[16:], "header says"),
    ("index.faiss", lambda data: data[:-4] + b"\xff" * 4, "numbers that are none"),
    ("paths.json", lambda _: b"{", "paths.json"),
    ("paths.json", lambda _: b"[1, 2, 3, 4]", "paths.json"),
    ("paths.json", lambda _: b"[" * 100_000, "paths.json"),
    ("paths.json", lambda _: b'["bird.txt"]', "4 vectors and 1 paths"),
    ("paths.json", lambda _: b'["a", "b", "c", "d"]', "None of the 4 paths"),
    ("meta.json", lambda _: b'{"model": "m", "dim": 7}', "its meta.json says 7"),
]


@pytest.mark.parametrize(("name", "change", "sentence"), FAULTS)
def test_a_broken_index_is_a_sentence(
    root: Path, released: Path, name: str, change: Callable[[bytes], bytes], sentence: str
) -> None:
    file = released / name
    file.write_bytes(change(file.read_bytes()))
    with serving() as server:
        index = opened(root, released, embeddings_url=server.url, embeddings_model="fake")
        with pytest.raises(RargError, match=sentence):
            index.recall("bird", ranker="dense")
        index.close()


@pytest.mark.parametrize("name", ["index.faiss", "paths.json"])
def test_a_file_that_is_gone(root: Path, released: Path, name: str) -> None:
    (released / name).unlink()
    with serving() as server:
        index = opened(root, released, embeddings_url=server.url, embeddings_model="fake")
        with pytest.raises(RargError, match=f"{name}.*name the directory of a whole one"):
            index.build(["dense"])


def test_paths_may_be_a_table(root: Path, released: Path) -> None:
    (released / "paths.json").write_text(json.dumps({str(row): path for row, path in enumerate(PATHS)}))
    with serving() as server:
        index = opened(root, released, embeddings_url=server.url, embeddings_model="fake")
        assert index.recall("bird", top=1, ranker="dense").paths == ["bird.txt"]
