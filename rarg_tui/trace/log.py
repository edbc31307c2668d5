"""A run on disk: a directory with ``events.jsonl`` (append-only) and the scope files it refers to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.shape import misfit

EVENTS_FILE = "events.jsonl"

#: Events after which the log is synced to the disk: the end of a turn, and what a person did.
_SYNCED = {"RunStarted", "ModelReplied", "CallExecuted", "GoldMarked", "NoteAdded", "RunEnded"}


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """The events of a run up to the first broken line. ``notices`` are sentences for the user;
    ``valid_bytes`` is the length of the part that was read."""

    directory: Path
    events: tuple[ev.Event, ...]
    notices: tuple[str, ...]
    valid_bytes: int


def load(directory: Path) -> LoadedRun:
    """Read a run. A torn last line is dropped with a notice; at a broken line in the middle the run
    opens up to it. Raises ``RargError`` when there is no log, or nothing of it can be read."""
    file = directory / EVENTS_FILE
    events: list[ev.Event] = []
    notices: list[str] = []
    valid = 0
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                problem = ""
                event: ev.Event | None = None
                try:
                    event = _event(line)
                except ValueError as error:
                    problem = str(error)
                if event is None or not line.endswith(b"\n"):
                    last = not stream.read(1)
                    notices.append(
                        f"The last line of {file.name} is torn and was dropped."
                        if last
                        else f"Line {number} of {file.name} is broken ({problem}); the run opens up to it."
                    )
                    break
                events.append(event)
                valid += len(line)
    except OSError as error:
        why = error.strerror or error
        raise RargError(f"No run at {directory}: {why}. `rarg runs` lists the saved runs.") from None
    if not events or not isinstance(events[0], ev.RunStarted):
        raise RargError(f"{file} is no run log: it does not begin with a RunStarted event.")
    if events[0].schema_version > ev.SCHEMA_VERSION:
        raise RargError(
            f"{file} was written by a later rarg (schema {events[0].schema_version}); "
            f"this one reads up to {ev.SCHEMA_VERSION}: please upgrade."
        )
    return LoadedRun(directory, tuple(events), tuple(notices), valid)


def _event(line: bytes) -> ev.Event:
    """Raises ``ValueError`` for a line that is no event, or one that no rarg has written."""
    try:
        data = json.loads(line.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(data, dict):
        raise ValueError("not an object")
    event = ev.from_json(data)
    if wrong := misfit(event):
        raise ValueError(f"bad {event.kind}: {wrong} is of the wrong type")
    return event


def _encode(event: ev.Event) -> bytes:
    data = ev.to_json(event)
    try:
        line = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:  # a file name that is not UTF-8: escape it, so that the log stays UTF-8
        line = json.dumps(data, separators=(",", ":")).encode("ascii")
    return line + b"\n"


class RunLog:
    """Appends events to a run and tells subscribers, in that order: an event that anyone has seen is
    on disk."""

    def __init__(self, directory: Path, events: Sequence[ev.Event] = (), valid_bytes: int = 0) -> None:
        self.directory = directory
        self._events = list(events)
        self._subscribers: list[Callable[[ev.Event], None]] = []
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._file = (directory / EVENTS_FILE).open("ab")
        except OSError as error:
            raise RargError(f"The run cannot be saved in {directory}: {error.strerror or error}.") from None
        if self._file.tell() > valid_bytes:
            self._file.truncate(valid_bytes)

    @classmethod
    def reopen(cls, loaded: LoadedRun) -> RunLog:
        """Go on with a saved run; what could not be read of it is cut off."""
        return cls(loaded.directory, loaded.events, loaded.valid_bytes)

    @property
    def events(self) -> tuple[ev.Event, ...]:
        return tuple(self._events)

    def subscribe(self, callback: Callable[[ev.Event], None]) -> None:
        """``callback`` is called with each later event, in the thread that appends it."""
        self._subscribers.append(callback)

    def append(self, event: ev.Event) -> ev.Event:
        """Write ``event`` with its sequence number and time; returns it as written."""
        stamped = replace(event, seq=len(self._events) + 1, at=event.at or ev.now())
        try:
            self._file.write(_encode(stamped))
            self._file.flush()
            if stamped.kind in _SYNCED:
                os.fsync(self._file.fileno())
        except (OSError, ValueError) as error:
            raise RargError(f"The run's log in {self.directory} cannot be written: {error}.") from None
        self._events.append(stamped)
        for callback in self._subscribers:
            callback(stamped)
        return stamped

    def close(self) -> None:
        self._file.close()
