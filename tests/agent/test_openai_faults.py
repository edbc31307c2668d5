"""The faults of a server: what is tried again, after how long, and what is said in the end."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rarg_tui.agent.model import ContextOverflow, ModelError
from rarg_tui.agent.openai_errors import BACK_OFF_S, LONGEST_WAIT_S
from tests.agent.asking import KEY, Waits, ask
from tests.agent.fake_server import Stream, completion, delta, serving, streamed


def _error(status: int, message: str, headers: Any = None, **more: Any) -> tuple[int, Any, Any]:
    return status, {"error": {"message": message, **more}}, headers


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_busy_or_broken_server_is_asked_again(status: int) -> None:
    waits = Waits()
    with serving(_error(status, "oh"), _error(status, "oh"), completion("Ilse.")) as server:
        assert ask(server, wait=waits).text == "Ilse."
    assert waits.seconds == [0.5, 2.0]


@pytest.mark.parametrize(("status", "sentence"), [(429, "asks to wait"), (500, "status 500: oh")])
def test_but_not_for_ever(status: int, sentence: str) -> None:
    waits = Waits()
    with serving(_error(status, "oh")) as server, pytest.raises(ModelError, match=sentence):
        ask(server, wait=waits)
    assert waits.seconds == list(BACK_OFF_S)
    assert len(server.requests) == 4


def test_the_server_says_how_long_to_wait() -> None:
    waits = Waits()
    busy = [
        _error(429, "wait", {"Retry-After": "7"}),
        _error(503, "wait", {"retry-after-ms": "250"}),
        _error(429, "wait", {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}),
    ]
    with serving(*busy, completion("Ilse.")) as server:
        assert ask(server, wait=waits).text == "Ilse."
    assert waits.seconds == [7.0, 0.25, 0.0]


@pytest.mark.parametrize("header", ["soon", "-1", "nan", "inf", ""])
def test_a_wait_that_makes_no_sense_is_our_own(header: str) -> None:
    waits = Waits()
    with serving(_error(429, "wait", {"Retry-After": header}), completion("Ilse.")) as server:
        ask(server, wait=waits)
    assert waits.seconds == [0.5]


def test_a_long_wait_is_left_to_the_person() -> None:
    waits = Waits()
    busy = _error(429, "wait", {"Retry-After": str(LONGEST_WAIT_S + 1)})
    with serving(busy) as server, pytest.raises(ModelError, match="step again in 61 seconds"):
        ask(server, wait=waits)
    assert waits.seconds == []


def test_a_quota_does_not_come_back_by_waiting() -> None:
    used_up = _error(429, "You exceeded your current quota.", code="insufficient_quota")
    with serving(used_up) as server, pytest.raises(ModelError, match="quota of this key is used up"):
        ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_asking_again_does_not_mend_is_asked_once(status: int) -> None:
    with serving(_error(status, "no")) as server, pytest.raises(ModelError):
        ask(server)
    assert len(server.requests) == 1


def test_a_wait_can_be_stopped() -> None:
    with serving(_error(429, "wait")) as server, pytest.raises(ModelError, match="not waited for"):
        ask(server, wait=Waits(cancelled=True))
    assert len(server.requests) == 1


def test_a_real_wait_hears_that_it_is_stopped() -> None:
    from rarg_tui.agent.openai_model import _wait

    cancel = threading.Event()
    threading.Thread(target=cancel.set).start()
    assert _wait(60, cancel)


#: Messages as servers send them, from their public reports; the status is theirs too.
TOO_LONG = {
    "OpenAI": _error(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9011 tokens.",
        code="context_length_exceeded",
    ),
    "OpenAI Responses": _error(400, "Your input exceeds the context window of this model."),
    "vLLM": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 0 output "
            "tokens and your prompt contains at least 4097 input tokens.",
        },
    ),
    "llama.cpp": _error(
        400, "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"
    ),
    "llama.cpp, status 500": _error(500, "the request exceeds the available context size."),
    "llama.cpp, status 200": {"error": {"code": 400, "message": "", "type": "exceed_context_size_error"}},
    "llama.cpp, in the stream": Stream(
        (delta(content="I"), {"error": {"message": "Context size has been exceeded."}})
    ),
    "llama-cpp-python": _error(400, "Requested tokens (2285) exceed context window of 2048"),
    "Ollama": _error(400, "prompt too long; exceeded max context length by 12 tokens"),
    "Ollama, runner": _error(500, "the input length exceeds the context length"),
    "LM Studio": _error(400, "The number of tokens to keep is greater than the context length."),
    "SGLang": _error(400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    "Anthropic": _error(400, "prompt is too long: 215000 tokens > 200000 maximum"),
    "xAI": _error(
        400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."
    ),
    "Google": _error(400, "The input token count (1200000) exceeds the maximum number of tokens allowed."),
    "Groq": _error(413, "Please reduce the length of the messages or completion."),
    "Mistral": _error(
        400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"
    ),
    "Z.ai": streamed(finish="model_context_window_exceeded"),
}


@pytest.mark.parametrize("refusal", TOO_LONG.values(), ids=TOO_LONG)
def test_a_conversation_that_is_too_long(refusal: Any) -> None:
    with serving(refusal) as server, pytest.raises(ContextOverflow, match="too long for fake"):
        ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        _error(429, "Rate limit: maximum context length of tokens per minute"),
        _error(400, "max_tokens is too large"),
        _error(400, "Too many tokens, please wait before trying again."),
    ],
)
def test_other_limits_are_no_such_thing(refusal: Any) -> None:
    with serving(refusal) as server, pytest.raises(ModelError) as caught:
        ask(server)
    assert not isinstance(caught.value, ContextOverflow)


@pytest.mark.parametrize(
    ("empty", "sentence"),
    [
        (completion(""), "empty reply"),
        (completion(None), "empty reply"),
        (streamed(delta(reasoning="Hm")), "reasoning alone"),
        (completion("<think>Hm</think>"), "reasoning alone"),
        (streamed(delta(reasoning="Hm"), finish="length"), "limit of output"),
        (streamed(finish="content_filter"), "content filter"),
    ],
)
def test_a_reply_without_an_answer(empty: Any, sentence: str) -> None:
    with serving(empty) as server, pytest.raises(ModelError, match=sentence):
        ask(server)
    assert len(server.requests) == 2
    with serving(empty, completion("Ilse.")) as server:
        reply = ask(server)
    assert reply.text == "Ilse."
    assert reply.usage.input_tokens == 200, "what the empty reply took is not forgotten"


@pytest.mark.parametrize("key", [KEY, "k", ""])
def test_no_error_holds_the_key(key: str) -> None:
    said = f"Incorrect API key provided: {key}. Yours begins with sk-abc***xyz."
    with serving(_error(400, said)) as server, pytest.raises(ModelError) as caught:
        ask(server, api_key=key)
    assert not key or key not in str(caught.value).removeprefix(server.url).replace("[key]", "")
    assert (key == "k") != ("sk-abc***xyz" in str(caught.value))


def test_a_proxy_that_answers_with_a_page() -> None:
    with serving((502, "<html>Bad Gateway</html>")) as server, pytest.raises(ModelError, match="status 502"):
        ask(server)
