"""A hosted model on the command line: consent, keys, and runs that pause."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rarg_tui import consent
from rarg_tui.agent import openai_errors
from rarg_tui.agent.hosted import OFFLINE
from rarg_tui.cli import main
from rarg_tui.commands import doctor
from tests import small
from tests.agent.fake_server import FakeServer, completion, serving

KEY = "sk-a-key-that-nobody-may-read"
REMOTE = "http://llm.example.org/v1"
RECALL = completion(None, ("embed_recall", '{"query": "orrery"}'))
ANSWER = completion("Ilse Brandt. [letters/a.txt]", prompt_tokens_details={"cached_tokens": 40})  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for kind in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home" / kind))
    monkeypatch.setattr(openai_errors, "BACK_OFF_S", (0.0, 0.0, 0.0))
    consent._given.clear()
    yield
    consent._given.clear()


@pytest.fixture
def rarg(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """``rarg(command, word, …)`` → (exit code, stdout, stderr), on the small corpus."""
    corpus = small.write(tmp_path / "corpus")

    def run(command: str, *words: str) -> tuple[int, str, str]:
        code = main([command, "-C", str(corpus), *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server on another machine: a proxy stands in for it."""
    with serving(RECALL, ANSWER) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1"))
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


QUESTION = ("Who mended the orrery?", "--ranker", "lexical", "--model", "m", "--base-url", REMOTE)


def test_nothing_goes_to_another_machine_before_somebody_agrees(rarg: Any, remote: FakeServer) -> None:
    code, out, err = rarg("run", *QUESTION)
    assert (code, out, remote.requests) == (2, "", [])
    assert "would be sent to llm.example.org" in err
    assert "--yes" in err
    assert rarg("run", *QUESTION, "--yes")[0] == 0
    remote.replies = [ANSWER]
    assert rarg("run", *QUESTION)[0] == 0, "it is asked once"
    assert len(remote.requests) == 3


def test_the_offline_planner_asks_nobody(rarg: Any, remote: FakeServer) -> None:
    assert rarg("run", *QUESTION[:3], "--model", OFFLINE, "--base-url", REMOTE)[0] == 0
    assert remote.requests == []


def test_a_saved_run_is_not_gone_on_with_elsewhere_either(tmp_path: Path) -> None:
    from rarg_tui.config import Settings
    from rarg_tui.trace import runs
    from rarg_tui.workbench import Workbench

    corpus = small.write(tmp_path / "corpus")
    with serving(RECALL, (500, {"error": {"message": "oh"}})) as server:
        bench = Workbench(Settings(corpus=corpus, ranker="lexical", model="m", base_url=server.url))
        bench.prepare()
        session = bench.start("Who?")
        session.run()
        session.close()
        bench.close()
    bench = Workbench(Settings(corpus=corpus, ranker="lexical", model="m", base_url=REMOTE))
    assert bench.unfinished(session.directory)
    with pytest.raises(consent.ConsentNeeded):
        bench.resume(session.directory)
    bench.consent()
    bench.resume(session.directory).close()
    assert runs.list_runs(bench.runs_dir)[0].ended == ""
    bench.close()


def _local(server: FakeServer) -> tuple[str, ...]:
    return ("Who mended the orrery?", "--ranker", "lexical", "--model", "m", "--base-url", server.url)


def test_what_a_run_took(rarg: Any, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[prices.m]\ninput = 2.0\noutput = 10.0\ncached = 0.5\n")
    with serving(RECALL, ANSWER, RECALL, ANSWER) as server:
        _, _, err = rarg("run", *_local(server), "--config", str(config))
        data = json.loads(rarg("run", *_local(server), "--json")[1])
    cost = (160 * 2 + 40 * 0.5 + 20 * 10) / 1e6
    assert f"200 tokens in, 40 of them cached, 20 out · {cost:.4f} USD" in err
    tokens = {"input": 200, "output": 20, "cached": 40, "reasoning": 0, "estimated": False}
    assert (data["tokens"], data["cost_usd"]) == (tokens, None)


def test_a_fault_leaves_a_run_that_can_be_gone_on_with(rarg: Any) -> None:
    with serving(RECALL, (401, {"error": {"message": f"bad {KEY}"}})) as server:
        code, out, err = rarg("run", *_local(server))
        data = json.loads(rarg("run", *_local(server), "--json")[1])
    assert code == 1
    assert out.startswith("No answer: ")
    assert "refused the key" in out
    assert "rarg open --run who-mended" in err
    assert (data["ended"], data["citations"]) == ("paused", [])
    assert "refused the key" in data["error"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--api-key", KEY], "set OPENAI_API_KEY"),
        ([f"--api-key={KEY}"], "set OPENAI_API_KEY"),
        (["--base-url", f"https://me:{KEY}@h/v1"], "OPENAI_API_KEY"),
        (["--base-url", f"https://h/v1?api_key={KEY}"], "OPENAI_API_KEY"),
        (["--api", "chatt"], "--api must be one of chat, responses"),
        (["--reasoning-effort", "lots"], "--reasoning-effort must be one of none, minimal"),
    ],
)
def test_a_key_does_not_belong_on_a_command_line(rarg: Any, words: list[str], sentence: str) -> None:
    code, out, err = rarg("run", "x", *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert KEY not in err


def test_the_doctor_says_where_the_key_comes_from_and_not_what_it_is(
    rarg: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = ModuleType("keyring")
    keyring.get_password = lambda *_: KEY  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    monkeypatch.setattr(doctor, "_devices", lambda: "cpu")  # torch takes seconds
    _, out, _ = rarg("doctor")
    assert "https://api.openai.com/v1, the key from the system keyring (service rarg" in out
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _, more, _ = rarg("doctor")
    assert "the key from OPENAI_API_KEY in the environment" in more
    assert KEY not in out + more


def test_no_text_goes_to_an_embeddings_server_unasked(tmp_path: Path) -> None:
    """Not from a build, nor from reranking; --yes, or the dialog, lets it."""
    from rarg_tui.config import Settings
    from rarg_tui.errors import RargError
    from rarg_tui.workbench import Workbench

    settings = Settings(
        corpus=small.write(tmp_path / "corpus"),
        embeddings_url="https://embeddings.invalid/v1",
        embeddings_model="m",
    )
    bench = Workbench(settings)
    with pytest.raises(consent.ConsentNeeded, match="text of the documents"):
        bench.build_dense()
    with pytest.raises(consent.ConsentNeeded):
        bench.index.recall("who?", ranker="dense")
    assert consent.needed(bench.corpus.root, "https://embeddings.invalid/v1")
    bench.consent()
    assert not consent.needed(bench.corpus.root, "https://embeddings.invalid/v1")
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(RargError) as stopped:  # now it would be sent
        bench.build_dense(cancel=cancel)
    assert not isinstance(stopped.value, consent.ConsentNeeded)
    bench.close()
