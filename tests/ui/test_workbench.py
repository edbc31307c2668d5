"""The workbench on fakes: running, looking, taking part."""

from __future__ import annotations

from threading import Event as Flag

import pytest
from textual.command import CommandList

from rarg_tui.ui.panes.view import Target
from rarg_tui.ui.screens.ask import Ask
from rarg_tui.ui.screens.edit_call import EditCall
from rarg_tui.ui.screens.help import Help
from rarg_tui.ui.screens.insert_call import InsertCall
from rarg_tui.ui.screens.palette import ActionPalette
from rarg_tui.ui.wish import Wish
from tests.ui.app_harness import running
from tests.ui.fakes import FakeSettings, FakeWorkbench
from tests.ui.scenario import GOLD, PAUSED_STEPS, QUESTION, ranked_paths


async def test_the_demo_loads_the_question_and_waits() -> None:
    async with running() as run:
        assert run.workbench.started == [(QUESTION, "", "", "")]
        assert run.session.state.gold == GOLD
        assert "PAUSED before turn 1" in run.text()
        assert "Who restored the Halden orrery" in run.text()
        assert "next: ask for turn 1" in run.text()
        assert "dense" in run.text()
        assert "61%" in run.text()
        assert "00:14" in run.text()


async def test_stepping_fills_the_panes() -> None:
    async with running() as run:
        await run.steps(2)
        assert run.bench.scope.row_count == 252
        assert "A recall makes a scope" in run.text()
        await run.steps(2)
        pool = run.session.state.calls[1].pool
        assert run.bench.raw.row_count == len(pool)
        assert run.bench.ranked.row_count == len(pool) + 1
        text = run.text()
        assert "PAUSED before turn 3" in text
        assert "30 shown" in text
        assert "1–10" in text
        assert "out of scope" in text


async def test_continue_goes_to_the_end_and_shows_the_answer() -> None:
    async with running() as run:
        await run.press("c")
        assert run.session.state.ended == "answered"
        text = run.text()
        assert "ENDED: answered" in text
        assert "3 documents cited" in text
        assert "§" in text
        await run.press("s")
        assert any("has ended" in toast for toast in run.toasts)


async def test_space_pauses_after_the_running_call() -> None:
    async with running() as run:
        await run.steps(3)
        run.session.block = Flag()
        run.session.started.clear()
        await run.pilot.press("c")
        await run.until(run.session.started.is_set)
        assert "RUNNING call 2" in run.text()
        await run.pilot.press("space")
        await run.until(lambda: "PAUSING after call 2" in run.text())
        run.session.block.set()
        await run.settle()
        assert not run.session.state.ended
        assert not run.session.state.calls[1].waiting
        assert run.session.state.next_call is None


async def test_interrupting_stops_the_call_and_twice_quits() -> None:
    async with running() as run:
        run.session.block = Flag()
        await run.pilot.press("s")
        await run.until(run.session.started.is_set)
        await run.pilot.press("ctrl+c")
        await run.settle()
        assert run.session.state.turns == ()
        assert run.app.return_code is None
        await run.pilot.press("ctrl+c")
        await run.pilot.pause()
        assert run.app.return_code == 0


async def test_another_key_forgets_the_first_interrupt() -> None:
    async with running() as run:
        await run.press("ctrl+c", "2", "ctrl+c")
        assert run.app.return_code is None


async def test_a_second_step_waits_for_the_first() -> None:
    async with running() as run:
        run.session.block = Flag()
        await run.pilot.press("s")
        await run.until(run.session.started.is_set)
        await run.pilot.press("s")
        await run.pilot.press("a")
        await run.pilot.pause()
        assert any("space pauses it" in toast for toast in run.toasts)
        run.session.block.set()
        await run.settle()
        assert len(run.session.state.turns) == 1


async def test_keys_before_the_run_are_harmless() -> None:
    block = Flag()
    async with running(FakeWorkbench(block=block), ready=False) as run:
        for key in (
            "s",
            "c",
            "enter",
            "e",
            "x",
            "g",
            "n",
            "o",
            "slash",
            "escape",
            "6",
            "1",
            "z",
            "z",
            "space",
        ):
            await run.pilot.press(key)
        assert any("being made ready" in toast for toast in run.toasts)
        block.set()
        await run.until(lambda: run.idle)
        assert run.session.state.turns == ()


