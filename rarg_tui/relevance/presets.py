"""What the usual embedding models expect in front of a query and of a document, and how they are pooled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rarg_tui.errors import RargError

#: Windows of a document at most, unless the setting says otherwise.
MOST_WINDOWS = 8

_WEB = "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"


@dataclass(frozen=True, slots=True)
class DenseOptions:
    """What a person can set about the dense ranker; ``None`` leaves the choice to the model or its preset.
    The names are those of the settings."""

    device: str | None = None  #: cpu, cuda, mps; None: the best there is
    dense_model: str | None = None  #: a directory, or a name in the local cache; None: the packaged model
    dense_preset: str | None = None  #: one of :data:`PRESETS`
    query_prefix: str | None = None
    document_prefix: str | None = None
    pooling: str | None = None  #: one of :data:`rarg_tui.config.POOLINGS`
    max_length: int | None = None  #: tokens a window
    windows: int = MOST_WINDOWS  #: windows a document at most; 0: as many as it takes
    normalize: bool = True  #: vectors of length 1
    embeddings_url: str | None = None  #: an OpenAI-compatible server in place of a model here
    embeddings_model: str | None = None  #: its model
    released_index: Path | None = None  #: a directory with index.faiss, paths.json and meta.json


@dataclass(frozen=True, slots=True)
class Preset:
    """``names`` matches the names of the models it is for. ``pooling`` and ``max_length`` (tokens) are
    ``None`` where the model's own directory is to say."""

    names: str
    query: str = ""
    document: str = ""
    pooling: str | None = None
    max_length: int | None = None


#: The first whose ``names`` is found in a model's name serves it. Sources: the model cards of
#: sentence-transformers/all-MiniLM-L6-v2, Qwen/Qwen3-Embedding-0.6B, intfloat/e5-base-v2 and
#: intfloat/multilingual-e5-large-instruct, BAAI/bge-base-en-v1.5, BAAI/bge-base-zh-v1.5 and BAAI/bge-m3,
#: nvidia/NV-Embed-v2; for llama-nv-embed, and for the 512 tokens of Qwen3, the released code of the paper
#: (scripts/embedding_backends.py, scripts/build_embedding_index.py).
PRESETS: Mapping[str, Preset] = {
    "minilm": Preset("minilm", pooling="mean"),
    "qwen3": Preset("qwen3-embedding", query=_WEB + "Query:", pooling="lasttoken", max_length=512),
    "e5-instruct": Preset(r"\be5-.*instruct", query=_WEB + "Query: "),
    "e5": Preset(r"\be5-", query="query: ", document="passage: ", pooling="mean", max_length=512),
    "bge-m3": Preset("bge-m3", pooling="cls"),
    "bge-zh": Preset(
        "bge-(small|base|large)-zh", query="为这个句子生成表示以用于检索相关文章：", pooling="cls"
    ),
    "bge": Preset(
        "bge-(small|base|large)",
        query="Represent this sentence for searching relevant passages: ",
        pooling="cls",
        max_length=512,
    ),
    "llama-nv-embed": Preset(
        "llama-nv-embed", query="query: ", document="passage: ", pooling="mean", max_length=8192
    ),
    "nv-embed": Preset(
        "nv-embed",
        query="Instruct: Given a question, retrieve passages that answer the question\nQuery: ",
    ),
    "none": Preset("$^"),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How texts become vectors; ``None`` leaves it to the model."""

    query_prefix: str
    document_prefix: str
    pooling: str | None
    max_length: int | None


def preset_of(model: str) -> Preset | None:
    """The preset for a model of this name, if it is one of the usual ones."""
    name = model.lower().replace("_", "-")
    return next((preset for preset in PRESETS.values() if re.search(preset.names, name)), None)


def recipe(options: DenseOptions, model: str, own: Mapping[str, str] | None = None) -> Recipe:
    """What holds for ``model``: a person's own word, then the preset that they named, then what the model
    says of itself (``own``: its prompts, by the keys of sentence-transformers; ``None``: nothing), then the
    preset that its name stands for."""
    named = _named(options.dense_preset) if options.dense_preset is not None else None
    preset = named or preset_of(model) or Preset("")
    query, document = preset.query, preset.document
    if named is None and own:
        query = own.get("query", "")
        document = next((own[key] for key in ("document", "passage", "corpus") if key in own), "")
    return Recipe(
        query if options.query_prefix is None else options.query_prefix,
        document if options.document_prefix is None else options.document_prefix,
        options.pooling or preset.pooling,
        options.max_length or preset.max_length,
    )


def _named(name: str) -> Preset:
    try:
        return PRESETS[name]
    except KeyError:
        raise RargError(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.") from None
