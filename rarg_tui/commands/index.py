"""``rarg index``: build, update, look at the index."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.errors import RargError
from rarg_tui.workbench import QUICK, Workbench


def index(words: Sequence[str]) -> int:
    parser = common("index")
    parser.add_argument("--include", action="append", default=[], metavar="GLOB", help="only these documents")
    parser.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="not these documents")
    parser.add_argument(
        "--ranker", metavar="R", help="build only this ranker's part: lexical, static, dense, a+b"
    )
    shared.store_options(parser)
    parser.add_argument("--status", action="store_true", help="say what is there, build nothing")
    parser.add_argument(
        "--check", action="store_true", help="as --status; exit code 1 when not all is current"
    )
    parser.add_argument(
        "--seen", action="store_true", help="the documents seen only in part, least seen first; build nothing"
    )
    shared.dense_options(parser)
    args = parser.parse_args(words)
    names = _named(args.ranker)
    with shared.workbench(args, include=args.include, exclude=args.exclude) as bench:
        listing = bench.corpus.listing()
        for problem in listing.problems:
            shared.say(args, f"left out: {problem.path}: {problem.reason}")
        bench.corpus.require_documents()
        if args.seen:
            return _seen(args, bench, names)
        if not (args.status or args.check):
            shared.say_destination(args, bench, names)
            bench.index.build(names, shared.progress(args))
        status = {name: state for name, state in bench.index_status().items() if name in names}
        if args.json:
            shared.out_json(
                {
                    "corpus": str(bench.corpus.root),
                    "documents": len(listing.documents),
                    "left_out": [{"path": p.path, "reason": p.reason} for p in listing.problems],
                    "binary": listing.binary,
                    "fingerprint": bench.index.fingerprint,
                    "rankers": {
                        name: {
                            "ready": s.ready,
                            "done": s.done,
                            "total": s.total,
                            "detail": s.detail,
                            "error": s.error,
                        }
                        for name, s in status.items()
                    },
                }
            )
        else:
            count = f"{len(listing.documents)} documents, {listing.binary} binary files left out"
            shared.out(f"{bench.corpus.root}: {count}")
            for name, state in status.items():
                shared.out(f"  {name:8} {'ready' if state.ready else '–':5}  {state.error or state.detail}")
        return 0 if all(state.ready for state in status.values()) or not args.check else 1


def _seen(args: argparse.Namespace, bench: Workbench, names: Sequence[str]) -> int:
    """Each ranker's documents that it has seen only in part."""
    found = {name: bench.index.partly_seen(name) for name in names}
    if args.json:
        shared.out_json({name: [asdict(one) for one in part] for name, part in found.items()})
    else:
        for name, part in found.items():
            shared.say(args, f"{name}: {len(part)} documents seen in part")
            for one in part:
                shared.out(f"{name:8} {one.seen:>10} of {one.total:>10}  {one.path}")
    return 0


def _named(ranker: str | None) -> tuple[str, ...]:
    every = (*QUICK, "dense")
    if ranker in (None, "hybrid"):
        return every
    names = tuple(ranker.split("+"))
    for name in names:
        if name not in every:
            raise RargError(f"There is no ranker {name!r}; there are {', '.join(every)}.")
    return names
