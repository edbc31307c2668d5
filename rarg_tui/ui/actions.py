"""The one registry of what a person can do: bindings, footer, help and palette are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from textual.binding import BindingType

Group = Literal["Run", "Ask and search", "Lists", "Panes", "Program"]
GROUPS: tuple[Group, ...] = ("Run", "Ask and search", "Lists", "Panes", "Program")

#: What must hold for an action, and the sentence that a person reads when it does not.
NEEDS: dict[str, str] = {
    "session": "There is no run yet: press a to ask a question.",
    "live": "This is a saved run: it can be stepped through, not changed.",
    "idle": "The run is going on: space pauses it, ctrl+c stops the call at once.",
    "unended": "The run has ended: press a for a new question, or type a command below.",
    "waiting": "No call waits: press s, and the model proposes one.",
    "running": "Nothing is running.",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. ``keys`` are Textual's names, separated by commas; ``label`` stands in the
    footer, ``help`` in help and palette; ``needs`` are keys of :data:`NEEDS`; the footer shows the
    highest ``footer`` first and nothing with 0. ``panes`` limits the footer to some panes. ``app`` actions
    are bound on the app and hold in dialogues too; ``widget`` is the focused list's own action."""

    id: str
    keys: str
    label: str
    help: str
    group: Group
    needs: tuple[str, ...] = ()
    footer: int = 0
    panes: tuple[str, ...] = ()
    palette: bool = True
    app: bool = False
    priority: bool = False
    widget: str = ""


PANES: tuple[tuple[str, str, str], ...] = (
    ("transcript", "Transcript", "Run"),
    ("scope", "Scope", "Scope"),
    ("hits", "Hit ranks", "Hits"),
    ("raw", "Matches raw", "Raw"),
    ("ranked", "Matches reranked", "Ranked"),
    ("document", "Document", "Doc"),
)
"""Each pane's id, title and short title, in the order of their number keys."""

ACTIONS: tuple[Action, ...] = (
    Action(
        "step",
        "s",
        "step",
        "Do one half-step: ask the model for its next turn, or run the call that waits.",
        "Run",
        ("session", "unended", "idle"),
        footer=100,
    ),
    Action(
        "continue",
        "c",
        "continue",
        "Go on until the run ends, the model fails, or you pause.",
        "Run",
        ("session", "unended", "idle"),
        footer=99,
    ),
    Action("pause", "space", "pause", "Pause after the call that runs now.", "Run", ("running",), footer=101),
    Action(
        "interrupt",
        "ctrl+c",
        "stop",
        "Stop the running call at once; with nothing running, twice quits.",
        "Run",
        footer=50,
        app=True,
        priority=True,
    ),
    Action(
        "edit",
        "e",
        "edit",
        "Change the call that waits before it runs.",
        "Run",
        ("session", "live", "idle", "waiting"),
        footer=90,
        panes=("transcript",),
    ),
    Action(
        "skip",
        "x",
        "skip",
        "Skip the call that waits; the model is told so.",
        "Run",
        ("session", "live", "idle", "waiting"),
        footer=89,
        panes=("transcript",),
    ),
    Action(
        "insert",
        "i",
        "insert",
        "Put a call of your own before the one that waits.",
        "Run",
        ("session", "live", "idle", "unended"),
        footer=88,
        panes=("transcript",),
    ),
    Action(
        "follow",
        "f",
        "follow",
        "Follow the run: show the newest call and its scope and matches.",
        "Run",
        ("session",),
        footer=60,
        panes=("transcript",),
    ),
    Action(
        "ask",
        "a",
        "ask",
        "Ask a question, with strategy, model and profile of your choice.",
        "Ask and search",
        ("idle",),
        footer=70,
    ),
    Action(
        "command",
        "colon",
        "command",
        "Type a command: recall …, rg …, read … or shell … on the current scope.",
        "Ask and search",
        footer=75,
    ),
    Action(
        "override",
        "o",
        "run again",
        "Take the selected call's query or command into the command line, to change it and run it again.",
        "Ask and search",
        ("session",),
        footer=65,
        panes=("transcript",),
    ),
    Action(
        "gold",
        "g",
        "gold",
        "Mark the selected document as relevant, or take the mark away.",
        "Ask and search",
        ("session", "live", "idle"),
        footer=80,
        panes=("scope", "raw", "ranked", "hits", "document"),
    ),
    Action(
        "open",
        "enter",
        "open",
        "Open the selected row: unfold a call, or show the document at the line.",
        "Lists",
        footer=85,
        palette=False,
    ),
    *(
        Action(name, keys, name, text, "Lists", palette=False, widget=call)
        for name, keys, text, call in (
            ("down", "j,down", "One row down.", "cursor_by(1)"),
            ("up", "k,up", "One row up.", "cursor_by(-1)"),
            ("page down", "pagedown,ctrl+d", "A page down.", "cursor_page(1)"),
            ("page up", "pageup,ctrl+u", "A page up.", "cursor_page(-1)"),
            ("first", "home,less_than_sign", "To the first row.", "cursor_first"),
            ("last", "end,G,greater_than_sign", "To the last row.", "cursor_last"),
            ("right", "l,right", "Slide long text to the left, to see its end.", "slide(1)"),
            ("left", "h,left", "Slide it back.", "slide(-1)"),
        )
    ),
    Action("search", "slash", "search", "Search within the list or document.", "Lists", footer=45),
    Action("next_match", "n", "next", "Go to the next row with the searched text.", "Lists"),
    Action("previous_match", "N", "previous", "Go to the previous row with the searched text.", "Lists"),
    *(
        Action(f"focus_{name}", str(number), short, f"Go to pane {number}, {title.lower()}.", "Panes")
        for number, (name, title, short) in enumerate(PANES, start=1)
    ),
    Action("next_pane", "tab", "next pane", "Go to the next pane.", "Panes", palette=False),
    Action("previous_pane", "shift+tab", "previous pane", "Go to the previous pane.", "Panes", palette=False),
    Action("zoom", "z", "zoom", "Give the whole screen to the focused pane, and back.", "Panes", footer=55),
    Action(
        "back", "escape", "back", "Back out: leave the input, the zoom, the document.", "Panes", palette=False
    ),
    Action("help", "question_mark", "help", "List all keys.", "Program", footer=68),
    Action("pane_help", "f1", "pane help", "Explain the focused pane and its keys.", "Program"),
    Action("theme", "t", "theme", "Use the next theme.", "Program"),
    Action("palette", "ctrl+p", "palette", "Search all actions.", "Program", palette=False, app=True),
    Action(
        "quit",
        "q,ctrl+q",
        "quit",
        "Quit; what ran is stopped, the run is saved.",
        "Program",
        footer=67,
        app=True,
    ),
)

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
