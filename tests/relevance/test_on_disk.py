"""What is on disk: only what is right is served, only what changed is embedded again, no build is lost."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rarg_tui.corpus.progress import Cancelled, Progress
from rarg_tui.errors import RargError
from rarg_tui.relevance import vectors
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.lexical import Lexical
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.static import StaticEmbedder
from rarg_tui.relevance.store import DiskStorage
from tests.relevance.conftest import BIRDS

Open = Callable[..., Index]


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The titles of the documents that the static ranker embeds."""
    titles: list[str] = []
    genuine = StaticEmbedder.documents

    def spy(
        self: StaticEmbedder, contents: Sequence[Content], cancel: threading.Event | None
    ) -> list[vectors.Embedded]:
        titles.extend(one.title for one in contents)
        return genuine(self, contents, cancel)

    monkeypatch.setattr(StaticEmbedder, "documents", spy)
    return titles


def part(index: Index, name: str) -> Path:
    return index.directory / (index.directory / f"{name}.current").read_text()


def test_only_an_edited_file_is_embedded_again(birds: Path, open_index: Open, embedded: list[str]) -> None:
    index = open_index(birds)
    index.build(["static"])
    assert len(embedded) == len(BIRDS)
    embedded.clear()
    (birds / "birds/owl.txt").write_text("The snowy owl\n\nA white owl of the north.\n")
    (birds / "new.txt").write_text("The newt\n\nA newt lives in ponds.\n")
    (birds / "tools/lathe.txt").unlink()
    os.utime(birds / "birds/heron.txt", ns=(1, 1))
    again = open_index(birds)
    assert again.ready() == ()
    again.build(["static"])
    assert sorted(embedded) == ["The newt", "The snowy owl"]
    assert again.recall("white owl of the north", ranker="static").paths[0] == "birds/owl.txt"
    assert again.recall("pond newt", ranker="static").paths[0] == "new.txt"
    assert "tools/lathe.txt" not in again.recall("lathe", ranker="static").paths


@pytest.mark.parametrize("gone", [["untitled.txt"], ["untitled.txt", "empty.txt"]])
def test_an_updated_index_ranks_as_a_new_one(
    birds: Path, open_index: Open, tmp_path: Path, gone: list[str]
) -> None:
    """With as many dead rows as there may be only the scores of BM25 differ, with more nothing does."""
    open_index(birds).build(["lexical", "static"])
    (birds / "birds/owl.txt").write_text("Water\n\nwater fish\n")
    (birds / "a.txt").write_text("Fish\n\nfish\n")
    for name in gone:
        (birds / name).unlink()
    ranker = "static" if len(gone) == 1 else "lexical+static"
    updated = open_index(birds).recall("fish in the water", ranker=ranker)
    new = open_index(birds, cache=tmp_path / "new").recall("fish in the water", ranker=ranker)
    assert (updated.paths, updated.scores, updated.by) == (new.paths, new.scores, new.by)
    assert updated.paths == open_index(birds).recall("fish in the water", ranker=ranker).paths


def test_a_removed_file_leaves_a_part_ready_until_a_fifth_is_gone(birds: Path, open_index: Open) -> None:
    open_index(birds).build(["lexical", "static"])
    (birds / "untitled.txt").unlink()
    index = open_index(birds)
    assert index.ready() == ("lexical", "static")
    for ranker in ("lexical", "static"):
        assert "untitled.txt" not in index.recall("water", ranker=ranker, top=1).paths
    scope = index.recall("water", ranker="static", top=len(BIRDS))
    assert sorted(scope.paths) == sorted(set(BIRDS) - {"untitled.txt"})
    (birds / "empty.txt").unlink()
    index = open_index(birds)
    assert index.ready() == ()
    assert list(index.recall("water").rankers) == ["lexical", "static"] == list(index.ready())


@pytest.mark.parametrize("name", ["lexical", "static"])
def test_other_settings_are_refused_until_rebuilt(birds: Path, open_index: Open, name: str) -> None:
    first = open_index(birds)
    first.build(["lexical", "static"])
    manifest = part(first, name) / "manifest.json"
    data = json.loads(manifest.read_text())
    data["settings"]["title_weight" if name == "lexical" else "title_share"] = 0.9
    manifest.write_text(json.dumps(data))
    index = open_index(birds)
    with pytest.raises(RargError, match=r"other settings \(title_.* 0\.9, now .*`rarg index`"):
        index.recall("water", ranker=name)
    assert "other settings" in index.status()[name].error
    assert name not in index.recall("water").rankers
    index.build([name])
    assert index.status()[name].error == ""
    assert index.recall("water", ranker=name).paths


