"""The model process: ``python -m rarg_tui.relevance.dense_process MODEL [DEVICE]``.

Reads requests (see :mod:`rarg_tui.relevance.frames`) from stdin and writes one answer each to stdout:
``{"op": "query", "text"}`` gives one vector, ``{"op": "texts", "texts"}`` one for each of them, ``{"op":
"documents", "items": [[title, text]…], "windows", "overlap"}`` the vectors of all windows of all documents,
``counts`` a document, and the characters ``seen`` and in ``total``. Payloads are float32 rows. The first
message, unasked, is what the model is.
Ends with its parent, whose end closes stdin.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rarg_tui.relevance.serving import Answer, serve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

#: A window holds at most so many tokens of the title.
_TITLE_TOKENS = 48
#: No token of any tokenizer at hand is longer than this on average over a window; text beyond it is
#: not tokenized at all.
_CHARACTERS_PER_TOKEN = 16
_BATCH = 32


class Model:
    """A sentence-transformers model with the cutting of documents into windows."""

    def __init__(self, path: str, device: str | None) -> None:
        from sentence_transformers import SentenceTransformer

        self._model: SentenceTransformer = SentenceTransformer(path, device=device, local_files_only=True)
        self._tokenizer: Any = self._model.tokenizer
        self.max_length = int(self._model.max_seq_length or 512)
        self._special = len(self._tokenizer("")["input_ids"])

    def about(self) -> dict[str, Any]:
        import sentence_transformers

        return {
            "dimension": len(self.embed(["dimension"], "")[0]),
            "max_length": self.max_length,
            "device": str(self._model.device),
            "version": sentence_transformers.__version__,
        }

    def embed(self, texts: list[str], prefix: str) -> NDArray[np.float32]:
        """Unit vectors, shape ``(len(texts), dimension)``."""
        import numpy as np

        vectors = self._model.encode(
            [prefix + text for text in texts],
            batch_size=_BATCH,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return np.asarray(vectors, np.float32)

    def windows(self, title: str, text: str, most: int, overlap: int, prefix: str) -> tuple[list[str], int]:
        """Texts of at most the model's length, the title in front of each, and how many characters of
        ``text`` they cover."""
        head = self._cut(title, _TITLE_TOKENS)
        used = len(self._tokenizer(f"{prefix}{head}\n")["input_ids"])
        room = max(16, self.max_length - used - 1)
        part = text[: most * room * _CHARACTERS_PER_TOKEN]
        offsets = self._offsets(part)
        if not offsets:
            return [head], len(part) if not part.strip() else 0
        made: list[str] = []
        seen = first = 0
        while len(made) < most:
            last = min(first + room, len(offsets))
            start, seen = offsets[first][0], offsets[last - 1][1]
            made.append(f"{head}\n{part[start:seen]}")
            if last == len(offsets):
                rest = part[seen:]
                return made, len(part) if not rest.strip() else seen
            first = last - overlap
        return made, seen

    def _cut(self, text: str, tokens: int) -> str:
        offsets = self._offsets(text)
        return text if len(offsets) <= tokens else text[: offsets[tokens - 1][1]]

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        encoded = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        return [(int(a), int(b)) for a, b in encoded["offset_mapping"] if b > a]


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
    model = Model(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    return model.about(), lambda request: answer(model, request)


if __name__ == "__main__":
    sys.exit(serve(load))
