from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rarg_tui.cli import COMMANDS, main
from rarg_tui.commands import doctor
from rarg_tui.paths import resource_dir
from rarg_tui.relevance import remote
from rarg_tui.search import sandbox
from tests import small
from tests.relevance.embeddings_server import serving, status
from tests.search import fake_bwrap

HOME_VARIABLES = ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HOME_VARIABLES:
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    for name in ("OPENAI_API_KEY", "RARG_CORPUS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return small.write(tmp_path / "corpus")


Run = Any


@pytest.fixture
def rarg(corpus: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """``rarg("recall", "x")`` → (exit code, stdout, stderr), on the small corpus."""

    def run(*words: str) -> tuple[int, str, str]:
        command, *rest = words
        code = main([command, "-C", str(corpus), *rest])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def as_json(result: tuple[int, str, str]) -> Any:
    return json.loads(result[1])


def test_recall_prints_a_path_a_line(rarg: Run) -> None:
    code, out, _ = rarg("recall", "who mended the orrery?", "--ranker", "lexical+static")
    assert code == 0
    assert sorted(out.splitlines()) == sorted(small.DOCUMENTS)
    assert out.splitlines()[0] == "letters/a.txt"


def test_recall_as_json(rarg: Run) -> None:
    data = as_json(rarg("recall", "orrery", "--ranker", "lexical+static", "--top", "2", "--json"))
    assert data["query"] == "orrery"
    assert data["documents"] == 3
    assert set(data["rankers"]) == {"lexical", "static"}
    assert [row["rank"] for row in data["paths"]] == [1, 2]
    assert set(data["paths"][0]["by"]) == {"lexical", "static"}


def test_explain_shows_every_rankers_rank(rarg: Run) -> None:
    _, out, _ = rarg("recall", "orrery", "--ranker", "lexical+static", "--explain")
    assert out.splitlines()[0] == "score = 1 ÷ (60 + rank by lexical) + 0.5 ÷ (60 + rank by static)"
    _, score, *cells = out.splitlines()[2].split()
    assert cells[0] == "#1"
    shares = [float(cell) for cell in cells if cell.startswith("+")]
    assert len(shares) == 2
    assert abs(sum(shares) - float(score)) < 0.00002


def test_a_smaller_scope_is_the_beginning_of_a_larger(rarg: Run) -> None:
    sample = str(resource_dir("sample_corpus"))
    query = ("recall", "-C", sample, "who restored the orrery", "--ranker", "lexical+static")
    _, whole, _ = rarg(*query)
    for top in (1, 3, 10):
        assert rarg(*query, "--top", str(top))[1].splitlines() == whole.splitlines()[:top]


def test_why_follows_a_document_and_a_line(rarg: Run) -> None:
    query = ("why", "--query", "shop", "--ranker", "lexical")
    data = as_json(rarg(*query, "--json", "--pattern", "Ohlendorf", "notes/c d.txt:1"))
    assert (data["document"], data["line"], data["lost_at"]) == ("notes/c d.txt", 1, None)
    assert [stage["stage"] for stage in data["stages"]] == [
        *("corpus", "scope", "matched", "pool", "rerank", "observation")
    ]
    code, out, _ = rarg(*query, "./notes/c d.txt", "--", "-i", "EGGS")
    assert code == 0
    assert out.splitlines()[0] == "notes/c d.txt:2"
    _, out, _ = rarg(*query, "--pattern", "eggs", "notes/c d.txt:1")
    assert "✗ matched" in out
    assert "would help: other words" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pattern", "x", "a.txt", "--", "x"), "give the pattern once"),
        (("a.txt",), "give the pattern once"),
        (("--pattern", "x", "a.txt:0"), "lines count from 1"),
        (("--pattern", "(", "letters/a.txt"), "unclosed group"),
    ],
)
def test_why_refuses_with_a_sentence(rarg: Run, words: tuple[str, ...], said: str) -> None:
    code, _, err = rarg("why", "--query", "shop", "--ranker", "lexical", *words)
    assert code == 2
    assert said in err


