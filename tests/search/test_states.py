"""How a command ends: found, nothing found, partial, failed, timed out, cancelled; and every limit."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import MissingPart
from rarg_tui.search import execute, pipelines
from rarg_tui.search.rg import Rg
from rarg_tui.search.shell import ShellContext, ShellLimits, ShellResult, run
from rarg_tui.trace.events import Match
from tests.search.scene import Backwards, context, write

X = "cat scope_1.txt | xargs -d '\\n' rg"
#: Names of things that are no files that can be read, and what is said of each.
GONE, LOOP, LONG = "gone.txt", "loop.txt", "n" * 300
UNREADABLE = {GONE: "No such file", LOOP: "ymbolic link", LONG: "ile name too long"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    root.mkdir()
    write(root, {"b.txt": "green bird\nred bird\nno\n", "c.txt": "a bird\n", "d.txt": "nothing here\n"})
    os.symlink(LOOP, root / LOOP)
    (root / "folder").mkdir()
    write(root, {"folder/inside.txt": "bird inside\n"})
    os.mkfifo(root / "pipe")
    return root


def shell(root: Path, command: str, *paths: str, limits: ShellLimits | None = None) -> ShellResult:
    """The command with a scope of ``paths``, in a run where the whole corpus may be searched."""
    where = context(root, root.parent / "run", paths, limits=limits, whole_corpus=True)
    return run(command, where)


@dataclass(frozen=True)
class End:
    """How ``command`` ends, and what the observation says of it."""

    command: str
    paths: tuple[str, ...]
    state: str
    exit_code: int
    says: str = ""


ALL = ("b.txt", "c.txt", "d.txt")
CAT_SAYS = "cat: gone.txt: No such file"
ENDS = [
    # Found.
    End(f"{X} bird", ALL, "ok", 0),
    End(f"{X} -c bird", ALL, "ok", 0),
    End(f"{X} -q bird", ALL, "ok", 0),
    End(f"{X} -q bird && echo yes || echo no", ALL, "ok", 0, "yes"),
    End(f"{X} bird | head -1", ALL, "ok", 0),
    End(f"set -o pipefail; {X} bird | head -1", ALL, "ok", 0),
    End(f"set -o pipefail; {X} -o bird | head -1", ALL, "ok", 0),
    # Nothing found is no error, whatever the number of calls, and the status is rg's.
    End(f"{X} absent", ALL, "no_match", 1, "(no matches)"),
    End(f"{X} -c absent", ALL, "no_match", 1, "(no matches)"),
    End(f"{X} -q absent", ALL, "no_match", 1, "(no matches)"),
    End(f"{X} absent || echo none", ALL, "no_match", 0, "none"),
    End(f"{X} absent && echo some", ALL, "no_match", 1, "(no matches)"),
    End(f"{X} absent | head", ALL, "no_match", 0, "(no matches)"),
    End(f"{X} -n absent | sort", ALL, "no_match", 0, "(no matches)"),
    End(f"set -o pipefail; {X} absent | head", ALL, "no_match", 1, "(no matches)"),
    End(f"set -o pipefail; {X} -n absent | sort", ALL, "no_match", 1, "(no matches)"),
    End("rg -c absent b.txt | sort", ALL, "no_match", 0, "(no matches)"),
    End(f"{X} bird | rg absent", ALL, "no_match", 1, "(no matches)"),
    End(f"{X} -l absent | xargs -d '\\n' rg bird", ALL, "no_match", 1, "the list of files is empty"),
    # What was found and then left out again is no "no matches".
    End(f"{X} bird | sed -n '100,200p'", ALL, "ok", 0, "(no output)"),
    End("rg -C1 bird b.txt | sed -n '100,200p'", ALL, "ok", 0, "(no output)"),
    End(f"{X} bird > /dev/null", ALL, "ok", 0, "(no output)"),
    # An empty scope is searched, and holds nothing.
    End(f"{X} bird", (), "no_match", 1, "(no matches: the list of files is empty)"),
    End(f"{X} -c bird", (), "no_match", 1, "(no matches: the list of files is empty)"),
    End(f"{X} -v bird", (), "no_match", 1, "(no matches: the list of files is empty)"),
    End(f"{X} --files-without-match bird", (), "no_match", 1, "the list of files is empty"),
    # Partial: what cannot be read is counted and named, its neighbours are searched.
    *(End(f"{X} bird", (name, "c.txt"), "partial", 0, f"1 file not read: {name}: ") for name in UNREADABLE),
    *(End(f"{X} -c bird", (name, "c.txt"), "partial", 0, f"1 file not read: {name}") for name in UNREADABLE),
    End(f"{X} absent", ("d.txt", GONE), "partial", 2, "nothing found in what could be read"),
    End(f"{X} -c absent", ("d.txt", GONE), "partial", 2, "nothing found in what could be read"),
    End(f"{X} -l bird 2>/dev/null", ("b.txt", GONE), "partial", 0, "1 file not read: gone.txt"),
    End(f"{X} bird && echo on", ("b.txt", GONE), "partial", 0, "on"),
    End(f"{X} bird", (*UNREADABLE, "b.txt"), "partial", 0, "3 files not read: "),
    End("rg -c bird b.txt gone.txt", (), "partial", 2, "gone.txt"),
    End("rg -c absent b.txt gone.txt", (), "partial", 2, "gone.txt"),
    End(f"rg -c absent b.txt {LONG} loop.txt", (), "partial", 2, LONG),
    End("cat b.txt gone.txt | head", (), "partial", 0, "gone.txt"),
    End("cat gone.txt scope_1.txt | xargs -d '\\n' rg bird", ("b.txt",), "partial", 0, CAT_SAYS),
    End("cat gone.txt scope_1.txt | xargs -d '\\n' rg absent", ("b.txt",), "partial", 2, CAT_SAYS),
    End(f"{X} -l bird | xargs -d '\\n' rg -n bird", ("b.txt", GONE), "partial", 0, "1 file not read"),
    # Failed: nothing could be read at all.
    End(f"{X} bird", (GONE, LOOP), "failed", 2, "none of the files could be read: 2 files not read"),
    End(f"{X} -c bird", (GONE, LOOP), "failed", 2, "none of the files could be read: 2 files not read"),
    End(f"{X} bird && echo on || echo off", (GONE,), "failed", 0, "off"),
    End("rg bird gone.txt", (), "failed", 2, "gone.txt"),
    End("rg -c bird gone.txt loop.txt", (), "failed", 2, "gone.txt"),
    End(f"rg -c bird {LONG}", (), "failed", 2, LONG),
    End("rg -c bird gone.txt 2>/dev/null", (), "failed", 2, "exit status 2"),
    End("rg -c bird gone.txt 2>/dev/null | head", (), "failed", 0, "exit status 2"),
    End("cat gone.txt | head", (), "failed", 0, "gone.txt"),
    End("cat gone.txt | xargs -d '\\n' rg bird", (), "failed", 2, CAT_SAYS),
    End("cat gone.txt | xargs -d '\\n' rg -c bird", (), "failed", 1, CAT_SAYS),
    # No valid call.
    End("xargs -a gone.txt -d '\\n' rg bird", (), "error", 2, "gone.txt: No such file"),
]  # fmt: skip


@pytest.mark.parametrize("end", ENDS, ids=lambda end: f"{end.command} {len(end.paths)}"[:90])
def test_the_end_of_a_command(end: End, root: Path) -> None:
    result = shell(root, end.command, *end.paths)
    assert (result.state, result.exit_code) == (end.state, end.exit_code)
    assert end.says in result.observation
    assert result.verdict == ("error" if end.state == "error" else "run")
    assert ("no match" in result.observation) <= (end.state == "no_match")
    assert str(root) not in result.observation


@pytest.mark.parametrize("command", [f"{X} bird", f"{X} -c bird", f"{X} -C1 bird"])
def test_every_kind_of_what_is_no_file_is_named(command: str, root: Path) -> None:
    for name in (*UNREADABLE, "folder", "pipe"):
        result = shell(root, command, "b.txt", name, "c.txt")
        assert result.state == "partial"
        assert "1 file not read" in result.message
        assert name in result.message
        assert "inside" not in result.observation
        for neighbour in ("b.txt:", "c.txt:"):
            assert neighbour in result.observation


def test_what_is_not_read_is_counted(root: Path) -> None:
    many = [f"gone-{n}.txt" for n in range(2_000)]
    result = shell(root, f"{X} bird", "b.txt", *many, "c.txt")
    assert (result.state, result.shown) == ("partial", 3)
    assert "2000 files not read: gone-0.txt: No such file or directory" in result.observation
    assert "and 1997 more" in result.observation
    assert len(result.observation) < 1_000
    some = shell(root, "cat " + " ".join(many[:200]), "b.txt")
    assert some.observation.endswith("(180 more messages)")


def test_many_calls_without_a_match_are_no_error(root: Path) -> None:
    write(root, {f"many/{n}.txt": "bird\n" if n == 2_500 else "fish\n" for n in range(3_000)})
    paths = [f"many/{n}.txt" for n in range(3_000)]
    for command in (f"{X} bird", f"{X} -l bird", f"{X} -n bird | cut -c1-40"):
        result = shell(root, command, *paths)
        assert (result.state, result.exit_code, result.message) == ("ok", 0, "")
        assert result.observation.startswith("many/2500.txt")


def test_a_name_with_a_line_end_is_reported_by_the_corpus(root: Path) -> None:
    write(root, {"new\nline.txt": "bird\n"})
    listing = Corpus(root).listing()
    assert [problem.path for problem in listing.problems] == ["new\nline.txt"]
    assert "new\nline.txt" not in [document.path for document in listing.documents]
    torn = shell(root, f"{X} bird", "new\nline.txt", "c.txt")
    assert torn.state == "partial"
    assert "2 files not read: new: No such file or directory; line.txt: No such file" in torn.observation


class TestPatterns:
    @pytest.mark.parametrize(
        "command",
        [
            f"{X} '(open'",
            f"{X} -c '(open'",
            f"{X} '(open' | head -3",
            f"{X} -n '(open' | sort",
            "rg '(open' b.txt",
            "rg -c '(open' b.txt",
            "rg -c '(open' b.txt | head",
            f"{X} bird | rg '(open'",
            "cat scope_1.txt | rg '(open' | xargs -d '\\n' rg bird",
            f"{X} -f patterns.txt",
        ],
    )
    def test_the_caret_reaches_the_caller(self, command: str, root: Path) -> None:
        write(root, {"patterns.txt": "(open\n"})
        result = shell(root, command, *ALL)
        assert (result.verdict, result.state, result.exit_code) == ("error", "error", 2)
        lines = result.reason.split("\n")
        caret = next(at for at, line in enumerate(lines) if line.strip() == "^")
        assert lines[caret - 1][lines[caret].index("^")] == "("
        assert lines[-1] == "error: unclosed group"
        assert result.reason in result.observation

    @pytest.mark.parametrize("pattern", ["(?<=green )bird", r"(\w)\1"])
    def test_look_around_is_offered_p(self, pattern: str, root: Path) -> None:
        for command in (f"{X} '{pattern}'", f"{X} -c '{pattern}'"):
            assert "add -P: rg -P" in shell(root, command, *ALL).observation
        assert "--pcre2" in shell(root, f"rg -c '{pattern}' b.txt", *ALL).observation
        assert shell(root, f"{X} -P '{pattern}'", *ALL).state == "ok"

    def test_a_bad_pattern_is_none_of_the_files_that_are_gone(self, root: Path) -> None:
        result = shell(root, f"{X} '(open'", GONE, "b.txt")
        assert (result.state, "gone" in result.observation) == ("error", False)


@pytest.mark.parametrize(
    "command",
    [f"{X} absent", f"{X} -c absent", "rg -c absent b.txt", f"{X} -l absent | xargs -d '\\n' rg absent"],
)
def test_without_rg_nothing_is_claimed(command: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Rg:
        raise MissingPart("rarg needs ripgrep.")

    monkeypatch.setattr(execute, "find_rg", missing)
    monkeypatch.setattr(pipelines, "find_rg", missing)
    with pytest.raises(MissingPart):
        shell(root, command, *ALL)


class TestStopped:
    """What a clock or a person ends."""

    COMMANDS = (
        f"{X} bird",
        f"{X} absent",
        f"{X} -c absent",
        "rg bird .",
        "rg -g '*.txt' absent .",
        "rg -c x .",
    )

    @pytest.mark.parametrize("command", COMMANDS)
    def test_out_of_time_before_anything_was_found(self, command: str, root: Path) -> None:
        result = shell(root, command, *ALL, limits=ShellLimits(timeout_s=0))
        assert (result.verdict, result.state, result.exit_code) == ("run", "timed_out", 124)
        assert result.observation == (
            "(stopped after 0 s and nothing was found by then; search fewer files at a time)"
        )
        assert result.message == "stopped after 0 s, there may be more"

    @pytest.mark.parametrize("command", COMMANDS)
    def test_cancelled_before_anything_was_found(self, command: str, root: Path) -> None:
        cancel = threading.Event()
        cancel.set()
        result = run(command, context(root, root.parent / "run", ALL, whole_corpus=True), cancel)
        assert (result.verdict, result.state, result.exit_code) == ("run", "cancelled", 130)
        assert "no match" not in result.observation

    def test_nothing_runs_after_that(self, root: Path) -> None:
        result = shell(root, f"{X} bird; echo on", *ALL, limits=ShellLimits(timeout_s=0))
        assert "on" not in result.observation.replace("and nothing", "").split()

    @pytest.mark.parametrize("before", ["cat b.txt", f"{X} bird", "rg -c bird b.txt"])
    def test_what_came_before_is_kept(self, before: str, root: Path) -> None:
        there = shell(root, before, *ALL).observation
        command = f"{before}; sed -n ':a; ba' b.txt; echo on"
        result = shell(root, command, *ALL, limits=ShellLimits(timeout_s=1))
        assert result.observation == f"{there}\n[stopped after 1 s, there may be more]"
        assert (result.verdict, result.state, result.exit_code) == ("run", "timed_out", 124)
        assert result.message == "stopped after 1 s, there may be more"

    def test_what_a_program_had_written_is_kept(self, root: Path) -> None:
        result = shell(root, "sed -u 'p; :a; ba' b.txt", limits=ShellLimits(timeout_s=1))
        assert result.observation.count("\n") == 1
        assert result.observation.endswith("\n[stopped after 1 s, there may be more]")
        assert result.state == "timed_out"

    def test_cancelled_with_some_found(self, root: Path) -> None:
        """What had been found is kept; whether the rest had been found too is left to chance."""
        write(root, {f"more/{n}.txt": "bird\n" for n in range(400)})
        cancel = threading.Event()

        def stop(matches: Sequence[Match]) -> None:
            cancel.set()

        where = context(root, root.parent / "run", [f"more/{n}.txt" for n in range(400)])
        result = run(f"{X} bird", where, cancel, stop)
        assert result.pool
        assert result.observation.startswith("more/0.txt:1: bird")
        assert result.state in ("ok", "cancelled")
        assert ("stopped by a person, there may be more" in result.observation) == (
            result.state == "cancelled"
        )


class TestLimits:
    """Each limit has a message of its own, and what came before it is kept."""

    def long(self, root: Path, command: str, **limits: int) -> ShellResult:
        write(root, {"long.txt": "".join(f"bird number {n}\n" for n in range(3_000))})
        return shell(root, command, "long.txt", "b.txt", limits=ShellLimits(**limits))

    def test_matches(self, root: Path) -> None:
        result = self.long(root, f"{X} bird", pool=50, shown=10)
        assert (len(result.pool), result.pool_full, result.shown, result.state) == (50, True, 10, "ok")
        assert result.observation.endswith(
            "[10 of the first 50 matches shown, in the order of the list; "
            "the pool limit was reached, there are more]"
        )

    def test_bytes(self, root: Path) -> None:
        result = self.long(root, f"{X} bird", output_bytes=200)
        assert result.observation.endswith(
            "; the pool limit was reached, there are more; no more fit in 200 bytes]"
        )
        written = self.long(root, f"{X} -c '' | cat - b.txt long.txt", output_bytes=200).observation
        rows, _, notice = written.rpartition("\n")
        assert len(rows.encode()) <= 200
        assert notice == (
            f"[the first {rows.count(chr(10)) + 1} lines (200 bytes) shown, there are more; "
            "narrow it, or use head, tail or sed -n]"
        )

    def test_lines(self, root: Path) -> None:
        result = self.long(root, f"{X} -m 9 bird", output_lines=5)
        assert result.observation.endswith(
            "[5 of 11 matches shown, in the order of the list; no more fit in 5 lines]"
        )
        written = self.long(root, "cat long.txt", output_lines=5).observation
        assert written.endswith(
            "\n[the first 5 lines shown, there are more; narrow it, or use head, tail or sed -n]"
        )
        assert written.count("\n") == 5

    def test_length_of_lines(self, root: Path) -> None:
        write(root, {"wide.txt": "x" * 3_000_000 + "bird\n", "b.txt": "bird\n"})
        listed = shell(root, f"{X} bird", "wide.txt", "b.txt", limits=ShellLimits(line_length=20)).observation
        assert listed == (
            f"wide.txt:1: …{'x' * 16}bird [2999984 characters cut]\nb.txt:1: bird\n[1 line shortened]"
        )
        written = shell(root, f"{X} -C1 bird", "wide.txt", "b.txt", limits=ShellLimits(output_bytes=400))
        first, *others = written.observation.split("\n")
        assert first == f"wide.txt:{'x' * 91}… [2999913 characters cut]"
        assert others == ["--", "b.txt:bird", "[1 line shortened, rg -o '.{0,80}WORD.{0,80}' shows a part]"]
        shown = shell(root, f"{X} -o '.{{0,3}}bird'", "wide.txt", "b.txt").observation
        assert shown == "wide.txt:xxxbird\nb.txt:bird"

    def test_a_line_that_does_not_end(self, root: Path) -> None:
        write(root, {"wide.txt": "é" * 3_000_000})
        text = shell(root, "cat wide.txt", limits=ShellLimits(output_bytes=400)).observation
        assert text.startswith("é" * 50 + "… [the rest cut]\n[1 line shortened, rg -o")
        assert "there are more" not in text

    def test_programs(self, root: Path) -> None:
        result = shell(root, " | ".join(["cat b.txt", *["cat"] * 16]))
        assert (result.verdict, "at most 16 programs" in result.reason) == ("refused", True)

    def test_time(self, root: Path) -> None:
        assert "stopped after 0 s" in shell(root, "cat b.txt", limits=ShellLimits(timeout_s=0)).observation

    def test_with_reranking(self, root: Path) -> None:
        write(root, {"long.txt": "".join(f"bird number {n}\n" for n in range(300))})
        where: ShellContext = context(
            root, root.parent / "run", ["long.txt", GONE], reorder=Backwards(),
            limits=ShellLimits(pool=50, shown=10, output_bytes=60),
        )  # fmt: skip
        result = run(f"{X} bird", where)
        assert result.observation == (
            "long.txt:50: bird number 49\nlong.txt:49: bird number 48\n"
            "[2 of the first 50 matches shown, best first (reranked); the pool limit was reached, "
            "there are more; no more fit in 60 bytes]"
        )
