"""Static vectors and the table of documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarg_tui.relevance import static
from rarg_tui.relevance import table as tables
from rarg_tui.relevance.static import StaticTable, windows


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
    assert not len(tables.Table.read(tmp_path).paths)


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


@pytest.fixture(scope="module")
def table() -> StaticTable:
    return StaticTable()


@settings(deadline=None)
@given(
    texts=st.lists(
        st.text(alphabet="ab \n\u2581\u00e9\u6f22\U0001f9ed<s>/", max_size=60), min_size=1, max_size=4
    )
)
def test_words_are_pooled_as_their_tokens(table: StaticTable, texts: list[str]) -> None:
    """Whatever was remembered before; words that look like special tokens are words."""
    tokenizer, weights = table._load()
    for text, found in zip(texts, table.means(texts), strict=True):
        words = text.replace("\u2581", " ").split()
        ids = [at for word in words for at in tokenizer.encode(word, add_special_tokens=False).ids]
        wanted = weights[ids].mean(axis=0) if ids else np.zeros(weights.shape[1])
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_text_has_one_vector_whatever_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "_REMEMBERED", 8)
    small, texts = StaticTable(), [f"the word{n} stands by word{n + 1} and {'x' * n}" for n in range(40)]
    alone = np.concatenate([StaticTable().embed([text]) for text in texts[:4]])
    assert small.embed(texts)[:4].tobytes() == alone.tobytes()
    assert np.concatenate([small.embed([text]) for text in texts])[:4].tobytes() == alone.tobytes()


def test_the_vector_of_nothing_is_zero() -> None:
    made = StaticTable().embed(["", "a bird"])
    assert not made[0].any()
    assert np.linalg.norm(made[1]) == pytest.approx(1.0)