async def test_quitting_while_the_index_is_built() -> None:
    async with running(FakeWorkbench(block=Flag()), ready=False) as run:
        await run.pilot.press("q")
        await run.app.workers.wait_for_complete()
        assert run.app.return_code == 0


async def test_selecting_an_earlier_call_shows_its_matches_and_follow_returns() -> None:
    async with running() as run:
        await run.steps(PAUSED_STEPS)
        assert "rg found nothing" in run.text()
        transcript = run.bench.transcript
        row = next(at for at, entry in enumerate(transcript._entries) if entry.fold == "call 2")
        transcript.cursor = row
        await run.press("enter")
        assert run.bench.chosen == 2
        assert run.bench.raw.row_count == len(run.session.state.calls[1].pool)
        assert "asked  cat scope_1.txt" in run.text()
        assert "f follows the run" in run.text()
        await run.press("f")
        assert run.bench.chosen == 0
        assert "rg found nothing" in run.text()


async def test_a_step_returns_to_the_newest_call() -> None:
    async with running() as run:
        await run.steps(PAUSED_STEPS)
        run.bench.chosen = 2
        await run.press("s")
        assert run.bench.chosen == 0
        assert "star chart" in run.text()


async def test_a_match_opens_its_document_at_the_line() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("5", "enter")
        document = run.bench.document
        match = run.bench.ranked._at(0)
        assert match is not None
        assert (document.path, document.line) == (match.path, match.line)
        assert run.bench.arrangement.pane == "ranked"
        assert not run.bench.scope.display
        await run.press("j")
        second = run.bench.ranked._at(1)
        assert second is not None
        assert document.path == second.path
        await run.press("escape")
        assert run.bench.scope.display
        assert not document.display


async def test_a_scope_row_opens_its_document_at_the_first_match() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("2", "enter")
        assert run.bench.arrangement.pane == "document"
        assert (run.bench.document.path, run.bench.document.line) == (ranked_paths()[0], 3)
        assert "3 matches" in run.text()
        await run.press("n")
        assert run.bench.document.line == 4
        await run.press("N")
        assert run.bench.document.line == 3


async def test_a_document_that_is_gone_is_a_sentence() -> None:
    workbench = FakeWorkbench(texts={})
    async with running(workbench) as run:
        await run.steps(2)
        await run.press("2", "enter")
        assert any("is gone" in toast for toast in run.toasts)
        assert run.app.return_code is None


async def test_searching_a_list_and_going_on() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("2", "slash")
        await run.type("chapel")
        await run.press("enter")
        paths = ranked_paths()
        first = run.bench.scope.cursor
        assert "chapel" in paths[first]
        await run.press("n")
        assert "chapel" in paths[run.bench.scope.cursor]
        assert run.bench.scope.cursor > first
        await run.press("N")
        assert run.bench.scope.cursor == first
        await run.press("slash")
        await run.type("nowhere")
        await run.press("enter")
        assert any("not in this list" in toast for toast in run.toasts)


async def test_a_command_by_hand_runs_on_the_current_scope() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("colon")
        await run.type("rg orrery")
        await run.press("enter")
        call = run.session.state.calls[-1]
        assert call.by == "user"
        assert "scope_1.txt" in str(call.arguments)
        assert run.bench.command.input.value == ""
        assert "me" in run.text()
        await run.press("up")
        assert run.bench.command.input.value == "rg orrery"
        await run.press("down")
        assert run.bench.command.input.value == ""
        await run.press("escape")
        assert run.bench.transcript.has_focus


async def test_a_colon_before_a_command_is_none_of_it() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("colon")
        await run.type(": rg orrery")
        await run.press("enter")
        assert run.session.state.calls[-1].by == "user"
        assert run.bench.command.history == ["rg orrery"]
        await run.press("escape", "slash")
        await run.type(":nowhere")
        await run.press("enter")
        assert any(":nowhere" in toast for toast in run.toasts)


async def test_a_wrong_command_stays_with_its_reason() -> None:
    async with running() as run:
        await run.press("colon")
        await run.type("rg")
        await run.press("enter")
        assert run.bench.command.input.value == "rg"
        assert "rg needs more" in run.bench.command.error
        await run.type("x")
        await run.pilot.pause()
        assert run.bench.command.error == ""