def test_grep_in_a_scope_and_in_path_order(rarg: Run) -> None:
    code, out, _ = rarg("grep", "--query", "shop", "--ranker", "lexical", "Ohlendorf")
    assert code == 0
    assert out.splitlines()[0].startswith("notes/c d.txt:1: Matthias")
    code, out, _ = rarg("grep", "--all", "--", "-i", "ohlendorf")
    assert [line.split(":")[0] for line in out.splitlines()] == ["letters/b.txt", "notes/c d.txt"]


def test_grep_as_json(rarg: Run) -> None:
    data = as_json(rarg("grep", "--query", "orrery", "--ranker", "lexical+static", "--json", "Ilse|eggs"))
    assert (data["state"], data["pattern"], data["scope"]["documents"]) == ("ok", "Ilse|eggs", 3)
    assert [match["position"] for match in data["pool"]] == [1, 2, 3]
    assert [match["shown_at"] for match in data["shown"]] == [1, 2, 3]
    first = data["pool"][0]
    assert first["text"][slice(*first["spans"][0])] == "Ilse"
    assert data["rg_version"]


def test_grep_raw_is_rgs_own_output(corpus: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["grep", "-C", str(corpus), "--all", "--raw", "--", "-c", "Ilse"]) == 0
    assert capfdbinary.readouterr().out == b"letters/a.txt:1\nletters/b.txt:1\n"


def test_grep_exit_codes(rarg: Run) -> None:
    assert rarg("grep", "--all", "nowhere")[0] == 1
    code, _, err = rarg("grep", "--all", "(unclosed")
    assert code == 2
    assert "unclosed group" in err
    assert "^" in err


def test_grep_over_a_file_of_paths(rarg: Run, tmp_path: Path) -> None:
    scope = tmp_path / "scope_7.txt"
    scope.write_text("notes/c d.txt\nletters/b.txt\n")
    _, out, _ = rarg("grep", "--scope", str(scope), "Ohlendorf")
    assert [line.split(":")[0] for line in out.splitlines()] == ["notes/c d.txt", "letters/b.txt"]
    scope.write_text("")
    assert rarg("grep", "--scope", str(scope), "Ohlendorf")[0] == 1


def test_shell_runs_and_refuses(rarg: Run, tmp_path: Path) -> None:
    (tmp_path / "scope_1.txt").write_text("notes/c d.txt\nletters/b.txt\n")
    place = ("--run-dir", str(tmp_path), "--json")
    ran = as_json(rarg("shell", *place, "--", "cat scope_1.txt | xargs -d '\\n' rg -n Ohlendorf"))
    assert (ran["verdict"], ran["state"], ran["scope"], ran["exit_code"]) == ("run", "ok", 1, 0)
    assert ran["observation"].startswith("notes/c d.txt:1:")
    refused = as_json(rarg("shell", *place, "--", "rm -rf ."))
    assert refused["verdict"] == "refused"
    assert refused["reason"]
    assert as_json(rarg("shell", *place, "--", ""))["verdict"] == "error"


LOOP = "for f in letters/*; do head -1 $f; done"


