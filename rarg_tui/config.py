"""Settings: a TOML file, overruled by ``RARG_*`` in the environment, overruled by flags.

API keys are no settings: they stay in the environment, and a file that holds one is refused.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rarg_tui.errors import RargError
from rarg_tui.paths import config_dir
from rarg_tui.toml_file import TomlFile, nearest

PROFILES = ("bcplus", "bright")
RERANKERS = ("fused", "paper", "generative", "cross", "off")
MATCH_MODELS = ("static", "dense")
SANDBOXES = ("off", "bwrap")
STORES = ("faiss", "milvus")
PRESETS = (
    "minilm",
    "qwen3",
    "e5-instruct",
    "e5",
    "bge-m3",
    "bge-zh",
    "bge",
    "llama-nv-embed",
    "nv-embed",
    "none",
)
POOLINGS = ("mean", "cls", "lasttoken", "max", "weightedmean", "mean_sqrt_len_tokens")
APIS = ("chat", "responses")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
FILE_NAME = "config.toml"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. ``cached`` is for input that the server had in its cache; ``None``: as
    much as other input."""

    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person can set. ``None`` leaves the choice to the part that uses the setting."""

    corpus: Path | None = None  #: directory to search; None: the sample corpus
    cache: Path | None = None  #: where indexes are kept; None: :func:`rarg_tui.paths.cache_dir`
    model: str | None = None  #: None: the offline planner
    base_url: str | None = None  #: an OpenAI-compatible server; None: OpenAI's
    api: str = "chat"  #: one of :data:`APIS`: Chat Completions, or the Responses API
    reasoning_effort: str | None = None  #: one of :data:`EFFORTS`; None: the server's own
    strategy: str = "rarg++"
    profile: str = "bcplus"  #: one of :data:`PROFILES`
    ranker: str = "hybrid"
    rerank: str = "fused"  #: one of :data:`RERANKERS`
    match_model: str = "static"  #: one of :data:`MATCH_MODELS`; what lines are compared with the query by
    cross_encoder: Path | None = None  #: the model directory of the reranker cross
    quota: int | None = None  #: lines of a document before the next round, 0: no quota; None: the profile's
    pool: int = 500  #: matches collected (M)
    show: int | None = None  #: matches shown (m); None: the profile's
    sandbox: str = "off"  #: one of :data:`SANDBOXES`; bwrap: full bash for what the guard does not model
    device: str | None = None  #: cpu, cuda, mps; None: the best there is
    store: str = "faiss"  #: one of :data:`STORES`; faiss: vectors in files of the index
    store_uri: str | Path | None = None  #: for milvus: a server's address, or a file that milvus-lite serves
    dense_model: str | None = (
        None  #: directory or cached name of the dense ranker's model; None: the packaged
    )
    dense_preset: str | None = None  #: one of :data:`PRESETS`; None: what the model or its name says
    query_prefix: str | None = None  #: in front of each query; None: the model's or the preset's
    document_prefix: str | None = None
    pooling: str | None = None  #: one of :data:`POOLINGS`; None: the model's own
    max_length: int | None = None  #: tokens of a window; None: the model's or the preset's
    windows: int = 8  #: windows of a document at most; 0: as many as it takes
    normalize: bool = True  #: dense vectors of length 1; False: as the model gives them
    embeddings_url: str | None = None  #: an OpenAI-compatible server in place of a dense model here
    embeddings_model: str | None = None  #: the model that it is asked for
    released_index: Path | None = None  #: directory with index.faiss, paths.json, meta.json to serve from
    theme: str | None = None
    ascii: bool = False  #: draw with ASCII characters alone
    keys: Mapping[str, str] = field(default_factory=dict)  #: action -> its keys, separated by commas
    prices: Mapping[str, Price] = field(default_factory=dict)  #: model -> price


def load(config_path: Path | None, flags: Mapping[str, object]) -> tuple[Settings, dict[str, str]]:
    """The settings in force, and where each came from: ``default``, ``FILE, line N``,
    ``environment NAME`` or ``flag``.

    ``config_path`` must exist if given; ``None`` takes the user's own file if there is one. ``flags`` may be
    all that was parsed from a command line: ``None`` means not given, and names that are no settings are
    left alone. Relative paths in the file start at its directory. Raises :class:`RargError` with the place,
    the key and what would fit.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys(_KINDS, "default")

    file = _settings_file(config_path)
    for name, value in file.values.items():
        try:
            read = _KINDS[name].read(value)
        except KeyError:
            raise RargError(f"{file.where(name)}: {name!r} {_unknown(name, _KINDS)}") from None
        except _Unfit as unfit:
            raise RargError(f"{file.where(name, *unfit.below)}: {unfit.about(name)}") from None
        values[name] = file.path.parent / read if isinstance(read, Path) else read
        origins[name] = file.where(name)

    for name, kind in _KINDS.items():
        variable = f"RARG_{name.upper()}"
        given = os.environ.get(variable, "")
        text = given if kind.read is _prefix else given.strip()
        if given.strip() and kind.from_text:
            try:
                values[name] = kind.read(kind.from_text(text))
            except _Unfit as unfit:
                raise RargError(f"Environment variable {variable}: {unfit.about(name)}") from None
            origins[name] = f"environment {variable}"

    for name, value in flags.items():
        if name in _KINDS and value is not None:
            try:
                values[name] = _KINDS[name].read(value)
            except _Unfit as unfit:
                raise RargError(unfit.about(f"--{name.replace('_', '-')}")) from None
            origins[name] = "flag"
    return Settings(**values), origins


