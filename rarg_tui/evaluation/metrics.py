"""The standard measures of a ranking, by ir-measures (which computes them as trec_eval does)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

#: As rarg names them → as ir-measures does.
NAMES = {"recall@10": "R@10", "recall@100": "R@100", "recall@1000": "R@1000", "ndcg@10": "nDCG@10"}


def by_question(
    gold: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """For each question in ``gold`` (question → document → relevance) the measures of its ranking
    (question → documents, best first).

    A document counts as relevant from 1 up; nDCG's gain is the relevance itself. A question without a
    ranking, or without a relevant document, has 0, as with ``trec_eval -c``.
    """
    import ir_measures

    wanted = {ir_measures.parse_measure(text): name for name, text in NAMES.items()}
    found = {question: dict.fromkeys(NAMES, 0.0) for question in gold}
    # Numbers in place of ids and paths, which may be no UTF-8.
    questions = {str(number): question for number, question in enumerate(gold)}
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, question in questions.items():
        documents: dict[str, str] = {}
        for path in (*gold[question], *rankings.get(question, ())):
            documents.setdefault(path, str(len(documents)))
        qrels[number] = {documents[path]: relevance for path, relevance in gold[question].items()}
        # trec_eval ranks by score, so the place in the list is given as one.
        run[number] = {documents[path]: float(-at) for at, path in enumerate(rankings.get(question, ()))}
    for metric in ir_measures.iter_calc(list(wanted), qrels, {n: one for n, one in run.items() if one}):
        found[questions[metric.query_id]][wanted[metric.measure]] = float(metric.value)
    return found


def means(measures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over the questions, at least one, to 4 places."""
    return {name: round(statistics.fmean(one[name] for one in measures), 4) for name in NAMES}
