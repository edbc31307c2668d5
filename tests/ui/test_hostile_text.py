"""Text that breaks terminals and markup parsers, in every place of the interface where text can come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rarg_tui.trace import events as ev
from rarg_tui.ui.screens.edit_call import EditCall
from tests.ui.app_harness import Running, running
from tests.ui.fakes import FakeWorkbench
from tests.ui.scenario import script
from tests.ui.widget_harness import HOSTILE, LONG, unsafe_characters


def hostile_script(text: str) -> list[list[ev.Event]]:
    """A run in which ``text`` is the question, a query, a command, a path, a line, an answer, …"""
    started = script()[0][0]
    assert isinstance(started, ev.RunStarted)
    path = f"dir/{text}".replace("\n", "")
    command = {"command": f"rg {text}"}
    matches = tuple(
        ev.Match(
            path,
            line,
            f"{text} NEEDLE {text}",
            ((len(text) + 1, len(text) + 7),),
            position=line,
            document_rank=1,
            score=1.0 / line,
            shown_at=line if line < 3 else None,
        )
        for line in (1, 2, 3)
    )
    asked = ev.ToolCall("c1", "embed_recall", {"query": text})
    return [
        [
            replace(
                started,
                question=text,
                model=text,
                strategy=text,
                rerank=text,
                run=text,
                gold={path: 1, "x" + text: 1},
            )
        ],
        [
            ev.ModelReplied(turn=1, text=text + "\n" + text, calls=(asked,)),
            ev.CallProposed(call=1, turn=1, tool="embed_recall", arguments={"query": text}),
        ],
        [
            ev.ScopeCreated(
                scope=1,
                call=1,
                query=text,
                ranker=text,
                rankers={text: 1.0},
                documents=1,
                entry_points=(ev.EntryPoint(path, 1, 2, text),),
            ),
            ev.CallExecuted(call=1, tool="embed_recall", state="ok", observation=text, scope=1, message=text),
        ],
        [
            ev.ModelReplied(turn=2, text=text),
            ev.CallProposed(call=2, turn=2, tool="bash", arguments=command, error=text, raw=text),
        ],
        [
            ev.CallExecuted(
                call=2,
                tool="bash",
                state="ok",
                observation=f"{path}:1:{text}",
                message=text,
                ran=text,
                scope=1,
                pattern=text,
                reranked=True,
                rerank_query=text,
                pool=matches,
                shown=2,
                seen={path: 1},
            ),
            ev.NoteAdded(text=text),
            ev.BreakpointHit(call=2, breakpoint=text),
            ev.ModelFailed(turn=3, error=text),
        ],
        [
            ev.ModelReplied(turn=3, text=""),
            ev.CallProposed(call=3, turn=3, tool="bash", arguments=command),
        ],
        [
            ev.CallEdited(call=3, before=command, after={"command": text}),
            ev.CallSkipped(call=3, note=text),
            ev.ModelReplied(turn=4, text=text),
            ev.RunEnded(
                ended="answered",
                answer=f"{text} [{path}:1]\n{text}",
                citations=(path,),
                ranking=(path,),
                error=text,
            ),
        ],
    ]


def hostile_workbench(text: str) -> FakeWorkbench:
    path = f"dir/{text}".replace("\n", "")
    return FakeWorkbench(
        groups=hostile_script(text), name=text, paths=[path], texts={path: [text, f"{text} NEEDLE", text]}
    )


def check(run: Running, size: tuple[int, int]) -> None:
    """Nothing on screen can command the terminal, and the app lives."""
    lines = run.text().split("\n")
    assert not any(unsafe_characters(line) for line in lines)
    assert len(lines) == size[1]
    assert run.app.return_code is None


async def look_everywhere(run: Running, size: tuple[int, int]) -> None:
    """Every pane, its rows unfolded and opened, zoomed, clicked and hovered."""
    for row in range(12):
        run.bench.place(run.bench.arrangement.focus("transcript"))
        run.bench.transcript.cursor = row
        run.bench.transcript.unfold()
    await run.settle()
    for key in "123456":
        await run.press(key)
        check(run, size)
        await run.press("l")
        check(run, size)
        await run.press("enter")
        check(run, size)
    await run.pilot.hover("#status", offset=(10, 0))
    for pane in ("#transcript", "#scope", "#raw", "#ranked"):
        if run.bench.query_one(pane).display:
            await run.pilot.hover(pane, offset=(12, 3))
            await run.pilot.click(pane, offset=(12, 3))
            await run.settle()
            check(run, size)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_text_in_every_pane(text: str) -> None:
    size = (160, 48)
    async with running(hostile_workbench(text), size=size, theme="rarg-light") as run:
        for _ in range(len(hostile_script(text)) - 1):
            await run.press("s")
            check(run, size)
        await look_everywhere(run, size)
        await run.press("1", "o")
        check(run, size)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_text_in_dialogues_notices_and_inputs(text: str) -> None:
    size = (80, 24)
    async with running(hostile_workbench(text), size=size) as run:
        for sentence in (text, f"{text} is wrong."):
            run.bench.say(sentence)
            run.bench.command.say(sentence)
            await run.pilot.pause()
            check(run, size)
        await run.press("s", "e")
        assert isinstance(run.app.screen, EditCall)
        check(run, size)
        await run.press("f2")
        check(run, size)
        await run.press("escape", "a")
        check(run, size)
        await run.press("escape", "colon")
        run.bench.command.input.value = text
        await run.pilot.pause()
        check(run, size)
        await run.press("enter")
        check(run, size)


async def test_a_line_of_two_megabytes() -> None:
    size = (160, 48)
    start = LONG.index("NEEDLE")
    async with running(hostile_workbench(LONG), size=size) as run:
        await run.steps(4)
        await look_everywhere(run, size)
        run.bench.document.open("x.json", [LONG], 1)
        run.bench.document.set_document("x.json", [LONG], {1: [(start, start + 6)]}, 1)
        run.bench.place(run.bench.arrangement.focus("document"))
        await run.settle()
        assert "NEEDLE" in run.text()
        await run.pilot.resize_terminal(120, 40)
        await run.pilot.pause()
        assert run.app.return_code is None


async def test_a_click_on_markup_does_nothing() -> None:
    text = "[@click=app.quit]quit me[/]"
    async with running(hostile_workbench(text)) as run:
        await run.steps(4)
        lines = run.text().split("\n")
        spots = [(x, y) for y, line in enumerate(lines) if (x := line.find("quit me")) >= 0]
        assert spots
        for x, y in spots:
            await run.pilot.click(offset=(x + 1, y))
            await run.settle()
        assert run.app.return_code is None


async def test_a_space_without_a_character_is_a_space() -> None:
    from textual.events import Key

    async with running() as run:
        await run.press("colon", "r")
        run.bench.command.input.post_message(Key("space", None))
        await run.pilot.pause()
        await run.press("g")
        assert run.bench.command.input.value == "r g"


async def test_the_same_document_twice_in_a_scope() -> None:
    paths: Sequence[str] = ["a.txt", "a.txt", "b.txt"]
    async with running(FakeWorkbench(paths=list(paths), texts={path: ["orrery"] for path in paths})) as run:
        await run.steps(4)
        assert run.bench.scope.row_count == 3
        await run.press("2", "enter")
        assert run.bench.document.path == "a.txt"
