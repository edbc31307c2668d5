"""``read``: a document, by lines or, where lines can be very long, by characters."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from rarg_tui.agent.tools.base import Call, World, argument, milliseconds, schema
from rarg_tui.corpus.decoding import read_text
from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev

#: At most this many lines and bytes are shown at once, as by the released agent.
READ_LINES = 2_000
READ_BYTES = 51_200

#: As many characters at once as DR-DCI's read gives.
READ_CHARACTERS = 4_096


class Read:
    name = "read"

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            f"Read a document: up to {READ_LINES} numbered lines.",
            ["path"],
            path=argument("string", "The document's path, as a scope or a match gives it."),
            offset=argument("integer", "The first line to read, from 1.", minimum=1),
            limit=argument("integer", "How many lines to read.", minimum=1),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        started = perf_counter()
        path, text = _opened(call, world)
        offset = call.given.get("offset", 1)
        lines = text.splitlines()
        if offset > max(1, len(lines)):
            raise RargError(f"{path} has {len(lines)} lines; line {offset} is beyond its end.")
        chosen = lines[offset - 1 : offset - 1 + min(call.given.get("limit", READ_LINES), READ_LINES)]
        return [_executed(call, world, path, offset, _numbered(path, chosen, offset, len(lines)), started)]


class ReadCharacters:
    """DR-DCI's way of reading (arXiv 2606.14885): a piece of so many characters, wherever lines end."""

    name = "read"

    def schema(self, world: World) -> dict[str, Any]:
        return schema(
            self.name,
            f"Read a piece of a document in the workspace: up to {READ_CHARACTERS} characters.",
            ["path"],
            path=argument("string", "The document's path in the workspace."),
            offset=argument("integer", "The line to begin with, from 1.", minimum=1),
            char_offset=argument("integer", "Characters to skip from there.", minimum=0),
            char_limit=argument(
                "integer", "How many characters to read.", minimum=1, maximum=READ_CHARACTERS
            ),
        )

    def run(self, call: Call, world: World) -> list[ev.Event]:
        started = perf_counter()
        path, text = _opened(call, world)
        line = call.given.get("offset", 1)
        lines = text.splitlines(keepends=True)
        if line > max(1, len(lines)):
            raise RargError(f"{path} has {len(lines)} lines; line {line} is beyond its end.")
        first = sum(map(len, lines[: line - 1])) + call.given.get("char_offset", 0)
        if first > len(text):
            raise RargError(f"{path} has {len(text)} characters; character {first} is beyond its end.")
        last = min(len(text), first + call.given.get("char_limit", READ_CHARACTERS))
        # As in a listing of matches, a row tells its line, which a citation or a next read can name.
        line += text.count("\n", sum(map(len, lines[: line - 1])), first)
        head = f"{path}, characters {first}-{last} of {len(text)}, from line {line}"
        rows = [f"{number}: {row}" for number, row in enumerate(text[first:last].splitlines(), line)]
        left = len(text) - last
        tail = [f"[{left} more characters. Use char_offset to continue.]"] if left else []
        return [_executed(call, world, path, line, "\n".join([head, *rows, *tail]), started)]


def _opened(call: Call, world: World) -> tuple[str, str]:
    """The document that is asked for: its path and its text."""
    path = call.given["path"].removeprefix("./")
    if not world.corpus.contains(path):
        raise RargError(f"There is no document {path!r}; give a path as a scope or a match shows it.")
    if world.workspace is not None and path not in world.workspace:
        raise RargError(f"{path} is not in the workspace yet; a search has to bring it there first.")
    return path, read_text(world.corpus, path)


def _executed(
    call: Call, world: World, path: str, line: int, observation: str, started: float
) -> ev.CallExecuted:
    scopes = call.state.scopes
    return ev.CallExecuted(
        call=call.number,
        tool="read",
        state="ok",
        observation=observation,
        ran=f"read {path}:{line}",
        seen=world.ranked([path], scopes[-1].number if scopes else None),
        document=path,
        elapsed_ms={"read": milliseconds(started)},
    )


def _numbered(path: str, lines: Sequence[str], offset: int, total: int) -> str:
    shown: list[str] = []
    size = 0
    for number, line in enumerate(lines, start=offset):
        row = f"{number}: {line}"
        size += len(row.encode("utf-8", "replace")) + 1
        if size > READ_BYTES:
            if not shown:
                shown.append(f"{row[: READ_BYTES // 4]} […{len(row) - READ_BYTES // 4} characters cut]")
            break
        shown.append(row)
    last = offset + len(shown) - 1
    head = f"{path}, lines {offset}-{last} of {total}" if lines else f"{path} is empty"
    tail = (
        [f"[{total - last} more lines. Use offset={last + 1} to continue.]"] if last < total and lines else []
    )
    return "\n".join([head, *shown, *tail])
