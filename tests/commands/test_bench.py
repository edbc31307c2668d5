from __future__ import annotations

import json

import pytest

from rarg_tui.cli import main
from rarg_tui.commands import bench


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_CORPORA", {"a small corpus": (300, 20, 50)})


@pytest.mark.usefixtures("small")
class TestScan:
    def test_the_rows(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "scan", "--runs", "1", "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["bench"] == "scan"
        assert [row["baseline"] for row in printed["rows"]] == [
            "xargs rg -j1",
            "xargs rg",
            "xargs rg -j1",
            "xargs rg",
            "xargs rg -j1 | head -500",
            "the whole scan",
        ]
        assert all(row["identical"] is True for row in printed["rows"])
        assert all(row["ratio"] > 0 for row in printed["rows"])

    def test_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "scan", "--runs", "1"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 6
        assert all("ratio" in line and "same lines" in line for line in lines)
