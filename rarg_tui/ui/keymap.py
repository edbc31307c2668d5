"""The keys of the settings, checked: an action's own keys in place of those of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from textual.keys import Keys, _character_to_key

from rarg_tui.ui.action import Action
from rarg_tui.ui.action_list import ACTIONS
from rarg_tui.ui.actions import action, binding_id

_MODIFIERS = ("ctrl", "shift", "alt", "super", "hyper", "meta")
_NAMED = frozenset(key.value for key in Keys) | {"space"}


@dataclass(frozen=True, slots=True)
class Keymap:
    """``registry`` is the registry with the chosen keys, ``bindings`` what Textual's ``set_keymap`` takes,
    ``problems`` a sentence for each choice that was left out."""

    registry: tuple[Action, ...]
    bindings: Mapping[str, str]
    problems: tuple[str, ...]


def keymap(chosen: Mapping[str, str]) -> Keymap:
    """The keymap for ``chosen``: action → keys, separated by commas. Unknown actions, unknown keys and
    keys of another action are left out, with a sentence that says so."""
    known = {one.id: one for one in ACTIONS}
    problems: list[str] = []
    taken = {key: one.id for one in ACTIONS if one.id not in chosen for key in one.keys.split(",")}
    kept: dict[str, str] = {}
    for identity, text in chosen.items():
        keys = [_normal(key.strip()) for key in text.split(",") if key.strip()]
        problem = _problem(identity, keys, known, taken)
        if problem:
            problems.append(f"Keys in the settings: {problem}")
            if identity in known:
                taken.update(dict.fromkeys(known[identity].keys.split(","), identity))
            continue
        taken.update(dict.fromkeys(keys, identity))
        kept[identity] = ",".join(keys)
    registry = tuple(replace(one, keys=kept.get(one.id, one.keys)) for one in ACTIONS)
    return Keymap(registry, {binding_id(action(one)): keys for one, keys in kept.items()}, tuple(problems))


def _problem(identity: str, keys: list[str], known: Mapping[str, Action], taken: Mapping[str, str]) -> str:
    if identity not in known:
        near = get_close_matches(identity, known, 1)
        hint = f"did you mean {near[0]}?" if near else "`?` in the workbench lists the actions."
        return f"there is no action {identity!r}; {hint}"
    if not keys:
        return f"{identity} has no keys; leave it out to keep {known[identity].keys}."
    for key in keys:
        if not _is_key(key):
            return f"{key!r} for {identity} is no key; examples are s, ctrl+g, f8 and space."
        if key in taken:
            return f"{key} for {identity} is the key of {taken[key]} already."
    return ""


def _normal(key: str) -> str:
    """``?`` and the like by their names."""
    *modifiers, base = key.split("+") if len(key) > 1 else [key]
    return "+".join((*modifiers, _character_to_key(base) if len(base) == 1 else base))


def _is_key(key: str) -> bool:
    *modifiers, base = key.split("+")
    if any(modifier not in _MODIFIERS for modifier in modifiers):
        return False
    return len(base) == 1 or base in _NAMED or (base.replace("_", "").isalpha() and "_" in base)
