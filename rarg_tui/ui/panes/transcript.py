"""Pane 1: the run, call by call."""

from __future__ import annotations

from typing import ClassVar

from textual.message import Message

from rarg_tui.ui.panes.base import ListPane
from rarg_tui.ui.panes.transcript_rows import Entry, entries
from rarg_tui.ui.panes.view import Target, View, plural
from rarg_tui.ui.widgets.cells import ListSource


class TranscriptPane(ListPane):
    """The question, the turns and calls, what comes next, and at the end the answer. A call unfolds to
    what was asked, what ran, and the text that the model was shown."""

    PANE: ClassVar[str] = "transcript"
    HELP: ClassVar[str] = (
        "Each row is a call: its turn, the tool, a short form of the command, the matches found → shown, "
        "★ with the number of gold documents that it showed first, and the time. Enter unfolds a row and "
        "makes its scope and matches the ones shown in the other panes. “me” marks calls made by hand, "
        "* a call that was edited. The last row says what the next step does."
    )

    class CallChosen(Message):
        """A call was selected, to be shown in the other panes."""

        def __init__(self, call: int) -> None:
            super().__init__()
            self.call = call

    def __init__(self) -> None:
        super().__init__(follow=True)
        self._view = View()
        self._unfolded: set[str] = set()
        self._entries: list[Entry] = []

    def show(self, view: View) -> None:
        ends = bool(view.state.ended and not self._view.state.ended)
        self._view = view
        self.set_empty(view.hint)
        self._fill()
        if ends:
            self._show_end()
        more = plural(len(view.state.calls), "call") if view.opened else ""
        self.name_it(more, below="" if view.follow or not view.opened else "f follows the run")

    def _fill(self) -> None:
        self._entries = entries(self._view, self._unfolded, self.wrap_width)
        self.set_rows(ListSource([entry.row for entry in self._entries]), keep=True)

    def _show_end(self) -> None:
        """The answer is read from its beginning."""
        at = next((at for at, entry in enumerate(self._entries) if entry.fold == "answer"), None)
        if at is not None:
            self.following = False
            self.cursor = at
            self.scroll_to(y=at, animate=False, force=True)

    def on_resize(self) -> None:
        self._fill()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following = True
        self.action_cursor_last()

    def go_to_call(self, number: int) -> None:
        """Put the cursor on a call's row."""
        at = next((at for at, entry in enumerate(self._entries) if entry.call == number), None)
        if at is not None:
            self.following = False
            self.cursor = at

    def selected_call(self) -> int:
        """The call of the selected row, 0 for none."""
        entry = self._entry()
        return entry.call if entry is not None else 0

    def target(self) -> Target | None:
        entry = self._entry()
        return entry.target if entry is not None else None

    def unfold(self) -> bool:
        """Unfold or fold the selected row, and choose its call; False if it is no such row."""
        entry = self._entry()
        if entry is None or not (entry.fold or entry.call):
            return False
        at = self.cursor
        if entry.fold:
            self._unfolded ^= {entry.fold}
            # Unfolding is looking back, and the list must not jump to its new end.
            self.following = False
        call = self._view.state.call(entry.call)
        if call is not None and not call.waiting:
            self.post_message(self.CallChosen(entry.call))
        self._fill()
        self.cursor = at
        return True

    def _entry(self) -> Entry | None:
        return self._entries[self.cursor] if 0 <= self.cursor < len(self._entries) else None
