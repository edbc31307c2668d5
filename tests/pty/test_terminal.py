"""What a headless test cannot see: the terminal itself, before, while and after."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import pytest

from tests.pty.terminal import Terminal, terminal

COLOURS = re.compile(rb"\x1b\[[0-9;:]*\b(?:38|48)[;:][25][;:]")
REVERSE = re.compile(rb"\x1b\[(?:\d+;)*7[;m]")
TYPING = "earlier and later lines"
QUESTION = "Who restored the orrery?"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus small enough to be ready at once, with lines that try to take the terminal over."""
    root = tmp_path / "corpus"
    root.mkdir()
    for number in range(12):
        (root / f"note-{number}.txt").write_text(
            f"Note {number}\nThe orrery was restored by clerk {number}.\n"
        )
    (root / "evil.txt").write_bytes(
        b"The orrery \x1b]0;PWNED\x07 was restored \x1b[2J by \x9b31m Brandt.\n"
        b"Who restored the orrery? \x08\x07\n"
    )
    (root / "[@click=app.quit]x[").mkdir()
    (root / "[@click=app.quit]x[" / "].txt").write_text("[/] [bold orrery [@click=app.quit]restored[/]\n")
    return root


def is_restored(run: Terminal, modes: list[object]) -> None:
    """Alternate screen and mouse reporting off, cursor on, line discipline as it was."""
    for mode in (b"?1049l", b"?1000l", b"?1003l", b"?2004l", b"?25h"):
        assert mode in run.output
    assert run.output.rindex(b"?1049l") > run.output.rindex(b"?1049h")
    assert run.modes() == modes


def leave_the_line(run: Terminal) -> None:
    """Escape, and wait until keys are keys again."""
    run.forget()
    run.press(b"\x1b")
    run.wait_for("zoom")


def test_the_demo_steps_twice_and_leaves_the_terminal_as_it_was() -> None:
    with terminal(["demo"]) as run:
        modes = run.modes()
        run.wait_for("PAUSED before turn 1")
        run.press(b"s")
        run.wait_for("PAUSED before call 1")
        run.press(b"s")
        run.wait_for("PAUSED before turn 2", "Scope 1")
        run.press(b"q")
        assert run.wait_for_end() == 0
        is_restored(run, modes)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_leave_through_the_door(corpus: Path, number: signal.Signals) -> None:
    with terminal(["open", str(corpus), "--question", QUESTION]) as run:
        modes = run.modes()
        run.wait_for("PAUSED before turn 1")
        run.signal(number)
        assert run.wait_for_end() == 128 + number
        is_restored(run, modes)


def test_quitting_at_once(corpus: Path) -> None:
    with terminal(["open", str(corpus), "--question", QUESTION]) as run:
        modes = run.modes()
        run.wait_for("rarg")
        run.press(b"q")
        assert run.wait_for_end() == 0
        is_restored(run, modes)


@pytest.mark.parametrize("value", ["1", ""])
def test_no_color_means_no_colour(corpus: Path, value: str) -> None:
    with terminal(["open", str(corpus), "--question", QUESTION], {"NO_COLOR": value}) as run:
        run.wait_for("PAUSED before turn 1")
        run.press(b"s")
        run.wait_for("PAUSED before call 1")
        run.press(b"q")
        run.wait_for_end()
        assert not COLOURS.search(run.output)
        assert REVERSE.search(run.output), "the selected row must be seen"


def test_no_document_commands_the_terminal(corpus: Path) -> None:
    with terminal(["open", str(corpus), "--question", QUESTION]) as run:
        run.wait_for("PAUSED before turn 1")
        run.press(b"c")
        run.wait_for("ENDED")
        run.press(b":")
        run.wait_for(TYPING)
        run.forget()
        run.press(b"read evil.txt\r")
        run.wait_for("me", "evil.txt")
        leave_the_line(run)
        for pane in (b"2", b"3", b"4", b"5"):
            run.press(pane + b"\r")
        run.wait_for("6 Document", "PWNED")
        run.press(b"z")
        run.press(b"q")
        run.wait_for_end()
        assert b"PWNED\x07" not in run.output
        assert b"\x1b]0;P" not in run.output
        assert b"\x9b31m" not in run.output.replace(b"\xc2\x9b", b"")
        assert b"\x1b[2J by" not in run.output


def test_the_space_bar_of_a_terminal_that_sends_sequences(corpus: Path) -> None:
    with terminal(["open", str(corpus), "--question", QUESTION]) as run:
        run.wait_for("PAUSED before turn 1")
        run.press(b":")
        run.wait_for(TYPING)
        run.press(b"recall\x1b[32uxyzzy\r")
        run.wait_for("“xyzzy”")
        leave_the_line(run)
        run.press(b"q")
        run.wait_for_end()


def test_quitting_while_a_server_does_not_answer(corpus: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        arguments = ["open", str(corpus), "--question", QUESTION, "--model", "m", "--base-url", url]
        with terminal(arguments) as run:
            modes = run.modes()
            run.wait_for("PAUSED before turn 1")
            run.press(b"s")
            run.wait_for("RUNNING")
            # Connected, and waiting: the client's own patience is longer than this test's.
            silent.accept()
            run.press(b"q")
            assert run.wait_for_end() == 0
            is_restored(run, modes)
