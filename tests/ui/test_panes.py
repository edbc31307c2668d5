from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from rarg_tui.corpus.progress import Progress
from rarg_tui.trace import events as ev
from rarg_tui.trace.reducer import replay
from rarg_tui.trace.state import RunState
from rarg_tui.ui.glyphs import ASCII, UNICODE
from rarg_tui.ui.panes.buckets import buckets, gold_by_call
from rarg_tui.ui.panes.document import spans_in
from rarg_tui.ui.panes.line import Piece, fitting
from rarg_tui.ui.panes.matches import excerpt, why_not_ranked
from rarg_tui.ui.panes.scope import score_text
from rarg_tui.ui.panes.status import clock, index_pieces, state_words, status_pieces
from rarg_tui.ui.panes.transcript_rows import entries
from rarg_tui.ui.panes.view import (
    View,
    command_of,
    folded,
    matches_of,
    newest_call,
    ranked_order,
    scope_of,
    seconds,
    will_run,
    wrapped,
)
from rarg_tui.ui.widgets.cells import row_text
from tests.ui.fakes import FakeStatus
from tests.ui.scenario import PAUSED_STEPS, script


def state_after(steps: int) -> RunState:
    groups = script()[: steps + 1]
    return replay(replace(event, seq=at) for at, event in enumerate([e for g in groups for e in g], start=1))


def view_after(steps: int) -> View:
    state = state_after(steps)
    call = newest_call(state)
    return View(
        state=state,
        opened=True,
        next_step="run call 7",
        call=call,
        scope=scope_of(state, call),
        glyphs=UNICODE,
    )


def lines(view: View, *unfolded: str, width: int = 0) -> list[str]:
    return [row_text(entry.row).strip() for entry in entries(view, unfolded, width)]


def test_an_excerpt_begins_where_its_match_can_be_seen() -> None:
    text = "    " + "word " * 50 + "NEEDLE and more"
    start = text.index("NEEDLE")
    shown, spans = excerpt(text, [(start, start + 6)], 30)
    assert shown.startswith("…")
    assert [shown[a:b] for a, b, _ in spans] == ["NEEDLE"]
    assert spans[0][1] <= 30


def test_a_short_line_loses_only_its_indent() -> None:
    assert excerpt("\t  orrery", [(3, 9)], 40) == ("orrery", ((0, 6, "match"),))
    assert excerpt("orrery", [], 40) == ("orrery", ())


def test_buckets_end_with_the_scope_and_count_gold_apart() -> None:
    rows = buckets(state_after(PAUSED_STEPS))
    assert [row.label for row in rows] == ["1–10", "11–50", "51–100", "101–252", "out of scope"]
    assert sum(row.gold for row in rows) == 2
    assert rows[3].gold == 1
    assert rows[-1].all == 0


def test_buckets_of_a_large_scope_and_of_none() -> None:
    state = RunState()
    assert [row.label for row in buckets(state)] == ["out of scope"]
    scope = ev.ScopeCreated(scope=1, call=1, query="q", ranker="lexical", rankers={}, documents=10_000, seq=1)
    labels = [row.label for row in buckets(replay([scope]))]
    assert labels == ["1–10", "11–50", "51–100", "101–500", "501–2,000", "2,001–10,000", "out of scope"]


def test_gold_by_call_never_falls() -> None:
    counts = gold_by_call(state_after(PAUSED_STEPS))
    assert counts == [1, 2, 2, 2, 2, 2]


def test_commands_are_shown_without_their_plumbing() -> None:
    calls = state_after(PAUSED_STEPS).calls
    assert command_of(calls[1]) == "rg -n -i 'orrery|restor'".replace("-n ", "")
    assert command_of(calls[0]).startswith("Who restored")
    assert command_of(calls[4]) == "letters/1911-03-brandt.txt"
    assert command_of(replace(calls[1], arguments=None, raw="{bad")) == "{bad"


def test_pool_and_shown() -> None:
    calls = state_after(PAUSED_STEPS).calls
    assert matches_of(calls[0]) == ""
    assert matches_of(calls[1]) == f"{len(calls[1].pool)}→30"
    assert matches_of(calls[2]) == str(len(calls[2].pool))
    assert matches_of(replace(calls[1], pool_full=True)).endswith("+→30")


def test_ranked_order_is_as_shown_then_by_score() -> None:
    pool = state_after(PAUSED_STEPS).calls[1].pool
    shown, rest = ranked_order(pool)
    assert [match.shown_at for match in shown] == list(range(1, 31))
    scores = [match.score or 0.0 for match in rest]
    assert scores == sorted(scores, reverse=True)
    assert len(shown) + len(rest) == len(pool)


