"""Commands typed by a person, as the same calls that a model makes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from rarg_tui.agent.profiles import unknown
from rarg_tui.agent.strategies import STRATEGIES
from rarg_tui.errors import RargError
from rarg_tui.trace.state import RunState

#: What can be typed, with its form.
COMMANDS: Mapping[str, str] = {
    "recall": "recall QUERY",
    "rg": "rg [OPTIONS] PATTERN",
    "read": "read PATH[:LINE]",
    "shell": "shell COMMAND",
}


def parse_line(text: str, state: RunState) -> tuple[str, dict[str, Any]]:
    """The tool and its arguments for a line such as ``rg -i "orrery|clock"``.

    ``rg`` searches the newest scope of ``state``, or what its strategy searches without one. Raises
    ``RargError`` with the form that is expected.
    """
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if not verb:
        raise RargError(f"Type a command: {', '.join(COMMANDS.values())}.")
    if verb not in COMMANDS:
        raise RargError(unknown("command", verb, COMMANDS))
    if not rest:
        raise RargError(f"{verb} needs more: {COMMANDS[verb]}.")
    match verb:
        case "recall":
            return "embed_recall", {"query": rest}
        case "shell":
            return "bash", {"command": rest}
        case "read":
            return "read", _read(rest)
        case _:
            return "bash", {"command": _scoped(rest, state)}


def as_line(tool: str, arguments: Mapping[str, Any] | None) -> str:
    """The line that would make this call by hand: what an override begins with."""
    given = arguments or {}
    match tool:
        case "embed_recall" | "search" | "pull" | "retrieve":
            return f"recall {given.get('query') or ' '.join(given.get('queries', ()))}"
        case "read":
            offset = given.get("offset")
            return f"read {given.get('path', '')}" + (f":{offset}" if offset else "")
        case _:
            return f"shell {given.get('command', '')}"


def _read(rest: str) -> dict[str, Any]:
    path, colon, line = rest.rpartition(":")
    if colon and line.isascii() and line.isdigit() and int(line) > 0:
        return {"path": path, "offset": int(line)}
    return {"path": rest}


def _scoped(rest: str, state: RunState) -> str:
    scope = state.current_scope
    strategy = STRATEGIES.get(state.strategy)
    everywhere = strategy is not None and (strategy.whole_corpus or strategy.workspace)
    if scope is None and not everywhere:
        raise RargError("There is no scope yet: begin with `recall` and a query.")
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise RargError(f"The quotes of this command do not match: {error}.") from None
    if all(word.startswith("-") for word in words):
        raise RargError(f"rg needs a pattern: {COMMANDS['rg']}.")
    if not {"-n", "--line-number", "-N", "--no-line-number"} & set(words):
        words.insert(0, "-n")
    # A bar between blanks pipes on; a bar inside a word belongs to the pattern.
    typed = " ".join(word if word == "|" else shlex.quote(word) for word in words)
    if scope is None or everywhere:
        return f"rg {typed}"
    return f"cat scope_{scope.number}.txt | xargs -d '\\n' rg {typed}"
