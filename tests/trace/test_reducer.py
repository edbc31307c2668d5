from __future__ import annotations

from rarg_tui.trace import events as ev
from rarg_tui.trace.reducer import reduce, replay
from tests.trace import scripted


def test_a_run_becomes_its_state() -> None:
    state = replay(scripted.events())
    assert state.question == "Who mended the clock?"
    assert [turn.number for turn in state.turns] == [1, 2, 3]
    assert [call.state for call in state.calls] == ["ok", "ok"]
    assert state.calls[1].arguments == {"command": "rg Ilse"}
    assert state.calls[1].edited_from == {"command": "rg"}
    assert state.current_scope is not None
    assert state.current_scope.query == "clock"
    assert state.ended == "answered"
    assert state.citations == (scripted.GOLD,)


def test_hits_carry_count_calls_and_rank() -> None:
    state = replay(scripted.events())
    hit = state.hits["letters/a.txt"]
    assert (hit.count, hit.calls, hit.rank) == (2, (1, 2), 1)
    assert state.hits[scripted.GOLD].rank == 2


def test_gold_is_new_once_and_never_without_a_hit() -> None:
    state = replay(scripted.events())
    assert [call.new_gold for call in state.calls] == [(), (scripted.GOLD,)]
    assert state.gold_seen == (scripted.GOLD,)


def test_marking_and_unmarking_gold() -> None:
    state = reduce(replay(scripted.events()), ev.GoldMarked(path="letters/a.txt"))
    assert state.gold["letters/a.txt"] == 1
    assert "letters/a.txt" not in reduce(state, ev.GoldMarked(path="letters/a.txt", relevance=0)).gold


def test_the_next_call_is_the_first_that_waits_but_a_persons_goes_before_it() -> None:
    state = replay(scripted.events()[:3])
    assert state.next_call is not None
    assert state.next_call.number == 1
    inserted = ev.CallProposed(call=2, turn=1, tool="read", arguments={"path": "a"}, by="user")
    after = reduce(state, inserted)
    assert after.next_call is not None
    assert after.next_call.number == 2


def test_a_skipped_call_does_not_wait() -> None:
    state = reduce(replay(scripted.events()[:3]), ev.CallSkipped(call=1, note="no"))
    assert state.next_call is None
    assert state.calls[0].note == "no"


def test_a_failed_turn_is_forgotten_when_the_model_replies() -> None:
    failed = replay([scripted.started(), ev.ModelFailed(turn=1, error="no server")])
    assert failed.model_error == "no server"
    assert reduce(failed, ev.ModelReplied(turn=1, text="x")).model_error == ""


def test_a_fork_goes_on() -> None:
    state = reduce(replay(scripted.events()), ev.Forked(parent="clock", parent_seq=11))
    assert (state.ended, state.answer, state.citations, state.parent) == ("", "", (), "clock")


def test_usage_sums_and_a_single_unknown_cost_makes_the_sum_unknown() -> None:
    one = replay(scripted.events()[:2])
    assert (one.usage.input_tokens, one.usage.cost_usd) == (10, 0.25)
    assert replay(scripted.events()[:6]).usage.cost_usd is None


def test_reducing_changes_neither_argument() -> None:
    before = replay(scripted.events()[:8])
    calls, hits = before.calls, dict(before.hits)
    reduce(before, scripted.events()[8])
    assert before.calls == calls
    assert dict(before.hits) == hits


def test_a_state_is_the_same_whether_reduced_at_once_or_in_parts() -> None:
    events = scripted.events()
    for cut in range(len(events) + 1):
        assert replay(events[cut:], replay(events[:cut])) == replay(events)


def test_what_is_asked_for_again_after_a_compaction_is_counted() -> None:
    def read(call: int, path: str, offset: int) -> list[ev.Event]:
        arguments = {"path": path, "offset": offset}
        return [
            ev.CallProposed(call=call, turn=call, tool="read", arguments=arguments),
            ev.CallExecuted(call=call, tool="read", state="ok", observation="x", document=path),
        ]

    cleared = ev.ContextCompacted(turn=2, cleared=(1,), tokens_before=9, tokens_after=1)
    before = replay([*read(1, "a", 1), *read(2, "b", 1), *read(3, "a", 9)])
    assert before.rereads == 0
    assert replay([cleared, *read(4, "b", 1), *read(5, "c", 1)], before).rereads == 0
    assert replay([cleared, *read(4, "a", 40)], before).rereads == 1
