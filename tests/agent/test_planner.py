"""The offline planner, step by step."""

from __future__ import annotations

import re
import shlex

import pytest

from rarg_tui.agent.answer import cited
from rarg_tui.agent.planner import Bounds
from tests.agent.planner_run import PlannerRun

QUESTION = "Who restored the Halden orrery, and where did the last pupil of that restorer open a shop?"

ORRERY = {
    "minutes/1912.txt": "The Halden orrery was shown to the council.\nIt was restored, it seems.",
    "history.txt": "The sheet of the instrument.\n\nThe Halden orrery was restored by Ilse Brandt in 1912.",
    "people/brandt.txt": "ILSE BRANDT\nShe cut wheels.\nThe last pupil of Ilse Brandt was Otto Ohlendorf.",
    "notices/trade.txt": "Eels.\nOtto Ohlendorf begs to say that he has taken 9 Fishbone Lane, for watches.",
    "weather.txt": "It rained on the hill for the whole of the week.",
    "harvest.txt": "The hay was brought in before the storm, and the carts went home.",
}


def orrery(strategy: str = "rarg+", profile: str = "bcplus") -> PlannerRun:
    return PlannerRun(QUESTION, ORRERY, ["minutes/1912.txt"], strategy, profile)


def test_it_follows_names_from_document_to_document() -> None:
    run = orrery()
    reply = run.ask()
    assert [(call.tool, call.arguments) for call in reply.calls] == [("embed_recall", {"query": QUESTION})]
    run.propose(reply)
    run.execute()
    answer = run.to_the_end()
    texts = [turn.text for turn in run.state.turns]
    assert any("history.txt names Ilse Brandt; looking for that name in scope 1." in text for text in texts)
    assert any("Ohlendorf" in text for text in texts)
    documents = cited(answer.text, lambda path: path in ORRERY)
    assert set(documents) >= {"history.txt", "people/brandt.txt", "notices/trade.txt"}
    assert not set(documents) & {"weather.txt", "harvest.txt"}


def test_the_answer_is_evidence_with_its_places() -> None:
    lines = orrery().to_the_end().text.split("\n")
    assert lines[0] == "Offline planner: evidence, not prose."
    assert "- The Halden orrery was restored by Ilse Brandt in 1912.  [history.txt:3]" in lines
    end = lines.index("Documents:")
    sentences = [re.fullmatch(r"- .+  \[(.+):\d+\]", line) for line in lines[1 : end - 1]]
    assert [found[1] for found in sentences if found] == lines[end + 1 :]


@pytest.mark.parametrize("strategy", ["rarg", "rarg+", "rarg++"])
def test_it_is_deterministic_and_bounded(strategy: str) -> None:
    runs = [orrery(strategy), orrery(strategy)]
    answers = [run.to_the_end() for run in runs]
    assert answers[0] == answers[1]
    assert runs[0].state == runs[1].state
    assert len(runs[0].state.calls) <= Bounds().calls
    assert len(set(runs[0].commands)) == len(runs[0].commands)
    assert runs[0].planner.label == "offline planner"


def test_another_planner_goes_on_where_the_first_one_was() -> None:
    first, second = orrery(), orrery()
    for _ in range(3):
        first.propose(first.ask())
        first.execute()
    second.state = first.state
    assert second.ask() == first.ask()


def test_without_entry_points_it_lists_and_reads_the_best_documents() -> None:
    run = orrery("rarg")
    run.to_the_end()
    assert run.commands[0] == "head -n 10 scope_1.txt"
    reads = [call.arguments["path"] for call in run.state.calls[2:5] if call.arguments]
    assert reads == list(ORRERY)[:3]


def test_it_reads_what_a_name_leads_to() -> None:
    documents = {
        **ORRERY,
        "people/brandt.txt": "Ilse Brandt, a life.\nShe cut wheels.\nHer last pupil was Otto Ohlendorf.",
    }
    run = PlannerRun(QUESTION, documents, ["minutes/1912.txt"])
    answer = run.to_the_end()
    assert any("leads to people/brandt.txt; reading it." in turn.text for turn in run.state.turns)
    assert "notices/trade.txt" in cited(answer.text, lambda path: path in documents)


def test_a_forced_answer_comes_at_once() -> None:
    run = orrery()
    assert not run.ask(force_answer=True).calls
    run.propose(run.ask())
    run.execute()
    reply = run.ask(force_answer=True)
    assert not reply.calls
    assert cited(reply.text, lambda path: path in ORRERY) == ("minutes/1912.txt",)


def test_where_nothing_is_found_it_says_so() -> None:
    run = PlannerRun("Which zebra sang?", {"a.txt": "Hay.", "b.txt": "Carts and storms."}, ["a.txt"])
    answer = run.to_the_end()
    assert answer.text == "Offline planner: evidence, not prose.\nNo evidence found."


