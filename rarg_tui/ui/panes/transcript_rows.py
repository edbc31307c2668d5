"""The rows of the transcript, from the run's state."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from rich.cells import cell_len

from rarg_tui.trace.state import CallState, RunState, TurnState
from rarg_tui.ui.panes.view import (
    STATE_WORDS,
    Target,
    View,
    command_of,
    folded,
    matches_of,
    plural,
    seconds,
    tool_of,
    will_run,
    wrapped,
)
from rarg_tui.ui.widgets.cells import Cell, Row

_SHOWN = re.compile(r"^(.+?)[:-](\d+)[:-]")
_FAULTS = ("failed", "timed_out", "refused", "error", "cancelled")

#: Cells in front of a row's text: the cursor's mark, the turn, the mark, and the gaps.
INDENT = 6

ENDINGS = {
    "answered": "answered",
    "turn_limit": "ended at the turn limit, without an answer",
    "budget": "ended: the budget is used up",
    "stopped": "stopped",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A row; the call that it belongs to (0: none), whether it is that call's first row, what unfolds
    with it, and the place that it leads to."""

    row: Row
    call: int = 0
    fold: str = ""
    target: Target | None = None


def entries(view: View, unfolded: Collection[str], width: int = 0) -> list[Entry]:
    """All rows. ``unfolded`` holds the ``fold`` keys of what is open: ``call 3``, ``turn 2``, ``answer``.
    Prose is wrapped to ``width`` cells (0: not at all); what the model was shown stays line by line."""
    if not view.opened:
        return []
    return list(_all(view, unfolded, max(width - INDENT, 0)))


def _all(view: View, unfolded: Collection[str], room: int) -> Iterator[Entry]:
    state, signs = view.state, view.glyphs
    yield from _question(view, unfolded, room)
    turns = {turn.number: turn for turn in state.turns}
    told: set[int] = set()
    for call in state.calls:
        if call.turn in turns and call.turn not in told:
            told.add(call.turn)
            yield from _turn(view, turns[call.turn], unfolded, room)
        yield from _call(view, call, unfolded, room)
    for turn in state.turns:
        if turn.number not in told and not (state.ended and turn.text == state.answer):
            yield from _turn(view, turn, unfolded, room)
    if state.cleared:
        text = f"{plural(len(state.cleared), 'older result')} left out of the model's context"
        yield Entry(_note(signs.branch, text, "muted"))
    for note in state.notes:
        yield Entry(_note("#", note.text, "muted italic"))
    if state.breakpoint:
        yield Entry(_note(signs.breakpoint, f"breakpoint: {state.breakpoint}", "paused bold"))
    if state.model_error:
        yield Entry(_note(signs.cross, f"model: {state.model_error}", "failed"))
    yield from _end(view, unfolded, room) if state.ended else _next(view, room)


def _question(view: View, unfolded: Collection[str], room: int) -> Iterator[Entry]:
    state = view.state
    question = state.question
    is_open = "question" in unfolded
    mark = view.glyphs.expanded if is_open else view.glyphs.collapsed
    first, *more = wrapped(question, room) if is_open else [" ".join(question.split())]
    head = (Cell("Q", "heading bold", 2, "right"), Cell(mark, "muted", 1), Cell(first, "bold"))
    yield Entry(Row(head), fold="question")
    if is_open:
        for line in more:
            yield Entry(_detail(view, line, "bold"))
        rankers = "+".join(f"{name} {weight:g}" for name, weight in state.rankers.items())
        for label, value in (
            ("strategy", state.strategy),
            ("model", state.model),
            ("profile", state.profile),
            ("rankers", rankers),
            ("rerank", state.rerank or "off"),
            ("run", state.run),
            ("parent", state.parent),
        ):
            if value:
                yield Entry(_detail(view, f"{label:<9}{value}"))


