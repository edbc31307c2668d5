from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from rarg_tui.cli import main
from tests.evaluation import forms


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    monkeypatch.delenv("RARG_CORPUS", raising=False)


def beir(place: Path) -> Path:
    corpus = {"d1": "The orrery was mended by Ilse Brandt.", "d2": "A clock of brass.", "d3": "Of eggs."}
    queries = [
        {"_id": f"q{n}", "text": text} for n, text in enumerate(("Who mended it?", "brass clock", "eggs"))
    ]
    return forms.beir(place, corpus, "q0\td1\t1\nq1\td2\t1\nq2\td1\t1\n", queries)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["eval", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_beir_folder_is_diagnosed_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = beir(tmp_path / "beir")
    found = printed(capsys, "diagnose", str(place), "--ranker", "lexical", "--ranker", "lexical+static")
    assert (found["dataset"], found["questions"]) == (str(place), 3)
    assert found["rankers"]["lexical"] == {"lexical": 1.0}
    assert [row["ranker"] for row in found["rows"]] == ["path", *["lexical"] * 5, *["lexical+static"] * 5]
    assert {row["order"] for row in found["rows"]} == {"path", "scope", "paper", "fused"}
    lexical = [one for one in found["by_question"] if one["ranker"] == "lexical"]
    assert [one["gold"][0]["rank"] for one in lexical] == [1, 1, None]
    assert [one["ndcg@10"] for one in lexical] == [1.0, 1.0, 0.0]
    assert found["rows"][1]["ndcg@10"] == pytest.approx(0.6667)


def test_the_commands_of_a_question_can_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "diagnose", str(beir(tmp_path / "it's")), "--ranker", "lexical")
    (first, *_) = [one for one in found["by_question"] if one["ranker"] == "lexical"]
    for command in first["commands"]:
        program, *words = shlex.split(command)
        assert program == "rarg"
        assert main(words) == 0
        assert "d1.txt" in capsys.readouterr().out


def test_questions_are_halved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(beir(tmp_path / "beir"))
    halves = {
        half: [
            one["id"]
            for one in printed(capsys, "diagnose", place, "--ranker", "lexical", "--questions", half)[
                "by_question"
            ]
            if one["ranker"] == "lexical"
        ]
        for half in ("odd", "even")
    }
    assert halves == {"odd": ["q0", "q2"], "even": ["q1"]}


def test_rerankers_are_named_and_the_worst_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(beir(tmp_path / "beir"))
    assert main(["eval", "diagnose", place, "--ranker", "lexical", "--rerank", "paper", "--worst", "1"]) == 0
    text = capsys.readouterr().out
    assert " paper " in text
    assert " fused " not in text
    assert "q2  nDCG@10 0.000  eggs\n    not in the scope, no match in the pool: d1.txt\n" in text


def test_without_names_the_rankers_that_are_ready_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "diagnose", str(beir(tmp_path / "beir"))]) == 0
    told = capsys.readouterr()
    assert "lexical+static: 1 lexical + " in told.out
    assert "--ranker dense builds it" in told.err


def test_what_a_source_lacks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "prepare", str(forms.trec(tmp_path / "trec")), str(tmp_path / "set")]) == 0
    told = capsys.readouterr().err
    assert "such as 'A-9'" in told
    assert "3 documents written" in told


def test_a_written_data_set_is_listed_and_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = beir(tmp_path / "beir")
    printed(capsys, "diagnose", str(place), "--ranker", "lexical")
    assert main(["cache", "--json"]) == 0
    assert str(place) in [row["corpus"] for row in json.loads(capsys.readouterr().out)]
    assert main(["cache", "--drop", "-C", str(place), "--json"]) == 0
    (dropped,) = json.loads(capsys.readouterr().out)
    assert not Path(dropped["path"]).exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["diagnose", "DIR", "--ranker", "lexicle"], "There is no ranker"),
        (["diagnose", "DIR", "--rerank", "fuzed"], "There is no reranker"),
        (["diagnose", "DIR", "--questions", "third"], "invalid choice: 'third'"),
        (["diagnose", "DIR/none"], "cannot be opened"),
        (["diagnose", "DIR", "--split", "dev"], "no judgements called 'dev'"),
        (["run", "DIR/qrels.tsv"], "cannot be opened"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    place = str(beir(tmp_path / "beir"))
    assert main(["eval", *(word.replace("DIR", place) for word in words)]) == 2
    told = capsys.readouterr().err.strip().split("\n")
    assert sentence in told[-1]
