"""Before text of the corpus goes to another machine, a person is asked."""

from __future__ import annotations

import pytest

from rarg_tui.ui.screens.consent import Consent
from tests.ui.app_harness import running
from tests.ui.fakes import FakeWorkbench
from tests.ui.scenario import QUESTION

SERVER = "llm.example.org"


async def test_yes_begins_the_run_that_was_asked_for() -> None:
    async with running(FakeWorkbench(server=SERVER), ready=False) as run:
        await run.until(lambda: isinstance(run.app.screen, Consent))
        assert f"Send text to {SERVER}?" in run.text()
        assert run.workbench.started == []
        await run.press("enter")
        assert isinstance(run.app.screen, Consent)
        await run.press("y")
        await run.until(lambda: run.idle)
        assert run.workbench.started == [(QUESTION, "", "", "")]


@pytest.mark.parametrize("key", ["n", "escape"])
async def test_no_sends_nothing_and_says_so(key: str) -> None:
    async with running(FakeWorkbench(server=SERVER), ready=False) as run:
        await run.until(lambda: isinstance(run.app.screen, Consent))
        await run.press(key)
        assert run.app.screen is run.bench
        assert run.workbench.started == []
        assert f"Nothing was sent to {SERVER}" in run.bench.hint


async def test_the_name_of_a_server_is_shown_and_not_obeyed() -> None:
    async with running(FakeWorkbench(server="[red]evil[/]"), ready=False) as run:
        await run.until(lambda: isinstance(run.app.screen, Consent))
        assert "[red]evil[/]" in run.text()
