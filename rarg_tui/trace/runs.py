"""The saved runs of a user: naming, finding, listing, forking."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.log import EVENTS_FILE, RunLog, load
from rarg_tui.trace.reducer import replay


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A saved run in one row. ``problem`` says why a run could not be read."""

    run: str
    directory: Path
    question: str = ""
    strategy: str = ""
    model: str = ""
    corpus: str = ""
    corpus_root: str = ""
    started_at: str = ""
    ended: str = ""
    calls: int = 0
    problem: str = ""


def run_name(started: ev.RunStarted) -> str:
    """A readable name that depends on nothing but the question and what fixes the run's outcome."""
    words = re.sub(r"[^a-z0-9]+", "-", started.question.lower()).strip("-")[:40].rstrip("-") or "run"
    fixed = json.dumps(_timeless([started]), sort_keys=True)
    return f"{words}-{hashlib.sha256(fixed.encode()).hexdigest()[:8]}"


def free_directory(runs: Path, name: str) -> Path:
    """A new, empty directory for a run called ``name``; a number is added while the name is taken."""
    candidate, number = runs / name, 1
    while True:
        try:
            candidate.mkdir(parents=True)
        except FileExistsError:
            number += 1
            candidate = runs / f"{name}-{number}"
        except OSError as error:
            raise RargError(f"Runs cannot be saved in {runs}: {error.strerror or error}.") from None
        else:
            return candidate


def keep_one(directory: Path) -> Path:
    """Drop the run in ``directory`` if an earlier run with the same beginning says the same.

    Two runs say the same when their events are equal but for times and their own name: nothing is lost
    by keeping one of them, and equal commands name equal runs. Returns the directory of the one kept.
    """
    try:
        events = load(directory).events
        started = events[0]
        earlier = directory.parent / run_name(started) if isinstance(started, ev.RunStarted) else directory
        if earlier == directory or _timeless(load(earlier).events) != _timeless(events):
            return directory
    except RargError:
        return directory
    shutil.rmtree(directory)
    return earlier


def _timeless(events: Iterable[ev.Event]) -> list[dict[str, object]]:
    rows = [ev.to_json(event) for event in events]
    for row in rows:
        for key in ("seq", "at", "elapsed_ms", "run"):
            row.pop(key, None)
    return rows


def list_runs(runs: Path) -> list[RunSummary]:
    """All saved runs, the newest first; a run that cannot be read is listed with its problem."""
    try:
        directories = [entry for entry in runs.iterdir() if (entry / EVENTS_FILE).is_file()]
    except OSError:
        return []
    directories.sort(key=lambda d: ((d / EVENTS_FILE).stat().st_mtime_ns, d.name), reverse=True)
    return [_summary(directory) for directory in directories]


def _summary(directory: Path) -> RunSummary:
    try:
        state = replay(load(directory).events)
    except RargError as error:
        return RunSummary(directory.name, directory, problem=str(error))
    return RunSummary(
        run=directory.name,
        directory=directory,
        question=state.question,
        strategy=state.strategy,
        model=state.model,
        corpus=state.corpus_name,
        corpus_root=state.corpus,
        started_at=state.started_at,
        ended=state.ended,
        calls=len(state.calls),
    )


def find_run(runs: Path, run: str) -> Path:
    """The directory of ``run``, given its name, a beginning that no other run has, or its path."""
    for candidate in (Path(run).expanduser(), runs / run):
        if (candidate / EVENTS_FILE).is_file():
            return candidate
        if candidate.name == EVENTS_FILE and candidate.is_file():
            return candidate.parent
    try:
        names = [entry.name for entry in runs.iterdir() if (entry / EVENTS_FILE).is_file()]
    except OSError:
        names = []
    begun = [name for name in names if run and name.startswith(run)]
    if len(begun) == 1:
        return runs / begun[0]
    if begun:
        raise RargError(f"{len(begun)} runs begin with {run}; write more of the name.")
    near = get_close_matches(run, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ". `rarg runs` lists the saved runs."
    raise RargError(f"There is no run {run}{hint}")


def fork(runs: Path, source: Path, seq: int) -> Path:
    """A new run with the events of ``source`` up to and including number ``seq``, and its scopes."""
    loaded = load(source)
    kept = [event for event in loaded.events if event.seq <= seq]
    if not 1 <= seq <= len(loaded.events):
        raise RargError(f"{source.name} has events 1 to {len(loaded.events)}; there is no event {seq}.")
    base = re.sub(r"-fork\d+$", "", source.name)
    directory = free_directory(runs, f"{base}-fork{seq}")
    log = RunLog(directory)
    try:
        for event in kept:
            if isinstance(event, ev.RunStarted):
                event = replace(event, run=directory.name, parent=source.name)
            log.append(event)
            if isinstance(event, ev.ScopeCreated):
                for file in source.glob(f"scope_{event.scope}.*"):
                    shutil.copy2(file, directory / file.name, follow_symlinks=False)
        log.append(ev.Forked(parent=source.name, parent_seq=seq))
    except OSError as error:
        raise RargError(f"{source.name} could not be forked: {error}.") from None
    finally:
        log.close()
    return directory
