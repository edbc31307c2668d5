"""Rows, documents, panes, help and themes."""

from __future__ import annotations

from dataclasses import replace

from rarg_tui.ui.controls.base import Controls


class PaneControls(Controls, inherit_bindings=False):
    """Open what is selected; move between panes."""

    def do_open(self) -> None:
        """Enter: unfold a row of the transcript, or show the document of the row."""
        target = self.target()
        if self.arrangement.pane == "transcript" and target is None:
            self.transcript.unfold()
        elif target is not None and self.arrangement.pane != "document":
            self.load_target()

    def load_target(self) -> None:
        """Load the document of the selected row."""
        target = self.target()
        if target is not None:
            self.bridge.load_document(target.path, target.line)

    def open_document(self) -> None:
        """Show the document pane; the focus stays with the matches where they stay on screen."""
        now = self.arrangement
        beside = now.pane in ("raw", "ranked", "transcript") and not now.zoomed and now.form != "narrow"
        opened = now.focus("document")
        self.place(opened.focus(now.pane) if beside else opened)

    def do_next_pane(self) -> None:
        self.place(self.arrangement.cycle(1))

    def do_previous_pane(self) -> None:
        self.place(self.arrangement.cycle(-1))

    def do_zoom(self) -> None:
        self.place(replace(self.arrangement, zoomed=not self.arrangement.zoomed))

    def do_view(self) -> None:
        self.panes[self.arrangement.pane].next_view()

    def do_back(self) -> None:
        self.place(self.arrangement.back())

    def do_help(self) -> None:
        from rarg_tui.ui.screens.help import Help

        self.app.push_screen(Help(self.registry()))

    def do_pane_help(self) -> None:
        from rarg_tui.ui.screens.help import Help

        self.app.push_screen(Help(self.registry(), self.arrangement.pane))

    def do_theme(self) -> None:
        self.say(f"Theme {self.rarg().next_theme()}.")