def test_another_format_is_refused(birds: Path, open_index: Open) -> None:
    first = open_index(birds)
    first.build(["static"])
    manifest = part(first, "static") / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema_version": 99}))
    with pytest.raises(RargError, match=r"format 99.*`rarg index`"):
        open_index(birds).recall("water", ranker="static")


def damage_a_byte(directory: Path, suffix: str) -> None:
    file = max(directory.glob(f"*{suffix}"), key=lambda path: path.stat().st_size)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def cut_a_file(directory: Path, suffix: str) -> None:
    file = max(directory.glob(f"*{suffix}"), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:-1])


def remove_a_file(directory: Path, suffix: str) -> None:
    max(directory.glob(f"*{suffix}"), key=lambda path: path.stat().st_size).unlink()


@pytest.mark.parametrize("harm", [damage_a_byte, cut_a_file, remove_a_file])
@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("lexical", ""),
        ("static", "vectors-000001.bin"),
        ("static", ".npy"),
        ("static", "paths.bin"),
        ("static", "manifest.json"),
    ],
)
def test_a_damaged_part_is_never_served(
    birds: Path, open_index: Open, harm: Callable[[Path, str], None], name: str, suffix: str
) -> None:
    first = open_index(birds)
    first.build(["lexical", "static"])
    if suffix == "manifest.json" and harm is damage_a_byte:
        pytest.skip("a changed manifest may be another valid one; see the test of other settings")
    harm(part(first, name), suffix)
    index = open_index(birds)
    with pytest.raises(RargError, match=r"damaged.*`rarg index`"):
        index.recall("water", ranker=name)
    assert name not in index.recall("water").rankers
    index.build([name])
    assert index.recall("water", ranker=name).paths


def test_a_broken_pointer_is_damage(birds: Path, open_index: Open) -> None:
    first = open_index(birds)
    first.build(["static"])
    (first.directory / "static.current").write_bytes(b"../../etc")
    with pytest.raises(RargError, match="damaged"):
        open_index(birds).recall("water", ranker="static")


KILLED = """
import os, signal, sys
from pathlib import Path
from rarg_tui.corpus import progress as meter
from rarg_tui.corpus.files import Corpus
from rarg_tui.relevance import vectors
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.static import StaticEmbedder
meter.INTERVAL_S = 0.0
vectors.PIECE_SECONDS = -1.0
StaticEmbedder.batch = 2
def progress(report):
    if report.done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
Index.open(Corpus(Path(sys.argv[1])), Path(sys.argv[2])).build([sys.argv[4]], progress)
"""


def build_and_be_killed(birds: Path, cache: Path, after: int, name: str) -> None:
    command = [sys.executable, "-c", KILLED, str(birds), str(cache), str(after), name]
    killed = subprocess.run(command, check=False)
    assert killed.returncode == -signal.SIGKILL


def test_a_killed_build_continues_where_it_stopped(
    birds: Path, open_index: Open, embedded: list[str], tmp_path: Path
) -> None:
    build_and_be_killed(birds, tmp_path / "cache", 6, "static")
    index = open_index(birds)
    assert index.ready() == ()
    index.build(["static"])
    assert len(embedded) == len(BIRDS) - 4  # what was embedded in the step of the kill is not yet on disk
    new = open_index(birds, cache=tmp_path / "new").recall("fish in water", ranker="static")
    resumed = index.recall("fish in water", ranker="static")
    assert (resumed.paths, resumed.scores) == (new.paths, new.scores)
    assert not list(index.directory.glob("*.work"))


def test_a_torn_piece_is_embedded_again(
    birds: Path, open_index: Open, embedded: list[str], tmp_path: Path
) -> None:
    build_and_be_killed(birds, tmp_path / "cache", 6, "static")
    index = open_index(birds)
    (piece, *_) = sorted(index.directory.glob("static.work/piece-*.npz"))
    piece.write_bytes(piece.read_bytes()[:-40])
    index.build(["static"])
    assert len(embedded) == len(BIRDS) - 2
    assert index.ready() == ("static",)