def test_shell_runs_full_bash_in_a_sandbox_if_it_is_told_to(
    rarg: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_bwrap.put(monkeypatch, tmp_path / "bin")
    assert as_json(rarg("shell", "--json", "--", LOOP))["verdict"] == "refused"
    ran = as_json(rarg("shell", "--sandbox", "bwrap", "--json", "--", LOOP))
    assert (ran["verdict"], ran["state"], ran["exit_code"]) == ("run", "ok", 0)
    assert "full bash in the sandbox" in ran["observation"]
    monkeypatch.setenv("RARG_SANDBOX", "bwrap")
    assert as_json(rarg("shell", "--json", "--", LOOP)) == ran
    assert as_json(rarg("shell", "--sandbox", "off", "--json", "--", LOOP))["verdict"] == "refused"


def test_a_sandbox_that_is_not_there_is_told_before_anything_runs(
    rarg: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "find_program", {}.get)
    code, out, err = rarg("shell", "--sandbox", "bwrap", "--", "wc -l letters/a.txt")
    assert (code, out) == (3, "")
    assert "install the package bubblewrap" in err
    assert err.count("\n") == 1


def test_index_says_what_is_there(rarg: Run) -> None:
    code, _, _ = rarg("index", "--check", "--ranker", "lexical+static")
    assert code == 1
    data = as_json(rarg("index", "--ranker", "lexical+static", "--json"))
    assert data["documents"] == 3
    assert all(ranker["ready"] for ranker in data["rankers"].values())
    assert rarg("index", "--check", "--ranker", "lexical+static")[0] == 0


def test_run_prints_answer_and_citations(rarg: Run) -> None:
    data = as_json(rarg("run", "Who mended the orrery?", "--ranker", "lexical+static", "--json"))
    assert data["model"] == "offline planner"
    assert data["ended"] == "answered"
    assert "letters/a.txt" in data["citations"]
    assert data["rankers"].keys() == {"lexical", "static"}
    assert Path(data["run"]).is_dir()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "Who mended the orrery?", "--ranker", "lexical+static", "--json"),
        ("recall", "orrery", "--ranker", "lexical+static", "--json"),
        ("grep", "--query", "orrery", "--ranker", "lexical+static", "--json", "Ilse|eggs"),
    ],
    ids=lambda words: words[0],
)
def test_the_same_command_gives_the_same_bytes(rarg: Run, words: tuple[str, ...]) -> None:
    first, second = (as_json(rarg(*words)) for _ in range(2))
    for data in (first, second):
        data.pop("elapsed_ms", None)
    assert first == second


def test_a_saved_run_is_listed_replayed_forked_and_exported(rarg: Run) -> None:
    name = Path(as_json(rarg("run", "Who mended the orrery?", "--ranker", "lexical", "--json"))["run"]).name
    assert name in rarg("runs")[1]
    assert "# Who mended the orrery?" in rarg("replay", name)[1]
    events = as_json(rarg("export", name, "--format", "json"))["events"]
    assert events[0]["event"] == "RunStarted"
    forked = as_json(rarg("fork", name, "--at", "3", "--json"))["run"]
    assert len(as_json(rarg("export", forked, "--format", "json"))["events"]) == 4
    code, _, err = rarg("replay", "x" + name)
    assert code == 2
    assert f"did you mean {name}" in err


def test_a_run_is_found_by_a_beginning_that_no_other_has(rarg: Run) -> None:
    name = Path(as_json(rarg("run", "Who mended the orrery?", "--ranker", "lexical", "--json"))["run"]).name
    assert "# Who mended the orrery?" in rarg("replay", "who-mended")[1]
    rarg("fork", name, "--at", "2")
    code, _, err = rarg("replay", "who-mended")
    assert code == 2
    assert "2 runs begin with who-mended" in err


def test_runs_are_those_of_the_corpus_that_is_named(rarg: Run, tmp_path: Path) -> None:
    rarg("run", "Who mended the orrery?", "--ranker", "lexical", "--json")
    assert len(as_json(rarg("runs", "--json"))) == 1
    assert as_json(rarg("runs", "--most", "0", "--json")) == []
    other = tmp_path / "other"
    other.mkdir()
    assert main(["runs", "-C", str(other)]) == 0


