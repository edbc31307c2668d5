"""The one registry of what a person can do: bindings, footer, help and palette are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from rarg_tui.ui.action import GROUPS, NEEDS, Action, Group
from rarg_tui.ui.action_list import ACTIONS

if TYPE_CHECKING:
    from textual.binding import BindingType

_BY_ID = {action.id: action for action in ACTIONS}

_KEY_NAMES = {
    "space": "space",
    "colon": ":",
    "slash": "/",
    "question_mark": "?",
    "escape": "esc",
    "f1": "F1",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def action(identity: str) -> Action:
    """The action of that id; ``KeyError`` if there is none."""
    return _BY_ID[identity]


def binding_id(one: Action) -> str:
    """What Textual calls the action's binding."""
    return one.id.replace(" ", "_")


def key_name(keys: str) -> str:
    """The first of ``keys`` as a person reads it."""
    first = keys.split(",")[0]
    return _KEY_NAMES.get(first, first)


def key_names(keys: str) -> str:
    """All of ``keys`` as a person reads them."""
    return " ".join(_KEY_NAMES.get(key, key) for key in keys.split(","))


def missing(wanted: Action, facts: Iterable[str]) -> str:
    """Why ``wanted`` cannot be done now, or "" if it can; ``facts`` are the keys of :data:`NEEDS` that
    hold."""
    known = set(facts)
    return next((NEEDS[need] for need in wanted.needs if need not in known), "")


def footer(pane: str, facts: Iterable[str], registry: Sequence[Action] = ACTIONS) -> list[Action]:
    """What the footer offers while ``pane`` has the focus, the most useful first."""
    known = set(facts)
    offered = [
        one
        for one in registry
        if one.footer and (not one.panes or pane in one.panes) and not missing(one, known)
    ]
    return sorted(offered, key=lambda one: -one.footer)


def grouped(pane: str = "", registry: Sequence[Action] = ACTIONS) -> list[tuple[Group, list[Action]]]:
    """All actions by group; with ``pane``, those that belong to it and those of every list."""
    chosen = [one for one in registry if not pane or pane in one.panes or one.group == "Lists"]
    groups = ((group, [one for one in chosen if one.group == group]) for group in GROUPS)
    return [(group, members) for group, members in groups if members]


def bindings(where: Literal["app", "screen", "list"]) -> list[BindingType]:
    """The key bindings of the app, of the workbench's screen, or of its lists."""
    from textual.binding import Binding

    return [
        Binding(
            one.keys,
            one.widget or f"do('{one.id}')",
            one.label,
            show=False,
            priority=one.priority,
            id=binding_id(one),
        )
        for one in ACTIONS
        if where == ("app" if one.app else "list" if one.widget else "screen")
        # Lists send "open" themselves, with the row.
        and one.id != "open"
    ]