@pytest.mark.parametrize("how", ["fail", "skip"])
def test_without_a_scope_there_is_no_evidence(how: str) -> None:
    run = orrery()
    run.propose(run.ask())
    getattr(run, how)()
    assert run.ask().text.endswith("\nNo evidence found.")


def test_an_empty_scope_is_not_searched() -> None:
    run = PlannerRun(QUESTION, {})
    run.to_the_end()
    assert [call.tool for call in run.state.calls] == ["embed_recall"]


def test_what_a_person_skips_or_changes_is_not_proposed_again() -> None:
    run = orrery("rarg")
    seen: set[str] = set()
    for _ in range(20):
        reply = run.ask()
        if not reply.calls:
            break
        proposed = {f"{call.tool} {call.raw}" for call in reply.calls}
        assert not proposed & seen
        seen |= proposed
        run.propose(reply)
        if reply.calls[0].tool == "bash" and len(seen) % 2:
            run.edit(command="rg -n 'a quote too many")
            run.fail()
        elif reply.calls[0].tool != "embed_recall":
            run.skip()
        else:
            run.execute()
    else:
        raise AssertionError("no answer within twenty turns")


def test_names_are_quoted_for_the_shell_and_for_the_pattern() -> None:
    documents = {
        "first.txt": "The comet was found by Maeve O'Hara with the glass HO-1147 of (St.) Kittering & Shaw.",
        "second.txt": "Maeve O’Hara, a life.\nHer glass stood in the hall.",
        "third.txt": "HO-1147, a glass; $HOME `id` \\ ; signed: Kittering & Shaw [no date].",
    }
    run = PlannerRun("Who found the comet?", documents, ["first.txt"])
    answer = run.to_the_end()
    assert set(cited(answer.text, lambda path: path in documents)) == set(documents)
    for command in run.commands:
        words = shlex.split(command.split(" | ", 1)[1])
        for pattern in words[7::2]:
            re.compile(pattern)


@pytest.mark.parametrize(
    "question", ["?", "a", "of the and", "x" * 3_000, "{} {0} %s", "C++ [x] $(id) 'q' \\"]
)
def test_odd_questions_are_answered(question: str) -> None:
    run = PlannerRun(question, {"{0}.txt": "C++ costs [x] and Mr. {} named it.", "b'c.txt": "Nothing."})
    assert run.to_the_end().text.startswith("Offline planner: evidence, not prose.\n")


def test_a_script_without_spaces_and_capitals() -> None:
    documents = {
        "a.txt": "ハルデンの太陽系儀を修復したのは三羽商会である。",
        "b.txt": "三羽商会は港の通りにある。",
        "c.txt": "雨が降った。",
    }
    run = PlannerRun("ハルデンの太陽系儀を修復した店はどこか。", documents)
    answer = run.to_the_end()
    assert cited(answer.text, lambda path: path in documents)[:2] == ("a.txt", "b.txt")


def test_a_name_that_was_crowded_out_is_looked_for_alone() -> None:
    noise = "\n".join(f"On day {day} Ottar Vang was out." for day in range(40))
    documents = {
        "first.txt": "The orrery was restored by Ilse Brandt and Ottar Vang.",
        "diary.txt": noise,
        "last.txt": "Ilse Brandt lies in the churchyard of the hill.",
        "other.txt": "Nobody came.",
    }
    run = PlannerRun("Who restored the orrery?", documents, ["first.txt"])
    answer = run.to_the_end()
    assert any("looking for it alone." in turn.text for turn in run.state.turns)
    assert "last.txt" in cited(answer.text, lambda path: path in documents)


def test_it_stops_when_searches_bring_nothing_new() -> None:
    names = ["Ada Moss", "Bodil Kettle", "Carl Rasch", "Dora Lind", "Egon Falk", "Frida Holt", "Gerd Sund"]
    listed = "\n".join(f"The council of the orrery heard {name}." for name in names)
    documents = {f"council-{year}.txt": listed for year in range(12)}
    run = PlannerRun("Who restored the orrery of the council?", documents, ["council-0.txt"])
    run.to_the_end()
    assert len(run.state.calls) < Bounds().calls


def test_a_ranking_is_filled_to_ten() -> None:
    documents = {**ORRERY, **{f"more-{i}.txt": "Nothing of the kind." for i in range(8)}}
    run = PlannerRun(QUESTION, documents, ["minutes/1912.txt"], profile_name="bright")
    documents_cited = cited(run.to_the_end().text, lambda path: path in documents)
    assert len(documents_cited) == 10
    assert "history.txt" in documents_cited[:4]
