from __future__ import annotations

import json

import pytest

from rarg_tui.trace import events as ev
from tests.trace import scripted


@pytest.mark.parametrize("event", scripted.events(), ids=lambda event: event.kind)
def test_an_event_survives_json(event: ev.Event) -> None:
    assert ev.from_json(json.loads(json.dumps(ev.to_json(event)))) == event


def test_keys_of_a_later_version_are_ignored() -> None:
    data = {**ev.to_json(ev.NoteAdded(text="x")), "mood": "good"}
    assert ev.from_json(data) == ev.NoteAdded(text="x")


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"event": "Nonsense"},
        {"event": ["RunEnded"]},
        {"event": "NoteAdded"},
        {"event": "CallExecuted", "call": 1, "tool": "bash", "state": "ok", "observation": "", "pool": [{}]},
        {"event": "CallExecuted", "call": 1, "tool": "bash", "state": "ok", "observation": "", "pool": 7},
    ],
)
def test_what_is_no_event_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"unknown event|bad "):
        ev.from_json(data)
