from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from rarg_tui.agent.model import ModelError, Reply
from rarg_tui.agent.session import Session
from rarg_tui.config import Settings
from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace import runs
from rarg_tui.trace.events import ToolCall
from rarg_tui.trace.log import load
from rarg_tui.trace.reducer import replay
from rarg_tui.workbench import Workbench
from tests import small
from tests.agent.conftest import ScriptedModel, Start, bash, calls, recall

GREP = "cat scope_1.txt | xargs -d '\\n' rg -n Ilse"


def kinds(session: Session) -> list[str]:
    return [event.kind for event in load(session.directory).events]


def test_a_step_is_a_half_step_and_everything_is_logged(start: Start) -> None:
    session = start(recall(), bash(GREP), Reply("Ilse Brandt. [letters/a.txt:3]"))
    assert session.next_step() == "ask for turn 1"
    assert session.step()
    assert session.next_step() == "run call 1"
    assert session.state.calls[0].waiting
    assert session.step()
    assert session.state.scopes[0].documents == 3
    session.run()
    assert kinds(session) == [
        "RunStarted",
        "ModelReplied",
        "CallProposed",
        "ScopeCreated",
        "CallExecuted",
        "ModelReplied",
        "CallProposed",
        "CallExecuted",
        "ModelReplied",
        "RunEnded",
    ]
    assert session.state.ended == "answered"
    assert session.state.citations == ("letters/a.txt",)
    assert not session.step()
    assert session.state == replay(load(session.directory).events)


def test_several_calls_of_one_turn_run_one_after_another(start: Start) -> None:
    session = start(
        recall(), calls(("bash", {"command": GREP}), ("read", {"path": "letters/b.txt"})), Reply("x")
    )
    session.run()
    assert [(call.tool, call.state) for call in session.state.calls] == [
        ("embed_recall", "ok"),
        ("bash", "ok"),
        ("read", "ok"),
    ]


def test_hits_have_the_rank_of_the_scope_that_was_searched(start: Start) -> None:
    session = start(recall(), bash(GREP), Reply("x"), strategy="rarg")
    session.run()
    ranked = (session.directory / "scope_1.txt").read_text().splitlines()
    assert {path: hit.rank for path, hit in session.state.hits.items()} == {
        path: ranked.index(path) + 1 for path in ("letters/a.txt", "letters/b.txt")
    }


def test_an_edited_call_runs_as_edited(start: Start) -> None:
    session = start(recall(), Reply("x"))
    session.step()
    session.edit(1, {"query": "eggs"})
    session.step()
    assert session.state.scopes[0].query == "eggs"
    assert session.state.calls[0].edited_from == {"query": "who mended the orrery?"}


@pytest.mark.parametrize("arguments", [{}, {"query": 7}, {"query": "x", "top": 3}, {"query": " "}])
def test_an_edit_that_does_not_fit_the_tool_is_refused_and_not_logged(
    start: Start, arguments: dict[str, object]
) -> None:
    session = start(recall())
    session.step()
    before = kinds(session)
    with pytest.raises(RargError, match="embed_recall"):
        session.edit(1, arguments)
    assert kinds(session) == before


def test_a_skipped_call_is_told_to_the_model(start: Start) -> None:
    session = start(recall(), Reply("x"))
    session.step()
    session.skip(1, "no need")
    session.run()
    assert session.state.calls[0].state == "skipped"
    assert session.state.ended == "answered"
    with pytest.raises(RargError, match="does not wait"):
        session.skip(1)


def test_an_inserted_call_runs_before_the_one_that_waits(start: Start) -> None:
    session = start(recall(), Reply("x"))
    session.step()
    session.insert("read", {"path": "letters/b.txt"})
    session.step()
    assert [call.state for call in session.state.calls] == ["proposed", "ok"]
    assert session.state.calls[1].by == "user"


def test_a_manual_call_runs_at_once_and_is_marked(start: Start) -> None:
    session = start(Reply("x"))
    session.manual("embed_recall", {"query": "shop"})
    session.manual("bash", {"command": GREP})
    assert [(call.by, call.state) for call in session.state.calls] == [("user", "ok"), ("user", "ok")]
    session.run()
    assert session.state.ended == "answered"
    session.manual("read", {"path": "letters/a.txt"})
    assert session.state.calls[-1].state == "ok"


def test_a_model_that_cannot_be_asked_pauses_the_run_and_can_be_asked_again(start: Start) -> None:
    session = start(ModelError("No server."), Reply("Ilse."))
    assert not session.step()
    assert session.state.model_error == "No server."
    assert not session.state.ended
    session.step()
    assert session.state.ended == "answered"
    assert session.state.model_error == ""


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (calls(("brew", {})), "no tool 'brew'"),
        (calls(("embed_recal", {"query": "x"})), "did you mean embed_recall"),
        (calls(("embed_recall", {})), "'query'"),
        (calls(("bash", {"command": ["rg"]})), "type string"),
        (calls(("read", {"path": "letters/a.txt", "offset": True})), "type integer"),
        (calls(("read", {"path": "../../etc/passwd"})), "no document"),
        (calls(("read", {"path": "letters/a.txt", "offset": 99})), "beyond its end"),
        (calls(("read", {"path": "letters/a.txt", "offset": 0})), "1 or more, not 0"),
        (
            Reply("", calls=(ToolCall("x", "bash", None, "{oops", "The arguments are not valid JSON."),)),
            "not valid JSON",
        ),
    ],
)
def test_a_call_that_is_wrong_tells_the_model_how_to_do_it_right(
    start: Start, reply: Reply, sentence: str
) -> None:
    session = start(reply, Reply("x"))
    session.run()
    call = session.state.calls[0]
    assert call.state == "error"
    assert sentence in call.observation
    assert session.state.ended == "answered"


