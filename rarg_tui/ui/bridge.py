"""Between the interface and everything that blocks.

Each job runs in a thread worker, watches a flag, and does nothing but post messages. At most one job at
a time touches the session (``running`` names it), so that its events have one order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event as Flag
from typing import Any, Protocol, cast

from textual.message import Message

from rarg_tui.consent import ConsentNeeded
from rarg_tui.errors import RargError
from rarg_tui.trace.events import Match
from rarg_tui.ui.messages import (
    ConsentWanted,
    DocumentLoaded,
    IndexChanged,
    JobDone,
    JobFailed,
    MatchesFound,
    RunChanged,
    ScopeLoaded,
    SessionOpened,
)
from rarg_tui.ui.ports import LiveSessionPort, SessionPort, WorkbenchPort


class Host(Protocol):
    """The widget that the workers belong to and that gets their messages."""

    def post_message(self, message: Message) -> bool: ...
    def run_worker(
        self,
        work: Callable[[], None],
        name: str | None = "",
        group: str = "default",
        description: str = "",
        exit_on_error: bool = True,
        start: bool = True,
        exclusive: bool = False,
        thread: bool = False,
    ) -> object: ...


class Bridge:
    """Starts the jobs, and stops them."""

    def __init__(self, host: Host, workbench: WorkbenchPort) -> None:
        self._host = host
        self.workbench = workbench
        self.session: SessionPort | None = None
        self.made: list[SessionPort] = []
        self.running = ""
        self.faults = 0
        self._quit = Flag()
        self._pause = Flag()
        self._cancel = Flag()

    # -- the index -----------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make lexical and static ready; ends with an ``IndexChanged(ready=True)``."""

        def work() -> None:
            self.workbench.prepare(lambda progress: self._tell_index(progress), self._quit)
            self._tell_index(None, ready=True)

        self._start("index", work)

    def build_dense(self) -> None:
        """Let dense join. The index process does the work; this thread waits for it."""

        def work() -> None:
            self.workbench.build_dense(lambda progress: self._tell_index(progress), self._quit)
            self._tell_index(None)

        self._start("dense", work)

    def _tell_index(self, progress: Any, ready: bool = False) -> None:
        self._host.post_message(IndexChanged(progress, self.workbench.index_status(), ready))

    # -- the session ---------------------------------------------------------------------------

    def start(self, question: str, strategy: str = "", model: str = "", profile: str = "") -> None:
        """Begin a run; ends with a ``SessionOpened``. Without a question it is the first of those that
        come with the corpus, and what is known to be relevant to one of them goes into the run."""

        def work() -> None:
            known = self.workbench.questions()
            if not question and not known:
                raise RargError("This corpus comes without questions: press a to ask one.")
            words = question or known[0].text
            gold = next((one.gold for one in known if one.text.strip() == words.strip()), None)
            self._open(self.workbench.start(words, strategy, model, profile, gold))

        self._start_run("start", work)

    def open_run(self, run: str | Path) -> None:
        """Open a saved run, to be gone on with if it has not ended; ends with a ``SessionOpened``."""

        def work() -> None:
            if not self.workbench.unfinished(run):
                self._open(self.workbench.open_run(run))
                return
            self.workbench.prepare(lambda progress: self._tell_index(progress), self._quit)
            self._tell_index(None)
            self._open(self.workbench.resume(run))

        self._start_run("start", work)

    def begin_and_run(self, question: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Begin a run for a command that was typed before there was one, and execute it."""

        def work() -> None:
            session = self.workbench.start(question)
            self._open(session)
            self._manual(session, tool, arguments)

        self._start_run("command", work)

    def _open(self, session: SessionPort) -> None:
        def tell(_: object) -> None:
            self._host.post_message(RunChanged(session))

        session.subscribe(tell)
        self.session = session
        if session.live:
            self.made.append(session)
        self._host.post_message(SessionOpened(session))

    def step(self) -> None:
        """One half-step."""
        session = self._need_session()
        self._start_run("step", lambda: self._advance(session))

    def go_on(self) -> None:
        """Half-steps until paused, ended, or stopped by a breakpoint or a failing model."""
        session = self._need_session()

        def work() -> None:
            while self._advance(session) and not self._pause.is_set() and not self._cancel.is_set():
                if session.state.breakpoint or session.state.model_error:
                    break

        self._start_run("continue", work)

    def _advance(self, session: SessionPort) -> bool:
        return session.step(self._cancel, self._matches_of(session))

    def manual(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Execute a command of the user's on the session."""
        session = self._live_session()
        self._start_run("command", lambda: self._manual(session, tool, arguments))

    def _manual(self, session: LiveSessionPort, tool: str, arguments: Mapping[str, Any]) -> None:
        session.manual(tool, arguments, self._cancel, self._matches_of(session))

    def edit(self, call: int, arguments: Mapping[str, Any]) -> None:
        session = self._live_session()
        self._change(lambda: session.edit(call, arguments))

    def skip(self, call: int) -> None:
        session = self._live_session()
        self._change(lambda: session.skip(call))

    def insert(self, tool: str, arguments: Mapping[str, Any]) -> None:
        session = self._live_session()
        self._change(lambda: session.insert(tool, arguments))

    def mark_gold(self, path: str, relevance: int) -> None:
        session = self._live_session()
        self._change(lambda: session.mark_gold(path, relevance))

    def _change(self, change: Callable[[], object]) -> None:
        self._start_run("change", change)

    def _matches_of(self, session: SessionPort) -> Callable[[Sequence[Match]], None]:
        found: list[Match] = []

        def tell(matches: Sequence[Match]) -> None:
            found.extend(matches)
            self._host.post_message(MatchesFound(session, tuple(found)))

        return tell

    def _need_session(self) -> SessionPort:
        if self.session is None:
            raise RargError("There is no run yet: press a to ask a question.")
        return self.session

    def _live_session(self) -> LiveSessionPort:
        session = self._need_session()
        if not session.live:
            raise RargError("This is a saved run: it can be stepped through, not changed.")
        return cast(LiveSessionPort, session)

    # -- what panes look up --------------------------------------------------------------------

    def load_scope(self, number: int) -> None:
        """Read the ranked documents of a scope; ends with a ``ScopeLoaded``."""
        session = self._need_session()

        def work() -> None:
            try:
                scope = self.workbench.scope(session.directory, number)
            except RargError as error:
                self._host.post_message(ScopeLoaded(session, number, None, str(error)))
            else:
                self._host.post_message(ScopeLoaded(session, number, scope))

        self._start("scope", work)

    def load_document(self, path: str, line: int) -> None:
        """Read a document; ends with a ``DocumentLoaded``."""

        def work() -> None:
            lines = self.workbench.document(path)
            self._host.post_message(DocumentLoaded(path, lines, line))

        self._start("document", work)

    # -- stopping ------------------------------------------------------------------------------

    def pause(self) -> None:
        """Stop after the call that runs now."""
        self._pause.set()

    def interrupt(self) -> bool:
        """Stop what runs at once. False if nothing runs."""
        self._pause.set()
        self._cancel.set()
        return bool(self.running)

    def stop_all(self) -> None:
        """The program ends: every thread shall notice."""
        self._quit.set()
        self.interrupt()

    @property
    def pausing(self) -> bool:
        return bool(self.running) and self._pause.is_set()

    # -- workers -------------------------------------------------------------------------------

    def _start_run(self, job: str, work: Callable[[], object]) -> None:
        if self.running:
            raise RargError("The run is going on: space pauses it, ctrl+c stops the call at once.")
        self.running = job
        self._pause, self._cancel = Flag(), Flag()
        self._start(job, work, group="run")

    def _agreed(self, job: str, work: Callable[[], object], group: str) -> None:
        self.workbench.consent()
        if group == "run":
            self._start_run(job, work)
        else:
            self._start(job, work, group)

    def job_done(self) -> None:
        """The handler of ``JobDone`` says that the session is free again."""
        self.running = ""

    def _start(self, job: str, work: Callable[[], object], group: str = "") -> None:
        def guarded() -> None:
            try:
                work()
            except ConsentNeeded as error:
                wanted = ConsentWanted(error.what, error.server, lambda: self._agreed(job, work, group))
                self._host.post_message(wanted)
            except RargError as error:
                self._host.post_message(JobFailed(job, str(error)))
            except Exception as error:
                self.faults += 1
                sentence = f"This is a fault in rarg ({type(error).__name__}: {error}); please report it."
                self._host.post_message(JobFailed(job, sentence))
            finally:
                if group == "run":
                    self._host.post_message(JobDone(job, self.session))

        self._host.run_worker(
            guarded, name=job, group=group or job, exit_on_error=False, exclusive=True, thread=True
        )