def _settings_file(given: Path | None) -> TomlFile:
    path = given or config_dir() / FILE_NAME
    try:
        if given or _is_there(path):
            return TomlFile.read(path)
    except OSError as error:
        raise RargError(f"The settings file {path} cannot be read: {error.strerror or error}.") from None
    return TomlFile(path, {}, {})


def _is_there(path: Path) -> bool:
    """Not so either below a home directory that is a file, or that is closed to us."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    return True


class _Unfit(Exception):
    """A value that does not fit. ``fault`` follows the name of the setting, ``below`` leads from there to
    the value within a table."""

    def __init__(self, fault: str, *below: str) -> None:
        super().__init__(fault)
        self.fault = fault
        self.below = below

    def about(self, name: str) -> str:
        key = ".".join((name, *(part if part.isidentifier() else repr(part) for part in self.below)))
        return f"{key} {self.fault}"


_SECRET = re.compile(r"api.?key|secret|password|token", re.IGNORECASE)


def _must_be(expected: str, value: object, *below: str) -> _Unfit:
    if isinstance(value, str):
        got = repr(value if len(value) <= 60 else value[:60] + "…")
    else:
        got = "a table" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else str(value)
    return _Unfit(f"must be {expected}, not {got}.", *below)


def _unknown(name: str, known: Iterable[str]) -> str:
    if _SECRET.search(name):
        return "does not belong in a file: put API keys in the environment, as OPENAI_API_KEY."
    return f"is no setting; {nearest(name, known)}"


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise _must_be("a text", value)


def _prefix(value: object) -> str:
    """May be empty, and its blanks at the end count."""
    if isinstance(value, str):
        return value
    raise _must_be("a text", value)


def _one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise _must_be("one of " + ", ".join(choices), value)

    return read


def _directory(value: object) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise _must_be("the path of a directory", value)
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise _must_be("a path without ~ (there is no such home directory)", value) from None


def _address(expected: str, secret: str) -> Callable[[object], str]:
    """Without credentials: settings are shown and logged. ``secret`` says where these belong."""

    def read(value: object) -> str:
        try:
            parts = urlsplit(value) if isinstance(value, str) else None
        except ValueError:
            parts = None
        if parts and ("@" in parts.netloc or _SECRET.search(parts.query)):
            raise _Unfit(f"must not hold a user name, password or key; put the {secret}.")
        if isinstance(value, str) and parts and parts.scheme in ("http", "https") and parts.netloc:
            return value
        raise _must_be(expected, value)

    return read


_model_server = _address(
    "an address such as http://localhost:8000/v1", "API key in the environment, as OPENAI_API_KEY"
)
_milvus_server = _address(
    "a file such as vectors.db, or an address such as http://localhost:19530", "token in MILVUS_TOKEN"
)


def _place_of_vectors(value: object) -> str | Path:
    if isinstance(value, Path):
        return value
    if isinstance(value, str) and "://" not in value and value.endswith(".db"):
        return _directory(value)
    return _milvus_server(value)


def _whole(low: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= low:
            return value
        raise _must_be(f"a whole number, {low} or more", value)

    return read


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _must_be("true or false", value)


def _keys(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise _must_be('a table such as { step = "s,f8" }', value)
    for action, keys in value.items():
        if not isinstance(keys, str):
            raise _must_be('keys in quotes, such as "s,f8"', keys, action)
    return dict(value)


def _prices(value: object) -> dict[str, Price]:
    if not isinstance(value, Mapping):
        raise _must_be("a table of models", value)
    return {model: _price(model, price) for model, price in value.items()}


def _price(model: str, value: object) -> Price:
    sides = ("input", "output", "cached")
    if not isinstance(value, Mapping):
        raise _must_be("a table such as { input = 0.25, output = 2.0 }", value, model)
    for side, amount in value.items():
        if side not in sides:
            raise _Unfit(_unknown(side, sides), model, side)
        is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
        if not is_number or not math.isfinite(amount) or amount < 0:
            raise _must_be("US dollars per million tokens, 0 or more", amount, model, side)
    for side in sides[:2]:
        if side not in value:
            raise _Unfit(f"must give {side} too, in US dollars per million tokens.", model)
    return Price(**{side: float(amount) for side, amount in value.items()})


def _number_in(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text


def _switch_in(text: str) -> object:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    return words.get(text.lower(), text)


@dataclass(frozen=True, slots=True)
class _Kind:
    """``read`` checks a value; ``from_text`` makes one of a variable's text, ``None``: no variable."""

    read: Callable[[object], object]
    from_text: Callable[[str], object] | None = str


