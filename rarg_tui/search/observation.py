"""From what a command printed or found to the text that the model is shown, within the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rarg_tui.search.context import ShellLimits
from rarg_tui.trace.events import Match


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
    lines = match.text.split("\n")
    rows = "\n".join(f"{match.path}:{match.line + at}: {line}" for at, line in enumerate(lines))
    return f"{rows} [{match.cut} characters cut]" if match.cut else rows


def show_matches(
    matches: Sequence[Match],
    limits: ShellLimits,
    *,
    total: int,
    full: bool,
    reranked: bool,
    notes: Sequence[str] = (),
) -> Shown:
    """The observation of a plain listing: ``matches`` in the order to show, as many as fit, then one
    notice in brackets. ``total`` matched, or more when ``full``; ``notes`` end the notice."""
    rows: list[str] = []
    size = lines = 0
    for match in matches:
        row = rows_of(match)
        size += len(row.encode("utf-8", "surrogateescape")) + 1
        lines += row.count("\n") + 1
        if rows and (size > limits.output_bytes or lines > limits.output_lines):
            break
        rows.append(row)
    shown = tuple(replace(match, shown_at=at) for at, match in enumerate(matches[: len(rows)], 1))
    return Shown("\n".join(rows), _notice(shown, total, full, reranked, notes), shown)


def _notice(shown: Sequence[Match], total: int, full: bool, reranked: bool, notes: Sequence[str]) -> str:
    parts = []
    if full:
        how = "best first (reranked)" if reranked else "in the order of the list"
        parts.append(f"{len(shown)} of the first {total} matches shown, {how}")
        parts.append("the pool limit was reached, there are more")
    elif len(shown) < total:
        how = "best first (reranked)" if reranked else "in the order of the list"
        parts.append(f"{len(shown)} of {total} matches shown, {how}")
    shortened = sum(1 for match in shown if match.cut)
    if shortened:
        parts.append(f"{shortened} {'line' if shortened == 1 else 'lines'} shortened")
    return "; ".join([*parts, *notes])


def show_text(output: bytes, cut: bool, errors: str, limits: ShellLimits, notes: Sequence[str] = ()) -> str:
    """The observation of anything else: its output, head kept, then what went to stderr, then a notice."""
    parts = list(notes)
    text, kept_all = _head(output, limits)
    if cut or not kept_all:
        lines = text.count("\n") + (1 if text and not text.endswith("\n") else 0)
        parts.insert(
            0, f"the first {lines} lines shown, there are more; narrow it, or use head, tail or sed -n"
        )
    pieces = [text.rstrip("\n"), errors.rstrip("\n")]
    if parts:
        pieces.append(f"[{'; '.join(parts)}]")
    return "\n".join(piece for piece in pieces if piece)


def _head(output: bytes, limits: ShellLimits) -> tuple[str, bool]:
    """The first whole lines of ``output`` within the limits; a first line that is too long is cut."""
    lines = output.split(b"\n")
    kept = lines[: limits.output_lines]
    data = b"\n".join(kept)
    if len(kept) < len(lines) and lines[len(kept) :] != [b""]:
        whole = False
    else:
        data, whole = output, True
    if len(data) > limits.output_bytes:
        data, whole = data[: limits.output_bytes], False
        end = data.rfind(b"\n")
        data = data[: end + 1] if end > 0 else data
    return data.decode("utf-8", "replace"), whole


def documents_in(text: str, known: frozenset[str]) -> tuple[str, ...]:
    """The documents whose path begins a line of ``text``: as rg, grep and wc name them."""
    found: dict[str, None] = {}
    for line in text.split("\n"):
        name = _leading_path(line, known)
        if name:
            found[name] = None
    return tuple(found)


def _leading_path(line: str, known: frozenset[str]) -> str:
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
