"""What walks remember: a file that has not changed is not read again, whatever else is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rarg_tui.corpus import files
from rarg_tui.corpus.documents import Document, Paths
from rarg_tui.corpus.files import Corpus, Listing
from tests.hostile import Hostile


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose heads are read."""
    names: list[str] = []
    genuine = files.read_head

    def spy(path: str | bytes) -> bytes:
        names.append(os.path.basename(os.fsdecode(path)))
        return genuine(path)

    monkeypatch.setattr(files, "read_head", spy)
    return names


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (root / name).write_text(name)
    (root / "x.bin").write_bytes(b"\0\1")
    return root


def walk(root: Path) -> Listing:
    """A walk of another process."""
    corpus = Corpus(root)
    corpus.memory = root.parent / "cache" / "files.bin"
    return corpus.listing()


def test_only_what_changed_is_read_again(root: Path, heads: list[str]) -> None:
    first = walk(root)
    assert sorted(heads) == ["a.txt", "b.txt", "c.txt", "x.bin"]
    heads.clear()
    assert walk(root) == first
    assert heads == []
    (root / "b.txt").write_bytes(b"now binary\0")
    (root / "d.txt").write_text("new")
    (root / "a.txt").unlink()
    again = walk(root)
    assert sorted(heads) == ["b.txt", "d.txt"]
    assert (list(again.documents.paths), again.binary) == (["c.txt", "d.txt"], 2)
    assert again == Corpus(root).listing()


def test_a_file_whose_time_was_put_back_is_read_again(root: Path, heads: list[str]) -> None:
    before = (root / "a.txt").stat()
    walk(root)
    heads.clear()
    (root / "a.txt").write_bytes(b"\0.txt")
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert walk(root).binary == 2
    assert heads == ["a.txt"]


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def turn_a_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("harm", [cut, turn_a_bit, Path.unlink, lambda file: file.write_bytes(b"")])
def test_a_damaged_memory_is_no_memory(root: Path, heads: list[str], harm: Callable[[Path], None]) -> None:
    first = walk(root)
    harm(root.parent / "cache" / "files.bin")
    heads.clear()
    assert walk(root) == first
    assert len(heads) == 4


def test_a_memory_that_cannot_be_written(root: Path) -> None:
    (root.parent / "cache").write_text("no directory")
    assert len(walk(root).documents) == 3


def test_hostile_files_with_and_without_a_memory(hostile_corpus: Hostile, tmp_path: Path) -> None:
    corpus = Corpus(hostile_corpus.root)
    plain = corpus.listing()
    corpus.memory = tmp_path / "files.bin"
    assert corpus.refresh() is plain
    assert corpus.refresh() is plain


def test_documents_are_a_sequence(root: Path) -> None:
    documents = Corpus(root).listing().documents
    every = list(documents)
    assert [documents[at] for at in range(len(documents))] == every == documents[:]
    assert (documents[-1], documents[1:]) == (every[-1], every[1:])
    assert isinstance(every[0], Document)
    with pytest.raises(IndexError):
        documents[3]


@pytest.mark.parametrize("paths", [[], ["a"], ["caf\udce9", "two words", "new\nline", "漢字"]])
def test_paths_are_packed_and_come_out_again(paths: list[str]) -> None:
    packed = Paths.of(paths)
    assert (list(packed), len(packed), packed[:]) == (paths, len(paths), paths)
    assert packed == Paths(packed.packed) != Paths.of([*paths, "one more"])
