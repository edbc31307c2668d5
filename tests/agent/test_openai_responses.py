"""The Responses API: its streams, its items, and what goes back to the server."""

from __future__ import annotations

from typing import Any

import pytest

from rarg_tui.agent.model import ContextOverflow, ModelError, Reply
from rarg_tui.trace import events as ev
from rarg_tui.trace.log import RunLog, load
from rarg_tui.trace.reducer import replay
from rarg_tui.trace.state import RunState
from tests.agent.asking import FakeServer, ask
from tests.agent.fake_server import Stream, serving
from tests.trace import scripted

THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Look for the clock."}],
    "encrypted_content": "gAAAA",
    "status": None,
}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_x",
    "name": "embed_recall",
    "arguments": '{"query": "clock"}',
}


def response(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens_details": {"reasoning_tokens": 4},
    }
    return {"object": "response", "status": "completed", "output": list(items), "usage": usage, **more}


def streamed(*items: dict[str, Any], whole: bool = True, kind: str = "completed", **more: Any) -> Stream:
    """The stream of a response; not ``whole``: the items come one by one and not again at the end."""
    return Stream(
        (
            {"type": "response.created", "response": {"output": []}},
            {"type": "response.reasoning_summary_text.delta", "delta": "Look for the clock."},
            {"type": "response.output_text.delta", "delta": "Look"},
            {"type": "response.output_text.delta", "delta": "ing."},
            *({"type": "response.output_item.done", "item": item} for item in items),
            {"type": f"response.{kind}", "response": response(*(items if whole else ()), **more)},
        )
    )


def asked(server: FakeServer, **more: Any) -> Reply:
    return ask(server, api="responses", **more)


@pytest.mark.parametrize(
    "reply",
    [
        response(THOUGHT, SAID, CALL),
        streamed(THOUGHT, SAID, CALL),
        streamed(THOUGHT, SAID, CALL, whole=False),
    ],
)
def test_the_reply_is_the_same_however_it_comes(reply: Any) -> None:
    with serving(reply) as server:
        found = asked(server)
    (call,) = found.calls
    assert (call.tool, call.arguments, call.id) == ("embed_recall", {"query": "clock"}, "call_x")
    assert (found.text, found.reasoning) == ("Looking.", "Look for the clock.")
    assert found.usage == ev.Usage(
        input_tokens=100, output_tokens=10, cached_tokens=60, reasoning_tokens=4, cost_usd=None
    )
    assert [item["type"] for item in found.kept] == ["reasoning", "message", "function_call"]
    assert "status" not in found.kept[0]


def test_what_is_asked_for() -> None:
    with serving(response(SAID)) as server:
        asked(server, reasoning_effort="low")
    (sent,) = server.requests
    assert sent["input"] == [{"role": "user", "content": "Who mended the clock?"}]
    assert sent["instructions"].startswith("You answer a question")
    assert (sent["store"], sent["include"]) == (False, ["reasoning.encrypted_content"])
    assert sent["reasoning"] == {"effort": "low", "summary": "auto"}
    assert [(tool["type"], tool["name"]) for tool in sent["tools"]] == [
        ("function", "embed_recall"),
        ("function", "bash"),
        ("function", "read"),
    ]


def test_text_and_reasoning_are_told_as_they_come() -> None:
    told: list[tuple[str, str]] = []
    with serving(streamed(SAID)) as server:
        asked(server, on_text=lambda text, reasoning: told.append((text, reasoning)))
    assert told == [
        ("", "Look for the clock."),
        ("Look", "Look for the clock."),
        ("Looking.", "Look for the clock."),
    ]


def _after_a_restart(tmp_path: Any, reply: Reply) -> RunState:
    log = RunLog(tmp_path / "run")
    log.append(scripted.started())
    log.append(ev.ModelReplied(turn=1, text=reply.text, calls=reply.calls, kept=reply.kept))
    log.append(ev.CallProposed(call=1, turn=1, tool="embed_recall", arguments={"query": "clock"}))
    log.append(ev.CallExecuted(call=1, tool="embed_recall", state="ok", observation="3 documents"))
    log.close()
    return replay(load(tmp_path / "run").events)


def test_reasoning_goes_back_in_its_place_even_after_a_restart(tmp_path: Any) -> None:
    with serving(response(THOUGHT, SAID, CALL), response(SAID)) as server:
        asked(server, state=_after_a_restart(tmp_path, asked(server)))
    sent = server.requests[1]["input"]
    assert [item.get("type", item.get("role")) for item in sent] == [
        "user",
        "reasoning",
        "assistant",
        "function_call",
        "function_call_output",
    ]
    assert sent[1] == {name: value for name, value in THOUGHT.items() if name != "status"}
    assert sent[3]["call_id"] == sent[4]["call_id"]
    assert sent[4]["output"].splitlines()[1] == "3 documents"


@pytest.mark.parametrize(
    ("refusal", "left_out"),
    [
        ("Encrypted content is not supported with this model.", ["include"]),
        ("The encrypted content gAAA... could not be verified.", ["include"]),
        ("Item with id 'rs_1' not found. Items are not persisted when `store` is false.", ["include"]),
        ("Your organization must be verified to generate reasoning summaries.", []),
    ],
)
def test_what_a_model_refuses_is_left_out(tmp_path: Any, refusal: str, left_out: list[str]) -> None:
    with serving(response(THOUGHT, SAID, CALL)) as server:
        state = _after_a_restart(tmp_path, asked(server))
    with serving((400, {"error": {"message": refusal}}), response(SAID)) as server:
        assert asked(server, state=state, reasoning_effort="high").text == "Looking."
    first, second = server.requests
    assert [name for name in first if name not in second] == left_out
    kinds = [item.get("type") for item in second["input"]]
    assert ("reasoning" in kinds) == (not left_out)
    assert ("summary" in second["reasoning"]) == bool(left_out)


def test_a_reply_that_did_not_come_to_its_end() -> None:
    short = streamed(kind="incomplete", incomplete_details={"reason": "max_output_tokens"})
    with serving(short) as server, pytest.raises(ModelError, match="limit of output"):
        asked(server)
    with serving(Stream(streamed(SAID).events[:-1], cut=True), response(SAID)) as server:
        assert asked(server).text == "Looking."


@pytest.mark.parametrize(
    "failed",
    [
        Stream(({"type": "error", "code": "server_error", "message": "out of memory"},)),
        Stream(({"type": "response.failed", "response": {"error": {"message": "out of memory"}}},)),
        {"object": "response", "output": [], "error": {"message": "out of memory"}},
    ],
)
def test_an_error_in_a_reply(failed: Any) -> None:
    with serving(failed) as server, pytest.raises(ModelError, match="out of memory"):
        asked(server)


def test_a_failed_response_may_be_too_long() -> None:
    error = {"code": "context_length_exceeded", "message": "Your input exceeds the context window."}
    failed = Stream(({"type": "response.failed", "response": {"error": error}},))
    with serving(failed) as server, pytest.raises(ContextOverflow):
        asked(server)


def test_a_server_without_this_api() -> None:
    with serving((404, {"detail": "Not Found"})) as server, pytest.raises(ModelError, match="--api chat"):
        asked(server)


@pytest.mark.parametrize(
    "body", [[], 5, {"output": 5}, {"output": [{}]}, {"output": [{"type": "message", "content": [5]}]}]
)
def test_a_response_of_another_form(body: Any) -> None:
    with serving(body) as server, pytest.raises(ModelError, match="of another form"):
        asked(server)
