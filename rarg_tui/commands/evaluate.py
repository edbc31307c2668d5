"""``rarg eval``: measure on a data set."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rarg_tui.agent.hosted import OFFLINE
from rarg_tui.agent.profiles import unknown
from rarg_tui.cli import common, place
from rarg_tui.commands import shared
from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.evaluation import batch, datasets
from rarg_tui.evaluation.diagnose import Diagnosis, Row
from rarg_tui.workbench import Workbench

_DATASET = "a directory that `rarg eval prepare` made (default: the sample corpus)"


def evaluate(words: Sequence[str]) -> int:
    if not words or words[0] not in _COMMANDS:
        if words and words[0] in ("-h", "--help"):
            print("usage: rarg eval (prepare DATASET DIR | run DATASET | diagnose DATASET) [OPTIONS]")
            return 0
        hint = (
            unknown("measurement", words[0], _COMMANDS) if words else "Say which: prepare, run or diagnose."
        )
        raise RargError(f"rarg eval: {hint}")
    return _COMMANDS[words[0]](list(words[1:]))


def _prepare(words: Sequence[str]) -> int:
    parser = common("eval", usage="rarg eval prepare DATASET DIR")
    parser.add_argument("dataset", type=place, metavar="DATASET", help="a BEIR folder")
    parser.add_argument("target", type=place, metavar="DIR", help="a directory that does not exist yet")
    args = parser.parse_args(words)
    count = datasets.prepare(args.dataset, args.target)
    shared.say(args, f"{count} documents written to {args.target / datasets.DOCUMENTS}.")
    if args.json:
        shared.out_json({"dataset": str(args.target), "documents": count})
    return 0


def _run(words: Sequence[str]) -> int:
    """Every question of a data set, by one strategy, against the plain ranking of the same scopes."""
    parser = common("eval", usage="rarg eval run DATASET [OPTIONS]")
    parser.add_argument("dataset", nargs="?", type=place, metavar="DATASET", help=_DATASET)
    parser.add_argument("--most", type=int, default=10, metavar="N", help="citations counted a question (10)")
    shared.model_options(parser)
    shared.relevance_options(parser)
    args = parser.parse_args(words)
    args.corpus = args.dataset or args.corpus
    outcomes = _outcomes(args)
    total = batch.summary(outcomes)
    if args.json:
        shared.out_json(
            {
                "dataset": str(args.corpus or "sample_corpus"),
                **dataclasses.asdict(total),
                "rows": [dataclasses.asdict(outcome) for outcome in outcomes],
            }
        )
    else:
        settings = shared.settings(args)
        who = f"{settings.strategy} · {args.model} · {settings.ranker}"
        shared.out(f"{total.questions} questions · {who} · {total.calls:.1f} calls a question")
        plain = f"plain top {args.most}"
        shared.out(f"gold recall of {args.most} citations  {total.cited:.3f}   {plain}  {total.plain:.3f}")
        shared.out(f"all gold documents cited   {total.all_cited:.3f}   {plain}  {total.all_plain:.3f}")
    return 0


def _diagnose(words: Sequence[str]) -> int:
    """Where relevance puts the gold documents and lines of a data set, without any model."""
    parser = common("eval", usage="rarg eval diagnose DATASET [--ranker R] [--pool M] [--show m]")
    parser.add_argument("dataset", nargs="?", type=place, metavar="DATASET", help=_DATASET)
    parser.add_argument("--ranker", action="append", metavar="R", help="may be given several times (hybrid)")
    parser.add_argument("--pool", type=int, metavar="M", help="matches collected (500)")
    parser.add_argument("--show", type=int, metavar="m", help="matches shown (30)")
    parser.add_argument("--device", metavar="D", help="cpu, cuda or mps")
    args = parser.parse_args(words)
    args.corpus = args.dataset or args.corpus
    rankers, args.ranker = args.ranker or ["hybrid"], None
    with shared.workbench(args) as bench:
        questions = _judged(bench)
        bench.prepare(shared.progress(args))
        profile = bench.profile()
        tell = shared.progress(args)
        rows = Diagnosis(bench.corpus, bench.index, questions, profile.pool, profile.shown).rows(
            rankers, lambda done, total: tell(Progress("questions", done, total))
        )
    if args.json:
        shared.out_json(
            {
                "dataset": str(args.corpus or "sample_corpus"),
                "questions": len(questions),
                "rows": [_row(row) for row in rows],
            }
        )
        return 0
    shared.out(f"{len(questions)} questions · the first {profile.shown} of {profile.pool} matches")
    table = [_HEADINGS, *([_cell(value) for value in _row(row).values()] for row in rows)]
    widths = [max(len(line[at]) for line in table) for at in range(len(_HEADINGS))]
    for line in table:
        shared.out("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    return 0


_HEADINGS = [
    *("ranker", "order", "quota", "R@10", "R@100", "R@1000", "nDCG@10"),
    *("entry", "doc@10", "doc@m", "line@10", "line@m", "median rank"),
]


def _row(row: Row) -> dict[str, object]:
    return {
        "ranker": row.ranker,
        "order": row.order,
        "quota": row.quota,
        **row.ranking,
        "gold_in_entry_points": row.entry_points,
        "gold_in_first_10": row.first,
        "gold_in_first_m": row.shown,
        "gold_lines_in_first_10": row.lines_first,
        "gold_lines_in_first_m": row.lines_shown,
        "median_gold_rank": row.median_rank,
    }


def _cell(value: object) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _outcomes(args: argparse.Namespace) -> list[batch.Outcome]:
    args.model = args.model or OFFLINE
    # Runs by the dozen would bury those that a person wants to find again.
    with TemporaryDirectory() as runs, shared.workbench(args, runs_dir=Path(runs)) as bench:
        questions = _judged(bench)
        bench.check()
        bench.prepare(shared.progress(args))
        outcomes = []
        for question in questions:
            session = bench.start(question.text, gold=question.gold)
            session.run()
            if session.state.model_error:
                shared.say(args, f"{question.id}: {session.state.model_error}")
            scopes = session.state.scopes
            paths = bench.scope(session.directory, scopes[0].number).paths if scopes else []
            outcomes.append(batch.outcome(question, session.state, paths, args.most))
            session.close()
        return outcomes


def _judged(bench: Workbench) -> list[datasets.Question]:
    questions = [question for question in bench.questions() if question.gold]
    if not questions:
        raise RargError(f"{bench.directory} has no judged questions; `rarg eval prepare` makes a data set.")
    return questions


_COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "prepare": _prepare,
    "run": _run,
    "diagnose": _diagnose,
}
