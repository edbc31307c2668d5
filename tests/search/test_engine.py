"""The ordered engine against ONE rg over the same list."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from rarg_tui.search import raw as raw_module
from rarg_tui.search.batches import DEFAULT_SIZES, BatchSizes
from rarg_tui.search.process import Children
from rarg_tui.search.raw import RawScan, raw
from rarg_tui.search.rg import find_rg
from rarg_tui.search.rg_options import read_rg
from rarg_tui.search.ripgrep import ScanResult, scan
from rarg_tui.trace.events import Match
from tests.hostile import WORD, Hostile
from tests.search.scene import write

SIZES = [BatchSizes(first=1, growth=1, most=1), BatchSizes(first=1, growth=2), DEFAULT_SIZES]

OPTIONS = [
    [],
    ["-n"],
    ["-c"],
    ["-l"],
    ["-C1"],
    ["-n", "-A2"],
    ["-B", "1"],
    ["--heading"],
    ["--heading", "-n", "-C1"],
    ["-o"],
    ["-v"],
    ["-v", "-C1"],
    ["--files-without-match"],
    ["-c", "--include-zero"],
    ["--count-matches"],
    ["--no-context-separator", "-C1"],
    ["--context-separator=\\t\\x3d", "-A1"],
    ["--context-separator=", "-C1"],
    ["-I"],
    ["-l", "-0"],
    ["-0"],
    ["--vimgrep"],
    ["--column"],
    ["-b"],
    ["-M", "50"],
    ["-M50", "--max-columns-preview"],
    ["-m1"],
    ["-m2", "-A1"],
    ["--trim"],
    ["-r", "X"],
    ["--passthru", "-m1"],
    ["-C1", "--passthru"],
    ["--passthru", "-C1"],
    ["--crlf", "-C1"],
    ["--null-data", "-C1"],
    ["-a", "-C1"],
    ["--heading", "-c"],
    ["--heading", "--vimgrep"],
    ["-C1", "-c"],
    ["--stop-on-nonmatch"],
    ["-q"],
    ["-U", "-C1"],
    ["-i", "-w"],
    ["-x"],
    ["-F"],
    ["-P"],
    ["-C1", "-o"],
    ["--heading", "-o"],
    ["--heading", "-I"],
    ["--field-match-separator=|", "-n"],
    ["--field-context-separator=|", "-C1"],
    ["--path-separator", "+"],
    ["-uuu"],
    ["-C0"],
    ["-C1", "-A0", "-B0"],
    ["-g", "*.md"],
    ["-E", "latin1"],
    ["--binary"],
    ["-tmd"],
    ["--heading", "-C1", "-0"],
]


def reference(root: Path, paths: Sequence[str], options: Sequence[str], pattern: str) -> tuple[bytes, int]:
    argv = [find_rg().path, "-j1", "--no-config", "--no-mmap", "-H", *options, "-e", pattern, "--"]
    done = subprocess.run(
        [*argv, *map(os.fsencode, paths)],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.stdout, done.returncode


def run_raw(
    root: Path, paths: Sequence[str], arguments: Sequence[str], sizes: BatchSizes = DEFAULT_SIZES
) -> tuple[bytes, RawScan]:
    out = bytearray()
    with Children() as children:
        done = raw(
            find_rg(),
            read_rg(arguments),
            paths,
            root=str(root),
            children=children,
            write=out.extend,
            sizes=sizes,
        )
    return bytes(out), done


def run_scan(
    root: Path,
    paths: Sequence[str],
    arguments: Sequence[str],
    pool: int = 500,
    sizes: BatchSizes = DEFAULT_SIZES,
) -> ScanResult:
    with Children() as children:
        return scan(
            find_rg(),
            read_rg(arguments),
            paths,
            root=str(root),
            children=children,
            pool=pool,
            line_length=200,
            sizes=sizes,
        )


class TestRaw:
    @pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
    def test_is_what_one_rg_prints(self, options: list[str], hostile_corpus: Hostile) -> None:
        paths = sorted(hostile_corpus.lines, reverse=True)
        paths.insert(3, "nul.bin")
        for pattern in (WORD, "nowhere in it"):
            expected = reference(hostile_corpus.root, paths, options, pattern)
            for sizes in SIZES:
                got, done = run_raw(hostile_corpus.root, paths, [*options, pattern], sizes)
                assert got == expected[0]
                assert (0 if done.found else 1) == expected[1]
                assert not done.error
                assert not done.problems

    def test_the_order_is_the_lists(self, hostile_corpus: Hostile) -> None:
        paths = ["plain.txt", "bom.txt", "-rf.txt"]
        got, _ = run_raw(hostile_corpus.root, paths, ["--sort=path", "-j", "8", "-l", WORD], SIZES[0])
        assert got.decode().split() == paths

    def test_an_empty_list_finds_nothing(self, hostile_corpus: Hostile) -> None:
        assert run_raw(hostile_corpus.root, [], [WORD])[0] == b""
        assert run_scan(hostile_corpus.root, [], [WORD]).matches == ()

    def test_a_missing_file_is_counted(self, hostile_corpus: Hostile) -> None:
        got, done = run_raw(hostile_corpus.root, ["gone.txt", "plain.txt"], ["-l", WORD])
        assert (got, done.found, done.problems.unread) == (b"plain.txt\n", True, 1)
        assert done.problems.sentence() == "1 file not read: gone.txt: No such file or directory"

    def test_a_bad_pattern_is_said_once(self, hostile_corpus: Hostile) -> None:
        got, done = run_raw(hostile_corpus.root, sorted(hostile_corpus.lines), ["(open"], SIZES[0])
        assert (got, done.found, bool(done.problems)) == (b"", False, False)
        assert done.error.startswith("regex parse error:\n")
        assert "^" in done.error

    def test_a_reader_who_has_enough(self, hostile_corpus: Hostile) -> None:
        def write_one(chunk: bytes) -> None:
            raise BrokenPipeError

        with Children() as children:
            done = raw(
                find_rg(), read_rg([WORD]), sorted(hostile_corpus.lines), root=str(hostile_corpus.root),
                children=children, write=write_one, sizes=SIZES[0],
            )  # fmt: skip
            assert done.cut
            assert done.found
            assert not children.stopped

    def test_calls_whose_turn_has_not_come_are_held_up(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(raw_module, "_WAITING", 1)
        monkeypatch.setattr(raw_module, "_CHUNK", 512)
        write(tmp_path, {f"{n}.txt": f"line of {n}\n" * 2_000 for n in range(6)})
        paths = [f"{n}.txt" for n in (3, 1, 5, 0, 2, 4)]
        assert (
            run_raw(tmp_path, paths, ["-n", "line"], SIZES[0])[0]
            == reference(tmp_path, paths, ["-n"], "line")[0]
        )


class TestScan:
    def test_finds_every_line(self, hostile_corpus: Hostile) -> None:
        paths = [path for path in hostile_corpus.lines if path != "many-matches.txt"]
        for sizes in SIZES:
            result = run_scan(hostile_corpus.root, paths, [WORD], sizes=sizes)
            found = [match.path for match in result.matches]
            assert {path: found.count(path) for path in paths} == {p: hostile_corpus.lines[p] for p in paths}
            assert sorted(found, key=paths.index) == found
            assert [match.position for match in result.matches] == list(range(1, len(found) + 1))
            assert all(m.text[a:b] == WORD for m in result.matches for a, b in m.spans)
            assert not result.full
            assert not result.problems

    def test_a_byte_order_mark_moves_no_span(self, hostile_corpus: Hostile) -> None:
        (match,) = run_scan(hostile_corpus.root, ["bom.txt"], [WORD]).matches
        assert (match.text, match.spans) == ("Quetzal after a mark", ((0, 7),))
        (match,) = run_scan(hostile_corpus.root, ["utf16.txt"], [WORD]).matches
        assert (match.text, match.spans) == ("Quetzal in UTF-16", ((0, 7),))

    def test_a_long_line_is_an_excerpt(self, hostile_corpus: Hostile) -> None:
        (match,) = run_scan(hostile_corpus.root, ["one-long-line.json"], [WORD]).matches
        assert len(match.text) == 202
        assert match.cut == 600_000 + 15 - 200
        (every,) = run_scan(hostile_corpus.root, ["one-long-line.json"], ["."]).matches
        assert every.cut

    @pytest.mark.parametrize("sizes", SIZES)
    def test_the_pool(self, hostile_corpus: Hostile, sizes: BatchSizes) -> None:
        paths = ["plain.txt", "many-matches.txt", "bom.txt"]
        result = run_scan(hostile_corpus.root, paths, [WORD], pool=10, sizes=sizes)
        assert [(m.path, m.line) for m in result.matches][-1] == ("many-matches.txt", 9)
        assert (len(result.matches), result.full) == (10, True)
        exact = run_scan(hostile_corpus.root, paths, ["-m", "8", WORD], pool=10, sizes=sizes)
        assert (len(exact.matches), exact.full) == (10, False)

    def test_matches_are_told_as_they_come(self, hostile_corpus: Hostile) -> None:
        told: list[Match] = []
        with Children() as children:
            result = scan(
                find_rg(), read_rg([WORD]), ["bom.txt", "crlf.txt", "plain.txt"],
                root=str(hostile_corpus.root), children=children, pool=2, line_length=99,
                ranks={"bom.txt": 4, "crlf.txt": 5}, on_matches=told.extend, sizes=SIZES[0],
            )  # fmt: skip
        assert tuple(told) == result.matches
        assert [match.document_rank for match in told] == [4, 5]

    def test_options_keep_their_meaning(self, hostile_corpus: Hostile) -> None:
        root = hostile_corpus.root
        write(root, {"o.txt": "a.b\nA.B\naxb\nab ab\n", "pats.txt": "axb\n"})

        def lines(*arguments: str) -> list[int]:
            return [match.line for match in run_scan(root, ["o.txt"], arguments).matches]

        assert lines("a.b") == [1, 3]
        assert lines("-i", "a.b") == [1, 2, 3]
        assert lines("-F", "a.b") == [1]
        assert lines("-S", "A.b") == []
        assert lines("-w", "ab") == [4]
        assert lines("-x", "ab") == []
        assert lines("-m1", "a") == [1]
        assert lines("-e", "axb", "-e", "ab") == [3, 4]
        assert lines("-f", "pats.txt") == [3]
        assert lines("-P", r"a(?=\.)") == [1]
        (block,) = run_scan(root, ["o.txt"], ["-U", r"A\.B\naxb"]).matches
        assert (block.line, block.text) == (2, "A.B\naxb")

    def test_binary_files_are_named(self, hostile_corpus: Hostile) -> None:
        result = run_scan(hostile_corpus.root, ["nul.bin", "plain.txt"], [WORD])
        assert result.problems.binary == ["nul.bin"]
        assert "nul.bin" in result.problems.binary_sentence()

    def test_no_match_partial_failed(self, hostile_corpus: Hostile) -> None:
        root = hostile_corpus.root
        nothing = run_scan(root, ["plain.txt"], ["absent word"])
        partial = run_scan(root, ["plain.txt", "gone.txt", "bom.txt"], [WORD])
        failed = run_scan(root, ["gone.txt"], [WORD])
        assert (nothing.matches, bool(nothing.problems), nothing.error) == ((), False, "")
        assert (len(partial.matches), partial.problems.unread, partial.problems.all) == (2, 1, False)
        assert failed.problems.all

    def test_look_around_offers_p(self, hostile_corpus: Hostile) -> None:
        error = run_scan(hostile_corpus.root, ["plain.txt"], ["(?<=a)b"]).error
        assert "look-around" in error
        assert "rg -P" in error


class TestStopping:
    #: A program that starts another one, and neither ends.
    SLOW = '#!/bin/sh\n[ "$1" = child ] || "$0" child &\nsleep 60\n'

    @pytest.fixture
    def slow(self, tmp_path: Path) -> str:
        script = tmp_path / "slow-rg"
        script.write_text(self.SLOW)
        script.chmod(0o755)
        return str(script)

    @pytest.mark.parametrize("kind", ["scan", "raw"])
    @pytest.mark.parametrize("why", ["cancelled", "timed_out"])
    def test_ends_and_leaves_nothing(self, kind: str, why: str, slow: str, tmp_path: Path) -> None:
        from rarg_tui.search.rg import Rg

        rg, call, cancel = Rg(slow, "15.0.0", True), read_rg(["x"]), threading.Event()
        paths = [f"{n}.txt" for n in range(5)]
        if why == "cancelled":
            cancel.set()
        with Children(cancel, 0.05 if why == "timed_out" else None) as children:
            if kind == "scan":
                result: ScanResult | RawScan = scan(
                    rg,
                    call,
                    paths,
                    root=str(tmp_path),
                    children=children,
                    pool=9,
                    line_length=9,
                    sizes=SIZES[0],
                )
            else:
                result = raw(
                    rg,
                    call,
                    paths,
                    root=str(tmp_path),
                    children=children,
                    write=lambda chunk: None,
                    sizes=SIZES[0],
                )
        assert result.stopped == why
        # It is killed by now; that it is gone can take the system a moment.
        gone = threading.Event()
        assert any(not _running(slow) or gone.wait(0.01) for _ in range(500))


def _running(name: str) -> list[str]:
    """Command lines of living processes that hold ``name`` or come from the slow script."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if name in line:
            found.append(line)
    return found
