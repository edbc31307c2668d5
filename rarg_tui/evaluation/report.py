"""A diagnosis as a table, as JSON, and as the questions that went worst."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from rarg_tui.evaluation.diagnose import PATH, Outcome, Row, Seen

_HEADINGS = [
    *("ranker", "order", "quota", "R@10", "R@100", "R@1000", "nDCG@10"),
    *("entry", "doc@10", "doc@m", "line@10", "line@m", "median rank"),
]


def row(of: Row) -> dict[str, object]:
    """A row by the names of the JSON output, in the order of the table's columns."""
    return {
        "ranker": of.ranker,
        "order": of.order,
        "quota": of.quota,
        **of.ranking,
        "gold_in_entry_points": of.entry_points,
        **_seen(Seen(of.first, of.shown, of.lines_first, of.lines_shown)),
        "median_gold_rank": of.median_rank,
    }


def by_question(outcome: Outcome, directory: Path, cache: Path | None) -> dict[str, object]:
    """One question by one ranker, with the command lines that show what happened to it."""
    return {
        "id": outcome.question.id,
        "question": outcome.question.text,
        "ranker": outcome.ranker,
        "pattern": "|".join(outcome.words),
        **{name: round(value, 4) for name, value in outcome.ranking.items()},
        "gold": [
            {"path": path, "rank": rank, "match": outcome.matched[path]}
            for path, rank in outcome.ranks.items()
        ],
        "gold_in_entry_points": round(outcome.entry_points, 4),
        "orders": [
            {"order": order.name, "quota": order.quota, **_seen(seen)} for order, seen in outcome.seen.items()
        ],
        "commands": list(commands(outcome, directory, cache)),
    }


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as lines of text, with headings."""
    cells = [_HEADINGS, *([_cell(value) for value in row(each).values()] for each in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(_HEADINGS))]
    for line in cells:
        yield "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))


def worst(outcomes: Sequence[Outcome], most: int, directory: Path, cache: Path | None) -> Iterator[str]:
    """The questions with the smallest nDCG@10 by the last ranker, at most so many: where their gold
    documents are, and how to look at them."""
    last = [outcome for outcome in outcomes if outcome.ranker == outcomes[-1].ranker]
    for outcome in sorted(last, key=lambda one: one.ranking["ndcg@10"])[: max(0, most)]:
        yield ""
        yield f"{outcome.question.id}  nDCG@10 {outcome.ranking['ndcg@10']:.3f}  {outcome.question.text}"
        for path, rank in outcome.ranks.items():
            at = f"rank {rank}" if rank is not None else "not in the scope"
            match = outcome.matched[path]
            found = f"match {match}" if match is not None else "no match in the pool"
            yield f"    {at}, {found}: {path}"
        for command in commands(outcome, directory, cache):
            yield f"    {command}"


def commands(outcome: Outcome, directory: Path, cache: Path | None) -> Iterator[str]:
    """The same recall and the same search, as command lines."""
    where = ["-C", os.fspath(directory), *(["--cache", os.fspath(cache)] if cache is not None else [])]
    text = outcome.question.text
    if outcome.ranker == PATH.name:
        scope = ["--all"]
    else:
        ranked = ["--ranker", outcome.ranker]
        yield shlex.join(["rarg", "recall", *where, *ranked, "--top", "30", "--explain", "--", text])
        scope = ["--query", text, *ranked]
    if outcome.words:
        yield shlex.join(["rarg", "grep", *where, *scope, "--", "-i", "-e", "|".join(outcome.words)])


def _seen(seen: Seen) -> dict[str, float | None]:
    return {
        "gold_in_first_10": seen.first,
        "gold_in_first_m": seen.shown,
        "gold_lines_in_first_10": seen.lines_first,
        "gold_lines_in_first_m": seen.lines_shown,
    }


def _cell(value: object) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
