"""Vectors on disk: one byte a number, searched exactly, in files that are only ever added to."""

from __future__ import annotations

import os
import threading
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rarg_tui.corpus.progress import Cancelled
from rarg_tui.relevance import store as stores
from rarg_tui.relevance.manifest import IndexProblem, Part
from rarg_tui.relevance.store import DiskStorage, VectorStorage, VectorStore, quantise

Batch = tuple[NDArray[np.int32], NDArray[np.float32]]


def unit(count: int, dimension: int, seed: int = 1) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def part(directory: Path, dimension: int) -> Part:
    return Part(directory, {}, {"dimension": dimension})


def write(directory: Path, batches: Sequence[Batch], old: Part | None = None) -> Part:
    directory.mkdir()
    dimension = batches[0][1].shape[1]
    DiskStorage().write(directory, old, dimension, batches, None)
    return part(directory, dimension)


def batch(counts: Sequence[int], vectors: NDArray[np.float32]) -> Batch:
    return np.array(counts, np.int32), vectors


def opened(directory: Path, counts: Sequence[int], vectors: NDArray[np.float32]) -> VectorStore:
    storage: VectorStorage = DiskStorage()
    return storage.open(write(directory, [batch(counts, vectors)]), np.array(counts, np.int32))


def brute_force(store: VectorStore, counts: Sequence[int], query: NDArray[np.float32], k: int) -> list[int]:
    """Rows by the best of what is stored, with all that tie with the last."""
    similarity = np.round(store.vectors(0, len(counts)).astype(np.float64) @ query, 6)
    ends = np.cumsum(counts)
    best = [max(similarity[end - count : end]) for count, end in zip(counts, ends, strict=True)]
    order = sorted(range(len(best)), key=lambda row: (-best[row], row))
    least = best[order[min(k, len(order)) - 1]]
    return [row for row in order if best[row] >= least]


@settings(deadline=None)
@given(counts=st.lists(st.integers(1, 6), min_size=1, max_size=40), k=st.integers(1, 50), few=st.booleans())
def test_search_is_exact_on_what_is_stored(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], k: int, few: bool
) -> None:
    """``few``: so few different vectors that most rows tie."""
    total = sum(counts)
    vectors = unit(3, 16)[np.arange(total) % 3] if few else unit(total, 16)
    store = opened(tmp_path_factory.mktemp("store") / "part", counts, vectors)
    query = unit(1, 16, seed=2)[0]
    rows, similarities = store.search(query, k, None)
    assert sorted(rows.tolist()) == sorted(brute_force(store, counts, query, k))
    pairs = list(zip((-similarities).tolist(), rows.tolist(), strict=True))
    assert pairs == sorted(pairs)
    stored = store.vectors(0, len(counts)).astype(np.float64) @ query
    ends = np.cumsum(counts)
    for row, similarity in zip(rows.tolist(), similarities.tolist(), strict=True):
        assert similarity == pytest.approx(stored[ends[row] - counts[row] : ends[row]].max(), abs=2e-4)


@pytest.mark.parametrize("dimension", [1, 7, 256, 384, 1024])
def test_equal_vectors_tie_wherever_they_stand(tmp_path: Path, dimension: int) -> None:
    """In float32 a sum depends on the place in a block: these sums are exact."""
    count = 3 * stores._BLOCK + 5
    same = np.repeat(unit(1, dimension), count, axis=0)
    store = opened(tmp_path / "part", [1] * count, same)
    query = unit(1, dimension, seed=3)[0]
    rows, similarities = store.search(query, 1, None)
    assert rows.tolist() == list(range(count))
    assert len(set(similarities.tolist())) == 1
    assert similarities[0] == pytest.approx(float(same[0] @ query), abs=0.01)


def test_what_is_lost_by_keeping_bytes_is_little() -> None:
    vectors = unit(2_000, 256)
    query = unit(1, 256, seed=2)[0]
    lost = np.abs(stores.restored(quantise(vectors)) @ query - vectors @ query)
    assert lost.max() < 0.003


def test_what_is_read_and_written_again_stays_the_same() -> None:
    vectors = np.concatenate(
        [unit(2_000, 256), np.eye(256, dtype=np.float32), np.zeros((1, 256), np.float32)]
    )
    once = quantise(vectors)
    assert quantise(stores.restored(once)).tobytes() == once.tobytes()
    assert not stores.restored(once)[-1].any()


