from __future__ import annotations

from pathlib import Path

import pytest

from rarg_tui.agent.model import Reply
from tests.agent.conftest import Start, bash
from tests.search import fake_bwrap

LOOP = "for f in letters/*; do head -1 $f; done"


def test_bash_runs_in_the_sandbox_of_the_run(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start(bash(LOOP), bash(LOOP), Reply("done"))
    session.step()
    session.step()
    assert session.state.calls[0].state == "refused"
    session._world.sandbox = fake_bwrap.put(monkeypatch, tmp_path / "bin")
    session.step()
    session.step()
    assert session.state.calls[1].state == "ok"
    assert "full bash in the sandbox" in session.state.calls[1].observation
