"""What workers tell the interface. Workers post these and touch nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from textual.message import Message

from rarg_tui.corpus.progress import Progress
from rarg_tui.trace.events import Match
from rarg_tui.ui.ports import RankerStatusPort, ScopePort, SessionPort


@dataclass
class IndexChanged(Message):
    """The index made progress, or a part of it became ready."""

    progress: Progress | None = None
    status: Mapping[str, RankerStatusPort] = field(default_factory=dict)
    ready: bool = False

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, IndexChanged) and not self.ready


@dataclass
class JobFailed(Message):
    """A job (``index``, ``dense``, ``start``, ``run``, ``command``, ``scope``, ``document``) could not be
    done; ``sentence`` is for the user."""

    job: str
    sentence: str


@dataclass
class ConsentWanted(Message):
    """A job would send text of the corpus to another machine: ``what``, in a sentence. ``agreed`` notes that
    it may, and does the job."""

    what: str
    server: str
    agreed: Callable[[], None]


@dataclass
class SessionOpened(Message):
    """A run was started or a saved one opened."""

    session: SessionPort


@dataclass
class RunChanged(Message):
    """Events were added to the run: its state is another."""

    session: SessionPort

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RunChanged) and message.session is self.session


@dataclass
class MatchesFound(Message):
    """The running rg has found these so far, in traversal order."""

    session: SessionPort
    matches: Sequence[Match]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MatchesFound) and message.session is self.session


@dataclass
class JobDone(Message):
    """The run's worker (``step``, ``continue``, ``command``, ``change``) is at rest again."""

    job: str
    session: SessionPort | None


@dataclass
class ScopeLoaded(Message):
    """The ranked documents of a scope are there; or None, and a sentence that says why not."""

    session: SessionPort
    number: int
    scope: ScopePort | None
    sentence: str = ""


@dataclass
class DocumentLoaded(Message):
    """The lines of a document are there; ``line`` (from 1) is the one to show."""

    path: str
    lines: list[str]
    line: int