def test_a_call_that_was_not_reranked_says_why() -> None:
    calls = state_after(PAUSED_STEPS).calls
    assert why_not_ranked(calls[2], 30) == "rg's order kept: no more than 30"
    assert why_not_ranked(replace(calls[1], reranked=False), 30) == "rg's order kept"


def test_spans_are_found_again_in_a_line_that_was_cut() -> None:
    text = "x" * 500 + " orrery and orrery " + "y" * 500
    match = ev.Match("a", 2, "…orrery and orrery…", ((1, 7), (12, 18)), cut=1000)
    found = spans_in(["one", text], [match, ev.Match("b", 1, "one", ((0, 1),))], "a")
    assert [text[a:b] for a, b in found[2]] == ["orrery", "orrery"]
    assert 1 not in found
    assert spans_in(["one"], [match], "a") == {}


@pytest.mark.parametrize(
    ("score", "text"),
    [(0.04891, ".0489"), (12.3, "12.30"), (0.0, ".0000"), (-0.5, "-0.50"), (123.456, "123.4")],
)
def test_scores_take_five_cells(score: float, text: str) -> None:
    assert score_text(score) == text


def test_durations() -> None:
    assert [seconds(ms) for ms in (18.0, 9_994.0, 12_000.0, 660_000.0)] == ["0.02s", "9.99s", "12s", "11m"]
    assert [clock(s) for s in (14.2, 75, 3_723)] == ["00:14", "01:15", "1:02:03"]


def test_wrapping_counts_cells_and_loses_nothing() -> None:
    text = "漢字 " * 20 + "word"
    pieces = wrapped(text, 20)
    assert " ".join(pieces) == " ".join(text.split())
    assert all(len(piece.replace("漢字", "xxxx")) <= 20 for piece in pieces)
    assert wrapped("a b", 0) == ["a b"]
    assert wrapped("", 40) == [""]


def test_a_folded_command_keeps_its_words_and_blanks() -> None:
    command = "cat scope_1.txt | xargs -d '\\n' rg -n -i -e 'a  b' -e '" + "x" * 50 + "'"
    lines = folded(command, 40)
    assert lines[:3] == ["cat scope_1.txt", "  | xargs -d '\\n' rg -n -i", "  -e 'a  b'"]
    assert lines[3] == "  -e '" + "x" * 34
    assert all(cell_len(line) <= 40 for line in lines)
    assert "".join(lines).replace(" ", "") == command.replace(" ", "")
    assert folded("rg -n -i 'one two three'", 20) == ["rg -n -i", "'one two three'"]
    assert folded("rg -n -i 'one two three", 20) == ["rg -n -i 'one two", "three"]
    assert folded("rg  a", 40) == ["rg  a"]
    assert folded("a\nb", 40) == ["a", "b"]
    assert folded(command, 0) == [command]
    assert folded("", 40) == [""]


def test_the_items_of_an_answer_hang() -> None:
    view = view_after(PAUSED_STEPS + 2)
    answer = "Evidence:\n- one two three four five six seven eight"
    rows = entries(replace(view, state=replace(view.state, answer=answer)), (), 30)
    texts = [entry.row.cells[2].text for entry in rows if len(entry.row.cells) == 3]
    assert texts[-2:] == ["- one two three four", "  five six seven eight"]


def test_the_state_in_words() -> None:
    assert state_words(View())[0] == "NO RUN"
    paused = view_after(PAUSED_STEPS)
    assert state_words(paused)[0] == "PAUSED before call 7"
    assert state_words(view_after(0))[0] == "PAUSED before turn 1"
    assert state_words(replace(paused, running="step"))[0] == "RUNNING call 7"
    assert state_words(replace(paused, running="continue", pausing=True))[0] == "PAUSING after call 7"
    assert state_words(view_after(PAUSED_STEPS + 2))[0] == "ENDED: answered"
    failed = replace(paused, state=replace(paused.state, model_error="no answer"))
    assert state_words(failed)[0] == "PAUSED: the model failed"


def test_the_index_shows_share_and_rest() -> None:
    status = {
        "lexical": FakeStatus("lexical"),
        "dense": FakeStatus("dense", ready=False, done=50, total=200, eta_s=75.0),
        "static": FakeStatus("static", ready=False, done=0, error="no table"),
    }
    text = "".join(piece.text for piece in index_pieces(status, None, UNICODE))
    assert "lexical ✓" in text
    assert "██" in text
    assert "25%" in text
    assert "01:15" in text
    assert "static ✗" in text
    early = index_pieces({}, Progress("lexical", 4, 16), ASCII)
    assert early[0].text == " | lexical 25%"


