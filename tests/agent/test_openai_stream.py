"""Streams of Chat Completions, with the differences between servers."""

from __future__ import annotations

from typing import Any

import pytest

from rarg_tui.agent.model import ModelError, Reply
from rarg_tui.trace import events as ev
from rarg_tui.trace.reducer import replay
from tests.agent.asking import Waits, ask, model, request
from tests.agent.fake_server import (
    Stream,
    call_delta,
    completion,
    delta,
    serving,
    streamed,
)
from tests.trace import scripted

QUERY = '{"query": "clock"}'


def test_text_and_reasoning_are_told_as_they_come() -> None:
    told: list[tuple[str, str]] = []
    parts = (delta(reasoning_content="Hm"), delta(content="Il"), delta(content="se."))
    with serving(streamed(*parts)) as server:
        reply = ask(server, lambda text, reasoning: told.append((text, reasoning)))
    assert told == [("", "Hm"), ("Il", "Hm"), ("Ilse.", "Hm")]
    assert (reply.text, reply.reasoning) == ("Ilse.", "Hm")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 10)
    assert not reply.usage.estimated
    assert server.requests[0]["stream_options"] == {"include_usage": True}


WHOLE = completion("Looking.", ("embed_recall", QUERY), ("read", '{"path": "a"}'))

#: The same two calls, as servers stream them.
STREAMS = {
    "fragments": [
        call_delta("", index=0, id="a", name="embed_recall"),
        call_delta('{"query": ', index=0),
        call_delta('"clock"}', index=0),
        call_delta("", index=1, id="b", name="read"),
        call_delta('{"path": "a"}', index=1),
    ],
    "interleaved": [
        call_delta("", index=0, id="a", name="embed_recall"),
        call_delta("", index=1, id="a", name="read"),
        call_delta('{"path": "a"}', index=1),
        call_delta(QUERY, index=0),
    ],
    "whole, without index or id": [
        call_delta(QUERY, name="embed_recall"),
        call_delta('{"path": "a"}', name="read"),
    ],
    "whole, with the same index": [
        call_delta(QUERY, index=0, id="a", name="embed_recall"),
        call_delta('{"path": "a"}', index=0, id="b", name="read"),
    ],
    "the name and id in each piece": [
        call_delta('{"query": ', index=0, id="a", name="embed_recall"),
        call_delta('"clock"}', index=0, id="a", name="embed_recall"),
        call_delta('{"path": ', index=1, id="a", name="read"),
        call_delta('"a"}', index=1, id="a", name="read"),
    ],
    "an id of its own for each fragment": [
        call_delta("", index=0, id="a", name="embed_recall"),
        call_delta(QUERY, index=0, id="b"),
        call_delta("", index=1, id="c", name="read"),
        call_delta('{"path": "a"}', index=1, id="d"),
    ],
    "fragments without index": [
        call_delta("", id="a", name="embed_recall"),
        call_delta(QUERY),
        call_delta("", id="b", name="read"),
        call_delta('{"path": "a"}'),
    ],
}


def _plain(reply: Reply) -> Any:
    return (
        reply.text,
        [(call.tool, call.arguments, call.raw, call.error) for call in reply.calls],
        reply.usage,
    )


@pytest.mark.parametrize("pieces", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
def test_calls_are_the_same_as_without_a_stream(pieces: list[Any], finish: str) -> None:
    with serving(WHOLE, streamed(delta(content="Looking."), *pieces, finish=finish)) as server:
        asked = model(server)
        assert _plain(asked.reply(request())) == _plain(asked.reply(request()))


def test_counts_may_come_with_the_last_piece_or_not_at_all() -> None:
    last = {**delta("stop"), "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    with serving(Stream((delta(content="Ilse."), last))) as server:
        assert ask(server).usage == ev.Usage(input_tokens=7, output_tokens=3)
    with serving(Stream((delta(content="Ilse."), delta("stop")))) as server:
        assert ask(server).usage.estimated


def test_counts_after_the_last_piece_are_an_end_too() -> None:
    last = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    with serving(Stream((delta(content="Ilse."), last))) as server:
        assert ask(server).text == "Ilse."
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("refusal", "left"),
    [
        ((400, {"error": {"message": "Unknown parameter: 'stream_options'."}}), {"stream": True}),
        (
            (422, {"message": {"detail": [{"loc": ["body", "stream_options", "include_usage"]}]}}),
            {"stream": True},
        ),
        ((400, {"error": {"message": "Streaming is not supported."}}), {}),
    ],
)
def test_what_a_server_refuses_is_left_out_from_then_on(refusal: Any, left: dict[str, Any]) -> None:
    with serving(refusal, completion("a"), completion("b")) as server:
        asked = model(server)
        assert [asked.reply(request()).text for _ in range(2)] == ["a", "b"]
    for sent in server.requests[1:]:
        assert {name: value for name, value in sent.items() if name.startswith("stream")} == left
    assert len(server.requests) == 3


@pytest.mark.parametrize("cut", [True, False])
def test_a_stream_that_stops_in_a_call_is_asked_for_whole(cut: bool) -> None:
    broken = Stream((call_delta('{"query": "clo', index=0, id="a", name="embed_recall"),), cut=cut)
    waits = Waits()
    with serving(broken, completion(None, ("embed_recall", QUERY))) as server:
        (call,) = ask(server, wait=waits).calls
    assert call.arguments == {"query": "clock"}
    assert waits.seconds == [0.5]
    assert [sent.get("stream", False) for sent in server.requests] == [True, False]


def test_a_server_whose_streams_all_stop_is_a_sentence() -> None:
    broken = Stream((delta(content="Il"),), cut=True)
    with serving(broken) as server, pytest.raises(ModelError, match="broke the connection"):
        ask(server)
    assert len(server.requests) == 4


def test_an_error_within_a_stream() -> None:
    broken = Stream((delta(content="Il"), {"error": {"message": "out of memory", "code": 500}}))
    with serving(broken, completion("Ilse.")) as server:
        assert ask(server).text == "Ilse."
    with serving(broken) as server, pytest.raises(ModelError, match="out of memory"):
        ask(server)


@pytest.mark.parametrize(
    "event", [5, "x", [], {"choices": 5}, {"choices": [None]}, {"choices": [{"delta": {"content": 5}}]}]
)
def test_a_piece_of_another_form(event: Any) -> None:
    with serving(Stream((event,))) as server, pytest.raises(ModelError, match="of another form"):
        ask(server)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_under_the_name_it_came_with(name: str) -> None:
    with serving(streamed(delta(**{name: "Hm"}), *STREAMS["fragments"])) as server:
        reply = ask(server)
        state = replay(
            [
                scripted.started(),
                ev.ModelReplied(turn=1, reasoning=reply.reasoning, calls=reply.calls, kept=reply.kept),
                ev.CallProposed(call=1, turn=1, tool="embed_recall", arguments={"query": "clock"}),
            ]
        )
        ask(server, state=state)
    assert reply.kept == ({"reasoning_as": name},)
    assert server.requests[1]["messages"][2][name] == "Hm"


def test_reasoning_that_a_server_does_not_take_back_is_left_out() -> None:
    turn = ev.ModelReplied(turn=1, reasoning="Hm", kept=({"reasoning_as": "reasoning_content"},))
    refusal = (400, {"error": {"message": "property 'reasoning_content' is unsupported"}})
    with serving(refusal, completion("Ilse.")) as server:
        ask(server, state=replay([scripted.started(), turn]))
    assert ["reasoning_content" in sent["messages"][2] for sent in server.requests] == [True, False]
