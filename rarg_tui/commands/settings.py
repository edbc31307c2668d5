"""``rarg config`` and ``rarg cache``: what is set, what is stored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from rarg_tui import config as configuration
from rarg_tui import paths
from rarg_tui.cli import common
from rarg_tui.commands import shared
from rarg_tui.evaluation.datasets import documents_of
from rarg_tui.evaluation.prepare import ABOUT, FOLDER


def config(words: Sequence[str]) -> int:
    parser = common("config")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", dest="all", help="each setting and its origin (default)")
    what.add_argument("--path", action="store_true", help="where the settings file is looked for")
    what.add_argument("--check", action="store_true", help="only say whether the settings are valid")
    args = parser.parse_args(words)
    if args.path:
        shared.out(str(args.config or paths.config_dir() / configuration.FILE_NAME))
        return 0
    found, origins = configuration.load(args.config, vars(args))
    rows = {field.name: _plain(getattr(found, field.name)) for field in fields(found)}
    if args.check:
        shared.say(args, "The settings are valid.")
    elif args.json:
        shared.out_json({name: {"value": value, "from": origins[name]} for name, value in rows.items()})
    else:
        for name, value in rows.items():
            shared.out(f"{name:13} {'–' if value is None else value}    ({origins[name]})")
    return 0


def cache(words: Sequence[str]) -> int:
    parser = common("cache")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="what is stored, with sizes (default)")
    what.add_argument("--drop", action="store_true", help="delete it, with -C that of DIR alone")
    args = parser.parse_args(words)
    found, _ = configuration.load(args.config, vars(args))
    place = found.cache or paths.cache_dir()
    # Only what is marked as ours: --cache may name a directory that holds other things too.
    indexes = {mark.parent: _corpus_of(mark.parent) for mark in place.glob("index/*/*.current")}
    written = {mark.parent: _source_of(mark) for mark in place.glob(f"{FOLDER}/*/*/{ABOUT}")}
    entries = sorted([*indexes, *written])
    corpora = {**indexes, **written}
    if args.corpus:
        whole = args.corpus.expanduser().resolve()
        entries = [entry for entry in entries if corpora[entry] in (str(documents_of(whole)), str(whole))]
    rows = [{"path": str(entry), "corpus": corpora[entry], "bytes": _size(entry)} for entry in entries]
    if args.drop:
        for entry in entries:
            shutil.rmtree(entry)
    if args.json:
        shared.out_json(rows)
    else:
        for row in rows:
            shared.out(f"{row['bytes']:>14,} bytes  {row['corpus']}\n{'':>20}  {row['path']}")
        shared.say(args, f"{len(rows)} stored in {place}{', dropped' if args.drop else ''}.")
    return 0


def _corpus_of(index: Path) -> str:
    """The corpus that an index says it is of; empty when none of its parts can be read."""
    for manifest in sorted(index.glob("*/manifest.json")):
        try:
            return str(json.loads(manifest.read_bytes())["corpus"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return ""


def _source_of(about: Path) -> str:
    """What a data set that was written out was made from; empty when that cannot be read."""
    try:
        return str(json.loads(about.read_bytes())["source"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _size(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, configuration.Price):
        return {"input": value.input, "output": value.output}
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value
