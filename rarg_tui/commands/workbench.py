"""``rarg`` and ``rarg demo``: the workbench on a terminal.

What the first paint does not need is imported where it is used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rarg_tui import paths
from rarg_tui.agent.hosted import OFFLINE
from rarg_tui.cli import common, place
from rarg_tui.commands import shared
from rarg_tui.errors import RargError


def open(words: Sequence[str]) -> int:
    parser = common("open", usage="rarg [open] [DIR] [--question Q] [--run RUN] [OPTIONS]")
    parser.add_argument("directory", nargs="?", type=place, metavar="DIR", help="the corpus")
    parser.add_argument("--question", default="", metavar="Q", help="begin with this question")
    parser.add_argument("--run", default="", metavar="RUN", help="show a saved run")
    shared.model_options(parser)
    shared.relevance_options(parser)
    args = parser.parse_args(words)
    args.corpus = args.directory or args.corpus or (_searched_by(args.run) if args.run else None)
    headless = f"`rarg replay {args.run}`" if args.run else '`rarg run "QUESTION"`'
    return _show(args, headless)


def _searched_by(run: str) -> Path | None:
    """The corpus of a saved run, where it is still there: its documents can then be looked at."""
    from rarg_tui.evaluation.datasets import documents_of, is_dataset
    from rarg_tui.trace.log import load
    from rarg_tui.trace.reducer import replay
    from rarg_tui.trace.runs import find_run

    runs = paths.data_dir() / "runs"
    root = Path(replay(load(find_run(runs, run)).events[:1]).corpus)
    if not root.is_dir():
        return None
    return root.parent if is_dataset(root.parent) and documents_of(root.parent) == root else root


def demo(words: Sequence[str]) -> int:
    parser = common("demo", usage="rarg demo [--headless] [OPTIONS]")
    parser.add_argument("--headless", action="store_true", help="to the end, printing the transcript")
    shared.model_options(parser)
    shared.relevance_options(parser)
    args = parser.parse_args(words)
    # The demo is the same everywhere: it asks a hosted model only when told to.
    if not args.model and not args.base_url:
        args.model = OFFLINE
    if not args.headless:
        return _show(args, "`rarg demo --headless`", demo=True)
    from rarg_tui.commands.run import as_json
    from rarg_tui.trace.export import as_markdown

    with shared.workbench(args) as bench:
        questions = bench.questions()
        if not questions:
            raise RargError(f"{bench.directory} has no questions.jsonl to take one from: use `rarg run`.")
        bench.prepare(shared.progress(args))
        session = bench.start(questions[0].text, gold=questions[0].gold)
        session.run()
        state = session.state
        directory = bench.keep(session)
        if args.json:
            shared.out_json(as_json(state, directory))
        else:
            shared.out(as_markdown(state))
        return 0 if state.ended == "answered" else 1


def _show(args: argparse.Namespace, headless: str, demo: bool = False) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise RargError(f"The workbench needs a terminal; without one, use {headless}.")
    with shared.workbench(args) as bench:
        from rarg_tui.ui.app import run_app

        return run_app(
            bench,
            question=getattr(args, "question", ""),
            run=getattr(args, "run", ""),
            demo=demo,
        )
