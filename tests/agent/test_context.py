from __future__ import annotations

from dataclasses import replace

from rarg_tui.agent import context
from rarg_tui.agent.profiles import profile
from rarg_tui.agent.strategies import strategy
from rarg_tui.trace import events as ev
from rarg_tui.trace.reducer import reduce, replay
from tests.trace import scripted

STRATEGY, PROFILE = strategy("rarg++"), profile("bcplus")
RUN = replay(scripted.events()[:10])


def test_every_call_is_followed_by_its_result_under_the_same_id() -> None:
    conversation = context.messages(RUN, STRATEGY, PROFILE)
    assert [message["role"] for message in conversation] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert conversation[2]["tool_calls"][0]["id"] == conversation[3]["tool_call_id"]
    assert "Ilse mended it" in conversation[5]["content"]


def inside(content: str) -> str:
    """A result without its bounds."""
    return content.partition("\n")[2].rpartition("\n")[0]


def test_a_cleared_result_keeps_its_scope_line() -> None:
    event = ev.ContextCompacted(turn=3, cleared=(1, 2), tokens_before=9, tokens_after=1)
    conversation = context.messages(reduce(RUN, event), STRATEGY, PROFILE)
    first, second = (inside(conversation[at]["content"]) for at in (3, 5))
    assert first.startswith('"clock" → scope_1.txt')
    assert first.endswith(context.CLEARED)
    assert second == context.CLEARED


def test_results_stand_between_bounds_that_no_document_can_foresee() -> None:
    conversation = context.messages(RUN, STRATEGY, PROFILE)
    mark = context.mark(RUN)
    assert f"<data {mark}>" in conversation[0]["content"]
    results = [message["content"] for message in conversation if message["role"] == "tool"]
    assert results
    for result in results:
        assert result.startswith(f"<data {mark}>\n")
        assert result.endswith(f"\n</data {mark}>")
    other = replace(RUN, run="another")
    assert context.mark(other) != mark


def test_what_to_clear_leaves_the_last_results() -> None:
    assert context.to_clear(RUN, keep=1) == (1,)
    assert context.to_clear(RUN, keep=40) == ()


def test_a_call_by_hand_comes_after_the_results_of_its_turn() -> None:
    state = replay(
        [
            ev.CallProposed(call=3, turn=2, tool="read", arguments={"path": "a"}, by="user"),
            ev.CallExecuted(call=3, tool="read", state="ok", observation="1: text"),
        ],
        RUN,
    )
    by_hand = context.messages(state, STRATEGY, PROFILE)[6]
    assert by_hand["role"] == "user"
    assert "1: text" in by_hand["content"]


def test_the_forced_answer_is_asked_for_last() -> None:
    assert context.messages(RUN, STRATEGY, PROFILE, force_answer=True)[-1]["role"] == "user"


def test_arguments_that_were_no_json_go_back_as_json() -> None:
    bad = ev.CallProposed(call=3, turn=3, tool="bash", arguments=None, raw="{oops", error="not JSON")
    asked = context.messages(reduce(RUN, bad), STRATEGY, PROFILE)[-2]
    assert asked["tool_calls"][0]["function"]["arguments"] == '{"invalid_arguments": "{oops"}'
