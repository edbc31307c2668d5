"""Whole runs on a model behind a server that does everything wrong: the run pauses, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rarg_tui.agent import openai_errors
from rarg_tui.agent import session as session_module
from rarg_tui.agent.hosted import Hosted
from rarg_tui.agent.session import Session
from rarg_tui.config import Price, Settings
from rarg_tui.trace import events as ev
from rarg_tui.trace.log import load
from rarg_tui.workbench import Workbench
from tests.agent.fake_server import FakeServer, Stream, call_delta, completion, delta, serving, streamed

ANSWER = completion("Ilse Brandt. [letters/a.txt]")
RECALL = completion(None, ("embed_recall", '{"query": "orrery"}'))
BROKEN = completion(None, ("embed_recall", '{"query": '))

Begin = Callable[..., Session]


@pytest.fixture
def begin(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """``begin(server, …)``: a run on the small corpus that asks ``server``."""
    monkeypatch.setattr(openai_errors, "BACK_OFF_S", (0.0, 0.0, 0.0))
    benches: list[Workbench] = []

    def start(server: FakeServer, limits: Any = None, **settings: Any) -> Session:
        bench = Workbench(
            Settings(
                corpus=small_corpus,
                ranker="lexical+static",
                model="fake",
                base_url=server.url,
                prices={"fake": Price(2.0, 10.0)},
                **settings,
            )
        )
        benches.append(bench)
        bench.prepare()
        return bench.start("Who mended the orrery?", limits=limits)

    yield start
    for bench in benches:
        bench.close()


def _tool(*calls: tuple[str, str]) -> dict[str, Any]:
    return completion(None, *calls)


def _results(server: FakeServer) -> list[str]:
    """What the last request shows the model of its calls."""
    return [one["content"] for one in server.requests[-1]["messages"] if one["role"] == "tool"]


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (_tool(("embed_recall", '{"query": ')), "not valid JSON"),
        (_tool(("embed_recal", '{"query": "x"}')), "did you mean embed_recall"),
        (_tool(("embed_recall", "{}")), "needs the argument 'query'"),
        (_tool(("embed_recall", '{"query": 7}')), "must be of type string"),
        (_tool(("bash", '{"command": "ls", "timeout": "soon"}')), "must be of type number"),
        (streamed(call_delta("[1]", index=0, name="read")), "no JSON object"),
    ],
)
def test_a_wrong_call_is_an_error_that_the_model_can_act_on(begin: Begin, reply: Any, told: str) -> None:
    with serving(reply, ANSWER) as server:
        session = begin(server)
        session.run()
        (result,) = _results(server)
    assert told in result
    assert session.state.ended == "answered"
    assert session.state.citations == ("letters/a.txt",)


def test_several_calls_with_one_id_are_answered_each(begin: Begin) -> None:
    two = _tool(("embed_recall", '{"query": "orrery"}'), ("read", '{"path": "letters/a.txt"}'))
    with serving(two, two, ANSWER) as server:
        session = begin(server)
        session.run()
        sent = server.requests[-1]["messages"]
    assert session.state.ended == "answered"
    asked = [call["id"] for one in sent for call in one.get("tool_calls", ())]
    assert asked == [one["tool_call_id"] for one in sent if one["role"] == "tool"]
    assert len(set(asked)) == 4


FAULTS: dict[str, tuple[Any, str]] = {
    "401": ((401, {"error": {"message": "no"}}), "OPENAI_API_KEY"),
    "404": ((404, {"error": {"message": "The model `fake` does not exist."}}), "no model 'fake'"),
    "429": ((429, {"error": {"message": "slow down"}}, {"Retry-After": "3600"}), "in 3600 seconds"),
    "500": ((500, {"error": {"message": "oh"}}), "status 500"),
    "cut": (Stream((call_delta('{"qu', index=0, name="read"),), cut=True), "broke the connection"),
    "empty": (completion(""), "empty reply"),
    "reasoning": (streamed(delta(reasoning="Hm")), "reasoning alone"),
    "odd": ({"choices": 5}, "of another form"),
}


@pytest.mark.parametrize(("fault", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_fault_pauses_the_run_and_the_next_step_goes_on(begin: Begin, fault: Any, sentence: str) -> None:
    with serving(RECALL, fault) as server:
        session = begin(server)
        session.run()
        assert sentence in session.state.model_error
        assert not session.state.ended
        server.replies = [ANSWER]
        session.run()
    assert session.state.ended == "answered"
    assert session.state.model_error == ""
    assert [event.kind for event in load(session.directory).events].count("ModelFailed") == 1


def test_a_server_that_is_gone_pauses_the_run(begin: Begin) -> None:
    with serving(RECALL) as server:
        session = begin(server)
        session.step()
        session.step()
    session.run()
    assert "cannot be reached" in session.state.model_error
    assert not session.state.ended


def test_three_turns_of_malformed_calls_pause_the_run(begin: Begin) -> None:
    unknown = _tool(("brew", "{}"))
    with serving(RECALL, BROKEN, unknown, BROKEN, BROKEN, RECALL, ANSWER) as server:
        session = begin(server)
        session.run()
        assert "last 3 turns were nothing but calls that cannot be run" in session.state.model_error
        assert len(session.state.turns) == 4
        session.run()
        assert "last 3 turns" in session.state.model_error, "it goes on for one more turn at a time"
        assert len(session.state.turns) == 5
        session.run()
    assert session.state.ended == "answered"


def test_one_good_call_in_a_turn_is_enough_to_go_on(begin: Begin) -> None:
    mixed = _tool(("embed_recall", "{"), ("embed_recall", '{"query": "orrery"}'))
    with serving(BROKEN, BROKEN, mixed, BROKEN, BROKEN, ANSWER) as server:
        session = begin(server)
        session.run()
    assert session.state.ended == "answered"


def test_a_conversation_that_is_too_long_is_sent_with_fewer_results(begin: Begin) -> None:
    too_long = (400, {"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}})
    recalls = _tool(*[("embed_recall", '{"query": "orrery"}')] * 30)
    with serving(recalls, too_long, too_long, ANSWER) as server:
        session = begin(server)
        session.run()
        cleared = [sum("[cleared]" in one for one in _results_of(sent)) for sent in server.requests]
    assert cleared == [0, 0, 10, 20]
    compacted = [one for one in load(session.directory).events if isinstance(one, ev.ContextCompacted)]
    assert [len(one.cleared) for one in compacted] == [10, 10]
    assert session.state.ended == "answered"


def test_with_five_results_left_the_run_pauses(begin: Begin) -> None:
    too_long = (400, {"error": {"message": "maximum context length", "code": "context_length_exceeded"}})
    recalls = _tool(*[("embed_recall", '{"query": "orrery"}')] * 30)
    with serving(recalls, too_long) as server:
        session = begin(server)
        session.run()
        assert len(session.state.cleared) == 25
        assert "too long" in session.state.model_error
        assert len(server.requests) == 5
        server.replies = [ANSWER]
        session.run()
    assert session.state.ended == "answered"


def test_fewer_results_are_tried_so_often_and_no_more(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "OVERFLOW_TRIES", 1)
    too_long = (400, {"error": {"message": "prompt is too long"}})
    with serving(_tool(*[("embed_recall", '{"query": "orrery"}')] * 30), too_long) as server:
        session = begin(server)
        session.run()
    assert len(session.state.compactions) == 1
    assert "too long" in session.state.model_error


def _results_of(sent: dict[str, Any]) -> list[str]:
    return [one["content"] for one in sent["messages"] if one["role"] == "tool"]


def test_a_long_result_is_cut_before_it_is_sent(begin: Begin, small_corpus: Path) -> None:
    (small_corpus / "long.txt").write_text("orrery " * 20_000 + "\n")
    try:
        with serving(RECALL, _tool(("read", '{"path": "long.txt"}')), ANSWER) as server:
            session = begin(server)
            session.run()
            result = _results(server)[-1]
    finally:
        (small_corpus / "long.txt").unlink()
    assert len(result) < 60_000
    assert "characters cut" in result


def test_partial_text_reaches_the_session(begin: Begin) -> None:
    told: list[str] = []
    with serving(streamed(delta(content="Ilse "), delta(content="Brandt."))) as server:
        session = begin(server)
        session.on_text = lambda text, reasoning: told.append(text)
        session.run()
    assert told == ["Ilse ", "Ilse Brandt."]
    assert session.state.answer == "Ilse Brandt."


def test_usage_and_cost_are_those_of_all_turns(begin: Begin) -> None:
    with serving(RECALL, ANSWER) as server:
        session = begin(server)
        session.run()
    usage = session.state.usage
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (200, 20, False)
    assert usage.cost_usd == pytest.approx(2 * (100 * 2 + 10 * 10) / 1e6)
    assert all(turn.elapsed_ms > 0 for turn in session.state.turns)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"max_tokens": 200}, "budget of 200 tokens has no room for another turn"),
        ({"max_tokens": 100}, "budget of 100 tokens is used up"),
        ({"max_cost_usd": 0.0005}, "budget of 0.0005 USD has no room for another turn"),
        ({"max_cost_usd": 0.0003}, "budget of 0.0003 USD is used up"),
    ],
)
def test_no_turn_begins_that_would_pass_the_budget(begin: Begin, limits: Any, sentence: str) -> None:
    with serving(RECALL) as server:
        session = begin(server, limits)
        session.run()
    assert session.state.ended == "budget"
    assert sentence in session.state.error
    assert len(server.requests) == 1


def test_the_responses_api_drives_a_run(begin: Begin) -> None:
    call = {"type": "function_call", "call_id": "x", "name": "read", "arguments": '{"path": "letters/a.txt"}'}
    thought = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gA"}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Ilse. [letters/a.txt]"}]}
    with serving({"output": [thought, call]}, {"output": [said]}) as server:
        session = begin(server, api="responses", reasoning_effort="low")
        session.run()
    assert session.state.ended == "answered"
    assert session.state.usage.estimated
    assert [item.get("type") for item in server.requests[1]["input"]][1:] == [
        "reasoning",
        "function_call",
        "function_call_output",
    ]


def test_the_log_holds_no_key(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-a-key-that-nobody-may-read"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    echo = (400, {"error": {"message": f"wrong key {key}"}})
    with serving(RECALL, echo) as server:
        session = begin(server)
        session.run()
    assert server.keys == [f"Bearer {key}"] * 2
    assert "wrong key [key]" in session.state.model_error
    for file in session.directory.rglob("*"):
        assert key.encode() not in file.read_bytes()


def test_the_server_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Hosted(Settings()).server == "https://api.openai.com/v1"
    # The client itself would follow this variable, and consent would be asked for another server.
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert Hosted(Settings()).server == "http://127.0.0.1:9/v1"
    assert Hosted(Settings(base_url="http://127.0.0.1:7/v1")).server == "http://127.0.0.1:7/v1"
