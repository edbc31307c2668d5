"""What a person can do: the form of an action, what may be missing for it, and the panes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
