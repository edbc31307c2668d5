"""The cross-encoder's process: ``python -m rarg_tui.relevance.cross_process MODEL OPTIONS``; OPTIONS
is a JSON object with ``device`` (null: the best there is).

``{"query", "texts"}`` is answered with one float64 for each text: how relevant it is to the query.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rarg_tui.relevance.serving import Answer, serve

_BATCH = 32


def load() -> tuple[dict[str, Any], Answer]:
    import numpy as np
    import sentence_transformers
    from sentence_transformers import CrossEncoder

    how = json.loads(sys.argv[2])
    model = CrossEncoder(sys.argv[1], device=how["device"], local_files_only=True)
    if model.num_labels != 1:
        raise ValueError(f"it gives {model.num_labels} scores a pair, not one")

    def answer(request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        pairs = [(request["query"], text) for text in request["texts"]]
        scores = model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        return {}, np.asarray(scores, np.float64).tobytes()

    return {"device": str(model.device), "version": sentence_transformers.__version__}, answer


if __name__ == "__main__":
    sys.exit(serve(load))
