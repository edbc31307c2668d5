"""The workbench's screen: it holds the panes, gets what the workers post, and renders the run's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from rarg_tui.corpus.progress import Progress
from rarg_tui.ui import actions, messages
from rarg_tui.ui.bridge import Bridge
from rarg_tui.ui.controls.asking import AskingControls
from rarg_tui.ui.controls.panes import PaneControls
from rarg_tui.ui.controls.run import RunControls
from rarg_tui.ui.glyphs import glyphs
from rarg_tui.ui.panes.command_bar import CommandBar
from rarg_tui.ui.panes.document import DocumentPane
from rarg_tui.ui.panes.hits import HitsPane
from rarg_tui.ui.panes.line import Line
from rarg_tui.ui.panes.matches import RankedPane, RawPane
from rarg_tui.ui.panes.scope import ScopePane
from rarg_tui.ui.panes.status import footer_pieces, index_pieces, input_pieces, status_pieces, tab_pieces
from rarg_tui.ui.panes.transcript import TranscriptPane
from rarg_tui.ui.panes.view import View, newest_call, scope_of
from rarg_tui.ui.screens.arrangement import BOTTOM, TOP, Arrangement, form_of
from rarg_tui.ui.widgets.plain import PlainStatic, Severity, plain_notify
from rarg_tui.ui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rarg_tui.trace.events import Match
    from rarg_tui.ui.controls.base import Pane
    from rarg_tui.ui.ports import RankerStatusPort, ScopePort, WorkbenchPort
    from rarg_tui.ui.wish import Wish

TINY = "rarg needs 40 × 10 cells.\nMake the terminal larger, or the font smaller; q quits."


class WorkbenchScreen(
    RunControls,
    AskingControls,
    PaneControls,
    inherit_bindings=False,
):
    """Workers post, handlers here change what is looked at, and ``render_view`` shows it."""

    CSS_PATH = "workbench.tcss"
    BINDINGS: ClassVar[list[BindingType]] = actions.bindings("screen")
    AUTO_FOCUS = ""

    def __init__(self, workbench: WorkbenchPort, wish: Wish) -> None:
        super().__init__()
        self.bridge = Bridge(self, workbench)
        self.wish = wish
        self.corpus_name = workbench.name
        self.arrangement = Arrangement()
        self.chosen = 0
        self.view = View()
        self.index: Mapping[str, RankerStatusPort] = {}
        self.index_ready = False
        self.hint = "" if wish.run else "The index is being made ready…"
        self._progress: Progress | None = None
        self._found: Sequence[Match] | None = None
        self._scopes: dict[int, ScopePort] = {}
        self._wanted_scopes: set[int] = set()
        self._lost_scopes: dict[int, str] = {}
        self._shown: dict[str, View] = {}
        self._glyphs = glyphs()
        self._offers = ""
        self.status = Line(id="status")
        self.tabs = Line(id="tabs")
        self.footer = Line(id="footer")
        self.transcript = TranscriptPane()
        self.scope = ScopePane()
        self.hits = HitsPane()
        self.raw = RawPane()
        self.ranked = RankedPane()
        self.document = DocumentPane()
        self.command = CommandBar()
        self.panes: dict[str, Pane] = {
            "transcript": self.transcript,
            "scope": self.scope,
            "hits": self.hits,
            "raw": self.raw,
            "ranked": self.ranked,
            "document": self.document,
        }

    def compose(self) -> ComposeResult:
        yield self.status
        yield self.tabs
        with Horizontal(id="top"):
            yield from (self.panes[name] for name in TOP)
        with Horizontal(id="bottom"):
            yield from (self.panes[name] for name in BOTTOM)
        yield self.command
        yield self.footer
        yield PlainStatic(TINY, id="tiny")

    def on_mount(self) -> None:
        offered = [one for one in self.registry() if one.id in ("step", "edit", "skip", "insert")]
        self._offers = " · ".join(f"{actions.key_name(one.keys)} {one.label}" for one in offered)
        self.place(self.arrangement)
        self.render_view()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """After the first paint: everything that takes time."""
        if self.wish.run:
            self.bridge.open_run(self.wish.run)
        else:
            self.bridge.prepare()

    # -- where things stand --------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        form = form_of(event.size.width, event.size.height)
        if form != self.arrangement.form:
            self.place(Arrangement(form, *self._kept()))
        self.update_lines()

    def _kept(self) -> tuple[str, str, bool, bool]:
        now = self.arrangement
        return now.pane, now.side, now.zoomed, now.document

    def place(self, arrangement: Arrangement, focus: bool = True) -> None:
        """Show the panes of ``arrangement`` and focus its pane."""
        self.arrangement = arrangement
        for form in ("tiny", "narrow", "normal", "wide"):
            self.set_class(arrangement.form == form, f"-{form}")
        visible = arrangement.visible
        for name, pane in self.panes.items():
            pane.display = name in visible
        for row, names in (("#top", TOP), ("#bottom", BOTTOM)):
            self.query_one(row).display = any(name in visible for name in names)
        tiny = arrangement.form == "tiny"
        for line in (self.command, self.footer, self.status):
            line.display = not tiny
        if focus and not tiny:
            self.focus_pane()
        self.render_view()

    def focus_pane(self) -> None:
        """Give the focus to the arrangement's pane."""
        pane = self.hits.gold if self.arrangement.pane == "hits" else self.panes[self.arrangement.pane]
        self.set_focus(pane, scroll_visible=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for name, pane in self.panes.items():
            if pane in event.widget.ancestors_with_self and name != self.arrangement.pane:
                self.place(self.arrangement.focus(name), focus=False)
        self.update_lines()

    # -- rendering -----------------------------------------------------------------------------

    def facts(self) -> set[str]:
        """What holds now, in the words of ``action.NEEDS``."""
        view = self.view
        known = {"running" if view.running else "idle"}
        if view.opened:
            known.add("session")
            known |= {"live"} if view.live else set()
            known |= {"unended"} if not view.state.ended else set()
            known |= {"waiting"} if view.state.next_call is not None else set()
        return known

    def render_view(self) -> None:
        """Make the view from the session's state and show it in the panes that are on screen."""
        self.view = view = self._make_view()
        if view.scope is not None and view.ranking is None:
            self._want_scope(view.scope.number)
        for name in self.arrangement.visible:
            if self._shown.get(name) != view:
                self._shown[name] = view
                self.show_in(name, view)
        self.update_lines()

    def _make_view(self) -> View:
        bridge = self.bridge
        session = bridge.session
        if session is None:
            return View(running=bridge.running, hint=self.hint)
        state = session.state
        call = state.call(self.chosen) or newest_call(state)
        scope = scope_of(state, call)
        return View(
            state=state,
            opened=True,
            live=session.live,
            running=bridge.running,
            pausing=bridge.pausing,
            next_step="" if state.ended else session.next_step(),
            call=call,
            scope=scope,
            ranking=self._scopes.get(scope.number) if scope is not None else None,
            unranked=self._lost_scopes.get(scope.number, "") if scope is not None else "",
            found=self._found if not self.chosen else None,
            offers=self._offers,
            follow=not self.chosen,
            glyphs=self._glyphs,
        )

    def _want_scope(self, number: int) -> None:
        if number not in self._wanted_scopes:
            self._wanted_scopes.add(number)
            self.bridge.load_scope(number)

    def update_lines(self) -> None:
        """Status, tabs and footer."""
        index = index_pieces(self.index, self._progress, self._glyphs)
        if self.wish.run:
            index = []
        self.status.set_pieces(*status_pieces(self.view, self.corpus_name, index, self._glyphs))
        self.tabs.set_pieces(tab_pieces(self.arrangement.pane))
        typing = self.command.input.has_focus
        offered = [] if typing else actions.footer(self.arrangement.pane, self.facts(), self.registry())
        self.footer.set_pieces(input_pieces(self.command.mode) if typing else footer_pieces(offered))

    # -- what workers post ---------------------------------------------------------------------

    def on_index_changed(self, message: messages.IndexChanged) -> None:
        self._progress = message.progress
        self.index = message.status
        if message.ready and not self.index_ready:
            self.index_ready = True
            self.bridge.build_dense()
            self._begin_run()
        self.update_lines()

    def _begin_run(self) -> None:
        wish = self.wish
        self.hint = "Press a to ask a question, or : to type a command."
        if wish.begins and not wish.run:
            self.bridge.start(wish.question, wish.strategy, wish.model, wish.profile)
            self.render_view()
        else:
            self.do_ask()

    def on_session_opened(self, message: messages.SessionOpened) -> None:
        self.chosen = 0
        self._found = None
        self._scopes.clear()
        self._wanted_scopes.clear()
        self._lost_scopes.clear()
        self.render_view()
        self.transcript.follow()
        if message.session.notices:
            plain_notify(self, "\n".join(message.session.notices), severity="warning", timeout=10)

    def on_run_changed(self, message: messages.RunChanged) -> None:
        if message.session is self.bridge.session:
            self._found = None
            self.render_view()

    def on_matches_found(self, message: messages.MatchesFound) -> None:
        if message.session is self.bridge.session and self.bridge.running:
            self._found = message.matches
            self.render_view()

    def on_job_done(self, message: messages.JobDone) -> None:
        self.bridge.job_done()
        self._found = None
        self.render_view()
        if message.job == "command" and not self.command.error:
            self._show_by_hand()

    def _show_by_hand(self) -> None:
        """What a typed command brought: its error beside the line, its document, or its row."""
        call = next((one for one in reversed(self.view.state.calls) if one.by == "user"), None)
        if call is None:
            return
        if call.state in ("error", "failed", "refused"):
            self.command.say(call.message or "This command failed.")
            return
        self.command.accepted()
        self.transcript.go_to_call(call.number)
        if call.document:
            offset = (call.arguments or {}).get("offset", 1)
            self.bridge.load_document(call.document, int(offset))
        elif self.arrangement.form == "narrow" and call.tool == "bash":
            self.place(self.arrangement.focus("raw"))

    def on_scope_loaded(self, message: messages.ScopeLoaded) -> None:
        if message.session is self.bridge.session:
            if message.scope is not None:
                self._scopes[message.number] = message.scope
            else:
                self._lost_scopes[message.number] = message.sentence
            self.render_view()

    def on_document_loaded(self, message: messages.DocumentLoaded) -> None:
        self.document.show(self.view)
        self.document.open(message.path, message.lines, message.line)
        if not self.arrangement.document:
            self.open_document()

    def on_job_failed(self, message: messages.JobFailed) -> None:
        if message.job == "command":
            self.command.say(message.sentence)
            return
        if message.job in ("index", "start") and self.bridge.session is None:
            # A toast passes; this stays where the run would be.
            self.hint = message.sentence
            self.render_view()
        severity: Severity = "warning" if message.job == "dense" else "error"
        plain_notify(self, message.sentence, severity=severity, timeout=10)

    def on_consent_wanted(self, message: messages.ConsentWanted) -> None:
        from rarg_tui.ui.screens.consent import Consent

        def answered(yes: bool | None) -> None:
            if yes:
                self.change(message.agreed)
                self.render_view()
                return
            sentence = f"Nothing was sent to {message.server}: a asks again, also without it."
            if self.bridge.session is None:
                self.hint = sentence
                self.render_view()
            self.say(sentence)

        self.app.push_screen(Consent(message.what, message.server), answered)

    # -- what panes and lines post -------------------------------------------------------------

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        self.do_open()

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        # An open document follows the cursor of the match lists beside it.
        following = event.row_list in (self.raw, self.ranked) and event.row_list.has_focus
        if following and self.arrangement.document and not self.arrangement.zoomed:
            self.load_target()

    def on_transcript_pane_call_chosen(self, event: TranscriptPane.CallChosen) -> None:
        newest = newest_call(self.view.state)
        self.chosen = 0 if newest is not None and newest.number == event.call else event.call
        self.render_view()

    def on_command_bar_entered(self, event: CommandBar.Entered) -> None:
        if event.mode == "search":
            self.search_for(event.text)
        elif event.text:
            self.run_command(event.text)

    def on_command_bar_left(self, event: CommandBar.Left) -> None:
        self.focus_pane()

    def on_line_chosen(self, event: Line.Chosen) -> None:
        self.action_do(event.action)
