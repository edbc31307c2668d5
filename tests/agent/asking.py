"""Asking a fake server for one turn, without waiting between tries."""

from __future__ import annotations

from threading import Event as Cancel
from typing import Any

from rarg_tui.agent.model import OnText, Reply, Request
from rarg_tui.agent.openai_model import OpenAIModel
from rarg_tui.agent.profiles import profile
from rarg_tui.agent.strategies import strategy
from rarg_tui.trace.reducer import replay
from rarg_tui.trace.state import RunState
from tests.agent.fake_server import FakeServer
from tests.trace import scripted

KEY = "sk-very-secret-and-long-enough"


TOOLS = ("embed_recall", "bash", "read")


def request(force: bool = False, state: RunState | None = None) -> Request:
    return Request(
        question="Who?",
        strategy=strategy("rarg++"),
        profile=profile("bcplus"),
        tools=[] if force else [{"type": "function", "function": {"name": name}} for name in TOOLS],
        state=state or replay(scripted.events()[:1]),
        force_answer=force,
    )


class Waits:
    """Notes the seconds, and is through at once; ``cancelled`` as if a person had stopped the wait."""

    def __init__(self, cancelled: bool = False) -> None:
        self.seconds: list[float] = []
        self.cancelled = cancelled

    def __call__(self, seconds: float, cancel: Cancel | None) -> bool:
        self.seconds.append(seconds)
        return self.cancelled


def model(server: FakeServer, **settings: Any) -> OpenAIModel:
    return OpenAIModel("fake", **{"base_url": server.url, "api_key": KEY, "wait": Waits(), **settings})


def ask(
    server: FakeServer,
    on_text: OnText | None = None,
    state: RunState | None = None,
    cancel: Cancel | None = None,
    **settings: Any,
) -> Reply:
    return model(server, **settings).reply(request(state=state), cancel, on_text)
