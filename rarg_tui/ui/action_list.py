"""Every action, group by group, in the order in which help lists them."""

from __future__ import annotations

from rarg_tui.ui.action import PANES, Action

_RUN: tuple[Action, ...] = (
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
)

_ASK: tuple[Action, ...] = (
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
)

_LISTS: tuple[Action, ...] = (
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
)

_PANES: tuple[Action, ...] = (
    *(
        Action(f"focus_{name}", str(number), short, f"Go to pane {number}, {title.lower()}.", "Panes")
        for number, (name, title, short) in enumerate(PANES, start=1)
    ),
    Action("next_pane", "tab", "next pane", "Go to the next pane.", "Panes", palette=False),
    Action("previous_pane", "shift+tab", "previous pane", "Go to the previous pane.", "Panes", palette=False),
    Action("view", "v", "view", "Show what the pane holds in another way.", "Panes", footer=54),
    Action("zoom", "z", "zoom", "Give the whole screen to the focused pane, and back.", "Panes", footer=55),
    Action(
        "back", "escape", "back", "Back out: leave the input, the zoom, the document.", "Panes", palette=False
    ),
)

_PROGRAM: tuple[Action, ...] = (
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

ACTIONS: tuple[Action, ...] = (*_RUN, *_ASK, *_LISTS, *_PANES, *_PROGRAM)