async def test_an_engine_error_stays_with_its_command() -> None:
    async with running() as run:
        await run.steps(4)
        run.session.error = "The pattern ( is not closed."
        await run.press("colon")
        await run.type("rg x")
        await run.press("enter")
        assert run.bench.command.error == "The pattern ( is not closed."
        assert run.bench.command.input.value == "rg x"
        assert run.app.return_code is None


async def test_a_command_before_any_run_begins_one() -> None:
    async with running(wish=Wish(), ready=False) as run:
        await run.until(lambda: isinstance(run.app.screen, Ask))
        await run.press("escape", "colon")
        await run.type("recall clocks")
        await run.press("enter")
        await run.settle()
        assert run.workbench.started == [("clocks", "", "", "")]
        assert run.session.state.calls[0].arguments == {"query": "clocks"}


async def test_override_takes_the_command_into_the_line() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("o")
        assert run.bench.command.input.value.startswith("shell cat scope_1.txt | xargs")
        await run.press("escape")
        transcript = run.bench.transcript
        transcript.cursor = next(at for at, e in enumerate(transcript._entries) if e.fold == "call 1")
        await run.press("o")
        assert run.bench.command.input.value == f"recall {QUESTION}"


async def test_editing_the_waiting_call() -> None:
    async with running() as run:
        await run.steps(3)
        await run.press("e")
        screen = run.app.screen
        assert isinstance(screen, EditCall)
        assert "pool 500 · 30 shown" in run.text()
        screen.area.text = "rg 'unclosed"
        await run.pilot.pause()
        assert screen._fault.content
        screen.area.text = "cat scope_1.txt | xargs rg brass"
        await run.press("ctrl+s")
        call = run.session.state.calls[1]
        assert call.arguments == {"command": "cat scope_1.txt | xargs rg brass"}
        assert call.edited_from is not None


async def test_editing_all_arguments_as_json() -> None:
    async with running() as run:
        await run.steps(3)
        await run.press("e", "f2")
        screen = run.app.screen
        assert isinstance(screen, EditCall)
        screen.area.text = '{"command": "rg x", "timeout": 5'
        await run.press("ctrl+s")
        assert isinstance(run.app.screen, EditCall)
        assert "not JSON" in run.text()
        screen.area.text = '{"command": "rg x", "timeout": 5}'
        await run.press("ctrl+s")
        assert run.session.state.calls[1].arguments == {"command": "rg x", "timeout": 5}


async def test_skipping_and_inserting() -> None:
    async with running() as run:
        await run.steps(3)
        await run.press("x")
        assert run.session.state.calls[1].state == "skipped"
        await run.press("i")
        assert isinstance(run.app.screen, InsertCall)
        await run.type("nonsense")
        await run.press("enter")
        assert isinstance(run.app.screen, InsertCall)
        for _ in "nonsense":
            await run.pilot.press("backspace")
        await run.type("recall brass")
        await run.press("enter")
        assert run.session.state.calls[-1].arguments == {"query": "brass"}
        assert run.session.state.calls[-1].waiting


async def test_marking_gold_and_taking_it_back() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("2", "j", "j", "g")
        path = ranked_paths()[2]
        assert run.session.state.gold[path] == 1
        assert "gold 3/4" in run.text()
        await run.press("g")
        assert path not in run.session.state.gold


async def test_asking_another_question() -> None:
    async with running() as run:
        await run.press("a")
        screen = run.app.screen
        assert isinstance(screen, Ask)
        assert screen.input.value == QUESTION
        screen.input.value = ""
        await run.press("enter")
        assert "Type a question" in run.text()
        await run.type("Why?")
        screen.strategy.cursor = 0
        screen.model.cursor = 1
        screen.profile.cursor = 1
        await run.press("enter")
        await run.settle()
        assert run.workbench.started[-1] == ("Why?", "rarg", "gpt-5.4-mini", "bright")
        assert run.session.state.question == "Why?"
        assert run.session.state.gold == GOLD


async def test_a_question_from_the_corpus() -> None:
    async with running(wish=Wish(), ready=False) as run:
        await run.until(lambda: isinstance(run.app.screen, Ask))
        screen = run.app.screen
        assert isinstance(screen, Ask)
        screen.known.focus()
        await run.press("enter", "enter")
        await run.settle()
        assert run.workbench.started[-1][0] == QUESTION