def test_the_turn_limit_turns_the_tools_off_and_then_ends_the_run(start: Start) -> None:
    session = start(*[recall() for _ in range(41)], profile="bright")
    session.run()
    assert session.state.ended == "turn_limit"
    model = session._model
    assert [bool(request.tools) for request in model.requests] == [True] * 39 + [False] * 2


def test_old_results_are_cleared_when_the_conversation_grows_too_long(start: Start) -> None:
    session = start(recall(), bash(GREP), bash(GREP), Reply("x"))
    world = session._world
    world.profile = world.profile.with_limits({"compaction_tokens": 10, "keep_results": 1})
    session.run()
    (first, second) = [e for e in load(session.directory).events if isinstance(e, ev.ContextCompacted)]
    assert (first.cleared, second.cleared) == ((1,), (2,))
    assert first.tokens_after < first.tokens_before


def test_a_cancelled_step_can_be_taken_again(start: Start) -> None:
    session = start(recall(), bash(GREP), Reply("x"))
    session.step()
    session.step()
    session.step()
    cancel = threading.Event()
    cancel.set()
    assert not session.step(cancel)
    assert session.state.calls[1].waiting
    session.step()
    assert session.state.calls[1].state == "ok"


def test_a_cancelled_manual_call_does_not_wait(start: Start) -> None:
    session = start(recall())
    cancel = threading.Event()
    cancel.set()
    session.manual("embed_recall", {"query": "x"}, cancel)
    assert session.state.calls[0].state == "skipped"


def test_while_a_run_is_at_work_nothing_else_may_change_it(start: Start) -> None:
    session = start(recall(), Reply("x"))
    refused: list[str] = []

    def interfere(event: ev.Event) -> None:
        if event.kind == "CallProposed":
            with pytest.raises(RargError) as caught:
                session.skip(1)
            refused.append(str(caught.value))

    session.subscribe(interfere)
    session.step()
    assert refused == ["The run is at work: pause it first."]


def test_bright_gives_a_ranking(start: Start) -> None:
    session = start(Reply("1. letters/b.txt\n2. letters/a.txt"), profile="bright")
    session.run()
    assert session.state.ranking == ("letters/b.txt", "letters/a.txt")


def test_a_name_that_does_not_exist_is_refused_with_the_nearest(start: Start) -> None:
    with pytest.raises(RargError, match=r"did you mean rarg"):
        start(strategy="rargg")
    with pytest.raises(RargError, match="did you mean bright"):
        start(profile="brigt")
    with pytest.raises(RargError, match="no question"):
        start(question="  ")


@pytest.mark.parametrize(
    ("timeout", "state"), [(0, "error"), (-1, "error"), (float("nan"), "error"), (10**400, "ok")]
)
def test_no_timeout_lifts_the_limit(start: Start, timeout: float, state: str) -> None:
    session = start(recall(), calls(("bash", {"command": "echo x", "timeout": timeout})), Reply("x"))
    session.run()
    assert session.state.calls[1].state == state


def test_a_fork_is_gone_on_with(start: Start, small_corpus: Path) -> None:
    session = start(recall(), bash(GREP), Reply("x"))
    session.run()
    session.close()
    forked = runs.fork(session.directory.parent, session.directory, 3)
    bench = Workbench(Settings(corpus=small_corpus))
    assert bench.unfinished(forked)
    bench.model = lambda name="": ScriptedModel(Reply("[letters/a.txt]"))  # type: ignore[method-assign]
    again = bench.resume(forked)
    assert again.next_step() == "run call 1"
    again.run()
    assert again.state.ended == "answered"
    assert again.state.calls[0].state == "ok"
    assert again.state.rankers == session.state.rankers
    again.close()
    assert load(forked).events[-1].kind == "RunEnded"
    with pytest.raises(RargError, match="has ended"):
        bench.resume(forked)
    bench.close()


def test_a_run_of_another_corpus_is_not_gone_on_with(start: Start, tmp_path: Path) -> None:
    session = start(recall())
    session.close()
    bench = Workbench(Settings(corpus=small.write(tmp_path)))
    assert not bench.unfinished(session.directory)
    with pytest.raises(RargError, match="open it with that directory"):
        bench.resume(session.directory)


def test_the_last_turn_of_a_shorter_limit_is_the_answer(start: Start) -> None:
    session = start(recall(), Reply("x"), limits={"max_turns": 2})
    session.run()
    assert session.state.ended == "answered"
    assert [bool(request.tools) for request in session._model.requests] == [True, False]
    assert session.state.limits["max_turns"] == 2


def test_no_turn_begins_once_the_tokens_are_used_up(start: Start) -> None:
    costly = replace(recall(), usage=ev.Usage(input_tokens=90, output_tokens=10))
    session = start(costly, Reply("never asked"), limits={"max_tokens": 100})
    session.run()
    assert session.state.ended == "budget"
    assert "100 tokens" in session.state.error
    assert [call.state for call in session.state.calls] == ["ok"]


def test_a_cost_that_cannot_be_known_cannot_be_bounded(start: Start) -> None:
    with pytest.raises(RargError, match="--max-tokens"):
        start(recall(), limits={"max_cost_usd": 1.0})
