"""A run on three documents, with a model that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event as Cancel
from typing import Any

import pytest

from rarg_tui.agent.model import OnText, Reply, Request
from rarg_tui.agent.session import Session
from rarg_tui.config import Settings
from rarg_tui.trace.events import ToolCall
from rarg_tui.workbench import Workbench
from tests import small


class ScriptedModel:
    """Gives the next of its replies at each turn; an exception is raised."""

    label = "scripted"
    server = ""

    def __init__(self, *replies: Reply | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    def reply(self, request: Request, cancel: Cancel | None = None, on_text: OnText | None = None) -> Reply:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def calls(*wanted: tuple[str, dict[str, object]], text: str = "") -> Reply:
    return Reply(text, calls=tuple(ToolCall("same", tool, arguments, "{}") for tool, arguments in wanted))


def recall(query: str = "who mended the orrery?") -> Reply:
    return calls(("embed_recall", {"query": query}))


def bash(command: str) -> Reply:
    return calls(("bash", {"command": command}))


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.write(tmp_path_factory.mktemp("small"))


Start = Callable[..., Session]


@pytest.fixture
def start(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """``start(reply, …, strategy=…)``: a session on the small corpus with a scripted model."""
    benches: list[Workbench] = []

    def begin(
        *replies: Reply | Exception,
        question: str = "Who mended the orrery?",
        settings: Mapping[str, Any] | None = None,
        **names: Any,
    ) -> Session:
        bench = Workbench(Settings(corpus=small_corpus, ranker="lexical+static", **(settings or {})))
        benches.append(bench)
        bench.prepare()
        model = ScriptedModel(*replies)
        monkeypatch.setattr(bench, "model", lambda name="": model)
        return bench.start(question, **names)

    yield begin
    for bench in benches:
        bench.close()
