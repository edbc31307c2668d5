"""``rarg eval``: measure on a data set."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rarg_tui import paths
from rarg_tui.agent.hosted import OFFLINE
from rarg_tui.agent.profiles import unknown
from rarg_tui.cli import Parser, common, place
from rarg_tui.commands import shared
from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.evaluation import batch, datasets, report
from rarg_tui.evaluation import diagnose as diagnosis
from rarg_tui.evaluation import prepare as preparing
from rarg_tui.evaluation.diagnose import Diagnosis
from rarg_tui.workbench import Workbench

_FORMS = "a folder: BEIR, TREC topics and judgements with their documents, or rarg's own form"
_SPLIT = "which of several files of judgements in qrels/ (test)"

#: Every second of the judged questions, the first of them being odd.
_HALVES = {"all": slice(None), "odd": slice(0, None, 2), "even": slice(1, None, 2)}


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
    parser = common("eval", usage="rarg eval prepare DATASET DIR [--split S]")
    parser.add_argument("dataset", type=place, metavar="DATASET", help=_FORMS)
    parser.add_argument("target", type=place, metavar="DIR", help="a directory that does not exist yet")
    parser.add_argument("--split", metavar="S", help=_SPLIT)
    args = parser.parse_args(words)
    made = preparing.prepare(args.dataset, args.target, args.split, shared.progress(args))
    _tell(args, made)
    shared.say(args, f"{made.documents} documents written to {args.target / datasets.DOCUMENTS}.")
    if args.json:
        shared.out_json({"dataset": str(args.target), "documents": made.documents, "notes": made.notes})
    return 0


def _run(words: Sequence[str]) -> int:
    """Every question of a data set, by one strategy, against the plain ranking of the same scopes."""
    parser = common("eval", usage="rarg eval run DATASET [OPTIONS]")
    _dataset_options(parser)
    parser.add_argument("--most", type=int, default=10, metavar="N", help="citations counted a question (10)")
    shared.model_options(parser)
    shared.relevance_options(parser)
    args = parser.parse_args(words)
    name = _open_dataset(args)
    outcomes = _outcomes(args)
    total = batch.summary(outcomes)
    if args.json:
        shared.out_json(
            {
                "dataset": name,
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
    parser = common("eval", usage="rarg eval diagnose DATASET [OPTIONS]")
    _dataset_options(parser)
    parser.add_argument(
        "--ranker",
        action="append",
        dest="rankers",
        metavar="R",
        help="a ranking to look at; may be given several times",
    )
    parser.add_argument(
        "--rerank",
        action="append",
        dest="rerankers",
        metavar="R",
        help="a reranker to look at; may be given several times",
    )
    parser.add_argument("--pool", type=int, metavar="M", help="matches collected (500)")
    parser.add_argument("--show", type=int, metavar="m", help="matches shown (30)")
    parser.add_argument(
        "--worst",
        type=int,
        default=0,
        metavar="N",
        help="list the N questions that the last ranker does worst",
    )
    parser.add_argument("--device", metavar="D", help="cpu, cuda or mps")
    shared.store_options(parser)
    args = parser.parse_args(words)
    name = _open_dataset(args)
    orders = diagnosis.orders(args.rerankers) if args.rerankers else diagnosis.ORDERS
    with shared.workbench(args) as bench:
        questions = _judged(bench, args.questions)
        bench.prepare(shared.progress(args))
        rankers = args.rankers or _worth_seeing(args, bench)
        profile = bench.profile()
        tell = shared.progress(args)
        outcomes = Diagnosis(bench.corpus, bench.index, questions, profile.pool, profile.shown).outcomes(
            rankers, orders, lambda done, total: tell(Progress("questions", done, total))
        )
        weights = {ranker: bench.index.weights(ranker) for ranker in rankers}
        where = (bench.directory, args.cache)
    rows = diagnosis.rows(outcomes)
    if args.json:
        shared.out_json(
            {
                "dataset": name,
                "questions": len(questions),
                "rankers": weights,
                "rows": [report.row(row) for row in rows],
                "by_question": [report.by_question(outcome, *where) for outcome in outcomes],
            }
        )
        return 0
    shared.out(f"{len(questions)} questions · the first {profile.shown} of {profile.pool} matches")
    for ranker, used in weights.items():
        if ranker not in used:
            shared.out(f"{ranker}: " + " + ".join(f"{weight:g} {one}" for one, weight in used.items()))
    for line in (*report.table(rows), *report.worst(outcomes, args.worst, *where)):
        shared.out(line)
    return 0


def _worth_seeing(args: argparse.Namespace, bench: Workbench) -> list[str]:
    """The single rankers that are ready, and what they give together."""
    ready = bench.index.ready()
    if "dense" in ready:
        return [*ready, "lexical+static", "hybrid"]
    shared.say(args, "dense is not built: --ranker dense builds it, which takes minutes.")
    return [*ready, "lexical+static"]


def _dataset_options(parser: Parser) -> None:
    parser.add_argument(
        "dataset", nargs="?", type=place, metavar="DATASET", help=f"{_FORMS} (default: the sample corpus)"
    )
    parser.add_argument("--split", metavar="S", help=_SPLIT)
    parser.add_argument(
        "--questions",
        choices=_HALVES,
        default="all",
        metavar="HALF",
        help="odd, even or all: what is tuned on one half is measured on the other",
    )


def _open_dataset(args: argparse.Namespace) -> str:
    """Make the data set that was named, in rarg's own form, the corpus of ``args``; returns its name."""
    args.corpus = args.dataset or args.corpus
    found = shared.settings(args)
    if found.corpus is None:
        return "sample_corpus"
    made = preparing.ready(found.corpus, found.cache or paths.cache_dir(), args.split, shared.progress(args))
    _tell(args, made)
    args.corpus = made.directory
    return str(found.corpus)


def _tell(args: argparse.Namespace, made: preparing.Prepared) -> None:
    for note in made.notes:
        shared.say(args, note)


def _outcomes(args: argparse.Namespace) -> list[batch.Outcome]:
    args.model = args.model or OFFLINE
    # Runs by the dozen would bury those that a person wants to find again.
    with TemporaryDirectory() as runs, shared.workbench(args, runs_dir=Path(runs)) as bench:
        questions = _judged(bench, args.questions)
        bench.check()
        bench.prepare(shared.progress(args))
        outcomes = []
        for question in questions:
            session = bench.start(question.text, gold=question.gold)
            session.run()
            if session.state.model_error:
                shared.say(args, f"{question.id}: {session.state.model_error}")
            scopes = session.state.scopes
            scope = bench.scope(session.directory, scopes[0].number).paths if scopes else []
            outcomes.append(batch.outcome(question, session.state, scope, args.most))
            session.close()
        return outcomes


def _judged(bench: Workbench, half: str) -> list[datasets.Question]:
    questions = [question for question in bench.questions() if question.gold][_HALVES[half]]
    if not questions:
        raise RargError(f"{bench.directory} has no judged questions; name a data set that has some.")
    return questions


_COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "prepare": _prepare,
    "run": _run,
    "diagnose": _diagnose,
}
