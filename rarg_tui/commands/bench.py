"""``rarg bench``: rarg's own measurements, each as a ratio against the plain way in the same run."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rarg_tui.agent.profiles import unknown
from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.errors import RargError
from rarg_tui.evaluation import generated, recalling, reranking, startup
from rarg_tui.evaluation.indexing import EDITED, Indexing
from rarg_tui.evaluation.scanning import POOL, Scan, Scans

#: What is searched: documents, directories, words in each document.
_CORPORA = {
    "150 words, 100,000 in 30,000 directories": (100_000, 30_000, 150),
    "5,000 words, 10,000 in 3,000 directories": (10_000, 3_000, 5_000),
}

#: Words of a document of about 4.3 KB.
_PAGE = 700


def bench(words: Sequence[str]) -> int:
    parser = common("bench", usage="rarg bench WHAT [OPTIONS]")
    parser.add_argument("what", metavar="WHAT", help=", ".join(_BENCHES))
    parser.add_argument("--runs", type=int, default=7, metavar="N", help="runs of each (7)")
    parser.add_argument(
        "--documents", type=int, default=100_000, metavar="N", help="size for index and recall (100000)"
    )
    args = parser.parse_args(words)
    if args.what not in _BENCHES:
        raise RargError(f"rarg bench: {unknown('measurement', args.what, _BENCHES)}")
    if args.runs < 1:
        raise RargError(f"--runs must be 1 or more, not {args.runs}.")
    if args.documents < 1:
        raise RargError(f"--documents must be 1 or more, not {args.documents}.")
    rows = _BENCHES[args.what](args.runs, args.documents)
    if args.json:
        shared.out_json({"bench": args.what, "rows": rows})
    else:
        for row in rows:
            shared.out(_line(row))
    return 0


def _line(row: dict[str, object]) -> str:
    identical = row["identical"]
    same = "" if identical is None else " · same lines" if identical else " · OTHER LINES"
    peak = f" · {row['peak_mb']} MB at most" if "peak_mb" in row else ""
    return (
        f"{row['name']}: {row['seconds']:.3f} s · {row['baseline']}: {row['baseline_seconds']:.3f} s"
        f" · ratio {row['ratio']:.3g}{same}{peak}   (medians of {row['runs']})"
    )


def _startup(runs: int, _: int) -> list[dict[str, object]]:
    """The demo turn by turn with an empty Textual app: its first words, and all its panes; then ``--help``
    with bare Python."""
    demo = startup.python("-m", "rarg_tui", "demo")
    empty = startup.python("-c", startup.EMPTY_APP), startup.EMPTY_WORD
    usage = startup.python("-m", "rarg_tui", "--help"), "commands:"
    bare = startup.python("-c", "print('ready')"), "ready"
    return [
        _painted("first paint", (demo, "rarg ·"), "an empty Textual app", empty, runs),
        _painted("all panes on screen", (demo, "Transcript"), "an empty Textual app", empty, runs),
        _painted("rarg --help", usage, "python that prints a word", bare, runs),
    ]


def _painted(
    name: str,
    ours: tuple[list[str], str],
    baseline: str,
    plain: tuple[list[str], str],
    runs: int,
) -> dict[str, object]:
    startup.first_paint(*ours)  # a warm-up of each: files in the cache, bytecode written
    startup.first_paint(*plain)
    pairs = [(startup.first_paint(*ours), startup.first_paint(*plain)) for _ in range(runs)]
    return _row(name, baseline, pairs)


def _scan(runs: int, _: int) -> list[dict[str, object]]:
    """A scope of 10,000 paths, in a corpus of many small documents and in one of longer ones."""
    rows: list[dict[str, object]] = []
    for name, (documents, directories, words) in _CORPORA.items():
        with tempfile.TemporaryDirectory(prefix="rarg-bench-") as directory:
            corpus = generated.generate(
                Path(directory, "corpus"),
                documents=documents,
                directories=directories,
                words=words,
                scope=10_000,
            )
            rows += _scanned(name, Scans(corpus, Path(directory)), runs)
    return rows


def _scanned(corpus: str, scans: Scans, runs: int) -> Iterator[dict[str, object]]:
    in_order, any_order, cut = "xargs rg -j1", "xargs rg", f"xargs rg -j1 | head -{POOL}"

    def turns(word: str, **plain: int) -> list[tuple[Scan, Scan]]:
        return [(scans.ordered(word), scans.plain(word, **plain)) for _ in range(runs + 1)][1:]

    for name, word in (("absent", generated.ABSENT), ("rare", generated.RARE)):
        for baseline, threads in ((in_order, 1), (any_order, 0)):
            pairs = turns(word, threads=threads)
            order = list if threads else sorted
            same = all(order(ours.lines) == order(plain.lines) for ours, plain in pairs)
            yield _timed(f"{corpus}: {name}", baseline, pairs, same)
    pairs = turns(generated.COMMON, threads=1, most=POOL)
    yield _timed(f"{corpus}: common", cut, pairs, all(a.lines == b.lines for a, b in pairs))
    pairs = turns(generated.BEST, threads=1)
    times = [(ours.first, ours.seconds) for ours, _ in pairs]
    same = all(a.lines == b.lines for a, b in pairs)
    yield _row(f"{corpus}: first rows, the best-ranked 1 % match", "the whole scan", times, same)


def _rerank(runs: int, _: int) -> list[dict[str, object]]:
    """A pool of 500 lines, each way against the sentence model over all of them, as in the paper."""
    plain = "the sentence model over the whole pool"
    with (
        tempfile.TemporaryDirectory(prefix="rarg-bench-") as directory,
        reranking.Pool(Path(directory)) as pool,
    ):
        turns = [
            (pool.seconds("fused"), pool.seconds("fused", "dense"), pool.seconds("paper", "dense"))
            for _ in range(runs + 1)
        ][1:]  # the first one loads the models
    return [
        _row("fused", plain, [(quick, whole) for quick, _, whole in turns]),
        _row("fused, the best by the sentence model", plain, [(some, whole) for _, some, whole in turns]),
    ]


def _timed(name: str, baseline: str, pairs: Sequence[tuple[Scan, Scan]], same: bool) -> dict[str, object]:
    return _row(name, baseline, [(ours.seconds, plain.seconds) for ours, plain in pairs], same)


def _row(
    name: str,
    baseline: str,
    pairs: Sequence[tuple[float, float]],
    identical: bool | None = None,
    peak_mb: int | None = None,
) -> dict[str, object]:
    """Of ``pairs`` of measurements, seconds: ours first, the plain way second. ``peak_mb`` is what was
    resident at most."""
    seconds = statistics.median(mine for mine, _ in pairs)
    plain_seconds = statistics.median(theirs for _, theirs in pairs)
    return {
        "name": name,
        "seconds": round(seconds, 4),
        "baseline": baseline,
        "baseline_seconds": round(plain_seconds, 4),
        "ratio": round(seconds / plain_seconds, 3),
        "identical": identical,
        **({} if peak_mb is None else {"peak_mb": peak_mb}),
        "runs": len(pairs),
    }


def _index(_: int, documents: int) -> list[dict[str, object]]:
    """The steps from nothing to a current index, once each, against embedding the beginning of each document
    with a sentence model, or against the first build."""
    with tempfile.TemporaryDirectory(prefix="rarg-bench-") as directory:
        corpus = _pages(Path(directory, "corpus"), documents)
        indexing = Indexing(corpus, Path(directory, "cache"))
        model, sample = indexing.model()
        baseline = f"a sentence model over their beginnings ({sample} measured, scaled)"
        name = f"{documents:,} documents of 4.3 KB"
        first = indexing.scope("lexical")
        joined = indexing.scope("lexical+static")
        again = indexing.scope("lexical+static")
        indexing.edit()
        edited = indexing.scope("lexical+static")
    whole = model * documents / sample
    both = first.seconds + joined.seconds
    return [
        _row(f"{name}: first lexical scope", baseline, [(first.seconds, whole)], None, first.peak_mb),
        _row(f"{name}: static joins", baseline, [(both, whole)], None, joined.peak_mb),
        _row(f"{name}: second start", "the first", [(again.seconds, both)], None, again.peak_mb),
        _row(f"{name}: {EDITED} edited", "the first", [(edited.seconds, both)], None, edited.peak_mb),
    ]


def _recall(runs: int, documents: int) -> list[dict[str, object]]:
    """A scope of 10,000 by three rankers against searching the same number of vectors as they are."""
    with tempfile.TemporaryDirectory(prefix="rarg-bench-") as directory:
        root, cache = Path(directory, "corpus"), Path(directory, "cache")
        _pages(root, documents)
        ours, peak = recalling.recalls(root, cache, runs)
        counts = recalling.vectors(root, cache)
    plain = recalling.flat(counts, documents, runs)
    name = f"{documents:,} documents, {sum(counts.values()):,} vectors: {recalling.RANKERS}"
    pairs = list(zip(ours, plain, strict=True))
    return [_row(name, "flat float32 search of the vectors", pairs, None, peak)]


def _pages(root: Path, documents: int) -> generated.Generated:
    return generated.generate(
        root, documents=documents, directories=max(1, documents // 100), words=_PAGE, scope=EDITED
    )


_BENCHES: dict[str, Callable[[int, int], list[dict[str, object]]]] = {
    "index": _index,
    "recall": _recall,
    "rerank": _rerank,
    "scan": _scan,
    "startup": _startup,
}