def test_a_narrow_line_keeps_what_matters() -> None:
    left, right = status_pieces(view_after(PAUSED_STEPS), "sample_corpus", [], UNICODE)
    text = "".join(piece.text for piece in fitting([*left, *right], 60))
    assert "PAUSED before call 7" in text
    assert "gold 2/3" in text
    assert "offline planner" not in text


def test_left_and_right_never_touch() -> None:
    index = index_pieces({"dense": FakeStatus("dense", ready=False, done=1)}, None, UNICODE)
    left, right = status_pieces(view_after(PAUSED_STEPS), "sample_corpus", index, UNICODE)
    for width in range(50, 200):
        text = "".join(piece.text for piece in fitting([*left, *right], width))
        for first in ("rarg++ ·", "■ PAUSED"):
            assert first not in text or f"  {first}" in text


def test_the_status_names_the_corpus_of_the_run() -> None:
    view = view_after(PAUSED_STEPS)
    elsewhere = replace(view, state=replace(view.state, corpus_name="elsewhere"))
    text = "".join(piece.text for piece in status_pieces(elsewhere, "sample_corpus", [], UNICODE)[0])
    assert "elsewhere" in text
    assert "sample_corpus" not in text


def test_pieces_of_an_action_go_together() -> None:
    pieces = [
        Piece("a", action="x", worth=2),
        Piece("lpha", action="x", worth=2),
        Piece("beta", action="y", worth=3),
    ]
    assert [piece.text for piece in fitting(pieces, 6)] == ["beta"]


def test_the_transcript_tells_the_run() -> None:
    told = lines(view_after(PAUSED_STEPS))
    text = "\n".join(told)
    assert told[0].startswith("Q")
    assert "252 docs" in text
    assert "★1" in text
    assert "✗ refused" in text
    assert "no match" in text
    assert "waits" in text
    assert any(line.endswith("next: run call 7") for line in told)
    assert "pool 500 · 30 shown · rerank fused" in text
    assert entries(View(), ()) == []


def test_a_call_unfolds_to_what_the_model_was_shown() -> None:
    view = view_after(PAUSED_STEPS)
    text = "\n".join(lines(view, "call 2"))
    assert "asked  cat scope_1.txt | xargs" in text
    assert "RG focus: orrery restor" in text
    targets = [entry.target for entry in entries(view, ["call 2"]) if entry.target is not None]
    assert targets[0].path == "notices/misc-7.txt"
    assert targets[0].line == 3
    read = [entry.target for entry in entries(view, ["call 5"]) if entry.target is not None]
    assert [target.line for target in read] == [1, 2, 3, 4, 5, 6]


def test_the_answer_leads_to_what_it_cites() -> None:
    view = view_after(PAUSED_STEPS + 2)
    rows = entries(view, (), 60)
    text = "\n".join(row_text(entry.row) for entry in rows)
    assert "answered · 3 documents cited" in text
    targets = [entry.target for entry in rows if entry.target is not None]
    assert [(target.path, target.line) for target in targets][:1] == [("notices/misc-7.txt", 3)]
    assert "answered" in "\n".join(lines(view, "answer"))
    assert "Ilse Brandt, the clockmaker" not in "\n".join(lines(view, "answer"))


def test_what_people_did_is_told() -> None:
    state = state_after(PAUSED_STEPS)
    done: list[ev.Event] = [
        ev.CallEdited(call=7, before={"command": "rg a"}, after={"command": "rg b"}),
        ev.CallSkipped(call=7, note="no use"),
        ev.CallProposed(call=8, turn=7, tool="embed_recall", arguments={"query": "q"}, by="user"),
        ev.NoteAdded(text="look here"),
        ev.ModelFailed(turn=8, error="no answer"),
        ev.ContextCompacted(turn=8, cleared=(1, 2), tokens_before=9, tokens_after=1),
        ev.BreakpointHit(call=8, breakpoint="tool bash"),
    ]
    view = replace(view_after(PAUSED_STEPS), state=replay(done, state))
    text = "\n".join(lines(view, "call 7"))
    assert "rg*" in text
    assert "was    rg a" in text
    assert "no use" in text
    assert "✗ skipped" in text
    assert "skipped      0.00s" not in text
    assert "me" in text
    assert "look here" in text
    assert "model: no answer" in text
    assert "2 older results left out" in text
    assert "breakpoint: tool bash" in text


def test_what_will_run() -> None:
    state = state_after(PAUSED_STEPS)
    recall, grep = state.calls[0], state.calls[1]
    assert will_run(state, recall) == ["rank all documents by lexical + static; keep 10,000 at most"]
    assert will_run(state, grep)[1] == "rg -j1 in scope order · pool 500 · 30 shown · rerank fused"
    assert "no rerank" in will_run(replace(state, rerank="off"), grep)[1]
    assert will_run(state, replace(grep, error="bad")) == ["the model is told: bad"]
