"""Each strategy's own tools through the step machine, on three small documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from rarg_tui.agent import context
from rarg_tui.agent.model import Reply
from rarg_tui.agent.profiles import PROFILES
from rarg_tui.agent.prompts import system_prompt
from rarg_tui.agent.session import Session
from rarg_tui.agent.strategies import STRATEGIES, strategy
from rarg_tui.agent.toolbox import TOOLS
from rarg_tui.config import Settings
from rarg_tui.trace import runs
from rarg_tui.trace.state import CallState
from rarg_tui.workbench import Workbench
from tests import small
from tests.agent.conftest import ScriptedModel, Start, bash, calls

ALL = sorted(small.DOCUMENTS)


def last(session: Session) -> CallState:
    return session.state.calls[-1]


def take(session: Session, steps: int = 2) -> CallState:
    """Some half-steps; the last call."""
    for _ in range(steps):
        session.step()
    return last(session)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_is_told_of_its_tools_and_names_its_source(name: str) -> None:
    chosen = strategy(name)
    assert chosen.source
    assert set(chosen.tools) <= set(TOOLS)
    for profile in PROFILES.values():
        told = system_prompt(chosen, profile.with_limits(chosen.limits), 3, "mark")
        for key in chosen.tools:
            assert TOOLS[key].name in told
        for tool in ("embed_recall", "pull", "retrieve", "final_results"):
            if tool not in chosen.tools:
                assert tool not in told


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_planner_finds_the_gold_document_under_every_strategy(name: str, tmp_path: Path) -> None:
    bench = Workbench(Settings(corpus=small.write(tmp_path / "corpus"), ranker="lexical+static"))
    bench.prepare()
    session = bench.start("Which shop did the last pupil of Ilse Brandt open?", strategy=name)
    session.run()
    session.close()
    bench.close()
    assert session.state.ended == "answered"
    assert set(session.state.citations) >= {"letters/b.txt", "notes/c d.txt"}
    known = {TOOLS[key].name for key in strategy(name).tools}
    assert {call.tool for call in session.state.calls} <= known


def test_the_limits_of_a_strategy_stand_in_the_first_event_and_yield_to_the_users(start: Start) -> None:
    session = start(Reply("x"), strategy="rise", limits={"max_turns": 7})
    assert session.state.limits["output_bytes"] == 4_000
    assert session.state.limits["scope_cap"] == 1_000
    assert session.state.limits["max_turns"] == 7


class TestDci:
    def test_the_whole_corpus_is_searched_in_path_order(self, start: Start) -> None:
        session = start(bash("rg -n -i 'ilse|ohlendorf'"), strategy="dci")
        call = take(session)
        assert [match.path for match in call.pool] == ["letters/a.txt", "letters/b.txt", "notes/c d.txt"]
        assert not call.reranked

    def test_there_is_no_recall_but_by_hand(self, start: Start) -> None:
        session = start(calls(("embed_recall", {"query": "shop"})), strategy="dci")
        assert take(session).state == "error"
        session.manual("embed_recall", {"query": "shop"})
        assert last(session).state == "ok"
        session.manual("bash", {"command": "head -n 1 scope_1.txt"})
        assert last(session).observation == "notes/c d.txt"


class TestRise:
    def test_only_the_working_set_is_searched(self, start: Start) -> None:
        session = start(
            bash("rg -n -i ilse"),
            calls(("search", {"queries": ["mended orrery", "orrery 1912"]})),
            bash("rg -l -i 'ilse|eggs'"),
            strategy="rise",
            limits={"scope_cap": 1},
        )
        assert take(session).state == "no_match"
        search = take(session)
        assert [scope.query for scope in session.state.scopes] == ["mended orrery", "orrery 1912"]
        assert "1 documents added; 1 in all." in search.observation
        assert "1. letters/a.txt: The orrery" in search.observation
        assert take(session).observation.split() == ["letters/a.txt"]

    def test_it_grows_and_a_read_stays_inside(self, start: Start) -> None:
        session = start(
            calls(("search", {"queries": ["orrery"]})),
            calls(("read", {"path": "notes/c d.txt"})),
            calls(("search", {"queries": ["price of eggs"]})),
            calls(("read", {"path": "notes/c d.txt"})),
            strategy="rise",
            limits={"scope_cap": 1},
        )
        take(session)
        refused = take(session)
        assert refused.state == "error"
        assert "not in the workspace yet" in refused.observation
        take(session)
        assert take(session).state == "ok"
        assert last(session).seen == {"notes/c d.txt": 1}

    @pytest.mark.parametrize("queries", [[], ["", " "], "orrery", [1]])
    def test_queries_that_are_none(self, start: Start, queries: object) -> None:
        session = start(calls(("search", {"queries": queries})), strategy="rise")
        assert take(session).state == "error"
        assert not session.state.scopes

    def test_a_long_output_is_cut_at_its_own_bound(self, start: Start) -> None:
        session = start(
            calls(("search", {"queries": ["orrery"]})),
            bash("cat letters/a.txt letters/a.txt letters/a.txt letters/a.txt"),
            strategy="rise",
            limits={"output_bytes": 100},
        )
        take(session)
        assert len(take(session).observation.partition("\n[")[0].encode()) <= 100

    def test_the_rest_of_the_corpus_is_out_of_reach(self, start: Start, small_corpus: Path) -> None:
        session = start(
            calls(("search", {"queries": ["orrery"]})),
            bash(f"cat {small_corpus}/notes/c\\ d.txt"),
            bash("cat 'notes/c d.txt'"),
            bash("rg --files | wc -l"),
            strategy="rise",
            limits={"scope_cap": 1},
        )
        take(session)
        assert take(session).state == "refused"
        assert "No such file" in take(session).observation
        assert take(session).observation.strip() == "1"

    def test_a_resumed_run_has_its_working_set_again(self, start: Start, tmp_path: Path) -> None:
        bench = Workbench(
            Settings(corpus=small.write(tmp_path / "corpus"), ranker="lexical+static"),
            runs_dir=tmp_path / "runs",
        )
        bench.prepare()
        model = ScriptedModel(calls(("search", {"queries": ["orrery"]})), bash("rg -c ."))
        bench.model = lambda name="": model  # type: ignore[method-assign, assignment]
        session = bench.start("Who?", strategy="rise", limits={"scope_cap": 1})
        take(session)
        session.close()
        resumed = bench.resume(session.directory.name)
        assert take(resumed).observation.startswith("letters/a.txt:")
        resumed.close()
        bench.close()

    def test_the_workspace_goes_with_the_run(self, start: Start) -> None:
        session = start(calls(("search", {"queries": ["orrery"]})), strategy="rise")
        take(session)
        workspace = session._world.workspace
        assert workspace is not None
        assert workspace.root.is_dir()
        session.close()
        assert not workspace.root.exists()


class TestDrDci:
    def test_pull_brings_documents_and_says_which_are_new(self, start: Start) -> None:
        pull = calls(("pull", {"query": "who mended the orrery?"}))
        session = start(pull, pull, bash("rg -l ."), strategy="dr-dci")
        first = take(session)
        assert "3 documents added; 3 in all." in first.observation
        assert set(first.seen) == set(ALL)
        second = take(session)
        assert "0 documents added; 3 in all." in second.observation
        assert not second.seen
        assert sorted(take(session).observation.split("\n")) == ALL

    @pytest.mark.parametrize("top", [299, 601, 0, -1])
    def test_how_many_is_bounded(self, start: Start, top: int) -> None:
        session = start(calls(("pull", {"query": "x", "top_k": top})), strategy="dr-dci")
        assert "300 to 600" in take(session).observation

    def test_read_goes_by_characters(self, start: Start) -> None:
        def read(**more: int) -> Reply:
            return calls(("read", {"path": "letters/a.txt", **more}))

        session = start(
            calls(("pull", {"query": "orrery"})),
            read(char_limit=14),
            read(offset=3, char_offset=4, char_limit=6),
            read(char_offset=1_000),
            read(offset=9),
            strategy="dr-dci",
        )
        take(session)
        text = small.DOCUMENTS["letters/a.txt"]
        assert take(session).observation.split("\n") == [
            f"letters/a.txt, characters 0-14 of {len(text)}, from line 1",
            "1: The orrery",
            "2: ",
            "3: Th",
            f"[{len(text) - 14} more characters. Use char_offset to continue.]",
        ]
        assert take(session).observation.split("\n")[1] == "3: orrery"
        assert "beyond its end" in take(session).observation
        assert "line 9 is beyond" in take(session).observation


class TestNemo:
    RANKED = calls(("final_results", {"doc_ids": ALL, "message": "Found.", "search_successful": "true"}))

    def test_the_question_is_retrieved_before_the_first_turn(self, start: Start) -> None:
        session = start(self.RANKED, strategy="nemo")
        assert session.next_step() == "retrieve for the question"
        opening = take(session)
        assert (opening.tool, opening.by, opening.turn) == ("retrieve", "strategy", 0)
        assert opening.arguments == {"query": session.state.question}
        assert set(opening.seen) == set(ALL)
        assert session.next_step() == "ask for turn 1"
        told = context.messages(session.state, session._world.strategy, session._world.profile)
        assert "Run to begin with: retrieve" in told[2]["content"]
        assert "mended by Ilse Brandt" in told[2]["content"]

    def test_only_new_documents_come_and_the_others_are_named(self, start: Start) -> None:
        session = start(calls(("retrieve", {"query": "eggs"})), strategy="nemo")
        take(session)
        again = take(session)
        assert again.state == "no_match"
        assert "shown before" in again.observation

    def test_final_results_end_the_run(self, start: Start) -> None:
        session = start(calls(("think", {"thought": "hm"})), self.RANKED, strategy="nemo")
        session.run()
        assert session.state.ended == "answered"
        assert session.state.ranking == session.state.citations == tuple(ALL)
        assert session.state.answer == "Found."
        assert session.state.calls[1].observation == "(noted)"

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"doc_ids": ALL[:2]}, "exactly 3 different documents, not 2"),
            ({"doc_ids": [*ALL, ALL[0]]}, "exactly 3"),
            ({"doc_ids": [*ALL[:2], "none.txt"]}, "There is no document 'none.txt'"),
            ({"search_successful": "maybe"}, "one of true, false, partial"),
            ({"message": " "}, "message must not be empty"),
        ],
    )
    def test_results_that_are_none(self, start: Start, change: dict[str, object], said: str) -> None:
        given = {"doc_ids": ALL, "message": "m", "search_successful": "true", **change}
        session = start(calls(("final_results", given)), self.RANKED, strategy="nemo")
        take(session, 4)
        assert said in session.state.calls[1].observation
        assert not session.state.ended
        session.run()
        assert session.state.ended == "answered"

    def test_a_turn_without_a_call_is_answered_by_go_on(self, start: Start) -> None:
        session = start(Reply("I think I know."), self.RANKED, strategy="nemo")
        session.run()
        assert session.state.ended == "answered"
        told = context.messages(session.state, session._world.strategy, session._world.profile)
        assert [message["role"] for message in told[3:5]] == ["assistant", "user"]
        assert "final_results" in told[4]["content"]

    def test_at_the_limit_only_the_closing_tool_is_left(self, start: Start) -> None:
        session = start(self.RANKED, strategy="nemo", limits={"max_turns": 1})
        session.run()
        assert session.state.ended == "answered"
        (request,) = session._model.requests  # type: ignore[attr-defined]
        assert [tool["function"]["name"] for tool in request.tools] == ["final_results"]
        assert set(request.best) == set(ALL)

    def test_where_none_come_the_searches_taken_together_are_the_ranking(self, start: Start) -> None:
        session = start(Reply("x"), strategy="nemo", limits={"max_turns": 1})
        session.run()
        assert session.state.ended == "turn_limit"
        assert set(session.state.ranking) == set(ALL)
        assert "taken together" in session.state.error


class TestEmbedding:
    def test_five_beginnings_are_shown(self, tmp_path: Path) -> None:
        for number in range(7):
            (tmp_path / f"{number}.txt").write_text(f"Orrery {number}\n" + "The clock is late.\n" * 300)
        bench = Workbench(Settings(corpus=tmp_path, ranker="lexical"))
        bench.prepare()
        model = ScriptedModel(calls(("search", {"query": "orrery"})))
        bench.model = lambda name="": model  # type: ignore[method-assign, assignment]
        session = bench.start("Which?", strategy="embedding")
        call = take(session)
        (scope,) = session.state.scopes
        assert (scope.documents, len(scope.entry_points), len(call.seen)) == (7, 5, 5)
        assert all(len(point.text) <= 2_048 for point in scope.entry_points)
        assert all(point.text.endswith("late.") for point in scope.entry_points)
        assert call.observation.startswith("1. ")
        session.close()
        bench.close()


def test_the_generative_strategy_takes_the_models_own_words(start: Start) -> None:
    grep = "cat scope_1.txt | xargs -d '\\n' rg -n -i 'ilse|ohlendorf|orrery'"
    asked = {"command": grep, "rerank_query": "Who kept a shop? Find the lane."}
    session = start(
        calls(("embed_recall", {"query": "orrery"})),
        calls(("bash", asked)),
        strategy="rarg++gen",
        limits={"shown": 1},
    )
    take(session)
    call = take(session)
    assert call.reranked
    assert call.rerank_query == asked["rerank_query"]


def test_others_do_not(start: Start) -> None:
    session = start(calls(("bash", {"command": "true", "rerank_query": "x"})), strategy="rarg++")
    assert "rerank_query" in take(session).observation
    assert last(session).state == "error"


def test_a_fork_keeps_the_strategy(tmp_path: Path) -> None:
    bench = Workbench(
        Settings(corpus=small.write(tmp_path / "c"), ranker="lexical+static"), runs_dir=tmp_path / "runs"
    )
    bench.prepare()
    session = bench.start("Who mended the orrery?", strategy="dr-dci")
    session.run()
    session.close()
    fork = runs.fork(bench.runs_dir, session.directory, 5)
    going_on = bench.resume(fork.name)
    going_on.run()
    assert going_on.state.ended == "answered"
    going_on.close()
    bench.close()
