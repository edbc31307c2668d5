"""Where documents and lines are lost, each stage of the way, and that what is said to help does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rarg_tui.agent.profiles import PROFILES
from rarg_tui.config import Settings
from rarg_tui.errors import RargError
from rarg_tui.evaluation.why import STAGES, Way, Why
from rarg_tui.workbench import Workbench

#: Forty letters; number 7 alone speaks of the harbour, 20 has a line that is said nowhere else.
LETTERS = {
    f"letters/{n:02}.txt": f"Letter {n}\nThe clock was late again.\nThe clock is mended.\n" for n in range(40)
}
LETTERS["letters/07.txt"] += "The harbour clock stands still.\n"
LETTERS["letters/20.txt"] += "An Escapement of brass.\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    root = tmp_path_factory.mktemp("why")
    for name, text in LETTERS.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "letters" / "seal.bin").write_bytes(b"PNG\0\0")
    (root / ".draft").write_text("hidden")
    (root / "link.txt").symlink_to("letters/07.txt")
    opened = Workbench(Settings(corpus=root, cache=tmp_path_factory.mktemp("cache")))
    opened.prepare()
    yield opened
    opened.close()


def follow(bench: Workbench, ranker: str = "lexical+static", rerank: str = "fused", **limits: int) -> Why:
    profile = PROFILES["bcplus"].with_limits(limits)
    return Why(bench.corpus, bench.index, profile, ranker=ranker, rerank=rerank)


def reached(way: Way) -> list[str]:
    return [stage.stage for stage in way.stages if stage.reached]


def test_all_the_way(bench: Workbench) -> None:
    way = follow(bench).way("harbour clock", ["-e", "harbour"], "letters/07.txt")
    assert reached(way) == list(STAGES)
    assert way.lost_at is None
    assert way.line == 4
    assert not way.would_help
    scope, matched, pool = way.stages[1:4]
    assert (scope.at, scope.of) == (1, 40)
    assert "lexical 1" in scope.note
    assert (matched.at, matched.of) == (1, 1)
    assert (pool.at, pool.of) == (1, 500)
    assert way.stages[5].at == 1


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("letters/99.txt", "no such file"),
        ("07.txt", "there is letters/07.txt"),
        ("letters", "a folder"),
        ("letters/seal.bin", "binary"),
        (".draft", "hidden"),
        ("link.txt", "symlink"),
        ("../elsewhere", "without . and .."),
        ("letters/07.txt\0", "without . and .."),
    ],
)
def test_no_document(bench: Workbench, document: str, reason: str) -> None:
    way = follow(bench).way("clock", ["-e", "clock"], document)
    assert way.lost_at == "corpus"
    assert reason in way.stages[0].note
    assert [stage.stage for stage in way.stages] == list(STAGES)


def test_excluded_and_not_included(tmp_path: Path) -> None:
    for name in ("a.txt", "b.md", "old/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("clock\n")
    bench = Workbench(Settings(corpus=tmp_path), include=["*.txt"], exclude=["old"])
    notes = {
        name: follow(bench).way("clock", ["clock"], name).stages[0].note for name in ("b.md", "old/c.txt")
    }
    bench.close()
    assert notes == {"b.md": "only *.txt are included", "old/c.txt": "it is excluded by old"}


def test_beyond_the_cap_of_the_scope(bench: Workbench) -> None:
    way = follow(bench, scope_cap=5).way("harbour clock", ["-e", "brass"], "letters/20.txt")
    assert way.lost_at == "scope"
    scope, matched = way.stages[1], way.stages[2]
    assert scope.at is not None
    assert scope.at > 5
    assert "the cap is 5" in scope.note
    assert matched.reached  # the pattern is not at fault
    assert f"rank {scope.at}" in way.would_help[0]


def test_no_ranker_names_it(bench: Workbench) -> None:
    way = follow(bench, ranker="lexical").way("harbour", ["-e", "clock"], "letters/20.txt")
    assert way.lost_at == "scope"
    assert way.stages[1].at is None


def test_the_pattern_does_not_match(bench: Workbench) -> None:
    why = follow(bench)
    case = why.way("escapement", ["-e", "escapement"], "letters/20.txt")
    assert case.lost_at == "matched"
    assert case.would_help[0].startswith("-i ")
    assert why.way("escapement", ["-i", "-e", "escapement"], "letters/20.txt").lost_at is None

    words = why.way("escapement", ["-e", "Escapement.*harbour"], "letters/20.txt", line=4)
    assert words.would_help == ("a pattern of fewer words: the line has Escapement",)
    none = why.way("escapement", ["-e", "sextant"], "letters/20.txt")
    assert none.would_help == ("other words: the document has none of sextant",)
    beyond = why.way("escapement", ["-e", "brass"], "letters/20.txt", line=99)
    assert beyond.would_help == ("another line: the document has 4",)


def test_behind_the_pool(bench: Workbench) -> None:
    lost = follow(bench, pool=10).way("harbour clock", ["-e", "clock"], "letters/20.txt", line=3)
    assert lost.lost_at == "pool"
    position = lost.stages[3].at
    assert position is not None
    assert lost.would_help[0] == f"--pool {position}"
    assert (
        follow(bench, pool=position)
        .way("harbour clock", ["-e", "clock"], "letters/20.txt", line=3)
        .stages[3]
        .reached
    )
    short = follow(bench, pool=position - 1)
    assert short.way("harbour clock", ["-e", "clock"], "letters/20.txt", line=3).lost_at == "pool"


@pytest.mark.parametrize("rerank", ["fused", "paper", "off"])
def test_under_the_cut(bench: Workbench, rerank: str) -> None:
    why = follow(bench, rerank=rerank, shown=3, quota=0)
    ways = [why.way("harbour clock", ["-e", "clock"], f"letters/{n:02}.txt", line=3) for n in range(40)]
    assert sum(way.lost_at is None for way in ways) <= 3
    lost = next(way for way in ways if way.lost_at == "observation")
    place = lost.stages[5].at
    assert place is not None
    assert place > 3
    assert lost.would_help[0] == f"--show {place}"
    wider = follow(bench, rerank=rerank, shown=place, quota=0)
    assert wider.way("harbour clock", ["-e", "clock"], lost.document, line=3).lost_at is None
    if rerank == "off":
        assert "it is off" in lost.stages[4].note
    else:
        assert "similarity" in lost.stages[4].note


def test_another_quota_that_is_said_to_help_does(bench: Workbench) -> None:
    why = follow(bench, shown=30, quota=1)
    ways = [why.way("harbour clock", ["-e", "clock"], f"letters/{n:02}.txt", line=3) for n in range(40)]
    said = [(way, help_) for way in ways for help_ in way.would_help if help_.startswith("--quota 0")]
    assert said
    way, help_ = said[0]
    better = follow(bench, shown=30, quota=0).way("harbour clock", ["-e", "clock"], way.document, line=3)
    assert better.lost_at is None
    assert help_ == f"--quota 0: then it is at place {better.stages[5].at}"


def test_only_matching_lines_have_a_way(bench: Workbench) -> None:
    with pytest.raises(RargError, match="leave out options"):
        follow(bench).way("clock", ["-c", "clock"], "letters/07.txt")
    with pytest.raises(RargError, match="unclosed group"):
        follow(bench).way("clock", ["-e", "("], "letters/07.txt")


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (tmp_path / name).write_text("clock\n")
    bench = Workbench(Settings(corpus=tmp_path))
    bench.prepare()
    way = bench.why("clock", ["clock"], name)
    bench.close()
    assert way.lost_at is None
