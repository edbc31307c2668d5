"""What rg prints between the output of two files, and where it prints nothing of the kind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from rarg_tui.search.growth import nul
from rarg_tui.search.rg_options import RgCall

#: Modes that print one line a file, or none.
_SUMMARIES = ("-c", "--count", "--count-matches", "-l", "--files-with-matches", "--files-without-match",
              "-q", "--quiet")  # fmt: skip
_NOTICE = re.compile(rb'(?:([^\n]*): )?binary file matches \(found "\\0" byte around offset \d+\)\n')


def lists_lines(call: RgCall) -> bool:
    """Whether lines are printed, and not a summary of each file."""
    return not call.has(*_SUMMARIES)


def may_be_cut(call: RgCall) -> bool:
    """Whether several calls for parts of a list can print what one for all of it does.

    Across lines rg may print of a file nothing but the separator before it, and then nobody sees where one
    is missing. How long lines become that are decoded, and how paths are printed, only rg knows.
    """
    by_match = call.has("-o", "--only-matching", "--vimgrep")
    across = by_match and call.has("-U", "--multiline") and bool(file_separator(call))
    return not across and not call.has("-E", "--encoding", "--path-separator")


def file_separator(call: RgCall) -> bytes:
    """A blank line under headings, the context separator where there is context, else nothing."""
    heading = crlf = null_data = False
    context: str | None = "--"
    for option in call.options:
        if option.name in ("--heading", "--no-heading"):
            heading = option.name == "--heading"
        elif option.name == "--context-separator":
            context = option.value
        elif option.name == "--no-context-separator":
            context = None
        elif option.name in ("--crlf", "--no-crlf"):
            crlf = option.name == "--crlf"
            null_data = null_data and not crlf
        elif option.name == "--null-data":
            crlf, null_data = False, True
    line_end = b"\r\n" if crlf else b"\0" if null_data else b"\n"
    if not lists_lines(call):
        return b""
    if heading and not call.has("--vimgrep"):
        return line_end
    if context is None or not any(context_lines(call)):
        return b""
    return _unescaped(context) + line_end


def context_lines(call: RgCall) -> tuple[int, int]:
    """How many lines are printed before and after a match. The place of ``-C`` does not matter beside
    ``-A`` and ``-B``, but ``--passthru`` undoes what came before it."""
    before: int | None = None
    after: int | None = None
    both = 0
    for option in call.options:
        number = int(option.value) if option.value is not None and option.value.isdigit() else 0
        if option.name in ("--passthru", "--passthrough"):
            before, after, both = None, None, 0
        elif option.name in ("-B", "--before-context"):
            before = number
        elif option.name in ("-A", "--after-context"):
            after = number
        elif option.name in ("-C", "--context"):
            both = number
    return both if before is None else before, both if after is None else after


def begins_with_notice(output: bytes, root: str, paths: Iterable[str]) -> bool:
    """Whether the first thing printed of ``paths`` is that one of them is binary and matches: rg puts no
    separator before that. A line that merely looks like it is of a file without NUL bytes."""
    notice = _NOTICE.match(output)
    if notice is None:
        return False
    named = None if notice[1] is None else os.fsdecode(notice[1])
    return any(nul(root, path) >= 0 for path in paths if named in (None, path))


def _unescaped(text: str) -> bytes:
    """A separator's escapes (``\\n``, ``\\t``, ``\\x2d``, …) as rg reads them."""
    data = os.fsencode(text)
    named = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}
    return re.sub(
        rb"\\(?:x([0-9A-Fa-f]{2})|([ntr0\\]))",
        lambda found: bytes([int(found[1], 16)]) if found[1] else named[found[2]],
        data,
    )
