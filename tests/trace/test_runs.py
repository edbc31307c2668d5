from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.trace import runs
from rarg_tui.trace.export import as_markdown
from rarg_tui.trace.log import EVENTS_FILE, RunLog, load
from rarg_tui.trace.reducer import replay
from rarg_tui.trace.replay import Replay
from tests.trace import scripted


def test_a_name_is_readable_and_depends_only_on_what_fixes_the_run() -> None:
    name = runs.run_name(scripted.started())
    assert name.startswith("who-mended-the-clock-")
    assert name == runs.run_name(scripted.started(run="other", at="2000-01-01", seq=9))
    assert name != runs.run_name(scripted.started(strategy="rarg"))


@pytest.mark.parametrize("question", ["../../etc", "", "漢字?", "a" * 400, "\x1b[2J"])
def test_a_name_is_a_safe_file_name(question: str) -> None:
    name = runs.run_name(scripted.started(question=question))
    assert name.isascii()
    assert not set(name) & set("/\\\x00\x1b")
    assert 8 < len(name) < 64


def test_equal_runs_are_kept_once_and_others_are_not_touched(tmp_path: Path) -> None:
    base = runs.run_name(scripted.started())
    first = runs.free_directory(tmp_path, base)
    scripted.write(first)
    second = runs.free_directory(tmp_path, base)
    assert second != first
    scripted.write(second)
    assert runs.keep_one(second) == first
    assert not second.exists()

    third = runs.free_directory(tmp_path, base)
    log = RunLog(third)
    log.append(scripted.started())
    log.close()
    assert runs.keep_one(third) == third
    assert len(load(first).events) == len(scripted.events())


def test_runs_are_listed_with_their_problems(tmp_path: Path) -> None:
    scripted.write(tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / EVENTS_FILE).write_text("nonsense\n")
    (tmp_path / "not a run").mkdir()
    rows = {row.run: row for row in runs.list_runs(tmp_path)}
    assert set(rows) == {"good", "bad"}
    assert (rows["good"].ended, rows["good"].calls, rows["good"].problem) == ("answered", 2, "")
    assert "no run log" in rows["bad"].problem


def test_an_unknown_run_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    scripted.write(tmp_path / "clock-1234")
    assert runs.find_run(tmp_path, "clock-1234") == tmp_path / "clock-1234"
    assert runs.find_run(tmp_path, str(tmp_path / "clock-1234")) == tmp_path / "clock-1234"
    with pytest.raises(RargError, match="did you mean clock-1234"):
        runs.find_run(tmp_path, "clock-1235")


def test_a_fork_copies_events_and_scopes_and_leaves_the_parent_as_it_was(tmp_path: Path) -> None:
    source = tmp_path / "clock"
    scripted.write(source)
    (source / "scope_1.txt").write_text("letters/a.txt\n")
    before = (source / EVENTS_FILE).read_bytes()
    forked = runs.fork(tmp_path, source, 7)
    state = replay(load(forked).events)
    assert (state.parent, state.ended) == ("clock", "")
    assert state.next_call is not None
    assert (forked / "scope_1.txt").read_text() == "letters/a.txt\n"
    assert (source / EVENTS_FILE).read_bytes() == before
    with pytest.raises(RargError, match="there is no event 99"):
        runs.fork(tmp_path, source, 99)


def test_a_replay_stops_where_a_live_run_would_and_ends_in_the_same_state(tmp_path: Path) -> None:
    events = scripted.write(tmp_path)
    shown = Replay(load(tmp_path))
    stops = [shown.state.seq]
    while shown.step():
        stops.append(shown.state.seq)
    stops.append(shown.state.seq)
    assert stops == [1, 3, 5, 7, 9, 11, 12]
    assert shown.state == replay(events)
    assert not shown.step()


def test_an_export_cannot_be_broken_by_what_it_quotes() -> None:
    state = replay(scripted.events())
    text = as_markdown(state)
    assert "# Who mended the clock?" in text
    assert scripted.GOLD in text
    quoted = replace(state, calls=(replace(state.calls[0], observation="```\n# not a heading\n```"),))
    assert "````\n```\n# not a heading\n```\n````" in as_markdown(quoted)
