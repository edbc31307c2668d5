"""Stepping the run, and changing the call that waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rarg_tui.ui.controls.base import Controls


class RunControls(Controls, inherit_bindings=False):
    """Step, continue, pause; edit, insert, skip."""

    def do_step(self) -> None:
        self.chosen = 0
        self.transcript.follow()
        self.bridge.step()
        self.render_view()

    def do_continue(self) -> None:
        self.chosen = 0
        self.transcript.follow()
        self.bridge.go_on()
        self.render_view()

    def do_pause(self) -> None:
        self.bridge.pause()
        self.render_view()

    def do_edit(self) -> None:
        from rarg_tui.ui.screens.edit_call import EditCall

        call = self.view.state.next_call
        if call is None:
            return

        def changed(arguments: Mapping[str, Any] | None) -> None:
            if arguments is not None and arguments != call.arguments:
                self.change(lambda: self.bridge.edit(call.number, arguments))

        self.app.push_screen(EditCall(call, self.view.state), changed)

    def do_insert(self) -> None:
        from rarg_tui.ui.screens.insert_call import InsertCall

        def given(call: tuple[str, Mapping[str, Any]] | None) -> None:
            if call is not None:
                self.change(lambda: self.bridge.insert(*call))

        self.app.push_screen(InsertCall(self.view.state), given)

    def do_skip(self) -> None:
        call = self.view.state.next_call
        if call is not None:
            self.bridge.skip(call.number)

    def do_follow(self) -> None:
        self.chosen = 0
        self.transcript.follow()
        self.render_view()