def _turn(view: View, turn: TurnState, unfolded: Collection[str], room: int) -> Iterator[Entry]:
    """The words of a model's reply; a reply of nothing but calls makes no row."""
    text = turn.text or turn.reasoning
    if not text.strip():
        return
    key = f"turn {turn.number}"
    is_open = key in unfolded
    paragraphs = [line for line in text.splitlines() if line.strip()]
    first, more = " ".join(text.split()), list[str]()
    if is_open:
        first, *more = [line for paragraph in paragraphs for line in wrapped(paragraph, room)]
    # What is folded is not wrapped: of a long run nearly everything is.
    unfolds = bool(more) if is_open else len(paragraphs) > 1 or cell_len(first) > room >= 16
    sign = view.glyphs.expanded if is_open else view.glyphs.collapsed
    cells = (_number(turn.number), Cell(sign if unfolds else "", "muted", 1), Cell(first, "muted italic"))
    yield Entry(Row(cells), fold=key)
    for line in more:
        yield Entry(_detail(view, line, "muted italic"))


def _call(view: View, call: CallState, unfolded: Collection[str], room: int) -> Iterator[Entry]:
    key = f"call {call.number}"
    is_open = key in unfolded
    selected = view.call is not None and view.call.number == call.number
    yield Entry(_call_row(view, call, is_open, selected), call.number, fold=key)
    if is_open:
        yield from _call_details(view, call, room)


def _number(turn: int, hidden: bool = False) -> Cell:
    return Cell("" if hidden else str(turn), "number", 2, "right")


def _call_row(view: View, call: CallState, is_open: bool, selected: bool) -> Row:
    signs = view.glyphs
    fault = call.state in _FAULTS
    if call.waiting:
        outcome, tone = STATE_WORDS["proposed"], "paused"
    elif fault or call.state == "skipped":
        outcome, tone = (
            f"{signs.cross} {STATE_WORDS.get(call.state, call.state)}",
            "failed" if fault else "muted",
        )
    elif call.state == "no_match":
        outcome, tone = STATE_WORDS["no_match"], "muted"
    else:
        outcome, tone = _outcome(view.state, call), ""
    if call.state == "partial":
        outcome, tone = f"! {outcome}", "paused"
    gold = f"{signs.gold}{len(call.new_gold)}" if call.new_gold else ""
    elapsed = sum(call.elapsed_ms.values())
    tool = tool_of(call)
    command = command_of(call)
    name_style = "bold" if selected else ""
    if not tool:
        tool, _, command = command.partition(" ")
    by_hand = call.by != "model"
    return Row(
        (
            _number(call.turn) if not by_hand else Cell("me" if call.by == "user" else "", "heading", 2),
            Cell(signs.expanded if is_open else signs.collapsed, "cursor-mark" if selected else "muted", 1),
            Cell(tool + ("*" if call.edited_from is not None else ""), f"heading {name_style}".strip()),
            Cell(" ".join(command.split()), name_style),
            Cell(outcome.replace("→", signs.arrow), tone, max(7, len(outcome)), "right"),
            Cell(gold, "gold bold", 2),
            Cell(seconds(elapsed) if call.elapsed_ms else "", "muted", 5, "right"),
        )
    )


def _outcome(state: RunState, call: CallState) -> str:
    made = [scope for scope in state.scopes if scope.call == call.number]
    if made:
        return f"{sum(scope.documents for scope in made):,} docs"
    return matches_of(call) or ("" if call.tool == "bash" else STATE_WORDS["ok"])


def _call_details(view: View, call: CallState, room: int) -> Iterator[Entry]:
    number = call.number

    def lines(label: str, text: str, style: str = "muted") -> Iterator[Entry]:
        fold = folded if label in ("was    ", "asked  ", "ran    ") else wrapped
        for at, line in enumerate(fold(text, room - len(label))):
            yield Entry(_detail(view, (label if at == 0 else " " * len(label)) + line, style), number)

    if call.edited_from is not None:
        yield from lines("was    ", _plain(call.edited_from))
    if not call.waiting:
        yield from lines("asked  ", _plain(call.arguments) if call.arguments else call.raw)
    if call.ran:
        yield from lines("ran    ", call.ran)
    if call.reranked:
        yield from lines("rerank ", call.rerank_query)
    if call.error:
        yield from lines("", call.error, "failed")
    if call.message and call.message != call.error:
        yield from lines("", call.message, "failed" if call.state in _FAULTS else "muted")
    if call.note:
        yield from lines("note   ", call.note, "muted italic")
    if call.number in view.state.cleared:
        yield from lines("", "(no longer in the model's context)")
    if not call.observation:
        return
    for text in call.observation.splitlines():
        shown = _SHOWN.match(text)
        target = None
        if call.tool == "read" and call.document:
            digits = re.match(r"\s*(\d+)[:\t ]", text)
            target = Target(call.document, int(digits[1])) if digits else None
        elif shown is not None and shown[1] in call.seen:
            target = Target(shown[1], int(shown[2]))
        yield Entry(_detail(view, text, ""), number, target=target)