async def test_a_saved_run_is_stepped_and_not_changed() -> None:
    async with running(wish=Wish(run="demo")) as run:
        assert not run.session.live
        assert "saved run" in run.text()
        await run.steps(4)
        await run.press("e")
        assert any("saved run" in toast for toast in run.toasts)
        await run.press("c")
        assert "ENDED: answered" in run.text()


async def test_a_run_that_has_not_ended_is_gone_on_with() -> None:
    async with running(wish=Wish(run="fork")) as run:
        assert run.session.live
        assert "saved run" not in run.text()
        await run.press("c")
        assert "ENDED: answered" in run.text()


async def test_reading_by_hand_opens_the_document_at_the_line() -> None:
    async with running() as run:
        await run.steps(2)
        await run.press("colon")
        await run.type("read people/brandt-i.txt:2")
        await run.press("enter")
        assert run.bench.arrangement.document
        assert run.bench.document.target() == Target("people/brandt-i.txt", 2)
        assert run.bench.command.input.value == ""


async def test_the_output_of_a_command_by_hand_is_shown_and_its_row_selected() -> None:
    async with running() as run:
        await run.steps(2)
        await run.press("colon")
        await run.type("shell wc -l scope_1.txt")
        await run.press("enter")
        assert "done by hand" in run.text()
        assert "4 Output" in run.text()
        assert run.bench.transcript.selected_call() == 2


async def test_in_one_column_a_search_by_hand_shows_its_matches() -> None:
    async with running(size=(80, 24)) as run:
        await run.steps(2)
        await run.press("colon")
        await run.type("rg orrery")
        await run.press("enter")
        assert run.bench.arrangement.pane == "raw"


async def test_a_run_that_does_not_exist_is_a_sentence() -> None:
    async with running(wish=Wish(run="nope"), ready=False) as run:
        await run.until(lambda: "There is no run nope" in run.text())
        assert run.app.return_code is None


async def test_an_index_that_cannot_be_built_is_a_sentence() -> None:
    workbench = FakeWorkbench(error="The corpus holds no documents: choose another directory.")
    async with running(workbench, ready=False) as run:
        await run.until(lambda: "The corpus holds no documents" in run.text())
        await run.press("q")
        assert run.app.return_code == 0


async def test_a_fault_is_told_and_shows_in_the_exit_code() -> None:
    async with running(FakeWorkbench(fault=KeyError("x")), ready=False) as run:
        await run.until(lambda: any("fault in rarg" in toast for toast in run.toasts))
        await run.pilot.press("q")
        await run.pilot.pause()
        assert run.app.return_code == 1


async def test_a_failing_step_leaves_the_run_paused() -> None:
    async with running() as run:
        run.session.error = "The server does not answer: check --base-url."
        await run.press("s")
        assert any("server does not answer" in toast for toast in run.toasts)
        assert run.idle


async def test_a_scope_that_is_gone_says_so_where_it_would_be() -> None:
    workbench = FakeWorkbench(lost="The scope scope_1.txt cannot be read.")
    async with running(workbench) as run:
        await run.steps(2)
        assert "cannot be read" in run.text()
        assert "Reading scope" not in run.text()


async def test_hit_ranks_are_not_cut_off() -> None:
    async with running() as run:
        await run.steps(4)
        assert run.bench.hits.gold.size.width <= run.bench.hits.size.width
        assert "#1, call 1" in run.text()


async def test_prose_is_wrapped_beside_the_scroll_bar() -> None:
    # Lines of an odd and of an even length: some take all the room there is.
    async with running(wish=Wish("a " * 500 + "bb " + "a " * 200)) as run:
        await run.press("home", "enter")
        transcript = run.bench.transcript
        assert transcript.show_vertical_scrollbar
        await run.press("end")
        rows = [transcript.render_line(y).text.rstrip() for y in range(transcript.room)]
        assert any("bb" in row for row in rows)
        assert not [row for row in rows if row.endswith("…")]


async def test_a_notice_leaves_line_and_keys_free() -> None:
    async with running(size=(80, 24)) as run:
        run.bench.say("The run is going on: space pauses it, ctrl+c stops the call at once. " * 2)
        await run.pilot.pause()
        shown = run.text().splitlines()
        assert "stops the call at once" in " ".join(shown)
        assert "▌" not in "".join(shown[-2:])
        assert sum("▌ " in line[5:] for line in shown) <= 3


