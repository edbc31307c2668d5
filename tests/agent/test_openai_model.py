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
from rarg_tui.agent.tools import SCHEMAS
from rarg_tui.trace.reducer import replay
from tests.agent.fake_server import FakeServer, completion, serving
from tests.trace import scripted

KEY = "sk-very-secret"


def request(force: bool = False) -> Request:
    return Request(
        question="Who?",
        strategy=strategy("rarg++"),
        profile=profile("bcplus"),
        tools=[] if force else list(SCHEMAS.values()),
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