def test_the_cache_is_listed_and_dropped_by_corpus(
    rarg: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = small.write(tmp_path / "other")
    rarg("recall", "orrery", "--ranker", "lexical")
    assert main(["recall", "-C", str(other), "orrery", "--ranker", "lexical"]) == 0
    capsys.readouterr()
    rarg("cache", "--drop")
    assert main(["cache", "--json"]) == 0
    (left,) = json.loads(capsys.readouterr().out)
    assert left["corpus"] == str(other.resolve())


def test_bad_names_are_told_before_an_index_is_built(rarg: Run, tmp_path: Path) -> None:
    assert rarg("run", "x", "--strategy", "rargg")[0] == 2
    assert rarg("cache", "--list", "--json")[1].strip() == "[]"


def test_measuring_leaves_no_runs_behind(rarg: Run) -> None:
    assert main(["eval", "run", "--ranker", "lexical", "--strategy", "rargg"]) == 2
    assert as_json(rarg("runs", "--json")) == []


def test_a_ranking_without_dense_says_so(rarg: Run) -> None:
    assert "dense is not built" in rarg("recall", "orrery")[2]
    assert "not built" not in rarg("recall", "orrery", "--ranker", "lexical")[2]


def test_doctor_finds_what_is_needed(rarg: Run) -> None:
    code, out, _ = rarg("doctor", "--json")
    assert code == 0
    parts = {finding["part"]: finding for finding in json.loads(out)}
    assert parts["ripgrep"]["state"] == "ok"
    assert parts["dense model"]["state"] == "ok"


def test_doctor_tells_what_is_wrong_with_the_model_that_is_set(rarg: Run) -> None:
    for option, value, said in (
        ("--dense-model", "own/model", "nor in the local cache"),
        ("--embeddings-url", "http://127.0.0.1:9/v1", "set embeddings_model"),
    ):
        code, out, _ = rarg("doctor", "--json", option, value)
        row = next(row for row in json.loads(out) if row["part"] == "dense model")
        assert (code, row["state"]) == (3, "missing")
        assert said in row["detail"]


def test_index_says_what_was_not_seen_and_where_text_would_go(rarg: Run) -> None:
    code, out, _ = rarg("index", "--seen", "--ranker", "static", "--json")
    assert (code, json.loads(out)) == (0, {"static": []})
    given = ("--embeddings-url", "http://example.invalid/v1", "--embeddings-model", "m")
    code, _, err = rarg("index", "--ranker", "dense", "--status", *given)
    assert (code, "goes to" in err) == (0, False)


def test_index_says_where_text_goes_before_it_goes(
    rarg: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_is_here", lambda host: False)
    with serving() as server:
        server.faults = [status(401)]
        given = ("--ranker", "dense", "--embeddings-url", server.url, "--embeddings-model", "m")
        code, _, err = rarg("index", "-C", str(small.write(tmp_path / "c")), *given)
    assert code == 3
    said = err.index("the text of 3 documents goes to 127.0.0.1:")
    assert said < err.index("refused the key")


def test_doctor_says_whether_a_sandbox_is_possible(
    rarg: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> tuple[str, str]:
        rows = {finding["part"]: finding for finding in as_json(rarg("doctor", "--json"))}
        return rows["bubblewrap"]["state"], rows["bubblewrap"]["detail"]

    monkeypatch.setattr(doctor, "_dense", lambda settings: "not loaded for this")
    fake = fake_bwrap.put(monkeypatch, tmp_path / "bin")
    assert found() == ("ok", f"{fake.bwrap}: --sandbox bwrap is possible")
    fake_bwrap.put(monkeypatch, tmp_path / "bin", "sys.exit('bwrap: no permissions')")
    state, detail = found()
    assert (state, "cannot work here (bwrap: no permissions)" in detail) == ("optional", True)
    monkeypatch.setattr(sandbox, "find_program", {}.get)
    assert found()[0] == "optional"


def test_eval_prepares_and_runs(rarg: Run, tmp_path: Path) -> None:
    source = tmp_path / "beir"
    source.mkdir()
    rows = [{"_id": name, "title": "", "text": text} for name, text in small.DOCUMENTS.items()]
    (source / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (source / "queries.jsonl").write_text(
        '{"_id": "q", "text": "Where was the shop of the pupil of Brandt?"}\n'
    )
    (source / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq\tletters/b.txt\t1\nq\tnotes/c d.txt\t1\n"
    )
    assert rarg("eval", "prepare", str(source), str(tmp_path / "set"))[0] == 2  # -C stands before the verb
    assert main(["eval", "prepare", str(source), str(tmp_path / "set")]) == 0
    capsys_free = main(["eval", "run", str(tmp_path / "set"), "--ranker", "lexical", "--quiet"])
    assert capsys_free == 0


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["recal", "x"], 2, "did you mean `rarg recall`"),
        (["recall", "x", "--tpo", "3"], 2, "did you mean --top"),
        (["recall", "x", "--top", "0"], 2, "--top must be 1 or more"),
        (["recall", ""], 2, "query is empty"),
        (["recall"], 2, "QUERY"),
        (["run", "x", "--strategy", "rargg"], 2, "did you mean rarg"),
        (["run", "x", "--profile", "brite"], 2, "bright"),
        (["run", "x", "--ranker", "lexicle"], 2, "lexical"),
        (["run", "x", "--model", "gpt-x"], 2, "OPENAI_API_KEY"),
        (["grep", "x"], 2, "--query"),
        (["grep", "--all", "--query", "y", "x"], 2, "not allowed with"),
        (["grep", "--scope", "/nonexistent", "x"], 2, "/nonexistent"),
        (["shell", "ls"], 2, "after --"),
        (["shell", "--sandbox", "docker", "--", "ls"], 2, "--sandbox must be one of off, bwrap"),
        (["eval"], 2, "prepare, run or diagnose"),
        (["eval", "diagnos"], 2, "did you mean diagnose"),
        (["bench", "start"], 2, "did you mean startup"),
        (["replay", "none"], 2, "rarg runs"),
        (["open"], 2, "needs a terminal"),
        (["demo"], 2, "rarg demo --headless"),
        ([], 2, "needs a terminal"),
    ],
)
def test_bad_input_is_one_sentence(
    corpus: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, sentence: str
) -> None:
    directed = (
        [words[0], "-C", str(corpus), *words[1:]]
        if words and words[0] in COMMANDS and words[0] != "eval"
        else words
    )
    assert main(directed) == code
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.err.startswith("rarg")
    assert captured.out == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be opened"),
        ({}, "no text document"),
        ({"a.bin": b"\x00\x01"}, "binary"),
        ({".hidden.txt": b"text"}, "no text document"),
    ],
    ids=["no directory", "empty", "only binary", "only hidden"],
)
def test_a_corpus_that_cannot_be_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: dict[str, bytes] | None, sentence: str
) -> None:
    root = tmp_path / "odd"
    if content is not None:
        root.mkdir()
        for name, data in content.items():
            (root / name).write_bytes(data)
    assert main(["recall", "-C", str(root), "x"]) == 2
    assert sentence in capsys.readouterr().err


def process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rarg_tui", *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_a_home_that_cannot_be_written_to_is_no_obstacle(corpus: Path, tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.write_text("")
    homes = {name: str(a_file / "below") for name in HOME_VARIABLES}
    done = process(
        "run", "-C", str(corpus), "Who mended the orrery?", "--ranker", "lexical", HOME=str(a_file), **homes
    )
    assert done.returncode == 0, done.stderr
    assert "letters/a.txt" in done.stdout
    assert "cannot be written to" in done.stderr


def test_a_reader_that_goes_away_is_no_error(corpus: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m rarg_tui recall -C '{corpus}' orrery --ranker lexical | true",
        shell=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        with suppress(SystemExit):  # argparse ends the program after its help
            assert main([command, "--help"]) == 0
        assert capsys.readouterr().out.startswith("usage: rarg")
