"""The reranker ``cross``, with a tiny cross-encoder of random weights in its own process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import MissingPart, RargError
from rarg_tui.relevance.cross import CrossEncoder
from rarg_tui.relevance.index import Index
from rarg_tui.trace.events import Match

TEXTS = ["the owl hunts mice", "a loom", "", "owl " * 400, "torn \udcff character", "\0\x1b[31m 漢字"]


def make_model(folder: Path, labels: int = 1) -> Path:
    """A BERT of two layers and 16 dimensions that knows letters alone."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    tokenizer = Tokenizer(models.WordPiece({w: at for at, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )
    fast.save_pretrained(folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=1.0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("cross"))


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Iterator[CrossEncoder]:
    opened = CrossEncoder(folder, "cpu")
    yield opened
    opened.close()


def test_scores_are_those_of_sentence_transformers(encoder: CrossEncoder, folder: Path) -> None:
    import sentence_transformers

    scores = encoder.scores("who hunts?", TEXTS)
    plain = sentence_transformers.CrossEncoder(str(folder), device="cpu")
    pairs = [("who hunts?", text.replace("\udcff", "?")) for text in TEXTS]
    np.testing.assert_allclose(scores, plain.predict(pairs), atol=1e-5)
    assert len(set(scores[:3].tolist())) == 3
    assert encoder.scores("who hunts?", TEXTS).tolist() == scores.tolist()


def test_the_process_may_die_and_be_stopped(encoder: CrossEncoder) -> None:
    before = encoder.scores("q", ["owl"])
    process = encoder._server._process
    assert process is not None
    os.killpg(process._child.pid, signal.SIGKILL)
    process._child.wait()
    assert encoder.scores("q", ["owl"]).tolist() == before.tolist()
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        encoder.scores("q", ["owl"], cancel)


def test_the_index_reranks_with_it(folder: Path, birds: Path, tmp_path: Path) -> None:
    index = Index.open(Corpus(birds), tmp_path / "cache", device="cpu", cross_encoder=folder)
    pool = [Match("birds/owl.txt", n, text, position=n) for n, text in enumerate(TEXTS, 1)]
    ranked = index.reranker("cross").rerank("who hunts?", ["owl"], pool)
    index.close()
    found = [(m.parts or {})["cross"] for m in ranked]
    assert found == sorted(found, reverse=True)
    assert sorted(m.position for m in ranked) == [1, 2, 3, 4, 5, 6]


def test_no_model_is_said_at_once(birds: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"set cross_encoder"):
        Index.open(Corpus(birds), tmp_path / "cache").reranker("cross")
    with pytest.raises(MissingPart, match=r"no cross-encoder in .*nowhere"):
        CrossEncoder(tmp_path / "nowhere", None).folder()


@pytest.mark.parametrize("fault", ["no weights", "broken config", "two labels"])
def test_a_broken_model_is_one_sentence(fault: str, tmp_path: Path) -> None:
    if fault == "two labels":
        make_model(tmp_path, labels=2)
    else:
        (tmp_path / "config.json").write_text('{"model_type": "bert"}' if fault == "no weights" else "{")
    opened = CrossEncoder(tmp_path, "cpu")
    with pytest.raises(RargError, match="The cross-encoder failed") as raised:
        opened.scores("q", ["owl"])
    assert "\n" not in str(raised.value)
    opened.close()
