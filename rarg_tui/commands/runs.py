"""``rarg runs``, ``replay``, ``fork``, ``export``: what was saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rarg_tui import paths
from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.trace import runs as saved
from rarg_tui.trace.export import as_json, as_markdown
from rarg_tui.trace.log import load
from rarg_tui.trace.reducer import replay as replayed


def runs(words: Sequence[str]) -> int:
    args = common("runs").parse_args(words)
    rows = saved.list_runs(_place())
    if args.json:
        keys = ("run", "question", "strategy", "model", "corpus", "started_at", "ended", "calls", "problem")
        shared.out_json([{key: getattr(row, key) for key in keys} for row in rows])
        return 0
    for row in rows:
        state = (
            row.problem or f"{row.ended or 'not ended'} · {row.calls} calls · {row.strategy} · {row.model}"
        )
        shared.out(f"{row.run}\n    {row.question}\n    {state}")
    if not rows:
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


def _place() -> Path:
    return paths.writable(paths.data_dir() / "runs")[0]
