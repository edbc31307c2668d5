"""Vectors from an OpenAI-compatible server: ``POST …/v1/embeddings``."""

from __future__ import annotations

import ipaddress
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.errors import MissingPart, RargError
from rarg_tui.relevance.presets import DenseOptions, Recipe, recipe
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.remote_call import Call, Refused
from rarg_tui.relevance.spans import CHARACTERS_PER_TOKEN, Span, character_spans, token_spans
from rarg_tui.relevance.vectors import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

#: Where the key is looked for; OpenAI's own server takes the usual one as well.
KEY = "EMBEDDINGS_API_KEY"

#: Tokens a window when neither a person nor a preset says.
_LENGTH = 512
#: Tokens are not counted without a tokenizer: a window has so many bytes of UTF-8 for each. English has more
#: than four a token, Chinese three.
_BYTES_PER_TOKEN = 3
_OVERLAP_TOKENS = 16
_TITLE_CHARACTERS = 200
#: A request has at most so many texts, and so many characters unless one text alone has more.
_TEXTS = 32
_CHARACTERS = 200_000


class RemoteEmbedder:
    """One vector a window, the document's title in front of each. With ``dense_model``, that model's
    tokenizer cuts the windows; without, they are cut by characters, and short enough for most models.

    The server's address is no part of the settings: the model is, wherever it is served."""

    name = "dense"
    batch = 16

    def __init__(self, options: DenseOptions, permit: Callable[[], None] = lambda: None) -> None:
        self._options = options
        self._permit = permit
        self._url = (options.embeddings_url or "").rstrip("/").removesuffix("/embeddings")
        self._dimension: int | None = None
        self._most = _TEXTS

    @property
    def destination(self) -> str:
        parts = urlsplit(self._url)
        return "" if _is_here(parts.hostname or "") else parts.netloc

    def settings(self) -> Mapping[str, Any]:
        made = self._recipe
        return {
            "model": self._model,
            "tokenizer": self._options.dense_model or f"{_BYTES_PER_TOKEN} bytes a token",
            "pooling": "the server's own, maximum over windows"
            + ("" if self._options.normalize else ", not normalised"),
            "max_length": made.max_length or _LENGTH,
            "windows_at_most": self._options.windows or "all",
            "overlap_tokens": _OVERLAP_TOKENS,
            "title_in_front": True,
            "prefixes": [made.query_prefix, made.document_prefix],
        }

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        self._permit()
        cut = [self._windows(clean(one.title), clean(one.text)) for one in contents]
        vectors = self._embed([text for texts, _ in cut for text in texts], cancel)
        ends = np.cumsum([len(texts) for texts, _ in cut])
        each = np.split(vectors, ends[:-1])
        return [
            Embedded(rows, seen, len(one.text))
            for rows, (_, seen), one in zip(each, cut, contents, strict=True)
        ]

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._embed([self._recipe.query_prefix + clean(text)], cancel)[0]
        return vector

    def texts(self, texts: Sequence[str], cancel: threading.Event | None = None) -> NDArray[np.float32]:
        """One unit vector for each of ``texts``, with the prefix of documents; what is longer than a window
        is seen up to there. Of a blank text, which servers refuse, a dash is sent."""
        self._permit()
        prefix = self._recipe.document_prefix
        room = self._room(prefix) * _BYTES_PER_TOKEN
        return self._embed([prefix + (clean(text)[:room].strip() or "-") for text in texts], cancel)

    def about(self, cancel: threading.Event | None = None) -> str:
        vectors = self._embed(["dimension"], cancel, tries=1)
        return f"{vectors.shape[1]} numbers a vector, {self._model} at {self._url}"

    def close(self) -> None:
        pass

    @property
    def _model(self) -> str:
        if self._options.embeddings_model is None:
            raise MissingPart(
                f"No model is named for {self._url}; set embeddings_model to one that the server has."
            )
        return self._options.embeddings_model

    @cached_property
    def _recipe(self) -> Recipe:
        return recipe(self._options, self._model)

    @cached_property
    def _tokenizer(self) -> Tokenizer | None:
        if self._options.dense_model is None:
            return None
        from tokenizers import Tokenizer

        from rarg_tui.relevance.models import model_folder

        file = model_folder(self._options.dense_model) / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises bare ones
            raise MissingPart(
                f"The tokenizer in {str(file)!r} cannot be read ({error}); leave dense_model out, and "
                "windows are cut by characters."
            ) from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _room(self, front: str) -> int:
        """Tokens in a window behind ``front``."""
        length = self._recipe.max_length or _LENGTH
        taken = -(-len(front.encode()) // _BYTES_PER_TOKEN)
        return max(_OVERLAP_TOKENS * 2, length - taken - 2)

    def _windows(self, title: str, text: str) -> tuple[list[str], int]:
        """The texts of a document's windows, and how many of its characters they cover."""
        front = f"{self._recipe.document_prefix}{title[:_TITLE_CHARACTERS]}\n"
        most = self._options.windows
        made: list[str] = []
        seen = 0
        for start, seen in islice(self._spans(text, self._room(front), most), most or None):
            made.append(front + text[start:seen])
        if not text[seen:].strip():
            seen = len(text)
        return made or [front.rstrip()], seen

    def _spans(self, text: str, room: int, most: int) -> Iterator[Span]:
        tokenizer = self._tokenizer
        if tokenizer is not None:
            limit = most * room * CHARACTERS_PER_TOKEN if most else len(text)

            def offsets_of(part: str) -> list[Span]:
                return [(a, b) for a, b in tokenizer.encode(part, add_special_tokens=False).offsets if b > a]

            return token_spans(text[:limit], offsets_of, room, _OVERLAP_TOKENS)
        size = len(text.encode()) or 1
        characters = max(1, room * _BYTES_PER_TOKEN * len(text) // size)
        overlap = min(_OVERLAP_TOKENS * _BYTES_PER_TOKEN, characters // 4)
        return character_spans(text, characters, overlap)

    def _embed(
        self, texts: Sequence[str], cancel: threading.Event | None, tries: int | None = None
    ) -> NDArray[np.float32]:
        call = Call(self._url, self._model, _key(self._url), tries)
        made = [self._answered(call, group, cancel) for group in _groups(texts, self._most)]
        vectors = np.concatenate(made)
        if self._options.normalize:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors

    def _answered(self, call: Call, texts: list[str], cancel: threading.Event | None) -> NDArray[np.float32]:
        """The server's vectors. A request that it finds too large is made again in halves."""
        try:
            vectors = self._read(call.answer(texts, cancel), len(texts))
        except Refused as error:
            if len(texts) == 1:
                raise RargError(
                    f"{self._url} refuses a text of {len(texts[0])} characters ({error}); set max_length "
                    f"below {self._recipe.max_length or _LENGTH} tokens if that is too long for the model."
                ) from None
            self._most = min(self._most, len(texts) // 2)
            halves = _groups(texts, -(-len(texts) // 2))
            return np.concatenate([self._answered(call, part, cancel) for part in halves])
        if self._dimension not in (None, vectors.shape[1]):
            raise RargError(
                f"{self._url} gave vectors of {vectors.shape[1]} numbers after vectors of {self._dimension}; "
                f"see that {self._model!r} is one model there."
            )
        self._dimension = vectors.shape[1]
        return vectors

    def _read(self, body: bytes, expected: int) -> NDArray[np.float32]:
        try:
            data = json.loads(body)["data"]
            order = [int(item.get("index", at)) for at, item in enumerate(data)]
            vectors = np.array([item["embedding"] for item in data], np.float32)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise RargError(
                f"{self._url} sent a reply of another form than an OpenAI server's embeddings; check "
                "embeddings_url."
            ) from None
        if sorted(order) != list(range(expected)):
            raise RargError(
                f"{self._url} sent {len(data)} vectors for {expected} texts; run `rarg index` again, or "
                "choose another server."
            )
        if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise RargError(
                f"{self._url} sent vectors that are no rows of finite numbers; see that {self._model!r} is "
                "an embedding model and works there."
            )
        return vectors[np.argsort(order)]


def _groups(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """``texts`` in the portions of one request, of ``most`` at most."""
    group: list[str] = []
    size = 0
    for text in texts:
        if group and (len(group) >= most or size + len(text) > _CHARACTERS):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group


def _key(url: str) -> str:
    """OpenAI's key goes to no other server."""
    own = urlsplit(url).hostname == "api.openai.com"
    return os.environ.get(KEY, "") or (os.environ.get("OPENAI_API_KEY", "") if own else "")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
