"""What the model is told: every sentence is true, in all combinations, and nothing that was cut is unsaid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarg_tui.errors import RargError
from rarg_tui.search import pipelines
from rarg_tui.search.context import Reorder, ShellLimits
from rarg_tui.search.observation import documents_in, rows_of, show_matches, show_nothing, show_text
from rarg_tui.search.problems import Problems
from rarg_tui.search.ripgrep import ScanResult
from rarg_tui.search.shell import ShellResult, run
from rarg_tui.trace.events import Match
from tests.search.scene import Backwards, context

SHOWN, POOL = 3, 8
SCOPE = ["a.txt", "b.txt"]
UNREAD = Problems(given=2, unread=1, said=["gone.txt: No such file or directory"])


class Broken:
    def rerank(self, query: str, keywords: Sequence[str], matches: Sequence[Match]) -> list[Match]:
        raise RargError("the model is gone.")


@dataclass(frozen=True)
class Found:
    """What a search came to: how many matches, whether there are more, and what went wrong."""

    matches: int
    full: bool
    stopped: str
    problems: str
    after: str
    reranker: str

    def result(self) -> ScanResult:
        problems = {
            "": Problems(given=2),
            "some": UNREAD,
            "all": Problems(given=2, unread=2, said=["a.txt: gone", "b.txt: gone"]),
            "binary": Problems(given=2, binary=["b.txt"]),
            "lost": Problems(given=2, lost=1),
        }[self.problems]
        matches = tuple(
            Match("a.txt", at, f"bird {at}", ((0, 4),), at, 1, cut=9 if at == 1 else 0)
            for at in range(1, self.matches + 1)
        )
        return ScanResult(matches, self.full, problems, "", self.stopped)

    @property
    def possible(self) -> bool:
        if self.full and self.matches != POOL:
            return False
        if self.problems in ("all", "binary"):
            return (self.problems == "all") == (self.matches == 0)
        return True


ALL = [
    found
    for values in product(
        (0, 1, SHOWN, SHOWN + 1, POOL),
        (False, True),
        ("", "timed_out", "cancelled"),
        ("", "some", "all", "binary", "lost"),
        ("", "head -n 2", "tail -n 2", "head -n 40"),
        ("", "works", "broken"),
    )
    if (found := Found(*values)).possible
]


def searched(found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShellResult:
    monkeypatch.setattr(pipelines, "scan", lambda *_, **__: found.result())
    reorder: dict[str, Reorder | None] = {"": None, "works": Backwards(), "broken": Broken()}
    where = context(
        tmp_path,
        tmp_path / "run",
        SCOPE,
        limits=ShellLimits(pool=POOL, shown=SHOWN, timeout_s=30),
        reorder=reorder[found.reranker],
    )
    after = f" | {found.after}" if found.after else ""
    return run(f"cat scope_1.txt | xargs -d '\\n' rg bird{after}", where)


def test_every_sentence_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that can come together: what is said holds, and what holds is said."""
    assert len(ALL) > 500
    for found in ALL:
        if found.after.startswith("tail") and not found.reranker:
            continue  # runs as written
        result = searched(found, tmp_path, monkeypatch)
        rows = [row for row in result.observation.split("\n") if re.match(r"a\.txt:\d+: ", row)]
        notice = result.observation.removeprefix("\n".join(rows)).strip()
        said = set(re.split(r"; |\n", notice[1:-1]))
        m = 2 if found.after.endswith(" 2") else SHOWN
        cut = found.matches > m or found.full
        stopped = "" if found.full else found.stopped
        reranked = found.matches > m and found.reranker == "works"

        assert result.reranked == reranked, found
        assert len(rows) == result.shown == min(m, found.matches), found
        lines = list(range(1, found.matches + 1))
        lines = lines[::-1][:m] if reranked else lines[-m:] if found.after.startswith("tail") else lines[:m]
        assert [int(row.split(":")[1]) for row in rows] == lines, found
        of = f"of the first {POOL}" if found.full else f"of {found.matches}"
        how = "best first (reranked)" if reranked else "in the order of the list"
        last = "the last " if found.after.startswith("tail") and not reranked else ""
        assert (f"{last}{len(rows)} {of} matches shown, {how}" in said) == cut, found
        assert ("matches shown" in notice) == cut, found
        assert ("the pool limit was reached, there are more" in said) == found.full, found
        assert ("not reranked: the model is gone" in said) == (
            found.matches > m and found.reranker == "broken"
        )
        assert ("1 line shortened" in said) == any("characters cut" in row for row in rows), found
        assert ("stopped after 30 s" in notice) == (stopped == "timed_out"), found
        assert ("stopped by a person" in notice) == (stopped == "cancelled"), found
        assert ("there may be more" in notice) == bool(stopped and rows), found
        assert ("1 file not read" in notice) == (found.problems == "some"), found
        assert ("2 files not read" in notice) == (found.problems == "all"), found
        assert ("binary, with NUL bytes, lines may be missing: b.txt" in said) == (found.problems == "binary")
        assert ("too long to be read" in notice) == (found.problems == "lost"), found
        whole = not stopped and found.problems in ("", "binary")
        assert ("no matches" in notice) == (whole and not found.matches), found
        assert bool(notice) == (cut or not whole or not rows or "cut" in rows[0] or found.problems != ""), (
            found
        )

        # The state and the message say the same.
        partial = found.problems in ("some", "lost")
        state = stopped or (
            "failed" if found.problems == "all" else "partial" if partial else "ok" if rows else "no_match"
        )
        assert result.state == state, found
        assert bool(result.message) == (bool(stopped) or partial or state == "failed"), found
        code = {"ok": 0, "no_match": 1, "failed": 2, "partial": 0 if rows else 2}
        ends = {"timed_out": 124, "cancelled": 130}.get(state, 0 if found.after else code.get(state))
        assert result.exit_code == ends, found


