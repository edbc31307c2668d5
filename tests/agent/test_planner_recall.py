"""What the offline planner finds, by the whole way: session, tools, ripgrep, rankers."""

from __future__ import annotations

from pathlib import Path

from rarg_tui.agent.hosted import OFFLINE
from rarg_tui.config import Settings
from rarg_tui.evaluation import batch
from rarg_tui.evaluation.prepare import prepare
from rarg_tui.paths import resource_dir
from rarg_tui.workbench import Workbench


def measured(dataset: Path, strategy: str = "rarg++") -> batch.Summary:
    bench = Workbench(Settings(corpus=dataset, ranker="lexical+static", strategy=strategy))
    try:
        bench.prepare()
        outcomes = []
        for question in bench.questions():
            session = bench.start(question.text, model=OFFLINE)
            session.run()
            scope = bench.scope(session.directory, 1)
            outcomes.append(batch.outcome(question, session.state, scope.paths))
            session.close()
        return batch.summary(outcomes)
    finally:
        bench.close()


def test_on_the_sample_corpus_it_cites_all_gold_documents_of_most_questions() -> None:
    total = measured(resource_dir("sample_corpus"))
    assert total.all_cited >= 0.70
    assert total.all_cited >= total.all_plain + 0.25
    assert total.cited >= total.plain + 0.25


def test_on_2wiki_it_finds_far_more_than_the_plain_top_ten(real_data: Path, tmp_path: Path) -> None:
    prepare(real_data / "2wiki", tmp_path / "2wiki")
    total = measured(tmp_path / "2wiki")
    assert total.questions == 101
    assert 0.66 <= total.plain <= 0.72
    assert total.cited >= 0.82
