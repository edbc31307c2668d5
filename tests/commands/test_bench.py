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


class TestIndexAndRecall:
    def test_from_nothing_to_a_current_index(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(bench.Indexing, "model", lambda self: (1.0, 10))
        assert main(["bench", "index", "--documents", "20", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert [row["name"].partition(": ")[2] for row in rows] == [
            "first lexical scope",
            "static joins",
            "second start",
            "100 edited",
        ]
        assert [row["baseline_seconds"] for row in rows[:2]] == [2.0, 2.0]
        assert "(10 measured, scaled)" in rows[0]["baseline"]
        assert rows[2]["baseline_seconds"] == rows[3]["baseline_seconds"] == rows[1]["seconds"]
        assert all(row["peak_mb"] > 10 for row in rows)

    def test_recall_by_three_rankers(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "recall", "--documents", "20", "--runs", "2"]) == 0
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith("20 documents, ")
        assert "lexical+static+dense" in line
        assert "MB at most" in line
        assert "medians of 2" in line

    def test_no_documents(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "recall", "--documents", "0"]) == 2
        assert "--documents must be 1 or more" in capsys.readouterr().err