def _next(view: View, room: int) -> Iterator[Entry]:
    signs = view.glyphs
    if view.running:
        what = "pausing after this call" if view.pausing else view.next_step
        yield Entry(_note(signs.running[0], f"now: {what}", "running"))
        return
    waiting = view.state.next_call
    number = waiting.number if waiting is not None else 0
    yield Entry(_note(signs.collapsed, f"next: {view.next_step}", "paused bold"), number)
    if waiting is not None and view.live:
        for text in will_run(view.state, waiting):
            for line in folded(text, room):
                yield Entry(_detail(view, line, "foreground"), number)
        yield Entry(_note("", view.offers, "muted"), number)


def _end(view: View, unfolded: Collection[str], room: int) -> Iterator[Entry]:
    state, signs = view.state, view.glyphs
    tone = "hit" if state.ended == "answered" else "failed"
    text = ENDINGS.get(state.ended, state.ended)
    if state.citations:
        text += f" · {plural(len(state.citations), 'document')} cited"
    is_open = "answer" not in unfolded
    mark = signs.expanded if is_open else signs.collapsed
    yield Entry(
        Row((Cell("A", f"{tone} bold", 2, "right"), Cell(mark, "muted", 1), Cell(text, f"{tone} bold"))),
        fold="answer",
    )
    if not is_open:
        return
    if state.error:
        yield Entry(_detail(view, state.error, "failed"))
    for line in state.answer.splitlines():
        target = next((found[2] for found in _citations(state, line)), None)
        if line.strip() in state.citations:
            target = Target(line.strip())
        item = "  " if line.startswith("- ") else ""
        for at, piece in enumerate(wrapped(line, room - len(item))):
            yield Entry(_answer_line(view, (item if at else "") + piece, at == 0), target=target)
    for place, path in enumerate(state.ranking, start=1):
        mark = view.gold_mark(path)
        yield Entry(_detail(view, f"{place:>2}. {mark + ' ' if mark else ''}{path}"), target=Target(path))


def _answer_line(view: View, line: str, first: bool) -> Row:
    spans = tuple((start, end, "path underline") for start, end, _ in _citations(view.state, line))
    mark = Cell(view.glyphs.separator if first and line[:1].isalnum() else "", "muted", 1)
    return Row((Cell("", width=2), mark, Cell(line, "", spans=spans)))


def _citations(state: RunState, line: str) -> list[tuple[int, int, Target]]:
    """Where a line of the answer cites documents, ``[path]`` or ``[path:line]``, and what it cites."""
    found = []
    for path in state.citations:
        for hit in re.finditer(rf"\[{re.escape(path)}(?::(\d+)[-\d]*)?\]", line):
            found.append((*hit.span(), Target(path, int(hit[1] or 1))))
    return sorted(found, key=lambda one: one[:2])


def _detail(view: View, text: str, style: str = "muted") -> Row:
    return Row(
        (Cell("", width=2), Cell("│" if view.glyphs.rule == "─" else "|", "rule", 1), Cell(text, style))
    )


def _note(mark: str, text: str, style: str) -> Row:
    return Row((Cell("", width=2), Cell(mark, style, 1), Cell(text, style)))


def _plain(arguments: object) -> str:
    if not isinstance(arguments, Mapping):
        return str(arguments)
    if len(arguments) == 1:
        return str(next(iter(arguments.values())))
    return "  ".join(f"{key}: {value}" for key, value in arguments.items())
