"""``rarg bench``: rarg's own measurements, each as a ratio against the plain way in the same run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from rarg_tui.agent.profiles import unknown
from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.errors import RargError
from rarg_tui.evaluation import startup


def bench(words: Sequence[str]) -> int:
    parser = common("bench", usage="rarg bench startup [OPTIONS]")
    parser.add_argument("what", metavar="WHAT", help=", ".join(_BENCHES))
    parser.add_argument("--runs", type=int, default=7, metavar="N", help="runs of each (7)")
    args = parser.parse_args(words)
    if args.what not in _BENCHES:
        raise RargError(f"rarg bench: {unknown('measurement', args.what, _BENCHES)}")
    if args.runs < 1:
        raise RargError(f"--runs must be 1 or more, not {args.runs}.")
    rows = _BENCHES[args.what](args.runs)
    if args.json:
        shared.out_json({"bench": args.what, "rows": rows})
    else:
        for row in rows:
            shared.out(
                f"{row['name']}: {row['seconds']:.3f} s · {row['baseline']}: {row['baseline_seconds']:.3f} s"
                f" · ratio {row['ratio']:.2f}   (medians of {args.runs})"
            )
    return 0


def _startup(runs: int) -> list[dict[str, object]]:
    """The demo turn by turn with an empty Textual app: its first words, and all its panes; then ``--help``
    with bare Python."""
    demo = startup.python("-m", "rarg_tui", "demo")
    empty = startup.python("-c", startup.EMPTY_APP), startup.EMPTY_WORD
    usage = startup.python("-m", "rarg_tui", "--help"), "commands:"
    bare = startup.python("-c", "print('ready')"), "ready"
    return [
        _row("first paint", (demo, "rarg ·"), "an empty Textual app", empty, runs),
        _row("all panes on screen", (demo, "Transcript"), "an empty Textual app", empty, runs),
        _row("rarg --help", usage, "python that prints a word", bare, runs),
    ]


def _row(
    name: str,
    ours: tuple[list[str], str],
    baseline: str,
    plain: tuple[list[str], str],
    runs: int,
) -> dict[str, object]:
    startup.first_paint(*ours)  # a warm-up of each: files in the cache, bytecode written
    startup.first_paint(*plain)
    pairs = [(startup.first_paint(*ours), startup.first_paint(*plain)) for _ in range(runs)]
    seconds = statistics.median(mine for mine, _ in pairs)
    plain_seconds = statistics.median(theirs for _, theirs in pairs)
    return {
        "name": name,
        "seconds": round(seconds, 4),
        "baseline": baseline,
        "baseline_seconds": round(plain_seconds, 4),
        "ratio": round(seconds / plain_seconds, 3),
        "identical": None,
    }


_BENCHES: dict[str, Callable[[int], list[dict[str, object]]]] = {"startup": _startup}
