"""Where a run stops by itself, each kind of condition; and that it goes on from there."""

from __future__ import annotations

import pytest

from rarg_tui.agent import breakpoints
from rarg_tui.agent.model import Reply
from rarg_tui.agent.session import Session
from rarg_tui.errors import RargError
from rarg_tui.trace.events import Usage
from tests.agent.conftest import Start, bash, calls, recall

GREP = "cat scope_1.txt | xargs -d '\\n' rg -n {}"
NOTHING = GREP.format("zebra")
SOME = GREP.format("-i 'ilse|ohlendorf'")
GOLD = "notes/c d.txt"


def going(start: Start, *conditions: str, **names: object) -> Session:
    """A run of a recall, a search without and one with matches, a read and an answer."""
    session = start(
        recall(),
        bash(NOTHING),
        bash(SOME),
        calls(("read", {"path": GOLD})),
        Reply("x", usage=Usage(input_tokens=500, output_tokens=100, cost_usd=0.5)),
        **names,
    )
    session.breakpoints = tuple(map(breakpoints.parse, conditions))
    session.run()
    return session


@pytest.mark.parametrize(
    ("condition", "done", "limits"),
    [
        ("tool bash", 1, {}),
        ("tool read", 3, {}),
        ("command zebra", 1, {}),
        ("command ilse.ohl", 2, {}),
        ("matches 0", 2, {}),
        ("matches > 2", 3, {}),
        ("gold", 1, {}),
        ("gold-cut", 3, {"shown": 1}),
        ("turn 2", 1, {}),
        ("context 5%", 1, {"compaction_tokens": 200}),
        ("compaction", 2, {"compaction_tokens": 10, "keep_results": 1}),
    ],
)
def test_a_run_stops_and_goes_on(start: Start, condition: str, done: int, limits: dict[str, int]) -> None:
    rarg = "rarg++" if condition == "gold" else "rarg"
    session = going(start, condition, gold={GOLD: 1}, limits=limits, strategy=rarg)
    assert session.state.breakpoint == condition
    assert sum(not call.waiting for call in session.state.calls) == done
    session.breakpoints = ()
    session.run()
    assert session.state.ended == "answered"


def test_the_same_breakpoint_does_not_stop_twice_at_one_place(start: Start) -> None:
    session = going(start, "tool bash")
    assert session.state.next_call is not None
    assert session.state.next_call.number == 2
    session.run()
    assert session.state.breakpoint == "tool bash"
    assert session.state.next_call is not None
    assert session.state.next_call.number == 3
    session.run()
    assert session.state.ended == "answered"


def test_a_single_step_goes_on_over_it(start: Start) -> None:
    session = going(start, "tool bash")
    session.step()
    assert session.state.calls[1].state == "no_match"
    assert not session.state.breakpoint


@pytest.mark.parametrize("condition", ["tokens 600", "cost 0.5"])
def test_what_is_spent(start: Start, condition: str) -> None:
    spends = Usage(input_tokens=500, output_tokens=100, cost_usd=0.5)
    free = Usage(cost_usd=0.0)
    first, second = recall(), bash(SOME)
    session = start(
        Reply("", calls=first.calls, usage=free), Reply("", calls=second.calls, usage=spends), Reply("x")
    )
    session.breakpoints = (breakpoints.parse(condition),)
    session.run()
    assert session.state.breakpoint == condition
    assert len(session.state.turns) == 2


def test_a_document_from_outside_the_scope_searched(start: Start) -> None:
    session = start(
        recall("price of eggs"),
        bash("cat scope_1.txt | xargs -d '\\n' rg -n . ; head -n 1 letters/a.txt"),
        Reply("x"),
        limits={"scope_cap": 1},
    )
    session.breakpoints = (breakpoints.parse("out-of-scope"),)
    session.run()
    assert session.state.breakpoint == "out-of-scope"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Type a condition"),
        ("golt", "did you mean gold"),
        ("gold now", "its form is: gold"),
        ("matches many", "its form is: matches 0"),
        ("matches > x", "its form is: matches"),
        ("tool", "its form is: tool NAME"),
        ("command", "its form is: command REGEX"),
        ("command (", "no regular expression"),
        ("turn x", "its form is: turn N"),
        ("turn 0", "its form is: turn N"),
        ("cost -1", "its form is: cost X"),
        ("tokens nan", "its form is: tokens N"),
    ],
)
def test_what_is_no_breakpoint(text: str, said: str) -> None:
    with pytest.raises(RargError, match=said.replace("(", r"\(")):
        breakpoints.parse(text)


def test_every_form_is_one() -> None:
    for form in breakpoints.FORMS:
        text = form.replace("NAME", "bash").replace("REGEX", "x").replace("N", "3").replace("X", "1.5")
        assert breakpoints.parse(text).text == text
