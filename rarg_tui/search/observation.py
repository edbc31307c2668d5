"""From what a command printed or found to the text that the model is shown, within the budget."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rarg_tui.search.context import ShellLimits
from rarg_tui.search.excerpt import MARK
from rarg_tui.search.process import TIMED_OUT
from rarg_tui.trace.events import Match

#: A printed line may have this part of the bytes that are shown; a match is cut around what matched.
_PART = 4
#: So many lines of what went to stderr are shown: thousands of files can be gone.
_ERROR_LINES = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """The ``rows`` of the ``matches`` shown, in that order, and a ``notice`` of what was cut."""

    rows: str
    notice: str
    matches: tuple[Match, ...]

    @property
    def text(self) -> str:
        """As the model sees it: the notice in brackets on a line of its own."""
        return "\n".join(part for part in (self.rows, f"[{self.notice}]" if self.notice else "") if part)


def rows_of(match: Match) -> str:
    """A match as the model sees it: ``path:line: text``; each line of a match across lines its own."""
    lines = [line.removesuffix("\r") for line in match.text.split("\n")]
    rows = "\n".join(f"{match.path}:{match.line + at}: {line}" for at, line in enumerate(lines))
    return f"{rows} [{_count(match.cut, 'character')} cut]" if match.cut else rows


def show_matches(
    matches: Sequence[Match],
    limits: ShellLimits,
    *,
    total: int,
    full: bool,
    reranked: bool,
    last: bool = False,
    notes: Sequence[str] = (),
) -> Shown:
    """The observation of a plain listing: ``matches`` in the order to show, as many as fit, then one
    notice in brackets. ``total`` were found, and there are more when ``full``. ``last``: ``matches`` are
    the last of them, not the first. ``notes`` end the notice."""
    rows: list[str] = []
    size = lines = 0
    spent = ""
    for match in matches:
        row = rows_of(match)
        size += len(row.encode("utf-8", "surrogateescape")) + 1
        lines += row.count("\n") + 1
        if size > limits.output_bytes:
            spent = _count(limits.output_bytes, "byte")
        elif lines > limits.output_lines:
            spent = _count(limits.output_lines, "line")
        if rows and spent:
            break
        rows.append(row)
    shown = tuple(replace(match, shown_at=at) for at, match in enumerate(matches[: len(rows)], 1))
    how = "best first (reranked)" if reranked else "in the order of the list"
    which = f"the last {len(shown)}" if last and len(shown) == len(matches) else str(len(shown))
    parts = []
    if full:
        parts.append(f"{which} of the first {total} matches shown, {how}")
        parts.append("the pool limit was reached, there are more")
    elif len(shown) < total:
        parts.append(f"{which} of {total} matches shown, {how}")
    if len(shown) < len(matches):
        parts.append(f"no more fit in {spent}")
    if shortened := sum(1 for match in shown if match.cut):
        parts.append(f"{_count(shortened, 'line')} shortened")
    return Shown("\n".join(rows), "; ".join([*parts, *notes]), shown)


def show_nothing(
    *, files: int, stopped: str, timeout_s: float, read_none: bool, trouble: str, notes: Sequence[str] = ()
) -> str:
    """The observation of a search of ``files`` files that found nothing. It says "no matches" only when
    all of them were read to the end: not when it was ``stopped``, nor with ``trouble`` (what was not read;
    ``read_none``: nothing was)."""
    if stopped:
        hint = "; search fewer files at a time" if stopped == TIMED_OUT else ""
        text = f"({stop_sentence(stopped, timeout_s)} and nothing was found by then{hint}"
        text += f"; {trouble})" if trouble else ")"
    elif read_none:
        text = f"(error: none of the files could be read: {trouble})"
    elif trouble:
        text = f"(nothing found in what could be read; {trouble})"
    else:
        text = "(no matches)" if files else "(no matches: the list of files is empty)"
    return f"{text}\n[{'; '.join(notes)}]" if notes else text


def stop_sentence(stopped: str, timeout_s: float) -> str:
    """Why a search was ``stopped``, for a notice."""
    return f"stopped after {timeout_s:g} s" if stopped == TIMED_OUT else "stopped by a person"


def show_text(output: bytes, cut: bool, errors: str, limits: ShellLimits, notes: Sequence[str] = ()) -> str:
    """The observation of anything else: the first lines of its ``output`` (``cut``: there was more), then
    what went to stderr, then a notice. A line that is far too long is shortened."""
    lines = output.split(b"\n")
    torn = cut and len(lines) == 1
    if not torn and (cut or not lines[-1]):
        lines.pop()  # a piece of a line, or what follows the last line end
    rows: list[str] = []
    shortened = size = 0
    full = ""
    for line in lines[: limits.output_lines]:
        row = _short_row(line, limits.output_bytes // _PART, torn)
        size += len(row.encode("utf-8")) + (1 if rows else 0)
        if rows and size > limits.output_bytes:
            full = f" ({_count(limits.output_bytes, 'byte')})"
            break
        rows.append(row)
        shortened += len(line) > limits.output_bytes // _PART
    parts = []
    if not torn and (cut or len(rows) < len(lines)):
        first = "line" if len(rows) == 1 else f"{len(rows)} lines"
        parts.append(f"the first {first}{full} shown, there are more; narrow it, or use head, tail or sed -n")
    if shortened or torn:
        parts.append(
            f"{_count(shortened or 1, 'line')} shortened, rg -o '.{{0,80}}WORD.{{0,80}}' shows a part"
        )
    notice = "; ".join([*parts, *notes])
    pieces = ["\n".join(rows).rstrip("\n"), _first_errors(errors), f"[{notice}]" if notice else ""]
    return "\n".join(piece for piece in pieces if piece)


def _short_row(line: bytes, most: int, torn: bool) -> str:
    """A line of at most ``most`` bytes, and how much of it was left out; ``torn``: it went on."""
    text = line.decode("utf-8", "replace")
    if len(line) <= most and not torn:
        return text
    kept = codecs.getincrementaldecoder("utf-8")("replace").decode(line[:most])  # whole characters only
    left = "the rest" if torn else _count(len(text) - len(kept), "character")
    return f"{kept}{MARK} [{left} cut]"


def _first_errors(errors: str) -> str:
    lines = errors.rstrip("\n").split("\n")
    if len(lines) > _ERROR_LINES:
        lines[_ERROR_LINES:] = [f"({_count(len(lines) - _ERROR_LINES, 'more message')})"]
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def documents_in(text: str, known: frozenset[str]) -> tuple[str, ...]:
    """The documents whose path begins a line of ``text``: as rg, grep and wc name them."""
    names = {_as_shown(path): path for path in known}
    found: dict[str, None] = {}
    for line in text.split("\n"):
        name = _leading_path(line, names)
        if name:
            found[names[name]] = None
    return tuple(found)


def _as_shown(path: str) -> str:
    """A path as it stands in an output that was decoded."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _leading_path(line: str, known: dict[str, str]) -> str:
    heading = line.removeprefix("==> ").removesuffix(" <==")
    for candidate in (line, line.removeprefix("./"), line.lstrip(" 0123456789"), heading):
        if candidate in known:
            return candidate
    line = line.removeprefix("./")
    best = ""
    for at, char in enumerate(line[:4096]):
        if char in ":-\0" and line[:at] in known:
            best = line[:at]
    return best
