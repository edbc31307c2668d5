"""How shown sentences are weighed."""

from __future__ import annotations

from rarg_tui.agent.planner_evidence import Evidence, Weights
from rarg_tui.agent.planner_names import Rarity
from rarg_tui.agent.planner_shown import Shown
from tests.agent.planner_run import PlannerRun


def evidence(run: PlannerRun) -> Evidence:
    rarity = Rarity(run.frequencies, len(run.documents))
    return Evidence(run.question, run.state, rarity, Weights())


def test_the_document_called_by_a_name_goes_before_those_that_hold_it() -> None:
    documents = {
        "cast.txt": "Leo Fong was in the cast, with others.",
        "Blood Street (film).txt": "Blood Street is a film directed by Leo Fong.",
        "crew.txt": "Leo Fong and his crew.",
        "Leo Fong.txt": "He was born in 1928, as Leo Fong.",
        "other.txt": "A street without a film.",
    }
    run = PlannerRun("What nationality is the director of film Blood Street?", documents)
    run.to_the_end()
    known = evidence(run)
    ranking = known.ranking()
    assert ranking.index("Leo Fong.txt") < min(ranking.index("cast.txt"), ranking.index("crew.txt"))
    assert max(known.weight) <= 1.0


def test_a_name_that_no_other_document_holds_is_no_lead() -> None:
    documents = {
        "a.txt": "The orrery was restored by Ilse Brandt for Anders Lum.",
        "b.txt": "Ilse Brandt, a life.",
        "c.txt": "Rain.",
    }
    run = PlannerRun("Who restored the orrery?", documents, ["a.txt"])
    run.propose(run.ask())
    run.execute()
    assert {lead.text for lead in evidence(run).leads.values()} == {"Ilse Brandt"}


def test_only_what_was_shown_counts() -> None:
    documents = {f"{i}.txt": f"The orrery was restored by Ilse Brandt, says witness {i}." for i in range(9)}
    run = PlannerRun("Who restored the orrery?", documents, ["0.txt"], shown=4)
    run.propose(run.ask())
    run.execute()
    run.propose(run.ask())
    run.execute()
    assert len(run.state.calls[-1].pool) == 9
    assert set(evidence(run).ranking()) == {f"{i}.txt" for i in range(4)}


def test_neighbouring_lines_are_read_as_one_text() -> None:
    shown = Shown("a.txt")
    shown.add(3, "was restored by Ilse Brandt. It")
    shown.add(2, "The orrery")
    shown.add(9, "Another line.")
    shown.add(2, "orrery")
    assert [(fact.line, fact.text) for fact in shown.facts()] == [
        (2, "The orrery was restored by Ilse Brandt."),
        (3, "It"),
        (9, "Another line."),
    ]


def test_pieces_of_one_long_line_stay_apart() -> None:
    shown = Shown("a.txt")
    shown.add(1, "The first piece.")
    shown.add(1, "The second piece.")
    assert [fact.text for fact in shown.facts()] == ["The first piece.", "The second piece."]
