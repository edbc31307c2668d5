"""Reranking of matches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rarg_tui.errors import RargError
from rarg_tui.relevance.fusion import K
from rarg_tui.relevance.rerank import KINDS, MODELS, MatchReranker, Sources
from rarg_tui.relevance.rerank_orders import in_rounds
from rarg_tui.relevance.rerank_query import constructed, other_words
from rarg_tui.trace.events import Match


def embed(letter: str) -> Any:
    """Similarity falls with the number of that letter: it is the angle to a text that has none."""

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.array([min(text.count(letter), 15) for text in texts], np.float32) / 10
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    return vectors


def cross(_: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """The more "x", the better."""
    return np.array([float(text.count("x")) for text in texts])


def lengths(words: Sequence[str]) -> list[float]:
    return [float(len(word)) for word in words]


def reranker(kind: str, quota: int = 0, model: str = "static", **more: Any) -> MatchReranker:
    sources = Sources(
        **{
            "static": embed("q"),
            "dense": embed("z"),
            "cross": cross,
            "title": lambda path: f"Title of {path}",
            "rarity": lengths,
            **{name: more.pop(name) for name in ("static", "dense", "cross", "title") if name in more},
        }
    )
    return MatchReranker(kind, sources, model, quota, **more)


def match(position: int, text: str, path: str = "a") -> Match:
    return Match(path, position, text, position=position)


def positions(matches: Sequence[Match]) -> list[int]:
    return [m.position for m in matches]


MATCHES = [match(1, "qqq z"), match(2, "q zzz"), match(3, "needle qq"), match(4, "zz")]


@pytest.mark.parametrize("kind", ["paper", "generative"])
def test_similarity_alone(kind: str) -> None:
    ranked = reranker(kind).rerank("what", ["needle"], MATCHES)
    assert positions(ranked) == [4, 2, 3, 1]
    assert [m.score for m in ranked] == [(m.parts or {})["similarity"] for m in ranked]
    assert positions(reranker(kind, model="dense").rerank("what", ["needle"], MATCHES)) == [3, 1, 4, 2]


def test_fused_counts_rare_words_and_traversal() -> None:
    ranked = reranker("fused").rerank("what zz", ["needle", "NEEDLE", "no"], MATCHES)
    parts = {m.position: dict(m.parts or {}) for m in ranked}
    assert parts[3] == {"similarity": parts[3]["similarity"], "keywords": 6.0, "words": 0.0, "traversal": 3.0}
    assert parts[4] == {"similarity": 1.0, "keywords": 0.0, "words": 2.0, "traversal": 4.0}
    # ranks by similarity 4 2 3 1, by words 3 4 then all others, by traversal 1 2 3 4
    ranks = {1: (4, 3, 1), 2: (2, 3, 2), 3: (3, 1, 3), 4: (1, 2, 4)}
    expected = {
        position: 1 / (K + similar) + 1 / (K + words) + 0.5 / (K + traversal)
        for position, (similar, words, traversal) in ranks.items()
    }
    for m in ranked:
        assert m.score == pytest.approx(expected[m.position])
    assert positions(ranked) == sorted(expected, key=lambda n: (-expected[n], n))


def test_fused_reads_the_title() -> None:
    seen: list[str] = []

    def spy(texts: Sequence[str]) -> NDArray[np.float32]:
        seen.extend(texts)
        return np.ones((len(texts), 1), np.float32)

    titled = reranker("fused", static=spy, title=lambda path: "Owls")
    assert (titled.rerank("what", ["owls"], MATCHES[:1])[0].parts or {})["keywords"] == 4.0
    assert seen == ["what", "Owls: qqq z"]


class TestCascade:
    def test_the_model_has_a_voice_among_the_best(self) -> None:
        cheap = {m.position: m.score or 0 for m in reranker("fused").rerank("what", ["needle"], MATCHES)}
        ranked = reranker("fused", model="dense", cascade=3).rerank("what", ["needle"], MATCHES)
        # cheap: 4, 2, 3, 1; of those seen the model prefers 3 ("z" 0 times), then 4 (2), then 2 (3)
        expected = {
            3: cheap[3] + 1 / (K + 1),
            4: cheap[4] + 1 / (K + 2),
            2: cheap[2] + 1 / (K + 3),
            1: cheap[1],
        }
        assert {m.position: m.score for m in ranked} == pytest.approx(expected)
        assert positions(ranked) == [3, 4, 2, 1]
        assert ["dense" in (m.parts or {}) for m in ranked] == [True, True, True, False]

    def test_a_pool_within_it_is_ranked_as_a_whole(self) -> None:
        within = reranker("fused", model="dense", cascade=4).rerank("what", ["needle"], MATCHES)
        assert within == reranker("fused", model="dense").rerank("what", ["needle"], MATCHES)
        assert all("dense" in (m.parts or {}) for m in within)

    def test_cross_decides_alone_among_the_best(self) -> None:
        pool = [match(1, "x"), match(2, ""), match(3, "xxx"), match(4, "xxxx qqqqqq")]
        ranked = reranker("cross", cascade=3).rerank("what", [], pool)
        assert positions(ranked) == [3, 1, 2, 4]
        assert [(m.parts or {}).get("cross") for m in ranked] == [3.0, 1.0, 0.0, None]
        assert [m.score for m in ranked] == sorted((m.score or 0 for m in ranked), reverse=True)

    def test_the_quota_chooses_what_the_model_sees(self) -> None:
        pool = [match(n, "", "a") for n in range(1, 5)] + [match(5, "qqq", "b")]
        seen = reranker("fused", 1, "dense", cascade=2).rerank("what", [], pool)
        assert [m.path for m in seen] == list("abaaa")
        assert ["dense" in (m.parts or {}) for m in seen] == [True, True, False, False, False]


def test_quota_gives_each_document_its_turn() -> None:
    matches = [match(n, "", "a") for n in range(1, 5)] + [match(n, "q", "b") for n in range(5, 8)]
    for quota, paths in ((0, "aaaabbb"), (1, "abababa"), (2, "aabbaab")):
        assert "".join(m.path for m in reranker("paper", quota).rerank("", [], matches)) == paths
    assert in_rounds([], [], 3) == []


@given(
    texts=st.lists(st.tuples(st.text(alphabet="qxzn ", max_size=4), st.sampled_from("abc")), max_size=12),
    kind=st.sampled_from(KINDS),
    model=st.sampled_from(MODELS),
    quota=st.integers(0, 3),
    cascade=st.integers(1, 12),
)
def test_all_matches_come_back_in_one_order(
    texts: list[tuple[str, str]], kind: str, model: str, quota: int, cascade: int
) -> None:
    matches = [match(n, text, path) for n, (text, path) in enumerate(texts, 1)]
    ranked = reranker(kind, quota, model, cascade=cascade).rerank("what x", ["n"], matches)
    assert sorted(positions(ranked)) == positions(matches)
    assert ranked == reranker(kind, quota, model, cascade=cascade).rerank("what x", ["n"], matches)
    for before, after in pairwise(ranked):
        if quota == 0:
            assert (-(before.score or 0), before.position) < (-(after.score or 0), after.position)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "texts",
    [
        ["one"],
        ["the same line"] * 500,
        ["long " * 200] * 3,
        ["torn \udcff character", "\0\x1b[31m[/bold]\u202e", "", "漢字" * 100],
    ],
    ids=["one match", "equal lines", "long lines", "hostile lines"],
)
def test_awkward_pools(kind: str, texts: list[str]) -> None:
    """Equal lines stay as they were found, whoever looks at them."""
    pool = [match(n, text) for n, text in enumerate(texts, 1)]
    ranked = reranker(kind, model="dense").rerank("\udcff?", [], pool)
    assert sorted(positions(ranked)) == positions(pool)
    if len(set(texts)) == 1:
        assert positions(ranked) == positions(pool)
    assert {"similarity", "keywords", "words", "traversal"} <= set(ranked[0].parts or {})
    assert [m.text for m in sorted(ranked, key=lambda m: m.position)] == texts


def test_nothing_to_go_by() -> None:
    """No query and no keywords: the order in which the lines were found."""
    pool = [match(n, "", f"d{n}") for n in range(1, 5)]
    assert positions(reranker("fused", 1).rerank("", [], pool)) == [1, 2, 3, 4]
    assert reranker("fused").rerank("what", ["a"], []) == []


def test_unknown_kind() -> None:
    with pytest.raises(RargError, match="fused, paper, generative, cross"):
        reranker("magic")
    with pytest.raises(RargError, match="static, dense"):
        reranker("fused", model="magic")


@pytest.mark.parametrize(
    ("query", "words", "expected"),
    [("q", ["a", "b"], "q\n\nRG focus: a b"), ("q", [], "q"), ("", ["a"], "a"), ("", [], "")],
)
def test_constructed_query(query: str, words: list[str], expected: str) -> None:
    assert constructed(query, words) == expected


def test_other_words_of_a_query() -> None:
    query = constructed("The owl hunts; the OWL rests", ["Owl"])
    assert other_words(query, ["Owl"]) == ["the", "hunts", "rests"]
    assert other_words("RG focus of my own", []) == ["rg", "focus", "of", "my", "own"]