async def test_what_waits_is_told_with_the_keys_of_the_settings() -> None:
    settings = FakeSettings(keys={"step": "f8"})
    async with running(FakeWorkbench(settings=settings)) as run:
        for _ in range(3):
            await run.press("f8")
        assert "f8 step · e edit · x skip · i insert" in run.text()


async def test_zoom_tabs_and_numbers() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("5", "z")
        assert [name for name, pane in run.bench.panes.items() if pane.display] == ["ranked"]
        await run.press("z", "tab")
        assert run.bench.arrangement.pane == "transcript"
        await run.press("shift+tab")
        assert run.bench.arrangement.pane == "ranked"
        for number, name in enumerate(run.bench.panes, start=1):
            await run.press(str(number))
            assert run.bench.arrangement.pane == name
            assert run.bench.panes[name].display


async def test_every_pane_is_reachable_on_a_small_screen() -> None:
    async with running(size=(80, 24)) as run:
        await run.steps(4)
        for number, words in enumerate(
            ("Q", "minutes/1912", "out of scope", "in scope order", "fused"), start=1
        ):
            await run.press(str(number))
            assert words in run.text()
        await run.press("enter")
        assert run.bench.arrangement.pane == "document"
        await run.press("escape")
        assert run.bench.arrangement.pane != "document"


async def test_too_small_is_said_and_undone() -> None:
    async with running() as run:
        await run.steps(4)
        await run.pilot.resize_terminal(30, 8)
        await run.until(lambda: "40 × 10" in run.text())
        await run.pilot.resize_terminal(160, 48)
        await run.until(lambda: "1 Transcript" in run.text())


async def test_a_storm_of_sizes() -> None:
    async with running() as run:
        await run.steps(4)
        await run.press("a")
        sizes = [
            (0, 0),
            (1, 1),
            (20, 5),
            (39, 40),
            (40, 10),
            (99, 1),
            (100, 16),
            (139, 60),
            (200, 5),
            (140, 40),
        ]
        for size in sizes:
            await run.pilot.resize_terminal(*size)
        await run.press("escape")
        for size in reversed(sizes):
            await run.pilot.resize_terminal(*size)
        await run.pilot.resize_terminal(160, 48)
        await run.until(lambda: "1 Transcript" in run.text())


async def test_help_and_palette_come_from_the_registry() -> None:
    async with running() as run:
        await run.press("question_mark")
        assert isinstance(run.app.screen, Help)
        assert "half-step" in run.text()
        await run.press("escape", "4", "f1")
        assert "in which rg met them" in run.text()
        await run.press("escape", "ctrl+p")
        await run.type("half-step")
        await run.until(lambda: "Do one half-step" in run.text())
        await run.pilot.press("enter")
        await run.until(lambda: len(run.session.state.turns) == 1)
        await run.settle()


async def test_a_page_down_in_a_palette_that_is_not_laid_out() -> None:
    async with running() as run:
        await run.pilot.resize_terminal(1, 1)
        await run.press("ctrl+p", "s", "t")
        palette = run.app.screen
        assert isinstance(palette, ActionPalette)
        await run.until(lambda: palette.query_one(CommandList).option_count > 0)
        await run.press("down", "pagedown", "pageup", "escape")
        await run.until(lambda: run.app.screen is run.bench)


@pytest.mark.parametrize("key", ["a", "question_mark", "i", "ctrl+p"])
async def test_ctrl_q_quits_from_every_dialogue(key: str) -> None:
    async with running() as run:
        await run.press(key)
        assert run.app.screen is not run.bench
        await run.pilot.press("ctrl+q")
        await run.pilot.pause()
        assert run.app.return_code == 0


async def test_themes_cycle() -> None:
    async with running() as run:
        first = run.app.theme
        for _ in run.app.theme_names:
            await run.press("t")
        assert run.app.theme == first


async def test_clicks_on_footer_and_tabs() -> None:
    async with running(size=(80, 24)) as run:
        await run.pilot.click("#tabs", offset=(12, 0))
        await run.settle()
        assert run.bench.arrangement.pane == "scope"
        await run.pilot.click("#footer", offset=(1, 0))
        await run.settle()
        assert len(run.session.state.turns) == 1


async def test_a_step_while_a_dialogue_is_open_waits_for_the_dialogue() -> None:
    async with running() as run:
        await run.steps(3)
        await run.press("e")
        await run.type("s")
        await run.press("escape")
        assert run.session.state.calls[1].waiting