MATCHES = [Match("a.txt", at, f"bird {at}", ((0, 4),), at) for at in range(1, 8)]


class TestMatches:
    def test_all_of_them(self) -> None:
        shown = show_matches(MATCHES[:2], ShellLimits(), total=2, full=False, reranked=False)
        assert (shown.text, shown.notice) == ("a.txt:1: bird 1\na.txt:2: bird 2", "")
        assert [match.shown_at for match in shown.matches] == [1, 2]

    @given(st.integers(1, 200), st.integers(1, 9), st.integers(1, 7))
    def test_the_budget(self, output_bytes: int, output_lines: int, shown: int) -> None:
        limits = ShellLimits(output_bytes=output_bytes, output_lines=output_lines)
        view = show_matches(MATCHES[:shown], limits, total=7, full=False, reranked=True)
        count = len(view.matches)
        rows = view.rows.split("\n")
        assert rows == [rows_of(match) for match in MATCHES[:count]]
        fits = [
            len("\n".join(map(rows_of, MATCHES[: n + 1]))) < output_bytes and n < output_lines
            for n in range(shown)
        ]
        assert count == max(1, sum(fits))
        if count < shown:
            spent = re.search(r"no more fit in (\d+) (byte|line)s?$", view.notice)
            assert spent is not None
            assert int(spent[1]) == (output_bytes if spent[2] == "byte" else output_lines)
        assert (f"{count} of 7 matches shown, best first (reranked)" in view.notice) == (count < 7)

    def test_rows_of_several_lines(self) -> None:
        match = Match("a.txt", 4, "one\r\ntwo\r\nthree", cut=1)
        assert rows_of(match) == "a.txt:4: one\na.txt:5: two\na.txt:6: three [1 character cut]"

    def test_names_that_are_no_utf8(self) -> None:
        match = replace(MATCHES[0], path="latin-\udce9.txt")
        assert show_matches([match], ShellLimits(), total=1, full=False, reranked=False).rows == (
            "latin-\udce9.txt:1: bird 1"
        )


