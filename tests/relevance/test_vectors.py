"""Vector search: exact, ties kept together, documents by their best vector."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rarg_tui.relevance import table as tables
from rarg_tui.relevance.manifest import Part
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.static import StaticTable
from rarg_tui.relevance.store import FaissStore
from rarg_tui.relevance.vectors import Embedded, VectorRanker, VectorSearcher, windows

#: What the vectors of one document may be like.
SIMILARITIES = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.9]), min_size=1, max_size=6)


class Fixed:
    """An embedder whose query is always the same vector."""

    name = "fixed"
    batch = 1

    def settings(self) -> Mapping[str, Any]:
        return {}

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        return []

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        return np.array([1.0, 0.0], np.float32)

    def close(self) -> None:
        pass


def searcher(directory: Path, documents: list[list[float]]) -> VectorSearcher:
    """Documents whose vectors have these similarities to the query."""
    flat = [value for each in documents for value in each]
    made = np.array([[value, 0.0] for value in flat], np.float32).reshape(-1, 2)
    FaissStore.write(directory, 2, [made])
    rows = tables.rows([(1, 1, bytes(16), len(each), 1, 1) for each in documents])
    return VectorRanker(Fixed()).open(
        Part(directory, {}, {"dimension": 2}), tables.Table([str(n) for n in range(len(rows))], rows)
    )


@given(
    documents=st.lists(SIMILARITIES, min_size=1, max_size=12),
    k=st.integers(1, 15),
)
def test_best_vector_decides_and_ties_are_complete(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[float]], k: int
) -> None:
    served = searcher(tmp_path_factory.mktemp("store"), documents)
    rows, scores = served.search("any", k, None)
    best = sorted(((-max(each), row) for row, each in enumerate(documents)))
    last = best[min(k, len(best)) - 1][0]
    wanted = [(row, -score) for score, row in best if score <= last]
    found = list(zip(rows.tolist(), scores.tolist(), strict=True))[: len(wanted)]
    assert [row for row, _ in found] == [row for row, _ in wanted]
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-6)


def test_store(tmp_path: Path) -> None:
    assert FaissStore.write(tmp_path, 2, [np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)[:1]]) == 3
    store = FaissStore.open(tmp_path)
    assert (len(store), store.dimension) == (3, 2)
    rows, scores = store.search(np.array([0.0, 1.0], np.float32), 10)
    assert rows[0] == 1
    assert scores.tolist() == [1.0, 0.0, 0.0]
    assert store.vectors(1, 2).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert len(store.search(np.array([0.0, 1.0], np.float32), 0)[0]) == 0


@pytest.mark.parametrize("data", [b"", b"nonsense", None])
def test_no_store(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "index.faiss").write_bytes(data)
    with pytest.raises((OSError, ValueError)):
        FaissStore.open(tmp_path)


@given(st.text(alphabet="ab \n", max_size=300), st.integers(1, 50), st.integers(1, 9))
def test_windows_cover_the_whole_text(text: str, size: int, most: int) -> None:
    cut = list(windows(text, size, most))
    assert "".join(cut) == text
    assert len(cut) == 1 or all(cut)


def test_windows_are_few() -> None:
    assert len(list(windows("word " * 50_000, 450, 8))) <= 16
    assert len(list(windows("x" * 250_000, 450, 8))) == 8
    assert list(windows("", 450, 8)) == [""]


def test_table_round_trip(tmp_path: Path) -> None:
    rows = tables.rows([(n, n, bytes([n]) * 16, 1, 2, 3) for n in range(3)])
    table = tables.Table(["a", "caf\udce9", "new\nline"], rows)
    table.write(tmp_path)
    again = tables.Table.read(tmp_path)
    assert again.paths == table.paths
    assert (again.rows == table.rows).all()
    empty = tables.concatenate([])
    empty.write(tmp_path)
    assert len(tables.Table.read(tmp_path)) == 0


def test_the_static_table_pools_as_wordllama_does() -> None:
    """Against the package's own inference, which the product does not import."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer
    from wordllama.inference import WordLlamaInference

    from rarg_tui.relevance.static import package_folder

    folder = package_folder()
    weights = load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    texts = ["The quetzal is a bird.", "x", "漢字 é 🧭"]
    theirs = WordLlamaInference(weights, tokenizer).embed(texts, norm=True)
    np.testing.assert_allclose(StaticTable().embed(texts), theirs, atol=1e-5)


def test_the_vector_of_nothing_is_zero() -> None:
    made = StaticTable().embed(["", "a bird"])
    assert not made[0].any()
    assert np.linalg.norm(made[1]) == pytest.approx(1.0)
