from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

import pytest

from rarg_tui.agent.model import ModelError
from rarg_tui.agent.openai_model import OpenAIModel, first_model
from rarg_tui.config import Price
from rarg_tui.trace.reducer import replay
from tests.agent.asking import KEY, ask, request
from tests.agent.fake_server import Broken, completion, serving
from tests.trace import scripted


def test_a_reply_with_calls() -> None:
    with serving(
        completion("Looking.", ("embed_recall", '{"query": "clock"}'), ("read", '{"path": "a"}'))
    ) as server:
        reply = ask(server, price=Price(2.0, 10.0))
    assert reply.text == "Looking."
    assert [(call.tool, call.arguments) for call in reply.calls] == [
        ("embed_recall", {"query": "clock"}),
        ("read", {"path": "a"}),
    ]
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 10)
    assert reply.usage.cost_usd == pytest.approx(0.0003)
    sent = server.requests[0]
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["embed_recall", "bash", "read"]
    assert sent["messages"][-1] == {"role": "user", "content": "Who mended the clock?"}


def test_without_a_price_the_cost_is_unknown() -> None:
    with serving(completion("Ilse.")) as server:
        assert ask(server).usage.cost_usd is None


def test_a_forced_answer_goes_out_without_tools() -> None:
    with serving(completion("Ilse.")) as server:
        OpenAIModel("fake", base_url=server.url).reply(request(force=True))
    assert "tools" not in server.requests[0]


@pytest.mark.parametrize("raw", ['{"query": ', "[1]", "null", "nonsense"])
def test_bad_arguments_are_kept_and_explained(raw: str) -> None:
    with serving(completion(None, ("embed_recall", raw))) as server:
        (call,) = ask(server).calls
    assert call.raw == raw
    assert call.arguments is None
    assert "send them again" in call.error


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((401, {"error": {"message": f"Incorrect API key: {KEY}"}}), "OPENAI_API_KEY"),
        ((404, {"error": {"message": "no such model"}}), "has no model 'fake'"),
        ((400, {"error": {"message": f"bad request with {KEY}"}}), "status 400"),
        ((404, {"error": {"message": "Not Found"}}), "usually ends in /v1"),
        ((400, {"error": {"message": "x" * 295 + KEY}}), "status 400"),
        ({"choices": []}, "another form"),
        ({"choices": None, "error": "x"}, "broke off with an error: x"),
    ],
)
def test_a_fault_is_one_sentence_without_the_key(reply: Any, sentence: str) -> None:
    with serving(reply) as server, pytest.raises(ModelError, match=sentence) as caught:
        ask(server)
    assert KEY[:5] not in str(caught.value)


def test_a_path_that_is_not_utf8_does_not_stop_the_request() -> None:
    asked = replace(
        request(), state=replay([scripted.started(question=os.fsdecode(b"What is latin-\xe9.txt?"))])
    )
    with serving(completion("Ilse.")) as server:
        OpenAIModel("fake", base_url=server.url).reply(asked)
    assert server.requests[0]["messages"][-1]["content"] == "What is latin-?.txt?"


def test_no_server() -> None:
    with serving() as server:
        pass
    with pytest.raises(ModelError, match="cannot be reached"):
        ask(server)


def test_cancelling_does_not_wait_for_the_server() -> None:
    cancel = threading.Event()
    with serving(None) as server:

        def stop() -> None:
            server.asked.wait()
            cancel.set()

        threading.Thread(target=stop, daemon=True).start()
        with pytest.raises(ModelError, match="not waited for"):
            OpenAIModel("fake", base_url=server.url).reply(request(), cancel)


def test_the_first_model_of_a_server() -> None:
    with serving() as server:
        assert first_model(server.url) == "served"
    with pytest.raises(ModelError, match="--model"):
        first_model(server.url)


def _message(**parts: Any) -> dict[str, Any]:
    body = completion("hi")
    body["choices"][0]["message"].update(parts)
    return body


def _function(**parts: Any) -> dict[str, Any]:
    return _message(tool_calls=[{"id": "1", "type": "function", "function": parts}])


