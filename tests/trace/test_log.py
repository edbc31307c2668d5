from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.log import EVENTS_FILE, RunLog, load
from tests.trace import scripted


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = scripted.write(tmp_path / "run")
    loaded = load(tmp_path / "run")
    assert loaded.events == written
    assert loaded.notices == ()
    assert [event.seq for event in written] == list(range(1, len(written) + 1))
    assert all(event.at.endswith("Z") for event in written)


def test_a_subscriber_sees_an_event_that_is_on_disk(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "run")
    on_disk: list[int] = []
    log.subscribe(lambda event: on_disk.append(len(load(tmp_path / "run").events)))
    log.append(scripted.started())
    log.append(ev.NoteAdded(text="x"))
    assert on_disk == [1, 2]


def test_every_torn_end_opens_up_to_the_last_whole_line(tmp_path: Path) -> None:
    written = scripted.write(tmp_path / "run")
    file = tmp_path / "run" / EVENTS_FILE
    data = file.read_bytes()
    start = data.rindex(b"\n", 0, -1) + 1
    for cut in range(start + 1, len(data)):
        file.write_bytes(data[:cut])
        loaded = load(tmp_path / "run")
        assert loaded.events == written[:-1]
        assert "torn" in loaded.notices[0]


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    written = scripted.write(tmp_path / "run")
    file = tmp_path / "run" / EVENTS_FILE
    lines = file.read_bytes().splitlines(keepends=True)
    lines[4] = b"{not json}\n"
    file.write_bytes(b"".join(lines))
    loaded = load(tmp_path / "run")
    assert loaded.events == written[:4]
    assert "Line 5" in loaded.notices[0]


def test_a_reopened_run_goes_on_after_the_last_whole_line(tmp_path: Path) -> None:
    scripted.write(tmp_path / "run")
    file = tmp_path / "run" / EVENTS_FILE
    file.write_bytes(file.read_bytes()[:-5])
    log = RunLog.reopen(load(tmp_path / "run"))
    added = log.append(ev.NoteAdded(text="again"))
    log.close()
    loaded = load(tmp_path / "run")
    assert loaded.notices == ()
    assert loaded.events[-1] == added
    assert added.seq == len(scripted.events())


def test_a_path_that_is_not_utf8_survives_and_the_log_stays_utf8(tmp_path: Path) -> None:
    path = os.fsdecode(b"latin-\xe9.txt")
    log = RunLog(tmp_path / "run")
    log.append(scripted.started())
    log.append(ev.GoldMarked(path=path))
    log.close()
    (tmp_path / "run" / EVENTS_FILE).read_bytes().decode("utf-8")
    last = load(tmp_path / "run").events[-1]
    assert isinstance(last, ev.GoldMarked)
    assert last.path == path


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\xff\xfe\n", b'{"event": "NoteAdded", "text": "x"}\n', b"[1]\n"]
)
def test_what_is_no_log_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / EVENTS_FILE).write_bytes(content)
    with pytest.raises(RargError, match="no run log"):
        load(tmp_path)


def test_a_missing_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RargError, match="rarg runs"):
        load(tmp_path / "none")


def test_a_log_of_a_later_schema_is_refused(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    log.append(scripted.started(schema_version=ev.SCHEMA_VERSION + 1))
    with pytest.raises(RargError, match="later rarg"):
        load(tmp_path)


ODD: dict[str, dict[str, Any]] = {
    "RunStarted": {"question": 5, "rankers": ["lexical"], "gold": "x", "schema_version": "1", "seq": [1]},
    "ModelReplied": {
        "text": None,
        "calls": [{"id": "1", "tool": 5, "arguments": {}}],
        "usage": {"input_tokens": "x"},
    },
    "CallProposed": {"turn": {}, "arguments": [1], "call": True},
    "CallExecuted": {
        "seen": 5,
        "message": ["x"],
        "observation": 1,
        "pool": [{"path": 1, "line": 1, "text": ""}],
    },
}


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind in ODD for field in ODD[kind]])
def test_a_value_of_another_type_is_a_broken_line(tmp_path: Path, kind: str, field: str) -> None:
    written = scripted.write(tmp_path / "run")
    at = next(number for number, event in enumerate(written) if event.kind == kind)
    file = tmp_path / "run" / EVENTS_FILE
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    lines[at][field] = ODD[kind][field]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if at == 0:
        with pytest.raises(RargError, match="no run log"):
            load(tmp_path / "run")
    else:
        loaded = load(tmp_path / "run")
        assert loaded.events == written[:at]
        assert f"Line {at + 1} " in loaded.notices[0]


@pytest.mark.parametrize("depth", [200, 100_000])
def test_a_line_that_is_nested_too_deeply_is_broken(tmp_path: Path, depth: int) -> None:
    written = scripted.write(tmp_path / "run")
    nested = "[" * depth + "]" * depth
    line = (
        '{"event": "CallProposed", "call": 9, "turn": 1, "tool": "bash", "arguments": {"command": '
        + nested
        + "}}"
    )
    with (tmp_path / "run" / EVENTS_FILE).open("a") as file:
        file.write(line + "\n" + line + "\n")
    loaded = load(tmp_path / "run")
    assert loaded.events == written
    assert f"Line {len(written) + 1} " in loaded.notices[0]
