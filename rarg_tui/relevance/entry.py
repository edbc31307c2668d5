"""Entry points: the paragraphs of the best documents where reading should begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rarg_tui.corpus.decoding import clean, plain_text, read_text, title
from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.paragraphs import Paragraph, paragraphs
from rarg_tui.errors import RargError
from rarg_tui.trace.events import EntryPoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: So many bytes of a document, and so many paragraphs in all, are looked at.
READ = 400_000
MOST = 2_000

_TITLE_SHARE = 0.2


def entry_points(
    corpus: Corpus,
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    query: str,
    paths: Sequence[str],
    top: int,
) -> list[EntryPoint]:
    """The ``top`` paragraphs of the documents ``paths`` most similar to ``query``, best first.

    A paragraph's vector has a share of its document's title. Long documents are looked at evenly: when
    there are more than :data:`MOST` paragraphs, each document gives at most its equal part, from the
    front. Unreadable documents are left out.
    """
    cut: list[tuple[str, str, list[Paragraph]]] = []
    for path in paths:
        try:
            text = clean(read_text(corpus, path, READ))
        except RargError:
            continue
        cut.append((path, title(path, text), paragraphs(plain_text(path, text))))
    share = max(1, MOST // max(1, len(cut)))
    found = [(at, paragraph) for at, (_, _, all_of) in enumerate(cut) for paragraph in all_of[:share]]
    if not found or top <= 0:
        return []
    heads = embed([query, *(name for _, name, _ in cut)])
    owners = np.array([at for at, _ in found])
    body = embed([paragraph.text for _, paragraph in found])
    mixed = _TITLE_SHARE * heads[1:][owners] + (1 - _TITLE_SHARE) * body
    lengths = np.maximum(np.linalg.norm(mixed, axis=1), 1e-9)
    scores = np.round(((mixed @ heads[0]) / lengths).astype(np.float64), 6)
    best = np.lexsort((np.arange(len(found)), -scores))[:top]
    return [
        EntryPoint(cut[at][0], paragraph.first_line, paragraph.last_line, paragraph.text, float(scores[row]))
        for row in best.tolist()
        for at, paragraph in (found[row],)
    ]
