"""What went wrong during a search that did not stop it: files not read, files with NUL bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rarg_tui.search.process import Children, Drain, Stopped
from rarg_tui.search.rg import Rg
from rarg_tui.search.rg_options import RgCall

#: How many problems are named; the others are counted.
_NAMED = 3
_NOISE = re.compile(r" \(os error \d+\)$|IO error for operation on .*: (?=[A-Z])")


@dataclass(slots=True)
class Problems:
    """``given`` counts the files asked for, ``unread`` those that could not or may not be read;
    ``said`` names the first of them. ``binary`` are files whose lines end at a NUL byte, ``lost`` counts
    lines that were too long."""

    given: int = 0
    unread: int = 0
    said: list[str] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)
    lost: int = 0

    def __bool__(self) -> bool:
        return bool(self.unread or self.lost)

    def add(self, other: Problems) -> None:
        self.unread += other.unread
        self.lost += other.lost
        self.said += other.said[: _NAMED - len(self.said)]
        self.binary += other.binary

    @property
    def all(self) -> bool:
        """Whether nothing at all was read."""
        return 0 < self.given <= self.unread

    def admitted(self, paths: Iterable[str], refusal: Callable[[str], str]) -> Iterator[str]:
        """Those of ``paths`` for which ``refusal`` gives no reason; the others are counted."""
        for path in paths:
            self.given += 1
            reason = refusal(path)
            if reason:
                self.refuse(path, reason)
            else:
                yield path

    def refuse(self, path: str, reason: str) -> None:
        """Count a file that may not be read."""
        self._say(reason if path in reason else f"{path}: {reason}")

    def broke(self, files: int, reason: str) -> None:
        """Count the files that rg was given when it could not do its work."""
        self._say(f"rg {reason}")
        self.unread += files - 1

    def add_stderr(self, text: str) -> None:
        """Count rg's own messages, one a file."""
        for line in text.split("\n"):
            if line.startswith("rg: "):
                self._say(_NOISE.sub("", line[4:]))

    def note_binary(self, path: str, offset: int | None) -> None:
        if offset is not None:
            self.binary.append(path)

    def sentence(self) -> str:
        """All of it in one sentence, or ``""``."""
        parts = []
        if self.unread:
            files = "file" if self.unread == 1 else "files"
            more = f" and {self.unread - len(self.said)} more" if self.unread > len(self.said) else ""
            parts.append(f"{self.unread} {files} not read: {'; '.join(self.said)}{more}")
        if self.lost:
            parts.append(f"{self.lost} line(s) too long to be read")
        return "; ".join(parts)

    def binary_sentence(self) -> str:
        """Which files hold NUL bytes, or ``""``. Their matches are valid, but some may be missing."""
        if not self.binary:
            return ""
        more = f" and {len(self.binary) - _NAMED} more" if len(self.binary) > _NAMED else ""
        return f"binary, with NUL bytes, lines may be missing: {', '.join(self.binary[:_NAMED])}{more}"

    def _say(self, text: str) -> None:
        self.unread += 1
        if len(self.said) < _NAMED:
            self.said.append(text)


def pattern_error(rg: Rg, call: RgCall, root: str, children: Children) -> str:
    """What rg says against the pattern or an option, or ``""`` when it accepts them.

    rg ends with 2 both for that and for one unreadable file; on an empty file only the first remains.
    """
    try:
        process = children.start(
            [rg.path, "--no-config", "--color=never", *call.arguments(), "--", "/dev/null"], cwd=root
        )
    except (OSError, Stopped):
        return ""
    assert process.stdout is not None
    assert process.stderr is not None
    errors = Drain(process.stderr)
    process.stdout.close()
    code = children.wait(process)
    if code != 2:
        return ""
    text = re.sub(r"^rg: ", "", errors.text().strip())
    if "look-around" in text or "backreferences" in text:
        offer = "add -P: rg -P" if rg.pcre2 else "this rg is built without -P, so write it in another way"
        text = re.sub(r"\n\nConsider enabling PCRE2.*", "", text, flags=re.DOTALL)
        text += f"\nFor look-around and backreferences {offer}."
    return text
