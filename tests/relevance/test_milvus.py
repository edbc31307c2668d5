"""Vectors in Milvus: found as on disk, appended to, resumed, let go of; and what is said when it fails."""

from __future__ import annotations

import fcntl
import json
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rarg_tui.cli import main
from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import MissingPart, RargError
from rarg_tui.relevance import milvus, milvus_server
from rarg_tui.relevance.index import Index
from rarg_tui.relevance.manifest import IndexProblem, Part
from rarg_tui.relevance.milvus import MilvusStorage, MilvusStore
from rarg_tui.relevance.milvus_server import MilvusServer
from rarg_tui.relevance.store import quantise, restored, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytest.importorskip("milvus_lite", reason="the optional extra rarg[milvus] is not installed")

DIMENSION = 8

Batch = tuple["NDArray[np.int32]", "NDArray[np.float32]"]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """The directory of an index."""
    made = tmp_path / "index"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    made = MilvusServer(tmp_path_factory.mktemp("milvus") / "vectors.db")
    yield made
    made.close()


@pytest.fixture
def storage(server: MilvusServer) -> MilvusStorage:
    return MilvusStorage(server, "static")


def some(seed: int, rows: int, windows: int = 3) -> Batch:
    """``rows`` rows with 1 to ``windows`` unit vectors each."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, windows + 1, rows).astype(np.int32)
    vectors = rng.standard_normal((int(counts.sum()), DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return counts, restored(quantise(vectors))


def built(storage: MilvusStorage, base: Path, old: Part | None, *batches: Batch) -> Part:
    facts = storage.write(base / "static.build", old, DIMENSION, batches, None)
    number = 1 if old is None else 1 + int(old.directory.name[-1])
    return Part(base / f"static-{number}", {}, facts)


def expected(batch: Batch, query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """What an exhaustive search finds: the best ``k`` rows and all that tie with the last."""
    counts, vectors = batch
    whole, unit = whole_numbers(query)
    scores = (vectors.astype(np.float64) @ (whole * unit)).round(6)
    best = [float(part.max()) for part in np.split(scores, np.cumsum(counts)[:-1])]
    floor = sorted(best, reverse=True)[:k][-1]
    return sorted(((row, s) for row, s in enumerate(best) if s >= floor), key=lambda one: (-one[1], one[0]))


def found(store: MilvusStore, query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    rows, scores = store.search(query, k, None)
    return list(zip(rows.tolist(), scores.tolist(), strict=True))


def same(one: list[tuple[int, float]], other: list[tuple[int, float]]) -> bool:
    """Rows equal, similarities up to the last place that float32 gives."""
    return [row for row, _ in one] == [row for row, _ in other] and np.allclose(
        [score for _, score in one], [score for _, score in other], atol=2e-6
    )


def joined(*batches: Batch) -> Batch:
    return np.concatenate([c for c, _ in batches]), np.concatenate([v for _, v in batches])


def query(seed: int) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = some(seed, 1, 1)[1][0]
    return vector


@pytest.mark.parametrize("k", [1, 7, 200, 1_000])
def test_rows_by_their_best_vector(storage: MilvusStorage, base: Path, k: int) -> None:
    first, second = some(1, 150), some(2, 150)
    part = built(storage, base, None, first, second)
    store = storage.open(part, joined(first, second)[0])
    assert same(found(store, query(3), k), expected(joined(first, second), query(3), k))
    assert len(store) == len(joined(first, second)[1])


def test_more_hits_than_a_search_has(
    storage: MilvusStorage, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = some(1, 200)
    store = storage.open(built(storage, base, None, batch), batch[0])
    monkeypatch.setattr(milvus, "MOST_HITS", 16)
    assert same(found(store, query(3), 90), expected(batch, query(3), 90))


def test_all_that_tie_with_the_last(
    storage: MilvusStorage, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = np.tile(some(1, 1, 1)[1], (60, 1))
    batch = np.ones(60, np.int32), vectors
    store = storage.open(built(storage, base, None, batch), batch[0])
    monkeypatch.setattr(milvus, "MOST_HITS", 8)
    assert [row for row, _ in found(store, query(3), 5)] == list(range(60))


def test_vectors_come_back_as_they_were(
    storage: MilvusStorage, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus, "CALL_BYTES", 4 * DIMENSION * 7)  # seven vectors in a call
    counts, vectors = some(1, 40)
    store = storage.open(built(storage, base, None, (counts, vectors)), counts)
    ends = np.cumsum(counts)
    assert np.array_equal(store.vectors(0, 40), vectors)
    assert np.array_equal(store.vectors(3, 9), vectors[ends[2] : ends[8]])
    assert store.vectors(5, 5).shape == (0, DIMENSION)


def test_a_part_appended_to_still_serves_its_own_rows(storage: MilvusStorage, base: Path) -> None:
    first, more = some(1, 50), some(2, 30)
    old = built(storage, base, None, first)
    new = built(storage, base, old, more)
    assert new.facts["milvus"]["collection"] == old.facts["milvus"]["collection"]
    assert same(found(storage.open(old, first[0]), query(3), 50), expected(first, query(3), 50))
    whole = joined(first, more)
    assert same(found(storage.open(new, whole[0]), query(3), 80), expected(whole, query(3), 80))


def test_what_a_killed_build_left_is_not_seen_and_overwritten(storage: MilvusStorage, base: Path) -> None:
    first, lost, more = some(1, 50), some(2, 40), some(4, 10)
    old = built(storage, base, None, first)

    def killed() -> Iterator[Batch]:
        yield lost
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        storage.write(base / "static.build", old, DIMENSION, killed(), None)
    assert same(found(storage.open(old, first[0]), query(3), 50), expected(first, query(3), 50))
    whole = joined(first, more)
    store = storage.open(built(storage, base, old, more), whole[0])
    assert same(found(store, query(3), 60), expected(whole, query(3), 60))
    assert np.array_equal(store.vectors(50, 60), more[1])


def test_only_what_these_builds_made_is_dropped(storage: MilvusStorage, base: Path, tmp_path: Path) -> None:
    def there(part: Part) -> bool:
        return bool(storage._server.call("has_collection", part.facts["milvus"]["collection"]))

    other = built(storage, tmp_path, None, some(5, 3))
    replaced = built(storage, base, None, some(1, 5))

    def killed() -> Iterator[Batch]:
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        storage.write(base / "static.build", None, DIMENSION, killed(), None)
    current = built(storage, base, None, some(2, 5))
    before = storage._server.call("list_collections")
    storage.sweep(base, current.facts)
    assert (there(other), there(replaced), there(current)) == (True, False, True)
    assert len(storage._server.call("list_collections")) == len(before) - 2
    assert storage.open(current, some(2, 5)[0])


def test_a_copied_cache_leaves_the_original_alone(storage: MilvusStorage, base: Path, tmp_path: Path) -> None:
    first, more, other = some(1, 20), some(2, 10), some(4, 10)
    original = built(storage, base, None, first)
    shutil.copytree(base, tmp_path / "copy")
    copied = Part(tmp_path / "copy" / "static-1", {}, original.facts)
    new = built(storage, tmp_path / "copy", copied, more)
    storage.sweep(tmp_path / "copy", new.facts)
    old = built(storage, base, original, other)
    storage.sweep(base, old.facts)
    for part, whole in ((new, joined(first, more)), (old, joined(first, other))):
        assert same(found(storage.open(part, whole[0]), query(3), 30), expected(whole, query(3), 30))


def test_no_vectors_need_no_collection(storage: MilvusStorage, base: Path) -> None:
    facts = storage.write(base / "static.build", None, 0, [], None)
    store = storage.open(Part(base / "static-1", {}, facts), np.empty(0, np.int32))
    assert (len(store), len(found(store, query(3), 5))) == (0, 0)


def test_another_collection_than_the_part_says(storage: MilvusStorage, base: Path) -> None:
    batch = some(1, 5)
    part = built(storage, base, None, batch)
    named = part.facts["milvus"]["collection"]

    def changed(**facts: Any) -> Part:
        return Part(part.directory, {}, {"milvus": {**part.facts["milvus"], **facts}})

    with pytest.raises(IndexProblem, match=f"vectors of {DIMENSION} numbers, the index 9; remove"):
        storage.open(changed(dimension=9), batch[0])
    more = np.append(batch[0], np.int32(2))
    with pytest.raises(IndexProblem, match=f"holds {batch[0].sum()} vectors, the index {more.sum()}; remove"):
        storage.open(changed(vectors=int(more.sum())), more)
    with pytest.raises(IndexProblem, match=r"damaged .vectors and documents do not fit"):
        storage.open(part, more)
    with pytest.raises(IndexProblem, match=r"damaged .it does not name its Milvus collection"):
        storage.open(Part(part.directory, {}, {}), batch[0])
    storage._server.call("drop_collection", named)
    for use in (lambda: storage.open(part, batch[0]), lambda: built(storage, base, part, batch)):
        with pytest.raises(IndexProblem, match=f"collection {named} .* is not in Milvus at .*remove"):
            use()


def test_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPart, match=r"pip install 'rarg\[milvus\]'"):
        MilvusStorage(MilvusServer("http://localhost:19530"), "static").settings()


def test_a_server_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        with pytest.raises(MissingPart, match=f"Milvus at {uri} cannot be reached .*--uri") as raised:
            MilvusServer(uri).call("list_collections")
    assert raised.value.exit_code == 3
    assert capfd.readouterr() == ("", "")


def test_waiting_for_a_silent_server_can_be_stopped() -> None:
    cancel = threading.Event()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        cancel.set()
        with pytest.raises(Cancelled):
            MilvusServer(f"http://127.0.0.1:{silent.getsockname()[1]}").call(
                "list_collections", cancel=cancel
            )


def test_a_lost_server_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from milvus_lite.adapter.grpc.server import start_server_in_thread

    monkeypatch.setattr(milvus_server, "FIRST_PAUSE_S", 0.01)
    running = [start_server_in_thread(str(tmp_path / "lost.db"))]
    port = running[0][2]

    def stop() -> None:
        served, database, _ = running.pop()
        served.stop(grace=None).wait()
        database.close()

    class Restarted(MilvusServer):
        def _disconnect(self) -> None:
            super()._disconnect()
            if not running:
                running.append(start_server_in_thread(str(tmp_path / "lost.db"), port=port))

    server = Restarted(f"http://127.0.0.1:{port}")
    storage = MilvusStorage(server, "static")
    first, more = some(1, 5), some(2, 5)

    def interrupted() -> Iterator[Batch]:
        yield first
        stop()
        yield more

    facts = storage.write(tmp_path / "static.build", None, DIMENSION, interrupted(), None)
    whole = joined(first, more)
    store = storage.open(Part(tmp_path / "static-1", {}, facts), whole[0])
    assert same(found(store, query(3), 10), expected(whole, query(3), 10))
    storage.close()
    stop()


def test_a_file_that_another_process_has(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "vectors.db").mkdir()
    server = MilvusServer(tmp_path / "vectors.db")
    with open(tmp_path / "vectors.db" / "LOCK", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(MissingPart, match=r"another process holds the lock .*; one process at a time"):
            server.call("list_collections")
    assert server.call("list_collections") == []
    server.close()
    with open(tmp_path / "vectors.db" / "LOCK", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it was unlocked
    assert capfd.readouterr() == ("", "")


def test_two_users_in_one_process_share_a_file(tmp_path: Path) -> None:
    one, other = MilvusServer(tmp_path / "vectors.db"), MilvusServer(tmp_path / "vectors.db")
    assert one.call("list_collections") == other.call("list_collections") == []
    one.close()
    assert other.call("list_collections") == []
    other.close()


def test_a_file_in_no_directory(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"directory of the Milvus file .* does not exist"):
        MilvusServer(tmp_path / "none" / "vectors.db").call("list_collections")


def test_the_token_is_in_no_error(server: MilvusServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILVUS_TOKEN", "s3cret")
    with pytest.raises(RargError, match="refuses to describe_collection") as raised:
        server.call("describe_collection", "s3cret")
    assert "s3cret" not in str(raised.value)


def ranked(index: Index, question: str) -> dict[str, float]:
    scope = index.recall(question, ranker="static")
    return dict(zip(scope.paths, scope.scores, strict=True))


def test_an_index_finds_the_same_in_both_stores(birds: Path, tmp_path: Path) -> None:
    (birds / "long.txt").write_text("Herons fish. " * 200 + "Owls hunt mice. " * 200)
    on_disk = Index.open(Corpus(birds), tmp_path / "disk")
    in_milvus = Index.open(Corpus(birds), tmp_path / "other", milvus=tmp_path / "vectors.db")
    for change in (None, "changed", "changed again", "and again"):
        if change is not None:
            (birds / "birds" / "owl.txt").write_text(f"{change}: owls hunt mice and voles")
            (birds / "tools" / "loom.md").unlink(missing_ok=True)
        for index in (on_disk, in_milvus):
            index.build(["static"])
        for question in ("fish in shallow water", "mice at night", "weaving"):
            expected, given = ranked(on_disk, question), ranked(in_milvus, question)
            assert list(given) == list(expected)
            assert given == pytest.approx(expected, abs=3e-6)
        noted = json.loads(next(in_milvus.directory.glob("static.milvus")).read_text())
        assert len(noted["collections"]) == 1
    in_milvus.close()
    with pytest.raises(IndexProblem, match=r"built with other settings .store 'milvus', now None"):
        Index.open(Corpus(birds), tmp_path / "other").recall("mice", ranker="static")
    other = Index.open(Corpus(birds), tmp_path / "other", milvus=tmp_path / "empty.db")
    with pytest.raises(IndexProblem, match=r"is not in Milvus at .*empty\.db"):
        other.recall("mice", ranker="static")
    other.close()
    on_disk.close()


def test_the_command_line_names_a_store(
    birds: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = ["-C", str(birds), "--cache", str(tmp_path / "cache"), "--store", "milvus"]
    assert main(["index", *said, "--ranker", "static"]) == 2
    assert "The store milvus needs --uri: a file such as" in capfd.readouterr().err
    said += ["--uri", str(tmp_path / "vectors.db")]
    assert main(["index", *said, "--ranker", "static"]) == 0
    assert main(["recall", *said, "--ranker", "static", "mice at night", "--top", "1"]) == 0
    out, err = capfd.readouterr()
    assert "owl.txt" in out
    assert "Traceback" not in err
    assert main(["recall", *said[:-1], "http://127.0.0.1:1", "--ranker", "static", "mice"]) == 3
    assert "Milvus at http://127.0.0.1:1 cannot be reached" in capfd.readouterr().err
