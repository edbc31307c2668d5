"""``rarg why``: how far a document, or a line of it, came in a search, and where it was lost."""

from __future__ import annotations

from collections.abc import Sequence

from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.errors import RargError
from rarg_tui.evaluation.why import Stage, Way
from rarg_tui.workbench import Workbench


def why(words: Sequence[str]) -> int:
    ours, theirs = shared.split_dashes(words)
    parser = common(
        "why",
        usage="rarg why --query Q [OPTIONS] DOCUMENT[:LINE] (--pattern P | -- RG-OPTIONS PATTERN)",
    )
    parser.add_argument("document", metavar="DOCUMENT[:LINE]", help="a document, or one of its lines")
    parser.add_argument("--query", required=True, metavar="Q", help="the query of the scope")
    parser.add_argument("--pattern", metavar="P", help="what is searched in it")
    parser.add_argument("--rerank-query", metavar="TEXT", help="rank matches by this text alone")
    shared.relevance_options(parser)
    args = parser.parse_args(ours)
    if (args.pattern is None) == (theirs is None):
        raise RargError("rarg why: give the pattern once, with --pattern P or after --.")
    with shared.workbench(args) as bench:
        bench.prepare(shared.progress(args))
        document, line = _split(bench, args.document)
        rg_args = ["-e", args.pattern] if theirs is None else theirs
        way = bench.why(args.query, rg_args, document, line, rerank_query=args.rerank_query or "")
    if args.json:
        shared.out_json(_json(way))
    else:
        _show(way)
    return 0


def _split(bench: Workbench, text: str) -> tuple[str, int | None]:
    """Path and line; a document whose own name ends in a colon and a number goes before."""
    path, colon, number = text.rpartition(":")
    if not colon or not number.isdecimal() or bench.corpus.contains(text):
        return text.removeprefix("./"), None
    if int(number) < 1:
        raise RargError(f"rarg why: lines count from 1, not {number}.")
    return path.removeprefix("./"), int(number)


def _json(way: Way) -> dict[str, object]:
    stages = [
        {"stage": s.stage, "reached": s.reached, "at": s.at, "of": s.of, "note": s.note} for s in way.stages
    ]
    return shared.with_bytes(
        {
            "path": way.document,
            "document": way.document,
            "line": way.line,
            "stages": stages,
            "lost_at": way.lost_at,
            "would_help": list(way.would_help),
        }
    )


def _show(way: Way) -> None:
    shared.out(way.document if way.line is None else f"{way.document}:{way.line}")
    for stage in way.stages:
        mark = "✓" if stage.reached else "✗" if stage.stage == way.lost_at else "·"
        shared.out(f"  {mark} {stage.stage:<12} {_place(stage):<14} {stage.note}".rstrip())
    for help_ in way.would_help:
        shared.out(f"  would help: {help_}")


def _place(stage: Stage) -> str:
    if stage.at is None or stage.of is None:
        return "" if stage.of is None else f"– of {stage.of}"
    return f"{stage.at} of {stage.of}" if stage.at <= stage.of else f"{stage.at} > {stage.of}"