@pytest.mark.parametrize("name", ["lexical", "static"])
def test_a_killed_update_leaves_the_earlier_part_in_force(
    birds: Path, open_index: Open, tmp_path: Path, name: str
) -> None:
    first = open_index(birds)
    first.build([name])
    before = part(first, name)
    for path in BIRDS:
        (birds / path).write_text("everything changed " + path)
    build_and_be_killed(birds, tmp_path / "cache", 4, name)
    index = open_index(birds)
    assert part(index, name) == before
    index.build([name])
    assert index.recall("everything", ranker=name).paths


@pytest.mark.parametrize("name", ["lexical", "static"])
def test_a_build_can_be_cancelled_and_taken_up(birds: Path, open_index: Open, name: str) -> None:
    index = open_index(birds)
    cancel = threading.Event()
    with pytest.raises(Cancelled):
        index.build([name], lambda report: cancel.set(), cancel)
    assert index.status()[name].detail == "not built"
    index.build([name])
    assert index.ready() == (name,)


def test_a_second_builder_waits_and_finds_the_work_done(
    birds: Path, open_index: Open, embedded: list[str]
) -> None:
    index = open_index(birds)
    index.build(["static"])
    (birds / "new.txt").write_text("new")
    embedded.clear()
    other = open_index(birds)
    reports: list[Progress] = []
    with open(index.directory / "static.lock", "a+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = threading.Event()

        def note(report: Progress) -> None:
            reports.append(report)
            waiting.set()

        builders = [threading.Thread(target=each.build, args=(["static"], note)) for each in (index, other)]
        for builder in builders:
            builder.start()
        assert waiting.wait(30)
    for builder in builders:
        builder.join(30)
        assert not builder.is_alive()
    assert "waiting for another rarg" in reports[0].stage
    assert embedded == ["new"]
    assert index.ready() == other.ready() == ("static",)


def test_waiting_can_be_cancelled(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    index.build(["static"])
    (birds / "new.txt").write_text("new")
    cancel = threading.Event()
    with open(index.directory / "static.lock", "a+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Cancelled):
            index.build(["static"], lambda report: cancel.set(), cancel)


def test_a_cache_that_cannot_be_written(birds: Path, open_index: Open, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    index = open_index(birds, cache=tmp_path / "file")
    assert index.recall("barn owl").paths[0] == "birds/owl.txt"
    assert "cannot be written" in index.status()["lexical"].detail


@pytest.mark.parametrize("name", ["lexical", "static"])
def test_a_full_disk(birds: Path, open_index: Open, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """tantivy tells of it in its own way."""

    def full(*_: object) -> None:
        raise (ValueError if name == "lexical" else OSError)("No space left on device")

    monkeypatch.setattr(Lexical, "_build", full)
    monkeypatch.setattr(DiskStorage, "write", full)
    with pytest.raises(RargError, match=r"could not be written .No space left"):
        open_index(birds).build([name])


def test_a_cache_whose_name_is_not_utf8(birds: Path, open_index: Open, tmp_path: Path) -> None:
    with pytest.raises(RargError, match="not UTF-8"):
        open_index(birds, tmp_path / "caf\udce9")


def test_the_manifest_says_how_the_vectors_were_made(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    index.build(["static"])
    manifest = json.loads((part(index, "static") / "manifest.json").read_text())
    assert manifest["facts"] == {
        "documents": 8,
        "unreadable": 0,
        "dimension": 256,
        "vectors": 8,
        "partly_seen": 0,
        "characters_seen": manifest["facts"]["characters"],
        "characters": manifest["facts"]["characters"],
    }
    assert {"model", "tokenizer", "pooling", "window_characters", "prefixes"} <= set(manifest["settings"])


def test_a_file_that_vanishes_during_the_build_is_known_by_its_title(
    birds: Path, open_index: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index(birds)
    listing = index.corpus.listing()
    monkeypatch.setattr(index.corpus, "refresh", lambda cancel: listing)
    (birds / "birds/owl.txt").unlink()
    index.build(["lexical", "static"])
    assert "1 unreadable" in index.status()["static"].detail
    assert index.recall("owl", ranker="static").paths[0] == "birds/owl.txt"
