"""What the commands share: settings from a parsed line, output that is safe, progress on stderr."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from time import monotonic
from typing import Any

from rarg_tui import config
from rarg_tui.agent import strategies
from rarg_tui.cli import Parser, place
from rarg_tui.config import Settings
from rarg_tui.corpus.progress import Progress
from rarg_tui.ui.safe_text import safe, safe_lines
from rarg_tui.workbench import Workbench

#: No line of ours is longer on a terminal; what is longer has been cut before, and says so.
_LINE = 4_000

#: One character of a line becomes at most so many when it is made safe.
_WIDEST = 8

_PROGRESS_EVERY_S = 0.2


def relevance_options(parser: Parser) -> None:
    """The options of ranking and reranking."""
    parser.add_argument(
        "--ranker", metavar="R", help="lexical, static, dense, hybrid or a+b; what is named is waited for"
    )
    parser.add_argument("--rerank", metavar="R", help="fused, paper, generative, cross, or off")
    parser.add_argument("--match-model", metavar="M", help="static or dense: what lines are compared by")
    parser.add_argument("--quota", type=int, metavar="N", help="lines of a document in a round; 0: no quota")
    parser.add_argument("--pool", type=int, metavar="M", help="matches collected (500)")
    parser.add_argument("--show", type=int, metavar="m", help="matches shown (30; 60 with --profile bright)")
    parser.add_argument("--profile", metavar="P", help="bcplus (answer) or bright (rank documents)")
    parser.add_argument("--as-published", action="store_true", help="the ranker and reranker of the paper")
    store_options(parser)
    dense_options(parser)


def store_options(parser: Parser) -> None:
    """The options that say where vectors are kept."""
    parser.add_argument("--store", metavar="S", help="where vectors are kept: faiss (files) or milvus")
    parser.add_argument(
        "--uri",
        "--store-uri",
        dest="store_uri",
        metavar="U",
        help="of milvus: a server, or a file such as v.db",
    )


def dense_options(parser: Parser) -> None:
    """The options of the dense ranker: those of the settings with these names."""
    group = parser.add_argument_group("the dense ranker's model")
    group.add_argument("--device", metavar="D", help="cpu, cuda or mps")
    group.add_argument("--dense-model", metavar="M", help="directory or cached name (default: the packaged)")
    group.add_argument("--dense-preset", metavar="P", help="qwen3, e5, bge, …: prefixes, pooling, length")
    group.add_argument("--query-prefix", metavar="TEXT", help="in front of each query")
    group.add_argument("--document-prefix", metavar="TEXT", help="in front of each document")
    group.add_argument("--pooling", metavar="P", help="mean, cls, lasttoken, …")
    group.add_argument("--max-length", type=int, metavar="N", help="tokens of a window")
    group.add_argument("--windows", type=int, metavar="N", help="windows of a document (8); 0: all of it")
    group.add_argument("--embeddings-url", metavar="URL", help="an OpenAI-compatible server in its place")
    group.add_argument("--embeddings-model", metavar="M", help="the model that the server is asked for")
    group.add_argument("--yes", action="store_true", help="agree that text goes to the servers; remembered")
    group.add_argument("--released-index", type=place, metavar="DIR", help="an index of the released code")


def say_destination(args: argparse.Namespace, bench: Workbench, names: Sequence[str]) -> None:
    """Before a build: to which server the text of how many documents goes. Whoever is to be asked first is
    asked here."""
    if "dense" in names and bench.index.destination:
        state = bench.index_status()["dense"]
        if not state.ready:
            say(
                args,
                f"the text of {state.total - state.done} documents goes to {bench.index.destination}, which "
                "is not this machine",
            )


def model_options(parser: Parser) -> None:
    """The options that choose who looks, and how."""
    parser.add_argument(
        "--strategy", metavar="S", help=f"how the agent searches: {', '.join(strategies.STRATEGIES)}"
    )
    parser.add_argument("--model", metavar="M", help="a model; without a key: the offline planner")
    parser.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server")
    parser.add_argument("--api", metavar="A", help="chat (Chat Completions) or responses")
    parser.add_argument(
        "--reasoning-effort", metavar="E", help="none, minimal, low, medium, high, xhigh, max"
    )


def split_dashes(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """What stands before ``--`` and what stands after it (``None`` when there is no ``--``)."""
    if "--" not in words:
        return list(words), None
    at = list(words).index("--")
    return list(words[:at]), list(words[at + 1 :])


def settings(args: argparse.Namespace) -> Settings:
    """File < environment < flag, and what ``--as-published`` stands for."""
    found, origins = config.load(args.config, vars(args))
    if getattr(args, "as_published", False):
        published = strategies.strategy(found.strategy).published
        found = replace(found, **{k: v for k, v in published.items() if origins[k] != "flag"})
    return found


@contextmanager
def workbench(args: argparse.Namespace, **more: Any) -> Iterator[Workbench]:
    """The workbench that a line asks for, closed when the command ends; ``more`` goes to it."""
    bench = Workbench(settings(args), **more)
    try:
        if getattr(args, "yes", False):
            bench.consent()
        yield bench
    finally:
        bench.close()


def say(args: argparse.Namespace, text: str) -> None:
    """Narration: to stderr, unless ``--quiet``."""
    if not args.quiet:
        # Nobody has to listen: a command goes on when its narration cannot be written.
        with suppress(OSError):
            print(safe(text, _LINE) if sys.stderr.isatty() else text, file=sys.stderr)


def say_rankers(args: argparse.Namespace, bench: Workbench, used: Mapping[str, float]) -> None:
    """What a ranking was made of, when a ranker that was not asked for by name is not there yet."""
    missing = [name for name, state in bench.index_status().items() if not state.ready and name not in used]
    if bench.settings.ranker == "hybrid" and missing:
        say(
            args,
            f"ranked by {' + '.join(used)}; {' and '.join(missing)} is not built: `rarg index` builds it.",
        )


def out(text: str) -> None:
    """Data: to stdout. On a terminal, control characters of foreign text are made visible; elsewhere
    the bytes are those of the corpus."""
    if sys.stdout.isatty():
        for line in safe_lines(text, _LINE):
            print(line)
    else:
        _write(_bytes(text) + b"\n")


@contextmanager
def raw_output() -> Iterator[Callable[[bytes], object]]:
    """Takes bytes as they come: to stdout as they are; on a terminal, as whole lines of text that is
    safe, none of them cut."""
    if not sys.stdout.isatty():
        yield _write
        return
    rest = bytearray()

    def show(data: bytes) -> None:
        rest.extend(data)
        if (end := rest.rfind(b"\n") + 1) > 0:
            _show(bytes(rest[:end]))
            del rest[:end]

    yield show
    if rest:
        _show(bytes(rest))


def _show(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape").removesuffix("\n")
    for line in safe_lines(text, len(text) * _WIDEST):
        print(line)


def _write(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _bytes(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:  # half of a character, which a foreign log may hold
        return text.encode("utf-8", "replace")


def out_json(data: Any) -> None:
    """One JSON document. Escaped to ASCII, so that a path that is not UTF-8 survives any pipe."""
    print(json.dumps(data, indent=1))


def with_bytes(row: dict[str, Any]) -> dict[str, Any]:
    """Add ``path_bytes`` where the path is not UTF-8."""
    try:
        row["path"].encode("utf-8")
    except UnicodeEncodeError:
        from base64 import b64encode

        row["path_bytes"] = b64encode(os.fsencode(row["path"])).decode("ascii")
    return row


def progress(args: argparse.Namespace) -> Callable[[Progress], None]:
    """A listener that draws a line of progress on a terminal, and says nothing elsewhere."""
    if args.quiet or not sys.stderr.isatty():
        return lambda _: None
    last = [0.0]
    ended: set[str] = set()

    def show(step: Progress) -> None:
        done = step.done >= step.total
        if step.stage in ended or (not done and monotonic() - last[0] < _PROGRESS_EVERY_S):
            return
        last[0] = monotonic() if step.done else 0.0  # the first news of a stage holds nothing back
        if done:
            ended.add(step.stage)
        eta = f" · {step.eta_s:.0f} s left" if step.eta_s is not None and not done else ""
        line = f"\r\x1b[K{step.stage} {step.done}/{step.total}{eta}"
        print(line, end="\n" if done else "", file=sys.stderr)

    return show