def test_no_vector_and_no_room(tmp_path: Path) -> None:
    store = opened(tmp_path / "part", [2, 1], unit(3, 8))
    assert len(store.search(unit(1, 8)[0], 0, None)[0]) == 0
    assert len(store.search(np.zeros(8, np.float32), 1, None)[0]) == 2
    assert store.vectors(1, 1).shape == (0, 8)
    assert store.vectors(1, 2).shape == (1, 8)


def test_new_rows_come_behind_the_old_ones_whose_file_is_linked(tmp_path: Path) -> None:
    vectors = unit(7, 8)
    first = write(tmp_path / "1", [batch([2, 1], vectors[:3])])
    second = write(tmp_path / "2", [batch([1], vectors[3:4]), batch([3], vectors[4:])], first)
    third = write(tmp_path / "3", [(np.empty(0, np.int32), np.empty((0, 8), np.float32))], second)
    assert [file.name for file in sorted(third.directory.iterdir())] == [
        "vectors-000001.bin",
        "vectors-000002.bin",
    ]
    assert os.path.samefile(third.directory / "vectors-000001.bin", first.directory / "vectors-000001.bin")
    counts = [2, 1, 1, 3]
    store = DiskStorage().open(third, np.array(counts, np.int32))
    np.testing.assert_array_equal(store.vectors(0, 4), stores.restored(quantise(vectors)))
    np.testing.assert_array_equal(store.vectors(1, 3), stores.restored(quantise(vectors[2:4])))
    query = unit(1, 8, seed=2)[0]
    assert store.search(query, 2, None)[0].tolist() == brute_force(store, counts, query, 2)


def test_links_that_fail_are_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", fail)
    first = write(tmp_path / "1", [batch([1], unit(1, 8))])
    second = write(tmp_path / "2", [batch([1], unit(1, 8, seed=2))], first)
    assert len(DiskStorage().open(second, np.array([1, 1], np.int32))) == 2


def test_many_small_files_become_one(tmp_path: Path) -> None:
    vectors = unit(stores._MOST_FILES + 3, 8)
    last: Part | None = None
    for row in range(len(vectors)):
        last = write(tmp_path / str(row), [batch([1], vectors[row : row + 1])], last)
        assert len(list(last.directory.iterdir())) <= stores._MOST_FILES
    assert last is not None
    store = DiskStorage().open(last, np.ones(len(vectors), np.int32))
    np.testing.assert_array_equal(store.vectors(0, len(vectors)), stores.restored(quantise(vectors)))


@pytest.mark.parametrize("harm", ["cut", "shorter by a vector", "gone", "empty"])
def test_a_damaged_file_is_noticed(tmp_path: Path, harm: str) -> None:
    made = write(tmp_path / "part", [batch([1, 1], unit(2, 8))])
    (file,) = made.directory.iterdir()
    data = file.read_bytes()
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes(
            {"cut": data[:-1], "shorter by a vector": data[: len(data) // 2], "empty": b""}[harm]
        )
    with pytest.raises(IndexProblem, match="damaged"):
        DiskStorage().open(made, np.array([1, 1], np.int32))


def test_a_row_without_vectors_does_not_fit(tmp_path: Path) -> None:
    made = write(tmp_path / "part", [batch([1, 1], unit(2, 8))])
    with pytest.raises(IndexProblem, match="do not fit"):
        DiskStorage().open(made, np.array([2, 0], np.int32))


def test_writing_holds_one_batch_at_a_time(tmp_path: Path) -> None:
    """40 batches of a megabyte each."""

    def batches() -> Iterator[Batch]:
        for seed in range(40):
            yield batch([1] * 4_000, unit(4_000, 64, seed))

    tracemalloc.start()
    DiskStorage().write(tmp_path, None, 64, batches(), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "vectors-000001.bin").stat().st_size == 40 * 4_000 * 68
    assert peak < 12_000_000


def test_writing_and_searching_can_be_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        DiskStorage().write(tmp_path, None, 8, [batch([1], unit(1, 8))], cancel)
    store = opened(tmp_path / "part", [1], unit(1, 8))
    with pytest.raises(Cancelled):
        store.search(unit(1, 8)[0], 1, cancel)