_KINDS = {
    "corpus": _Kind(_directory),
    "cache": _Kind(_directory),
    "model": _Kind(_text),
    "base_url": _Kind(_model_server),
    "api": _Kind(_one_of(APIS)),
    "reasoning_effort": _Kind(_one_of(EFFORTS)),
    "strategy": _Kind(_text),
    "profile": _Kind(_one_of(PROFILES)),
    "ranker": _Kind(_text),
    "rerank": _Kind(_one_of(RERANKERS)),
    "match_model": _Kind(_one_of(MATCH_MODELS)),
    "cross_encoder": _Kind(_directory),
    "quota": _Kind(_whole(0), _number_in),
    "pool": _Kind(_whole(1), _number_in),
    "show": _Kind(_whole(1), _number_in),
    "sandbox": _Kind(_one_of(SANDBOXES)),
    "device": _Kind(_text),
    "store": _Kind(_one_of(STORES)),
    "store_uri": _Kind(_place_of_vectors),
    "dense_model": _Kind(_text),
    "dense_preset": _Kind(_one_of(PRESETS)),
    "query_prefix": _Kind(_prefix),
    "document_prefix": _Kind(_prefix),
    "pooling": _Kind(_one_of(POOLINGS)),
    "max_length": _Kind(_whole(16), _number_in),
    "windows": _Kind(_whole(0), _number_in),
    "normalize": _Kind(_switch, _switch_in),
    "embeddings_url": _Kind(_model_server),
    "embeddings_model": _Kind(_text),
    "released_index": _Kind(_directory),
    "theme": _Kind(_text),
    "ascii": _Kind(_switch, _switch_in),
    "keys": _Kind(_keys, None),
    "prices": _Kind(_prices, None),
}
