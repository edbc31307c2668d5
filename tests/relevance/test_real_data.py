"""The promises about ranking, on public collections."""

from __future__ import annotations

import json
import re
from pathlib import Path

import ir_measures
import pytest
from ir_measures import R, nDCG

from rarg_tui.corpus.files import Corpus
from rarg_tui.relevance.index import Index


@pytest.fixture(scope="module")
def figures(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """nDCG@10 and R@1000 on 2wiki by ranker."""
    root = tmp_path_factory.mktemp("2wiki")
    files: dict[str, str] = {}
    for number, line in enumerate((real_data / "2wiki/corpus.jsonl").read_text("utf-8").splitlines()):
        record = json.loads(line)
        name = re.sub(r"[/\0\n]", "_", record["_id"]).lstrip(".")[:80]
        path = f"{name}.txt" if f"{name}.txt" not in files.values() else f"{name}_{number}.txt"
        (root / path).write_text(record["text"], "utf-8")
        files[record["_id"]] = path
    qrels: dict[str, dict[str, int]] = {}
    for line in (real_data / "2wiki/qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, relevance = line.split("\t")
        qrels.setdefault(query, {})[files[document]] = int(relevance)
    index = Index.open(Corpus(root), tmp_path_factory.mktemp("cache"))
    found: dict[str, dict[str, float]] = {}
    for ranker in ("lexical", "static", "lexical+static"):
        run: dict[str, dict[str, float]] = {}
        for line in (real_data / "2wiki/queries.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            paths = index.recall(record["text"], top=1000, ranker=ranker).paths
            run[record["_id"]] = {path: -float(rank) for rank, path in enumerate(paths)}
        measured = ir_measures.calc_aggregate([nDCG @ 10, R @ 1000], qrels, run)
        found[ranker] = {str(measure): value for measure, value in measured.items()}
    index.close()
    return found


@pytest.mark.parametrize("measure", ["nDCG@10", "R@1000"])
def test_the_fusion_is_not_below_the_lexical_ranker(
    figures: dict[str, dict[str, float]], measure: str
) -> None:
    assert figures["lexical+static"][measure] >= figures["lexical"][measure]


def test_every_ranker_is_as_good_as_it_was(figures: dict[str, dict[str, float]]) -> None:
    assert figures["lexical"]["nDCG@10"] > 0.70
    assert figures["static"]["nDCG@10"] > 0.68
    assert figures["lexical+static"]["nDCG@10"] > 0.72
    assert figures["lexical+static"]["R@1000"] > 0.90
