"""The model process: ``python -m rarg_tui.relevance.dense_process MODEL OPTIONS``.

OPTIONS is a JSON object: ``device``, ``pooling`` and ``max_length`` (null: the best there is, the model's
own) and ``normalize``.

Reads requests (see :mod:`rarg_tui.relevance.frames`) from stdin and writes one answer each to stdout:
``{"op": "query", "text"}`` gives one vector, ``{"op": "texts", "texts"}`` one for each of them, ``{"op":
"documents", "items": [[title, text]…], "windows", "overlap"}`` the vectors of all windows of all documents,
``counts`` a document, and the characters ``seen`` and in ``total``. Payloads are float32 rows. The first
message, unasked, is what the model is. With ``windows`` 0 a document has as many as it takes; ``prefix`` is
put in front of each text. A batch that does not fit into memory is tried again in halves.
Ends with its parent, whose end closes stdin.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from rarg_tui.relevance.serving import Answer, serve
from rarg_tui.relevance.spans import CHARACTERS_PER_TOKEN, token_spans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

#: A window holds at most so many tokens of the title.
_TITLE_TOKENS = 48
_BATCH = 32


class Model:
    """A sentence-transformers model with the cutting of documents into windows."""

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        from sentence_transformers import SentenceTransformer

        self._model: SentenceTransformer = SentenceTransformer(
            path, device=options.get("device"), local_files_only=True
        )
        if options.get("pooling"):
            self._pool(options["pooling"])
        if options.get("max_length"):
            self._shorten(options["max_length"])
        self._normalize = bool(options.get("normalize", True))
        self._tokenizer: Any = self._model.tokenizer
        self.max_length = int(self._model.max_seq_length or 512)
        self._batch = _BATCH

    def about(self) -> dict[str, Any]:
        import sentence_transformers

        return {
            "dimension": len(self.embed(["dimension"], "")[0]),
            "max_length": self.max_length,
            "device": str(self._model.device),
            "version": sentence_transformers.__version__,
        }

    def embed(self, texts: list[str], prefix: str) -> NDArray[np.float32]:
        """The vectors, shape ``(len(texts), dimension)``. Where memory does not suffice, with half as many at
        a time, then and from now on."""
        while True:
            try:
                return self._encode(texts, prefix)
            except (MemoryError, RuntimeError) as error:
                if self._batch == 1 or not _out_of_memory(error):
                    raise
            self._batch //= 2
            _free()

    def _encode(self, texts: list[str], prefix: str) -> NDArray[np.float32]:
        import numpy as np

        vectors = self._model.encode(
            texts,
            prompt=prefix,
            batch_size=self._batch,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=self._normalize,
        )
        made = np.asarray(vectors, np.float32)
        if not np.isfinite(made).all():
            raise ValueError("the model gave vectors that are no numbers; another device may do better")
        return made

    def windows(self, title: str, text: str, most: int, overlap: int, prefix: str) -> tuple[list[str], int]:
        """Texts of at most the model's length with ``prefix``, the title in front of each, and how many
        characters of ``text`` they cover; ``most`` 0: all."""
        head = self._cut(title, _TITLE_TOKENS)
        used = len(self._tokenizer(f"{prefix}{head}\n")["input_ids"])
        room = max(16, self.max_length - used - 1)
        limit = most * room * CHARACTERS_PER_TOKEN if most else len(text)
        made: list[str] = []
        seen = 0
        spans = token_spans(text[:limit], self._offsets, room, min(overlap, room // 2))
        for start, seen in islice(spans, most or None):
            made.append(f"{head}\n{text[start:seen]}")
        if not text[seen:].strip():
            seen = len(text)
        return made or [head], seen

    def _cut(self, text: str, tokens: int) -> str:
        offsets = self._offsets(text)
        return text if len(offsets) <= tokens else text[: offsets[tokens - 1][1]]

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        encoded = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        return [(int(a), int(b)) for a, b in encoded["offset_mapping"] if b > a]

    def _pool(self, mode: str) -> None:
        from sentence_transformers.sentence_transformer.modules import Pooling

        for name, module in self._model.named_children():
            if isinstance(module, Pooling):
                pooling = Pooling(module.embedding_dimension, mode, include_prompt=module.include_prompt)
                setattr(self._model, name, pooling)
                return
        raise ValueError("this model has no pooling to set")

    def _shorten(self, length: int) -> None:
        config = getattr(self._model[0], "config", None)
        most = getattr(config, "max_position_embeddings", None)
        if isinstance(most, int) and length > most:
            raise ValueError(f"max_length {length} is more than the {most} tokens that this model can read")
        self._model.max_seq_length = length


def _out_of_memory(error: BaseException) -> bool:
    """Torch says so in an error of its own for a GPU, and in words for a CPU or an Apple chip."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "out of memory" in str(error) or "t allocate memory" in str(error)


def _free() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def answer(model: Model, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The answer to one request."""
    prefix = str(request.get("prefix", ""))
    if request["op"] == "query":
        return {}, model.embed([request["text"]], prefix).tobytes()
    if request["op"] == "texts":
        return {}, model.embed(request["texts"], prefix).tobytes()
    texts: list[str] = []
    counts: list[int] = []
    seen: list[int] = []
    for title, text in request["items"]:
        made, covered = model.windows(title, text, request["windows"], request["overlap"], prefix)
        texts += made
        counts.append(len(made))
        seen.append(covered)
    return {"counts": counts, "seen": seen}, model.embed(texts, prefix).tobytes()


def load() -> tuple[dict[str, Any], Answer]:
    model = Model(sys.argv[1], json.loads(sys.argv[2]))
    return model.about(), lambda request: answer(model, request)


if __name__ == "__main__":
    sys.exit(serve(load))
