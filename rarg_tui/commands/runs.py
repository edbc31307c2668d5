"""``rarg runs``, ``replay``, ``fork``, ``export``: what was saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rarg_tui import paths
from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.evaluation.datasets import documents_of
from rarg_tui.trace import runs as saved
from rarg_tui.trace.export import as_json, as_markdown
from rarg_tui.trace.log import load
from rarg_tui.trace.reducer import replay as replayed


def runs(words: Sequence[str]) -> int:
    parser = common("runs")
    parser.add_argument("--most", type=int, default=20, metavar="N", help="the newest N (20)")
    args = parser.parse_args(words)
    every = [row for row in saved.list_runs(_place()) if not args.corpus or _is_of(row, args.corpus)]
    rows = every[: max(args.most, 0)]
    if args.json:
        keys = ("run", "question", "strategy", "model", "corpus", "started_at", "ended", "calls", "problem")
        shared.out_json([{key: getattr(row, key) for key in keys} for row in rows])
        return 0
    for row in rows:
        state = (
            row.problem or f"{row.ended or 'not ended'} · {row.calls} calls · {row.strategy} · {row.model}"
        )
        shared.out(f"{row.run}\n    {row.question}\n    {state}")
    if len(rows) < len(every):
        shared.say(args, f"{len(every) - len(rows)} older runs are not shown; --most {len(every)} shows all.")
    if not every:
        shared.say(args, "No runs are saved yet: `rarg demo` or `rarg run` makes one.")
    return 0


def replay(words: Sequence[str]) -> int:
    parser = common("replay")
    parser.add_argument("run", metavar="RUN")
    args = parser.parse_args(words)
    loaded = load(saved.find_run(_place(), args.run))
    for notice in loaded.notices:
        shared.say(args, notice)
    if args.json:
        shared.out_json(as_json(loaded.events))
    else:
        shared.out(as_markdown(replayed(loaded.events)))
    return 0


def fork(words: Sequence[str]) -> int:
    parser = common("fork")
    parser.add_argument("run", metavar="RUN")
    parser.add_argument(
        "--at", type=int, required=True, metavar="EVENT", help="the last event to keep, from 1"
    )
    args = parser.parse_args(words)
    directory = saved.fork(_place(), saved.find_run(_place(), args.run), args.at)
    if args.json:
        shared.out_json({"run": str(directory)})
    else:
        shared.out(str(directory))
        shared.say(args, f"It goes on from event {args.at}: rarg open --run {directory.name}")
    return 0


def export(words: Sequence[str]) -> int:
    parser = common("export")
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--format", choices=("md", "json"), default="md")
    args = parser.parse_args(words)
    loaded = load(saved.find_run(_place(), args.run))
    if args.format == "json" or args.json:
        shared.out_json(as_json(loaded.events))
    else:
        shared.out(as_markdown(replayed(loaded.events)))
    return 0


def _is_of(row: saved.RunSummary, corpus: Path) -> bool:
    root = corpus.expanduser().resolve()
    return row.corpus_root in (str(root), str(documents_of(root)))


def _place() -> Path:
    return paths.writable(paths.data_dir() / "runs")[0]