ODD: list[Any] = [
    {**completion("hi"), "choices": "x"},
    {**completion("hi"), "choices": [None]},
    {**completion("hi"), "choices": [{}]},
    {**completion("hi"), "choices": 5},
    _message(content=5),
    _message(content=[{"type": "text", "text": "x"}]),
    _message(tool_calls=5),
    _message(tool_calls=[None]),
    _message(tool_calls=[{"id": "1", "type": "function", "function": None}]),
    _function(),
    _function(name=None, arguments="{}"),
    _function(name="bash", arguments=5),
]


@pytest.mark.parametrize("body", ODD)
def test_a_reply_of_another_form(body: Any) -> None:
    with serving(body) as server, pytest.raises(ModelError, match="of another form"):
        ask(server)


@pytest.mark.parametrize("usage", [5, "x", {}, {"prompt_tokens": "x", "completion_tokens": None}])
def test_usage_that_is_no_number_is_estimated(usage: Any) -> None:
    with serving({**completion("h" * 80), "usage": usage}) as server:
        found = ask(server, price=Price(0.0, 1.0)).usage
    assert found.estimated
    assert found.input_tokens > 100
    assert found.output_tokens == 20
    assert found.cost_usd == pytest.approx(20e-6)


def test_input_from_the_cache_has_a_price_of_its_own() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 60}}
    details["completion_tokens_details"] = {"reasoning_tokens": 4}
    with serving(completion("hi", **details)) as server:  # type: ignore[arg-type]
        found = ask(server, price=Price(2.0, 10.0, cached=0.5)).usage
        dear = ask(server, price=Price(2.0, 10.0)).usage
    assert (found.cached_tokens, found.reasoning_tokens) == (60, 4)
    assert found.cost_usd == pytest.approx((40 * 2 + 60 * 0.5 + 10 * 10) / 1e6)
    assert dear.cost_usd == pytest.approx((100 * 2 + 10 * 10) / 1e6)


def test_arguments_may_come_as_the_object_itself() -> None:
    with serving(_function(name="bash", arguments={"command": "ls"})) as server:
        (call,) = ask(server).calls
    assert call.arguments == {"command": "ls"}


def test_marks_of_thought_are_no_text() -> None:
    with serving(completion("<think>\nWho?\n</think>\n\nIlse.")) as server:
        reply = ask(server)
    assert (reply.text, reply.reasoning) == ("Ilse.", "Who?")


def test_a_key_that_the_model_says_is_not_kept() -> None:
    with serving(completion(f"It is {KEY}.", ("bash", f'{{"command": "echo {KEY}"}}'))) as server:
        reply = ask(server)
    assert KEY not in repr(reply)
    assert server.keys == [f"Bearer {KEY}"]


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serving(completion("hi")) as server:
        assert ask(server).text == "hi"


def test_a_whole_reply_that_breaks_off() -> None:
    with serving(Broken(), completion("Ilse.")) as server:
        assert ask(server).text == "Ilse."


def test_half_of_a_character_is_replaced() -> None:
    with serving(completion("a \ud800 b")) as server:
        assert ask(server).text == "a ? b"


@pytest.mark.parametrize(
    "raw",
    ['{"command": ' + "[" * depth + "]" * depth + "}" for depth in (200, 900, 100_000)]
    + ['{"command": "ls", "timeout": NaN}', '{"command": "ls", "timeout": -Infinity}'],
)
def test_arguments_that_no_tool_can_take(raw: str) -> None:
    with serving(completion(None, ("bash", raw))) as server:
        (call,) = ask(server).calls
    assert call.arguments is None
    assert call.error.endswith("send them again.")


@pytest.mark.parametrize("listed", [[], "x", {"data": None}, {"data": 5}, {"data": [None]}, {"data": ["x"]}])
def test_a_server_that_lists_something_else(listed: Any) -> None:
    with serving() as server:
        server.models = listed
        with pytest.raises(ModelError, match="lists no models"):
            first_model(server.url)
