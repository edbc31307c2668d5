"""How far a long job has come, and how it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rarg_tui.errors import RargError

#: Seconds between two reports of one stage.
INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` units of ``stage``; ``eta_s`` is the estimated rest in seconds."""

    stage: str
    done: int
    total: int
    eta_s: float | None = None


class Cancelled(RargError):
    """The job was stopped on request; what it had finished is kept."""

    exit_code = 130


def check(cancel: threading.Event | None) -> None:
    """Raise :class:`Cancelled` once ``cancel`` is set."""
    if cancel is not None and cancel.is_set():
        raise Cancelled("Stopped on request.")


class Meter:
    """Reports progress of one stage, at most once in :data:`INTERVAL_S`, with an estimate of the rest.

    The clock starts with the first report, so units done before it (a resumed build) are not counted as
    speed.
    """

    def __init__(
        self,
        report: Callable[[Progress], None] | None,
        stage: str,
        total: int,
    ) -> None:
        self._report = report
        self._stage = stage
        self._total = total
        self._start: int | None = None
        self._began = 0.0
        self._last = float("-inf")

    def at(self, done: int) -> None:
        """``done`` units are finished."""
        if self._report is None:
            return
        now = time.monotonic()
        if self._start is None:
            self._start, self._began = done, now
        if now - self._last < INTERVAL_S and done < self._total:
            return
        self._last = now
        fresh = done - self._start
        eta = (now - self._began) / fresh * (self._total - done) if fresh > 0 else None
        self._report(Progress(self._stage, done, self._total, eta))
