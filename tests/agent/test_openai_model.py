from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

import pytest

from rarg_tui.agent.model import ModelError, Reply, Request
from rarg_tui.agent.openai_model import OpenAIModel, first_model
from rarg_tui.agent.profiles import profile
from rarg_tui.agent.strategies import strategy
from rarg_tui.trace.reducer import replay
from tests.agent.fake_server import FakeServer, completion, serving
from tests.trace import scripted

KEY = "sk-very-secret"


TOOLS = ("embed_recall", "bash", "read")


def request(force: bool = False) -> Request:
    return Request(
        question="Who?",
        strategy=strategy("rarg++"),
        profile=profile("bcplus"),
        tools=[] if force else [{"type": "function", "function": {"name": name}} for name in TOOLS],
        state=replay(scripted.events()[:1]),
        force_answer=force,
    )


def ask(server: FakeServer, **settings: Any) -> Reply:
    return OpenAIModel("fake", base_url=server.url, api_key=KEY, **settings).reply(request())


def test_a_reply_with_calls() -> None:
    with serving(
        completion("Looking.", ("embed_recall", '{"query": "clock"}'), ("read", '{"path": "a"}'))
    ) as server:
        reply = ask(server, prices=(2.0, 10.0))
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
        (completion(""), "empty reply"),
        ({"choices": []}, "without choices"),
        ({"choices": None, "error": "x"}, "without choices"),
    ],
)
def test_a_fault_is_one_sentence_without_the_key(reply: Any, sentence: str) -> None:
    with serving(reply) as server, pytest.raises(ModelError, match=sentence) as caught:
        ask(server)
    assert KEY not in str(caught.value)


def test_a_path_that_is_not_utf8_does_not_stop_the_request() -> None:
    asked = replace(
        request(), state=replay([scripted.started(question=os.fsdecode(b"What is latin-\xe9.txt?"))])
    )
    with serving(completion("Ilse.")) as server:
        OpenAIModel("fake", base_url=server.url).reply(asked)
    assert server.requests[0]["messages"][-1]["content"] == "What is latin-?.txt?"


def test_no_server() -> None:
    with serving() as server:
        url = server.url
    with pytest.raises(ModelError, match="cannot be reached"):
        OpenAIModel("fake", base_url=url).reply(request())


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
    _function(name="bash", arguments={"command": "ls"}),
]


@pytest.mark.parametrize("body", ODD)
def test_a_reply_of_another_form(body: Any) -> None:
    with serving(body) as server, pytest.raises(ModelError, match="of another form"):
        ask(server)


@pytest.mark.parametrize("usage", [5, "x", {}, {"prompt_tokens": "x", "completion_tokens": None}])
def test_usage_that_is_no_number_is_estimated(usage: Any) -> None:
    with serving({**completion("hi"), "usage": usage}) as server:
        assert ask(server).usage.estimated


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
