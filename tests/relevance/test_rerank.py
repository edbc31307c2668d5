"""Reranking of matches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rarg_tui.errors import RargError
from rarg_tui.relevance.rerank import MatchReranker
from rarg_tui.relevance.rerank_query import constructed
from rarg_tui.trace.events import Match


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Similarity is the number of letters "q", as the angle to the first text, which has none."""
    angles = np.array([text.count("q") for text in texts], np.float32) / 10
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def lengths(words: Sequence[str]) -> list[float]:
    return [float(len(word)) for word in words]


def reranker(name: str, quota: int = 0) -> MatchReranker:
    return MatchReranker(name, embed, lambda path: f"Title of {path}", lengths, quota)


def match(position: int, text: str, path: str = "a") -> Match:
    return Match(path, position, text, position=position)


MATCHES = [match(1, "qqq"), match(2, "q"), match(3, "needle qq"), match(4, "")]


def test_paper_is_similarity_alone() -> None:
    ranked = reranker("paper").rerank("what", ["needle"], MATCHES)
    assert [m.position for m in ranked] == [4, 2, 3, 1]
    assert [m.score for m in ranked] == sorted((m.score or 0.0 for m in ranked), reverse=True)


def test_fused_counts_rare_keywords_and_traversal() -> None:
    ranked = reranker("fused").rerank("what", ["needle", "NEEDLE", "no"], MATCHES)
    parts = {m.position: dict(m.parts or {}) for m in ranked}
    assert parts[3]["keywords"] == 6.0
    assert parts[1]["keywords"] == 0.0
    assert parts[4]["traversal"] == 4.0
    # ranks by similarity 4 2 3 1, by keywords 3 then all others, by traversal 1 2 3 4
    ranks = {1: (4, 2, 1), 2: (2, 2, 2), 3: (3, 1, 3), 4: (1, 2, 4)}
    expected = {position: sum(1 / (60 + rank) for rank in three) for position, three in ranks.items()}
    for m in ranked:
        assert m.score == pytest.approx(expected[m.position])
    assert [m.position for m in ranked] == sorted(expected, key=lambda n: (-expected[n], n))


def test_fused_reads_the_title() -> None:
    seen: list[str] = []

    def spy(texts: Sequence[str]) -> NDArray[np.float32]:
        seen.extend(texts)
        return embed(texts)

    MatchReranker("fused", spy, lambda path: "Owls", lengths, 0).rerank("what", ["owls"], MATCHES[:1])
    assert seen == ["what", "Owls: qqq"]


def test_quota_gives_each_document_its_turn() -> None:
    matches = [match(n, "", "a") for n in range(1, 5)] + [match(n, "q", "b") for n in range(5, 8)]
    for quota, paths in ((0, "aaaabbb"), (1, "abababa"), (2, "aabbaab")):
        assert "".join(m.path for m in reranker("paper", quota).rerank("", [], matches)) == paths


@given(
    texts=st.lists(st.tuples(st.text(alphabet="qn ", max_size=4), st.sampled_from("abc")), max_size=12),
    name=st.sampled_from(["paper", "fused"]),
    quota=st.integers(0, 3),
)
def test_all_matches_come_back_in_one_order(texts: list[tuple[str, str]], name: str, quota: int) -> None:
    matches = [match(n, text, path) for n, (text, path) in enumerate(texts, 1)]
    ranked = reranker(name, quota).rerank("what", ["n"], matches)
    assert sorted(m.position for m in ranked) == [m.position for m in matches]
    assert ranked == reranker(name, quota).rerank("what", ["n"], matches)
    for before, after in pairwise(ranked):
        if quota == 0 and before.score == after.score:
            assert before.position < after.position


def test_unknown_kind() -> None:
    with pytest.raises(RargError, match="fused, paper"):
        reranker("cross")


@pytest.mark.parametrize(
    ("query", "words", "expected"),
    [("q", ["a", "b"], "q\n\nRG focus: a b"), ("q", [], "q"), ("", ["a"], "a"), ("", [], "")],
)
def test_constructed_query(query: str, words: list[str], expected: str) -> None:
    assert constructed(query, words) == expected