class TestNothing:
    def test_no_matches_is_said_only_where_all_was_read(self) -> None:
        for stopped, none, trouble in product(
            ("", "timed_out", "cancelled"), (False, True), ("", "1 file not read")
        ):
            text = show_nothing(files=9, stopped=stopped, timeout_s=5, read_none=none, trouble=trouble)
            assert ("no matches" in text) == (not stopped and not none and not trouble)
            assert trouble in text

    def test_notes_follow(self) -> None:
        text = show_nothing(files=0, stopped="", timeout_s=5, read_none=False, trouble="", notes=["a", "b"])
        assert text == "(no matches: the list of files is empty)\n[a; b]"


class TestText:
    @given(
        st.lists(st.text("aé漢\x1b ", max_size=60), max_size=12),
        st.integers(8, 400),
        st.integers(1, 12),
        st.booleans(),
    )
    def test_the_head_is_shown_and_the_rest_counted(
        self, lines: list[str], output_bytes: int, output_lines: int, cut: bool
    ) -> None:
        output = "".join(line + "\n" for line in lines).encode()
        limits = ShellLimits(output_bytes=output_bytes, output_lines=output_lines)
        text = show_text(output, cut and bool(lines), "", limits)
        rows, notice = text, ""
        if re.search(r"\[[^\[\n]*\]$", text) and not text.endswith("cut]"):
            rows, _, notice = text.rpartition("\n") if "\n" in text else ("", "", text)
        said = re.search(r"the first (?:(\d+) lines|line)( \(\d+ bytes\))? shown, there are more", notice)
        count = int(said[1] or 1) if said else len(lines)
        assert bool(said) == ((cut and bool(lines)) or count < len(lines))
        assert count <= output_lines
        shown = rows.split("\n")
        for row, line in zip(shown, lines[:count], strict=False):
            whole = re.sub(r"… \[(\d+) characters? cut\]$", "", row)
            assert line.startswith(whole)
            if whole != row:
                assert len(whole) + int(re.findall(r"\d+", row)[-1]) == len(line)
            else:
                assert row == line
        assert not any(lines[len(shown) : count])  # blank lines at the end

    def test_a_piece_of_a_line_is_left_out(self) -> None:
        text = show_text(b"one\ntwo\nthr", True, "", ShellLimits())
        assert (
            text
            == "one\ntwo\n[the first 2 lines shown, there are more; narrow it, or use head, tail or sed -n]"
        )
        assert show_text(b"one\ntwo\nthr", False, "", ShellLimits()) == "one\ntwo\nthr"

    def test_errors_follow(self) -> None:
        assert show_text(b"one\n", False, "cat: x: gone\n", ShellLimits(), ["a note"]) == (
            "one\ncat: x: gone\n[a note]"
        )
        many = show_text(b"", False, "".join(f"e{n}\n" for n in range(99)), ShellLimits())
        assert many.split("\n") == [*(f"e{n}" for n in range(20)), "(79 more messages)"]
        assert show_text(b"", False, "", ShellLimits()) == ""


class TestDocuments:
    KNOWN = frozenset({"a.txt", "b:c.txt", "sub/d e.txt", "latin-\udce9.txt", "12", "é.txt"})

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a.txt:1: x\na.txt:2: y", ("a.txt",)),
            ("b:c.txt:3:x", ("b:c.txt",)),
            ("./sub/d e.txt-4-x", ("sub/d e.txt",)),
            ("==> a.txt <==", ("a.txt",)),
            ("      7 a.txt", ("a.txt",)),
            ("a.txt\0" + "12:x", ("a.txt",)),
            ("é.txt:1:x", ("é.txt",)),
            ("latin-\ufffd.txt:1:x", ("latin-\udce9.txt",)),
            ("nothing of a.txt", ()),
            ("", ()),
        ],
    )
    def test_named_at_the_start_of_a_line(self, text: str, expected: tuple[str, ...]) -> None:
        assert documents_in(text, self.KNOWN) == expected
