from __future__ import annotations

import pytest

from rarg_tui.ui import actions
from rarg_tui.ui.action import GROUPS, NEEDS, PANES
from rarg_tui.ui.action_list import ACTIONS
from rarg_tui.ui.screens.workbench import WorkbenchScreen


def test_ids_are_unique() -> None:
    ids = [one.id for one in ACTIONS]
    assert len(ids) == len(set(ids))


def test_no_key_means_two_things() -> None:
    keys = [key for one in ACTIONS for key in one.keys.split(",")]
    assert sorted(keys) == sorted(set(keys))


def test_every_action_is_well_formed() -> None:
    for one in ACTIONS:
        assert one.group in GROUPS
        assert set(one.needs) <= set(NEEDS)
        assert set(one.panes) <= {name for name, _, _ in PANES}
        assert one.help.endswith(".")


@pytest.mark.parametrize(
    "one", [one for one in ACTIONS if not one.app and not one.widget], ids=lambda one: one.id
)
def test_every_action_of_the_workbench_can_be_done(one: actions.Action) -> None:
    assert one.id.startswith("focus_") or hasattr(WorkbenchScreen, f"do_{one.id}")


def test_bindings_cover_every_action_once() -> None:
    bound = [binding for where in ("app", "screen", "list") for binding in actions.bindings(where)]
    assert len(bound) == len([one for one in ACTIONS if one.id != "open"])


def test_an_action_says_what_it_lacks() -> None:
    step = actions.action("step")
    assert actions.missing(step, set()) == NEEDS["session"]
    assert actions.missing(step, {"session", "unended"}) == NEEDS["idle"]
    assert actions.missing(step, {"session", "unended", "idle"}) == ""


def test_the_footer_offers_only_what_can_be_done() -> None:
    offered = [one.id for one in actions.footer("transcript", {"session", "live", "idle", "unended"})]
    assert offered[:2] == ["step", "continue"]
    assert "edit" not in offered
    assert "pause" not in offered
    waiting = [
        one.id for one in actions.footer("transcript", {"session", "live", "idle", "unended", "waiting"})
    ]
    assert "edit" in waiting
    running = [one.id for one in actions.footer("scope", {"session", "live", "running"})]
    assert running[0] == "pause"
    assert "step" not in running


def test_help_lists_everything_and_a_pane_its_own() -> None:
    everything = [one for _, members in actions.grouped() for one in members]
    assert set(everything) == set(ACTIONS)
    scope = [one.id for _, members in actions.grouped("scope") for one in members]
    assert "gold" in scope
    assert "edit" not in scope


def test_keys_are_named_for_people() -> None:
    assert actions.key_name("question_mark") == "?"
    assert actions.key_names("q,ctrl+q") == "q ctrl+q"
