"""The process around a command: closed, full and broken streams, locales, signals, terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rarg_tui
from rarg_tui.cli import main

RARG = [sys.executable, "-m", "rarg_tui"]
NAME = "caf\u00e9 \u6f22.txt"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / NAME).write_text(
        "Quetzal \u2014 \x1b]0;PWNED\x07 \u202e \x9b31m\tend\n" + "x" * 9_000 + " Quetzal\n"
    )
    (root / "b.txt").write_text("x\n" * 9)
    return root


@pytest.fixture
def rarg(corpus: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs ``rarg`` from a shell, with its redirections and variables."""

    def run(line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["/bin/sh", "-c", line.replace("rarg", '"$@"', 1).replace("-C .", f"-C '{corpus}'"), "sh", *RARG],
            cwd=Path(rarg_tui.__file__).parents[1],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    return run


GREP = "rarg grep -C . --all --raw Quetzal"


@pytest.mark.parametrize("line", [f"{GREP} >&-", f"{GREP} 2>&-", f"{GREP} <&- >&- 2>&-"])
def test_streams_that_are_closed(rarg: Callable[..., subprocess.CompletedProcess[bytes]], line: str) -> None:
    done = rarg(line)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"Quetzal" in done.stdout) is (">&-" not in line.replace("2>&-", ""))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("options", ["--raw", "--json", ""])
def test_an_output_that_cannot_be_written(
    rarg: Callable[..., subprocess.CompletedProcess[bytes]], options: str
) -> None:
    done = rarg(f"rarg grep --quiet -C . --all {options} Quetzal >/dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith(b"rarg: something could not be read or written: No space left")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_narration_that_cannot_be_written_stops_nothing(
    rarg: Callable[..., subprocess.CompletedProcess[bytes]],
) -> None:
    done = rarg("rarg run -C . 'Which Quetzal?' 2>/dev/full")
    assert done.returncode == 0
    assert NAME.encode() in done.stdout


def test_any_locale(rarg: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for line in (GREP, "rarg grep -C . --all Quetzal", "rarg shell -C . -- ls", "rarg config"):
        done = rarg(line, **ascii_only)
        assert done.returncode == 0, done.stderr
        assert done.stdout == rarg(line).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_program_behind(corpus: Path, number: signal.Signals) -> None:
    """The sed script never ends; its output is a sign of life."""
    command = "sed --unbuffered 's/^/x\\n/;D' b.txt | sed -u 's/$/y/' | cat | grep zz"
    with subprocess.Popen(
        [*RARG, "shell", "-C", str(corpus), "--", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        children = _wait_for_children(process.pid)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else 128 + number)
    assert b"Traceback" not in errors
    assert not [pid for pid in children if _runs(pid)]


def test_raw_output_on_a_terminal_is_safe_and_whole(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["grep", "-C", str(corpus), "--all", "--raw", "Quetzal"]) == 0
    out = capsys.readouterr().out
    assert not [char for char in out if char in "\x1b\x07\x9b\u202e"]
    first, second = out.splitlines()
    assert first == f"{NAME}:Quetzal \u2014 \u241b]0;PWNED\u2407 \u2039RLO\u203a \u20399b\u203a31m  end"
    assert second == f"{NAME}:{'x' * 9_000} Quetzal"


@pytest.mark.parametrize("option", ["--corpus", "--cache", "--config", "--scope"])
def test_an_empty_path_is_not_the_working_directory(
    option: str, capsys: pytest.CaptureFixture[str], corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus)
    where = [] if option == "--scope" else ["--all"]
    assert main(["grep", option, "", *where, "Quetzal"]) == 2
    assert "must not be empty" in capsys.readouterr().err


def test_two_dashes_are_a_value_too(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grep", "-C", str(corpus), "--json", "--query=--", "Quetzal"]) == 0
    assert json.loads(capsys.readouterr().out)["scope"]["query"] == "--"


def test_raw_output_is_no_json(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grep", "-C", str(corpus), "--all", "--raw", "--json", "Quetzal"]) == 2
    assert "leave one of" in capsys.readouterr().err


def test_the_demo_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--headless", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ended"] == "answered"


def _wait_for_children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        pytest.skip("children are only listed on Linux")
    while True:
        every = [int(child) for task in listed.parents[1].iterdir() for child in _children_of(task)]
        if len(every) == 4:
            return every


def _children_of(task: Path) -> list[str]:
    try:
        return (task / "children").read_text().split()
    except OSError:
        return []


def _runs(pid: int) -> bool:
    try:
        return b"sed" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
