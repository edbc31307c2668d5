from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rarg_tui.search import landlock
from rarg_tui.search.process import Children, find_program
from rarg_tui.search.rg import find_rg

needs_landlock = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    (root / "below").mkdir(parents=True)
    (root / "below/a.txt").write_text("a needle\n")
    (root / "out").symlink_to(tmp_path / "outside.txt")
    (tmp_path / "outside.txt").write_text("a secret needle\n")
    (tmp_path / "scope_1.txt").write_text("below/a.txt\n")
    return root


def ran(corpus: Path, *argv: str, readable: Sequence[str] = ()) -> tuple[int, str]:
    program = find_rg().path if argv[0] == "rg" else find_program(argv[0])
    assert program is not None
    with Children(readable=[str(corpus), *readable]) as children:
        process = children.start(argv, cwd=str(corpus), executable=program, stderr=subprocess.STDOUT)
        assert process.stdout is not None
        text = process.stdout.read().decode()
        return children.wait(process), text


@needs_landlock
class TestConfined:
    def test_the_corpus_is_read(self, corpus: Path) -> None:
        assert ran(corpus, "rg", "needle", "below/a.txt") == (0, "a needle\n")
        assert ran(corpus, "cat", "below/a.txt") == (0, "a needle\n")
        assert ran(corpus, "ls") == (0, "below\nout\n")

    def test_characters_are_counted_as_outside(self, corpus: Path) -> None:
        (corpus / "wide.txt").write_bytes("caf\u00e9 x\u3000y \u2003 z\n".encode() + b"\xff\xfe z\n")
        argv = ["wc", "-lwmc", "wide.txt"]
        with Children() as children:
            process = children.start(argv, cwd=str(corpus), executable=find_program("wc"))
            assert process.stdout is not None
            free = process.stdout.read().decode()
        assert ran(corpus, *argv) == (0, free)

    def test_a_file_that_is_named_is_read_and_not_its_neighbour(self, corpus: Path) -> None:
        scope = str(corpus.parent / "scope_1.txt")
        assert ran(corpus, "cat", scope, readable=[scope]) == (0, "below/a.txt\n")
        code, text = ran(corpus, "cat", str(corpus.parent / "outside.txt"), readable=[scope])
        assert code == 1
        assert "Permission denied" in text

    @pytest.mark.parametrize(
        "argv",
        [
            ("cat", "out"),
            ("cat", "../outside.txt"),
            ("cat", "/etc/passwd"),
            ("cat", "/proc/self/root/etc/passwd"),
            ("cat", "/proc/self/environ"),
            ("ls", "/"),
            ("rg", "--no-config", "secret", "out"),
            ("rg", "-f", "/etc/passwd", "below/a.txt"),
            ("find", "..", "-name", "*"),
            ("sort", "-o", "new", "below/a.txt"),
            ("sed", "-i", "s/a/b/", "below/a.txt"),
            ("sed", "w new", "below/a.txt"),
            ("sed", "1e id", "below/a.txt"),
            ("find", "below", "-delete"),
            ("rg", "--pre", "cat", "needle", "below/a.txt"),
        ],
    )
    def test_nothing_else(self, corpus: Path, argv: Sequence[str]) -> None:
        before = sorted(path.name for path in corpus.rglob("*"))
        code, text = ran(corpus, *argv)
        assert code != 0
        assert "denied" in text or "error in subprocess" in text
        assert "secret" not in text
        assert "root:" not in text
        assert sorted(path.name for path in corpus.rglob("*")) == before
        assert (corpus / "below/a.txt").read_text() == "a needle\n"

    def test_no_other_program(self, corpus: Path) -> None:
        _, text = ran(corpus, "find", "below", "-name", "a.txt", "-exec", "cat", "{}", ";")
        assert "denied" in text
        assert "needle" not in text

    def test_no_network(self, corpus: Path) -> None:
        if landlock.version() < 4:
            pytest.skip("this Landlock does not know the network")
        code = "import socket; socket.create_connection(('127.0.0.1', 9))"
        everything = [str(corpus), "/usr", "/lib", "/etc", "/proc", sys.prefix, sys.base_prefix]
        with Children(readable=everything) as children:
            process = children.start([sys.executable, "-c", code], cwd="/", stderr=subprocess.STDOUT)
            assert process.stdout is not None
            assert "PermissionError" in process.stdout.read().decode()

    def test_this_process_keeps_its_rights(self, corpus: Path) -> None:
        assert ran(corpus, "cat", "below/a.txt")[0] == 0
        assert (corpus.parent / "outside.txt").read_text()
        with Children() as children:
            process = children.start(["/bin/cat", str(corpus.parent / "outside.txt")], cwd="/")
            assert process.stdout is not None
            assert process.stdout.read() == b"a secret needle\n"


def test_without_it_the_children_run_all_the_same(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert ran(corpus, "cat", "below/a.txt") == (0, "a needle\n")


class TestFilesOfAProgram:
    def test_of_one_that_is_linked_dynamically(self) -> None:
        files = landlock.files_of("/bin/cat")
        assert files[0] == "/bin/cat"
        assert any("libc." in file for file in files)

    def test_of_what_is_no_program(self, tmp_path: Path) -> None:
        (tmp_path / "script").write_text("#!/bin/sh\n")
        assert landlock.files_of(str(tmp_path / "script")) == (str(tmp_path / "script"),)
