"""Asking a question: its words, and who searches how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from rarg_tui.errors import RargError
from rarg_tui.trace.state import RunState
from rarg_tui.ui.panes.base import LIST_BINDINGS
from rarg_tui.ui.panes.command_bar import SafeInput
from rarg_tui.ui.ports import QuestionPort, WorkbenchPort
from rarg_tui.ui.screens.dialog import Dialog
from rarg_tui.ui.widgets.cells import Cell, ListSource, Row
from rarg_tui.ui.widgets.plain import PlainStatic, plain_title
from rarg_tui.ui.widgets.row_list import RowList


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, and the names chosen."""

    question: str
    strategy: str
    model: str
    profile: str


class Choice(RowList, inherit_bindings=False):
    """A short list of names of which one is chosen."""

    DEFAULT_CSS = """
    Choice { height: 1fr; border: round $rarg-rule; border-title-color: $rarg-heading; }
    Choice:focus { border: round $border; }
    """
    BINDINGS = LIST_BINDINGS

    def __init__(self, title: str, options: Mapping[str, str], chosen: str, id: str) -> None:
        super().__init__(id=id)
        self._names = list(options)
        plain_title(self, title)
        widest = max((len(name) for name in options), default=0)
        self._options = [
            Row((Cell(name, "bold", widest), Cell(text, "muted"))) for name, text in options.items()
        ]
        self._chosen = chosen

    def on_mount(self) -> None:
        self.set_rows(ListSource(self._options))
        if self._chosen in self._names:
            self.cursor = self._names.index(self._chosen)

    @property
    def name_chosen(self) -> str:
        return self._names[self.cursor] if self.cursor >= 0 else ""


class Ask(Dialog[Asked | None]):
    """The question, the questions that come with the corpus, and the choices; enter asks."""

    DEFAULT_CSS = """
    Ask .box { height: 24; }
    Ask #choices { height: 6; }
    Ask #strategy { width: 6fr; }
    Ask #profile { width: 5fr; }
    Ask #model { width: 4fr; }
    """

    def __init__(self, workbench: WorkbenchPort, state: RunState) -> None:
        super().__init__()
        self._questions: Sequence[QuestionPort] = ()
        self._fault = PlainStatic("", classes="fault")
        settings = workbench.settings
        strategy = state.strategy or settings.strategy
        profile = state.profile or settings.profile
        model = state.model or settings.model or ""
        try:
            self._questions = workbench.questions()
        except RargError as error:
            self._fault.update(str(error))
        self.input = SafeInput(state.question, placeholder="What do you want to find out?", id="question")
        self.strategy = Choice("Strategy", workbench.strategies(), strategy, "strategy")
        self.profile = Choice("Profile", workbench.profiles(), profile, "profile")
        self.model = Choice("Model", dict.fromkeys(workbench.models(), ""), model, "model")
        self.known = Choice("Questions of this corpus", {}, "", "questions")
        self.known.set_empty("None: type one of your own.")

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            plain_title(box, "Ask a question", "enter asks · tab next · ↑↓ choose · esc leaves")
            yield self.input
            yield self._fault
            with Horizontal(id="choices"):
                yield self.strategy
                yield self.profile
                yield self.model
            yield self.known

    def on_mount(self) -> None:
        self.known.set_rows(ListSource([Row((Cell(question.text),)) for question in self._questions]))
        self.input.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._fault.update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._ask()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        if event.row_list is self.known:
            self.input.value = self._questions[event.index].text
            self.input.focus()
        else:
            self._ask()

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()

    def _ask(self) -> None:
        question = self.input.value.strip()
        if not question:
            self._fault.update("Type a question, or take one from the list with tab and enter.")
            self.input.focus()
            return
        self.dismiss(
            Asked(question, self.strategy.name_chosen, self.model.name_chosen, self.profile.name_chosen)
        )
