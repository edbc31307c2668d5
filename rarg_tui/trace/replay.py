"""A saved run, shown event by event as if it happened again: no index, no model, no corpus needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event as Cancel

from rarg_tui.trace import events as ev
from rarg_tui.trace.log import LoadedRun
from rarg_tui.trace.reducer import reduce, replay
from rarg_tui.trace.state import RunState

#: A step of a replay ends with one of these: what a live half-step would have brought.
_STOPS = (ev.CallExecuted, ev.CallSkipped, ev.ModelFailed, ev.RunEnded)


class Replay:
    """The surface of a live session over a log. It begins after the run's first event."""

    live = False

    def __init__(self, loaded: LoadedRun) -> None:
        self.directory: Path = loaded.directory
        self.notices = loaded.notices
        self._events = loaded.events
        self._next = 1
        self._subscribers: list[Callable[[ev.Event], None]] = []
        self.state: RunState = replay(loaded.events[:1])

    def subscribe(self, callback: Callable[[ev.Event], None]) -> None:
        self._subscribers.append(callback)

    def next_step(self) -> str:
        """In words, what :meth:`step` would show."""
        left = len(self._events) - self._next
        return f"show the next of {left} saved events" if left else "nothing: the saved run ends here"

    def step(
        self, cancel: Cancel | None = None, on_matches: Callable[[Sequence[ev.Match]], None] | None = None
    ) -> bool:
        """Show the events of one half-step; False when none is left."""
        if self._next >= len(self._events):
            return False
        while self._next < len(self._events):
            event = self._events[self._next]
            self._next += 1
            self.state = reduce(self.state, event)
            for callback in self._subscribers:
                callback(event)
            following = self._events[self._next] if self._next < len(self._events) else None
            proposed = isinstance(event, ev.CallProposed) and not isinstance(following, ev.CallProposed)
            if proposed or isinstance(event, _STOPS):
                break
        return self._next < len(self._events)

    def run(
        self, cancel: Cancel | None = None, on_matches: Callable[[Sequence[ev.Match]], None] | None = None
    ) -> None:
        """Show the rest."""
        while not (cancel and cancel.is_set()) and self.step(cancel, on_matches):
            pass
