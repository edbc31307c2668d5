"""The standard measures of a ranking, by ir-measures (which computes them as trec_eval does)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: As rarg names them → as ir-measures does.
NAMES = {"recall@10": "R@10", "recall@100": "R@100", "recall@1000": "R@1000", "ndcg@10": "nDCG@10"}


def measured(
    gold: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """The means over all questions in ``gold`` (question → document → relevance) of ``rankings``
    (question → documents, best first); a question without a ranking counts as 0."""
    import ir_measures

    wanted = {name: ir_measures.parse_measure(text) for name, text in NAMES.items()}
    # trec_eval ranks by score, so the place in the list is given as one.
    run = {
        question: {path: float(-at) for at, path in enumerate(paths)} for question, paths in rankings.items()
    }
    found = ir_measures.calc_aggregate(list(wanted.values()), dict(gold), run)
    return {name: round(float(found[measure]), 4) for name, measure in wanted.items()}
