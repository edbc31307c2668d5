"""Raw output across the borders of batches: separators, what long lines do to late NUL bytes, and what was
found when files are missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rarg_tui.search import raw as raw_module
from rarg_tui.search.batches import BatchSizes
from rarg_tui.search.growth import ROOM, Growth, holds_late_nul, nul, tells_late_nul
from rarg_tui.search.rg_options import read_rg
from rarg_tui.search.separators import context_lines, file_separator, may_be_cut
from tests.search.differential import Runner
from tests.search.random_corpus import Corpus
from tests.search.scene import write
from tests.search.searches import Command

ONE = BatchSizes(first=1, growth=1, most=1)
FILLER = "about nothing\n" * (3 * ROOM // 14)
LATE = f"bird one\n{FILLER}bird two\n{FILLER}\0\nbird three\n"
LONG = "x" * 4 * ROOM + "\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(
        tmp_path / "corpus",
        {
            "a.txt": "bird\nno\n",
            "b.txt": "a bird\nno\n",
            "none.txt": "nothing\n",
            "nul.txt": "bird\0\n",
            "notice.txt": ' binary file matches (found "\\0" byte around offset 3)\nbird\n',
            "bare notice.txt": 'binary file matches (found "\\0" byte around offset 3)\nbird\n',
            "late.txt": LATE,
            "late.utf16": f"bird\n{FILLER}\0\nbird\n".encode("utf-16"),
            "long.txt": LONG,
            "long.utf16": ("Ċ" * 4 * ROOM + "\n").encode("utf-16"),
            "long bird.txt": f"bird {LONG}",
            "long blocks.txt": ("w" * 20_000 + "\n") * 6 + "bird\n" + ("w" * 20_000 + "\n") * 6,
            "long and binary.txt": f"{LONG}\0\n",
        },
    )
    return tmp_path / "corpus"


def assert_same(root: Path, options: str, pattern: str, paths: Sequence[str]) -> bytes:
    """That ours, in batches of one file, is the reference; returns it."""
    command = Command(tuple(options.split()), (), pattern)
    runner = Runner(Corpus(root, (), (), "", ()), root.parent / "run")
    for sizes in (ONE, BatchSizes(first=2, growth=1, most=2)):
        assert [str(difference) for difference in runner.differences(command, paths, sizes)] == []
    return runner.reference(command, paths).output


class TestSeparators:
    @pytest.mark.parametrize(
        ("options", "separator"),
        [
            ("", b""),
            ("-C1", b"--\n"),
            ("-A0 -B0 -C1", b""),
            ("-A0 -C1", b"--\n"),
            ("-C1 -B0", b"--\n"),
            ("-C1 --passthru", b""),
            ("--passthru -B1", b"--\n"),
            ("--heading", b"\n"),
            ("--heading --no-heading -C1", b"--\n"),
            ("--vimgrep --heading -C1", b"--\n"),
            ("--vimgrep --heading", b""),
            ("-C1 --null-data", b"--\0"),
            ("-C1 --null-data --no-crlf", b"--\0"),
            ("-C1 --null-data --crlf", b"--\r\n"),
            ("-C1 --crlf --null-data", b"--\0"),
            ("-C1 -c", b""),
            ("-C1 --context-separator=\\t\\x3d", b"\t=\n"),
            ("-C1 --no-context-separator", b""),
        ],
    )
    def test_between_files(self, options: str, separator: bytes, root: Path) -> None:
        assert file_separator(read_rg([*options.split(), "bird"])) == separator
        output = assert_same(root, options, "bird", ["a.txt", "none.txt", "b.txt", "a.txt"])
        assert separator in output

    @pytest.mark.parametrize("options", ["-C1", "--heading", "-I --heading", "-I -C1", "-A1 -n"])
    def test_none_before_the_notice_of_a_binary_file(self, options: str, root: Path) -> None:
        output = assert_same(root, options, "bird", ["a.txt", "nul.txt", "b.txt", "nul.txt"])
        assert output.count(b"binary file matches") == 2

    @pytest.mark.parametrize("options", ["-B1", "-B1 --heading", "-B1 -I"])
    def test_one_before_a_line_that_looks_like_the_notice(self, options: str, root: Path) -> None:
        assert_same(root, options, "b", ["a.txt", "notice.txt", "nul.txt", "notice.txt", "bare notice.txt"])

    @pytest.mark.parametrize("options", ["-U -o -C1", "-U -o --heading -I", "-U --vimgrep -C1"])
    def test_where_it_is_all_that_is_printed(self, options: str, root: Path) -> None:
        assert not may_be_cut(read_rg([*options.split(), "x"]))
        assert_same(root, options, "b|\\n*", ["a.txt", "none.txt", "none.txt", "b.txt", "none.txt"])

    def test_context(self) -> None:
        assert context_lines(read_rg(["-C3", "-A1", "x"])) == (3, 1)
        assert context_lines(read_rg(["-B", "2", "x"])) == (2, 0)
        assert context_lines(read_rg(["-C3", "--passthru", "-A1", "x"])) == (0, 1)


class TestLateNul:
    LIST = ("late.txt", "long.txt", "late.txt", "a.txt", "late.utf16", "late.txt")

    @pytest.mark.parametrize(
        "options",
        ["", "-n", "-m1", "-v", "--passthru", "-A1", "-B1", "-C2 --heading", "-o", "-c", "-l", "-a", "-I",
         "-U", "--stop-on-nonmatch", "-b --column", "--null-data"],
    )  # fmt: skip
    def test_what_is_printed_before_it_depends_on_the_files_before(self, options: str, root: Path) -> None:
        output = assert_same(root, options, "bird", self.LIST)
        if options == "":
            assert output.count(b"late.txt:bird one\n") == 1
            assert output.count(b"late.txt: binary file matches") == 3

    @pytest.mark.parametrize("long", ["long bird.txt", "long.utf16", "long and binary.txt"])
    @pytest.mark.parametrize("options", ["", "-C1", "-m1", "-B1 --heading"])
    def test_lines_that_are_long(self, long: str, options: str, root: Path) -> None:
        assert_same(root, options, "bird", ["a.txt", long, "late.txt", "b.txt"])

    @pytest.mark.parametrize("options", ["-B3", "-C3", "-A3", ""])
    def test_context_that_is_long(self, options: str, root: Path) -> None:
        assert_same(root, options, "bird", ["long blocks.txt", "late.txt"])

    def test_when_there_is_more_than_is_held(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(raw_module, "_WAITING", 1)
        monkeypatch.setattr(raw_module, "_CHUNK", 512)
        assert_same(root, "-v", "bird", self.LIST)

    def test_growth(self, root: Path) -> None:
        def before(context: int, *batches: Sequence[str]) -> list[str]:
            growth = Growth(str(root), context)
            numbers = [growth.add(batch) for batch in (*batches, ["late.txt"])]
            return growth.before(numbers[-1])

        assert before(0, ["a.txt", "long.txt"], ["gone.txt", "late.txt"], ["long.utf16"]) == [
            "long.txt", "long.utf16",
        ]  # fmt: skip
        assert before(0, ["long blocks.txt"]) == []
        assert before(3, ["long blocks.txt"]) == ["long blocks.txt"]

    def test_nul(self, root: Path) -> None:
        assert nul(str(root), "nul.txt") == 4
        assert nul(str(root), "late.txt") == len(LATE.partition("\0")[0])
        assert (nul(str(root), "a.txt"), nul(str(root), "gone.txt"), nul(str(root), "long.utf16")) == (
            -1,
            -1,
            -1,
        )
        assert holds_late_nul(str(root), ["a.txt", "late.utf16"])
        assert not holds_late_nul(str(root), ["a.txt", "nul.txt", "long.txt", "gone.txt"])
        assert tells_late_nul(b'x: binary file matches (found "\\0" byte around offset 65536)\n')
        assert not tells_late_nul(b'x: binary file matches (found "\\0" byte around offset 65535)\n')


@pytest.mark.parametrize(
    ("options", "pattern", "output"),
    [
        ("", "nowhere", False),
        ("", "bird", True),
        ("--passthru", "nowhere", True),
        ("--passthru", "bird", True),
        ("-c --include-zero", "nowhere", True),
        ("-o -U", "\\n", False),
        ("-q", "bird", False),
        ("--files-without-match", ".", False),
        ("--files-without-match", "nowhere", True),
        ("-m0", "bird", False),
    ],
)
def test_found_beside_a_missing_file(options: str, pattern: str, output: bool, root: Path) -> None:
    assert bool(assert_same(root, options, pattern, ["gone.txt", "a.txt", "none.txt"])) == output
