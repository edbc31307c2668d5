"""Parts that are updated: what is taken over, what is added, and that the earlier part stays as it was."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rarg_tui.corpus.files import Corpus, Document
from rarg_tui.errors import RargError
from rarg_tui.relevance import lexical, manifest, ranker, slot
from rarg_tui.relevance import table as tables
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.manifest import carry
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.table import Table
from tests.relevance.conftest import BIRDS
from tests.relevance.test_on_disk import part

Open = Callable[..., Index]
MANY = 30


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A corpus that is large enough for single edits."""
    root = tmp_path / "many"
    root.mkdir()
    for number in range(MANY):
        (root / f"{number:02d}.txt").write_text(f"Bird {number}\n\nherons and number{number}\n")
    return root


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the documents that the lexical ranker indexes."""
    paths: list[str] = []
    genuine = ranker.content

    def spy(corpus: Corpus, document: Document) -> Content:
        paths.append(document.path)
        return genuine(corpus, document)

    monkeypatch.setattr(lexical, "content", spy)
    return paths


def files(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.suffix != ".lock"}


def segments(directory: Path) -> dict[str, int]:
    return {file.name: file.stat().st_ino for file in directory.iterdir() if len(file.stem) == 32}


def test_an_edit_adds_a_segment_and_leaves_the_earlier_part_alone(
    many: Path, open_index: Open, read: list[str], tmp_path: Path
) -> None:
    first = open_index(many)
    first.build(["lexical"])
    kept = tmp_path / "kept"
    shutil.copytree(part(first, "lexical"), kept, copy_function=os.link)
    before, inodes = files(kept), segments(kept)
    (many / "03.txt").write_text("Quetzal\n\na quetzal\n")
    (many / "new.txt").write_text("Newt\n\na newt\n")
    (many / "04.txt").unlink()
    os.utime(many / "05.txt", ns=(1, 1))
    read.clear()
    again = open_index(many)
    again.build(["lexical"])
    assert read == ["03.txt", "new.txt"]
    after = segments(part(again, "lexical"))
    assert inodes.items() < after.items()
    assert files(kept) == before
    assert again.recall("quetzal", ranker="lexical").paths == ["03.txt"]
    assert again.recall("number3", ranker="lexical").paths == []
    assert again.recall("number4", ranker="lexical").paths == []
    scope = again.recall("herons", ranker="lexical")
    assert sorted(scope.paths) == sorted({f"{n:02d}.txt" for n in range(MANY)} - {"03.txt", "04.txt"})
    assert open_index(many).recall("herons", ranker="lexical").paths == scope.paths


def test_added_documents_rank_as_in_a_new_index(many: Path, open_index: Open, tmp_path: Path) -> None:
    for at in range(12):
        (many / f"added-{at}.txt").write_text(f"Heron {at % 3}\n\nherons {'fish ' * at}\n")
        open_index(many).build(["lexical"])
    for query in ("herons", "fish for herons", "number7 fish"):
        added = open_index(many).recall(query, ranker="lexical")
        new = open_index(many, cache=tmp_path / "new").recall(query, ranker="lexical")
        assert (added.paths, added.scores) == (new.paths, new.scores)
    assert open_index(many).document_frequency(["fish", "heron"]) == [11, MANY + 12]


def test_the_number_of_segments_stays_small(many: Path, open_index: Open) -> None:
    for at in range(24):
        (many / f"added-{at}.txt").write_text("one more")
        index = open_index(many)
        index.build(["lexical"])
    assert len({name.partition(".")[0] for name in segments(part(index, "lexical"))}) < 12


def test_a_fifth_of_dead_rows_is_written_anew(many: Path, open_index: Open, read: list[str]) -> None:
    open_index(many).build(["lexical"])
    for number in range(8):
        (many / f"{number:02d}.txt").write_text(f"changed{number}")
        read.clear()
        index = open_index(many)
        index.build(["lexical"])
        assert len(read) == (MANY if number == 7 else 1)
        assert len(Table.read(part(index, "lexical"))) == (MANY if number == 7 else MANY + number + 1)
        assert index.recall(f"changed{number}", ranker="lexical").paths == [f"{number:02d}.txt"]
        assert "30 documents" in index.status()["lexical"].detail


@pytest.mark.parametrize("top", [1, 5, 22, 40])
def test_dead_rows_never_shorten_a_scope(many: Path, open_index: Open, top: int) -> None:
    """The dead ones are the best: as many as there may be."""
    for number in range(6):
        (many / f"{number:02d}.txt").write_text("herons herons herons")
    open_index(many).build(["lexical", "static"])
    for number in range(6):
        (many / f"{number:02d}.txt").unlink()
    index = open_index(many)
    assert index.ready() == ("lexical", "static")
    for name in index.ready():
        assert len(index.recall("herons", top=top, ranker=name).paths) == min(top, MANY - 6)


def test_a_file_restored_is_served_by_its_last_row(many: Path, open_index: Open) -> None:
    open_index(many).build(["lexical"])
    old, state = (many / "00.txt").read_text(), (many / "00.txt").stat()
    (many / "00.txt").write_text("something else entirely")
    open_index(many).build(["lexical"])
    (many / "00.txt").write_text(old)
    os.utime(many / "00.txt", ns=(state.st_atime_ns, state.st_mtime_ns))
    index = open_index(many)
    assert index.ready() == ()
    index.build(["lexical"])
    assert index.recall("number0", ranker="lexical").paths == ["00.txt"]
    assert index.recall("entirely", ranker="lexical").paths == []
    assert len(Table.read(part(index, "lexical"))) == MANY + 2


def test_touched_files_cost_no_data(many: Path, open_index: Open, read: list[str]) -> None:
    first = open_index(many)
    first.build(["lexical"])
    inodes = segments(part(first, "lexical"))
    for file in many.iterdir():
        os.utime(file, ns=(7, 7))
    read.clear()
    index = open_index(many)
    index.build(["lexical"])
    assert index.ready() == ("lexical",)
    assert (read, segments(part(index, "lexical"))) == ([], inodes)


def test_carried_files_are_not_measured_but_verified(
    many: Path, open_index: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(many).build(["lexical"])
    (many / "new.txt").write_text("new")
    index = open_index(many)
    assert index.ready() == ()
    measured: list[str] = []
    genuine = manifest._measure

    def spy(file: Path) -> dict[str, int]:
        measured.append(file.name)
        return genuine(file)

    monkeypatch.setattr(manifest, "_measure", spy)
    inodes = segments(part(index, "lexical"))
    index.build(["lexical"])
    assert not inodes.keys() & set(measured)
    (carried, *_) = sorted(inodes.keys() & segments(part(index, "lexical")).keys())
    file = part(index, "lexical") / carried
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    damaged = open_index(many)
    with pytest.raises(RargError, match=f"damaged.*{carried}"):
        damaged.recall("new", ranker="lexical")
    damaged.build(["lexical"])
    assert damaged.recall("new", ranker="lexical").paths == ["new.txt"]


def test_where_links_fail_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "to").mkdir()
    (tmp_path / "data").write_bytes(b"x")
    carry(tmp_path / "data", tmp_path / "to")
    assert (tmp_path / "to" / "data").read_bytes() == b"x"
    assert (tmp_path / "data").stat().st_nlink == 1


def test_a_file_that_changed_after_the_walk_is_claimed_as_it_was_read(
    birds: Path, open_index: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index(birds)
    stale = index.corpus.listing()
    walks = iter([stale])
    genuine = index.corpus._walk
    monkeypatch.setattr(index.corpus, "_walk", lambda cancel: next(walks, None) or genuine(cancel))
    (birds / "birds/owl.txt").write_text("An owl that has grown meanwhile, after the walk\n\nzanzibar\n")
    (birds / "late.txt").write_text("too late for the walk")
    index.build(["lexical"])
    table = Table.read(part(index, "lexical"))
    row = list(table.paths).index("birds/owl.txt")
    state = (birds / "birds/owl.txt").stat()
    assert (table.rows["size"][row], table.rows["mtime_ns"][row]) == (state.st_size, state.st_mtime_ns)
    assert index.recall("zanzibar", ranker="lexical").paths == ["birds/owl.txt"]
    assert len(index.corpus.listing().documents) == len(BIRDS) + 1


def test_a_file_that_changes_while_it_is_read_is_read_again(
    birds: Path, open_index: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = os.fstat
    owl = birds / "birds/owl.txt"
    number = owl.stat().st_ino

    def fstat(descriptor: int) -> os.stat_result:
        """Each look at the owl sees another time."""
        found = genuine(descriptor)
        if found.st_ino == number:
            os.utime(owl, ns=(found.st_mtime_ns + 1, found.st_mtime_ns + 1))
        return found

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", fstat)
        index = open_index(birds)
        index.build(["lexical"])
    assert not index.status()["lexical"].ready
    assert index.recall("owl", ranker="lexical").paths == ["birds/owl.txt"]
    assert index.status()["lexical"].ready
    assert len(Table.read(part(index, "lexical"))) == len(
        BIRDS
    )  # the same content: only its time was missing


def table_of(paths: Sequence[str], size: int = 1) -> Table:
    return Table(paths, tables.rows([(size, at, bytes([1]) * 16, 0, 0, 0) for at in range(len(paths))]))


def test_of_several_rows_of_a_path_the_last_counts(birds: Path) -> None:
    documents = Corpus(birds).listing().documents
    paths = list(documents.paths)
    assert table_of(paths).places(documents).tolist() == list(range(len(paths)))
    rows = table_of(["gone", paths[2], paths[0], paths[2], "gone"])
    assert rows.places(documents).tolist() == [-1, -1, 0, 2, -1]
    assert table_of([]).places(documents).tolist() == []
    assert rows.unread().tolist() == [False] * 5
    assert tables.rows([]).dtype == tables.ROW


def test_equal_paths_are_kept_once(many: Path, open_index: Open) -> None:
    open_index(many).build(["lexical", "static"])
    index = open_index(many)
    for name in index.ready():
        view = index._slots[name]._look()
        assert isinstance(view, slot._View)
        assert view.table is not None
        assert view.table.paths is index.corpus.listing().documents.paths


def test_documents_of_any_size_are_queued_by_their_characters(
    birds: Path, open_index: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_QUEUED", 50)
    index = open_index(birds)
    assert index.recall("barn owl", ranker="lexical").paths[0] == "birds/owl.txt"
    assert index.document_frequency(["water"]) == [2]
    meta = json.loads((part(index, "lexical") / "meta.json").read_text())
    assert sum(segment["max_doc"] for segment in meta["segments"]) == len(BIRDS)


def test_rarity_of_a_word_that_only_dead_rows_have() -> None:
    assert lexical.rarity(12, 10) == lexical.rarity(12, 12) > 0
