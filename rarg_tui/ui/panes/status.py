"""The lines above and below the panes: status, tabs, footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rarg_tui.corpus.progress import Progress
from rarg_tui.ui.action import PANES, Action
from rarg_tui.ui.actions import key_name
from rarg_tui.ui.glyphs import Glyphs
from rarg_tui.ui.panes.line import Piece
from rarg_tui.ui.panes.view import View
from rarg_tui.ui.ports import RankerStatusPort
from rarg_tui.ui.widgets.bar_chart import bar

BAR = 8


def clock(seconds: float) -> str:
    """``00:14``, ``1:02:03``."""
    whole = max(round(seconds), 0)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes:02}:{left:02}"


def state_words(view: View) -> tuple[str, str]:
    """The run's state in words, and its style."""
    state = view.state
    if not view.opened:
        return "NO RUN", "muted"
    if view.running in ("step", "continue", "command"):
        waiting = state.next_call
        what = f"call {waiting.number}" if waiting is not None and view.running != "command" else ""
        if view.running == "command":
            what = "your command"
        return f"{'PAUSING after' if view.pausing else 'RUNNING'} {what or 'the model'}", "running bold"
    if state.ended:
        return (
            f"ENDED: {state.ended.replace('_', ' ')}",
            "hit bold" if state.ended == "answered" else "failed bold",
        )
    if state.model_error:
        return "PAUSED: the model failed", "failed bold"
    waiting = state.next_call
    where = f"before call {waiting.number}" if waiting is not None else f"before turn {len(state.turns) + 1}"
    return f"PAUSED {where}", "paused bold"


def index_pieces(
    status: Mapping[str, RankerStatusPort], progress: Progress | None, signs: Glyphs
) -> list[Piece]:
    """Each ranker, and how far it is: a bar, a percentage, a spinner, the rest in minutes and seconds.
    The spinner turns with the work, not with the clock."""
    ready = "".join(f" {name} {signs.check}" for name, one in status.items() if one.ready)
    pieces: list[Piece] = [Piece(ready, "muted", worth=20)] if ready else []
    for name, one in status.items():
        if one.ready:
            continue
        if one.error:
            pieces.append(Piece(f" {name} {signs.cross}", "failed", worth=24))
        elif one.total and one.done:
            share = one.done / one.total
            pieces.append(Piece(f" {name} ", "running", worth=26))
            filled = bar(share, 1.0, BAR, signs)
            pieces.append(Piece(filled.ljust(BAR), "bar on-rule", worth=14))
            pieces.append(Piece(f" {share:.0%}", "running", worth=26))
            if one.eta_s is not None:
                spin = signs.running[one.done % len(signs.running)]
                pieces.append(Piece(f" {spin} {clock(one.eta_s)}", "running", worth=25))
        else:
            pieces.append(Piece(f" {name} {signs.out}", "muted", worth=19))
    if not pieces:
        text = f" {signs.running[0]} reading the corpus"
        if progress is not None and progress.total:
            spin = signs.running[progress.done % len(signs.running)]
            text = f" {spin} {progress.stage} {progress.done / progress.total:.0%}"
        pieces.append(Piece(text, "running", worth=26))
    return pieces


def status_pieces(
    view: View, corpus: str, index: Sequence[Piece], signs: Glyphs
) -> tuple[list[Piece], list[Piece]]:
    """Corpus and index at the left, the run at the right. A saved run may be of another corpus."""
    state = view.state
    left = [
        Piece(f" rarg {signs.separator}", "primary bold", worth=15),
        Piece(f" {state.corpus_name or corpus}", "foreground", worth=30),
    ]
    if state.documents:
        left.append(Piece(f" {state.documents:,} docs", "muted", worth=10))
    left += [*index, Piece("  ", worth=95)]
    right: list[Piece] = []
    if view.opened:
        right.append(Piece(f"{state.strategy} {signs.separator} {state.model}", "foreground", worth=22))
        if not view.live:
            right.append(Piece(f" {signs.separator} saved run", "heading", worth=40))
    words, style = state_words(view)
    sign = signs.ended if state.ended else signs.running[0] if view.running else signs.paused
    right.append(Piece(f"   {sign} {words}", style, worth=100))
    if view.opened:
        turns = len(state.turns)
        limit = state.limits.get("max_turns")
        right.append(Piece(f"   turn {turns}" + (f"/{limit}" if limit else ""), "number", worth=60))
        right.append(Piece(f"  calls {sum(not call.waiting for call in state.calls)}", "number", worth=55))
        tokens = state.usage.input_tokens + state.usage.output_tokens
        if tokens:
            about = "~" if state.usage.estimated else ""
            right.append(Piece(f"  tokens {about}{_thousands(tokens)}", "number", worth=5))
        total = sum(1 for level in state.gold.values() if level > 0)
        if total:
            right.append(Piece(f"  gold {len(state.gold_seen)}/{total}", "gold bold", worth=70))
    right.append(Piece(" ", worth=90))
    return left, right


def tab_pieces(pane: str) -> list[Piece]:
    """The panes as tabs, for screens that show one at a time."""
    return [
        Piece(
            f" {number} {short} ",
            "reverse bold" if name == pane else "muted",
            f"focus_{name}",
            100 if name == pane else 50,
        )
        for number, (name, _, short) in enumerate(PANES, start=1)
    ]


def footer_pieces(offered: Sequence[Action]) -> list[Piece]:
    """Key and label of each action; the first ones stay longest."""
    pieces: list[Piece] = []
    for place, one in enumerate(offered):
        worth = 200 - 2 * place
        pieces.append(Piece(f" {key_name(one.keys)} ", "accent bold", one.id, worth))
        pieces.append(Piece(f"{one.label} ", "muted", one.id, worth))
    return pieces


def input_pieces(mode: str) -> list[Piece]:
    """What the keys do while a line is typed."""
    keys = [("enter", "search" if mode == "search" else "run"), ("esc", "leave"), ("ctrl+c", "stop")]
    if mode != "search":
        keys.insert(1, ("↑ ↓", "earlier and later lines"))
    return [
        Piece(text, style)
        for key, does in keys
        for text, style in ((f" {key} ", "accent bold"), (f"{does} ", "muted"))
    ]


def _thousands(count: int) -> str:
    return f"{count / 1000:.1f}k" if count >= 1000 else str(count)
