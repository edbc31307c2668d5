"""``rarg doctor``: what is here, what is missing, and how to get it."""

from __future__ import annotations

import argparse
import locale
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata, util
from importlib.metadata import PackageNotFoundError
from typing import NamedTuple

from rarg_tui import __version__, paths
from rarg_tui.agent.hosted import Hosted
from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.config import Settings
from rarg_tui.errors import RargError
from rarg_tui.search import landlock
from rarg_tui.workbench import dense_options

_PACKAGES = (
    "textual",
    "openai",
    "tantivy",
    "faiss-cpu",
    "sentence-transformers",
    "torch",
    "tree-sitter",
    "ir-measures",
)


class Finding(NamedTuple):
    """One row. ``state`` is ok, missing (rarg cannot do its job) or optional (it can do without)."""

    part: str
    state: str
    detail: str


def doctor(words: Sequence[str]) -> int:
    parser = common("doctor")
    shared.dense_options(parser)
    args = parser.parse_args(words)
    findings = list(_examine(args))
    if args.json:
        shared.out_json([finding._asdict() for finding in findings])
    else:
        marks = {"ok": "ok ", "missing": "NO ", "optional": "-  "}
        for finding in findings:
            shared.out(f"{marks[finding.state]} {finding.part:22} {finding.detail}")
    return 3 if any(finding.state == "missing" for finding in findings) else 0


def _examine(args: argparse.Namespace) -> Iterator[Finding]:
    yield Finding(
        "rarg",
        "ok",
        f"{__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    )
    yield _tried("ripgrep", _ripgrep)
    for name in _PACKAGES:
        yield _tried(name, partial(metadata.version, name), f"pip install {name}")
    yield _located("static model", "wordllama", "pip install wordllama")
    yield _tried("dense model", partial(_dense, shared.settings(args)))
    remedy = "pip install 'rarg[milvus]', for --store milvus"
    yield _tried("pymilvus", partial(metadata.version, "pymilvus"), remedy, needed=False)
    yield _tried("devices", _devices, "pip install torch", needed=False)
    yield _landlock()
    yield _tried("bubblewrap", _bubblewrap, needed=False)
    yield _model(args)
    for name, place in (("cache", paths.cache_dir()), ("runs", paths.data_dir())):
        where, notice = paths.writable(place)
        yield Finding(name, "optional" if notice else "ok", notice or str(where))
    yield Finding("terminal", "ok" if sys.stdout.isatty() else "optional", _terminal())


def _model(args: argparse.Namespace) -> Finding:
    try:
        hosted = Hosted(shared.settings(args))
    except RargError as error:
        return Finding("model", "optional", str(error))
    if origin := hosted.key.origin:
        return Finding("model", "ok", f"{hosted.server}, the key from {origin}")
    return Finding("model", "optional", "no key: the offline planner; or give --base-url")


def _tried(part: str, look: Callable[[], str], remedy: str = "", needed: bool = True) -> Finding:
    try:
        return Finding(part, "ok", look())
    except (RargError, PackageNotFoundError, ImportError, OSError) as error:
        detail = str(error) if isinstance(error, RargError) else f"missing: {remedy}"
        return Finding(part, "missing" if needed else "optional", detail)


def _ripgrep() -> str:
    from rarg_tui.search.rg import find_rg

    rg = find_rg()
    return f"{rg.version} at {rg.path}, {'with' if rg.pcre2 else 'without'} PCRE2"


def _located(part: str, module: str, remedy: str) -> Finding:
    spec = util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        return Finding(part, "missing", f"missing: {remedy}")
    return Finding(part, "ok", next(iter(spec.submodule_search_locations)))


def _dense(settings: Settings) -> str:
    """The dense ranker's model, which is loaded, or its server, which is asked, for this."""
    from rarg_tui.relevance.embedders import embedder
    from rarg_tui.relevance.released import with_released

    tried = embedder(with_released(dense_options(settings)))
    try:
        return f"{tried.settings()['model']}: {tried.about()}"
    finally:
        tried.close()


def _devices() -> str:
    import torch

    found = ["cpu"]
    if torch.cuda.is_available():
        found.append(f"cuda ({torch.cuda.get_device_name()})")
    if torch.backends.mps.is_available():
        found.append("mps")
    return f"{', '.join(found)}; {torch.get_num_threads()} threads"


def _bubblewrap() -> str:
    from rarg_tui.search.sandbox import possible

    return f"{possible().bwrap}: --sandbox bwrap is possible"


def _landlock() -> Finding:
    found = landlock.version()
    if not found:
        return Finding("landlock", "optional", landlock.MISSING)
    return Finding("landlock", "ok", f"version {found}: programs of a search are confined by the kernel")


def _terminal() -> str:
    size = shutil.get_terminal_size()
    colour = (
        "no colour (NO_COLOR)"
        if "NO_COLOR" in os.environ
        else os.environ.get("COLORTERM") or "256 colours or fewer"
    )
    encoding = locale.getpreferredencoding(False)
    return f"{os.environ.get('TERM', 'unknown')}, {size.columns}×{size.lines}, {encoding}, {colour}"
