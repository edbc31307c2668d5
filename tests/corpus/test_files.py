"""Which files are documents."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rarg_tui.corpus.files import Corpus, matches
from rarg_tui.corpus.fingerprint import fingerprint
from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import RargError
from tests.hostile import NEWLINE_NAME, Hostile


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_every_hostile_file_is_accounted_for(hostile_corpus: Hostile) -> None:
    listing = Corpus(hostile_corpus.root).listing()
    assert {document.path for document in listing.documents} == set(hostile_corpus.lines)
    assert [problem.path for problem in listing.problems] == [NEWLINE_NAME]
    assert listing.problems[0].reason == "name contains a newline"
    assert listing.binary == 1


def test_documents_come_in_byte_order_of_their_paths(hostile_corpus: Hostile) -> None:
    paths = Corpus(hostile_corpus.root).paths()
    assert paths == sorted(paths, key=os.fsencode)


def test_contains_is_strict(hostile_corpus: Hostile) -> None:
    corpus = Corpus(hostile_corpus.root)
    assert all(corpus.contains(path) for path in hostile_corpus.lines)
    for path in (
        "link.txt",
        "loop/plain.txt",
        "outside.txt",
        "pipe.txt",
        "deep",
        "",
        "../x",
        "/etc/passwd",
        "./plain.txt",
        "deep//x",
        "no such",
        "plain.txt/x",
        "a\0b",
    ):
        assert not corpus.contains(path), path


@pytest.mark.parametrize(
    ("path", "glob", "found"),
    [
        ("a/b.txt", "*.txt", True),
        ("a/b.txt", "**/*.txt", True),
        ("b.txt", "**/*.txt", True),
        ("a/b.txt", "a/*", True),
        ("a/b/c.txt", "a/b/", False),
        ("a/b", "a/b/", True),
        ("a/b.txt", "b.txt", True),
        ("a/b.md", "*.txt", False),
        ("a/[x].txt", "a/[[]x].txt", True),
    ],
)
def test_globs(path: str, glob: str, found: bool) -> None:
    assert matches(path, [glob]) is found


def test_include_and_exclude(tmp_path: Path) -> None:
    write(tmp_path, **{"a.txt": "x", "b.md": "x", "drafts__c.txt": "x", "deep__drafts__d.txt": "x"})
    assert Corpus(tmp_path, include=["*.txt"]).paths() == ["a.txt", "deep/drafts/d.txt", "drafts/c.txt"]
    assert Corpus(tmp_path, exclude=["drafts"]).paths() == ["a.txt", "b.md"]
    assert Corpus(tmp_path, ["*.txt"], ["drafts/"]).paths() == ["a.txt"]


def test_a_corpus_without_documents(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\0")
    corpus = Corpus(tmp_path)
    assert len(corpus.listing().documents) == 0
    with pytest.raises(RargError, match="1 binary"):
        corpus.require_documents()


@pytest.mark.parametrize("name", ["missing", "file.txt"])
def test_no_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(RargError, match="cannot be opened"):
        Corpus(tmp_path / name)


def test_refresh_sees_changes_and_keeps_equal_listings(tmp_path: Path) -> None:
    write(tmp_path, **{"a.txt": "x"})
    corpus = Corpus(tmp_path)
    first = corpus.listing()
    assert corpus.refresh() is first
    write(tmp_path, **{"b.txt": "y"})
    assert corpus.listing() is first
    second = corpus.refresh()
    assert [document.path for document in second.documents] == ["a.txt", "b.txt"]
    assert fingerprint(first.documents) != fingerprint(second.documents)


def test_a_walk_can_be_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        Corpus(tmp_path).listing(cancel)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    write(tmp_path, **{"a.txt": "x"})
    (tmp_path / "a.txt").chmod(0)
    listing = Corpus(tmp_path).listing()
    assert [problem.path for problem in listing.problems] == ["a.txt"]
