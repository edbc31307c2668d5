"""The seam between the step machine and whatever decides the next step: a hosted model, a local one,
the offline planner, or a scripted one in a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from rarg_tui.errors import RargError
from rarg_tui.trace.events import ToolCall, Usage

if TYPE_CHECKING:
    from rarg_tui.agent.profiles import Profile
    from rarg_tui.agent.strategies import Strategy
    from rarg_tui.trace.state import RunState


class ModelError(RargError):
    """The model could not be asked, or its reply could not be read. The turn can be tried again."""


class ContextOverflow(ModelError):
    """The conversation is longer than the server takes: the same request would be refused again."""


#: Told of a reply while it is being written: its text and its reasoning, each as far as it has come. A
#: reply that has to be asked for again begins anew.
OnText = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """All that a model is given for one turn.

    ``tools`` are the schemas of the tools that may be called; ``state`` is everything that has happened,
    from which :mod:`rarg_tui.agent.context` makes the conversation. With ``force_answer`` the tools are
    off and the reply must be the answer; where a tool has to end the run, that one alone is left, and
    ``best`` are the documents that the searches ranked highest.
    """

    question: str
    strategy: Strategy
    profile: Profile
    tools: Sequence[dict[str, Any]]
    state: RunState
    force_answer: bool = False
    best: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of a model. Without ``calls`` it ends the run, and ``text`` is the answer. ``kept`` is what
    the server wants back with the next request, in the server's own form."""

    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    kept: tuple[Mapping[str, Any], ...] = ()


class Model(Protocol):
    """Something that decides the next step. ``label`` is the name people see, ``server`` the address that
    the conversation goes to; empty: it stays in this process."""

    @property
    def label(self) -> str: ...
    @property
    def server(self) -> str: ...

    def reply(self, request: Request, cancel: Event | None = None, on_text: OnText | None = None) -> Reply:
        """The next turn, the same with ``on_text`` as without. Raises :class:`ModelError`; may raise it
        early when ``cancel`` is set."""
        ...
