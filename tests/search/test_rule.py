"""The one rule: what is reranked, what is a plain listing in the order of its list, what runs as written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from rarg_tui.search.command import parse
from rarg_tui.search.guard import check
from rarg_tui.search.places import Policy
from rarg_tui.search.rule import listing_of
from rarg_tui.search.shell import ShellLimits, run
from tests.search.scene import Backwards, context, write

X = "cat scope_1.txt | xargs -d '\\n' rg"
#: Seven lines hold "bird", in scope order; with m = 3 that is more than is shown.
FILES: dict[str, str | bytes] = {
    "b.txt": "green bird\nred bird\nno\n",
    "a.txt": "a bird\n",
    "c.txt": "bird one\nbird two\nbird three\n",
    "d.txt": "nothing here\n",
    "e.txt": "one\nthe bird\ntwo\n",
}
SCOPE = ["c.txt", "b.txt", "e.txt", "a.txt", "d.txt"]
M = 3


@dataclass(frozen=True)
class Case:
    """``shown`` matches of a listing, ``None`` for what runs as written; ``notice`` is in the observation,
    and an empty one means that there is none."""

    command: str
    reranked: bool
    shown: int | None
    notice: str


RERANKED = f"{M} of 7 matches shown, best first (reranked)"
IN_ORDER = f"{M} of 7 matches shown, in the order of the list"
WRITTEN = "run as written, not reranked"

CASES = [
    # A plain listing of one scope, more than m: reranked.
    Case(f"{X} bird", True, M, RERANKED),
    Case(f"{X} -n bird", True, M, RERANKED),
    Case(f"{X} -i BIRD", True, M, RERANKED),
    Case(f"{X} -S bird", True, M, RERANKED),
    Case(f"{X} -w bird", True, M, RERANKED),
    Case(f"{X} -F bird", True, M, RERANKED),
    Case(f"{X} -P 'b(?=ird)'", True, M, RERANKED),
    Case(f"{X} -U bird", True, M, RERANKED),
    Case(f"{X} -e green -e bird", True, M, RERANKED),
    Case(f"{X} --no-heading bird", True, M, RERANKED),
    Case(f"{X} -H -N bird", True, M, RERANKED),
    Case(f"{X} -j 8 --sort path bird", True, M, RERANKED),
    Case(f"{X} --threads=4 --sortr modified bird", True, M, RERANKED),
    Case(f"{X} --color=always bird", True, M, RERANKED),
    Case(f"{X} bird 2>/dev/null", True, M, RERANKED),
    Case(f"{X} bird 2>&1", True, M, RERANKED),
    Case(f"{X} bird || true", True, M, RERANKED),
    Case(f"{X} -m 3 bird", True, M, RERANKED),
    Case(f"{X} -m 1 bird", True, M, f"{M} of 4 matches shown, best first (reranked)"),
    # head and tail cap m.
    Case(f"{X} bird | head", True, M, RERANKED),
    Case(f"{X} bird | head -40", True, M, RERANKED),
    Case(f"{X} bird | head -n 5", True, M, RERANKED),
    Case(f"{X} bird | head -n 2", True, 2, "2 of 7 matches shown, best first (reranked)"),
    Case(f"{X} bird | head -1", True, 1, "1 of 7 matches shown, best first (reranked)"),
    Case(f"{X} bird | head --lines=2 2>/dev/null", True, 2, "2 of 7 matches shown, best first (reranked)"),
    Case(f"{X} bird | tail", True, M, RERANKED),
    Case(f"{X} bird | tail -n 2", True, 2, "2 of 7 matches shown, best first (reranked)"),
    Case(f"{X} three | head -n 1", False, 1, ""),
    # A part of a scope, in its order, is that scope.
    Case("cat scope_1.txt | head -4 | xargs -d '\\n' rg bird", True, M, RERANKED),
    Case("head -4 scope_1.txt | xargs -d '\\n' rg bird", True, M, RERANKED),
    Case("xargs -a scope_1.txt -d '\\n' rg bird", True, M, RERANKED),
    Case("xargs -d '\\n' rg bird < scope_1.txt", True, M, RERANKED),
    Case("cat scope_1.txt | grep txt | xargs -d '\\n' rg bird", True, M, RERANKED),
    Case(f"{X} -l bird | xargs -d '\\n' rg -n bird", True, M, RERANKED),
    # No more than m matched: shown as they stand, and nothing to say.
    Case(f"{X} 'the|one'", False, 3, ""),
    Case(f"{X} -e three -e green | head -40", False, 2, ""),
    Case(f"{X} -e three -e green | tail -n 5", False, 2, ""),
    Case(f"{X} -m 1 green", False, 1, ""),
    # Another order than that of one scope: a listing, in the order of its list.
    Case("sort scope_1.txt | xargs -d '\\n' rg bird", False, M, IN_ORDER),
    Case("cat scope_1.txt scope_2.txt | xargs -d '\\n' rg bird", False, M, "in the order of the list"),
    Case("cat scope_2.txt scope_1.txt | sort -u | xargs -d '\\n' rg bird", False, M, IN_ORDER),
    Case("sort scope_1.txt | xargs -d '\\n' rg bird | head -n 1", False, 1, "1 of 7 matches shown, in the"),
    Case("sort scope_1.txt | xargs -d '\\n' rg bird | tail -n 1", False, 1, "the last 1 of 7 matches shown"),
    Case("printf 'b.txt\\nc.txt\\n' | xargs -d '\\n' rg bird", False, M, f"{M} of 5 matches shown, in the"),
    # No scope: a listing, in the order of its list.
    Case("rg bird b.txt c.txt", False, M, f"{M} of 5 matches shown, in the order of the list"),
    Case("rg bird b.txt c.txt | head -n 2", False, 2, "2 of 5 matches shown, in the order of the list"),
    Case("rg bird", False, M, IN_ORDER),
    Case("rg bird .", False, M, IN_ORDER),
    # The last ones of what is not reranked are known when all has run.
    Case("rg bird b.txt c.txt | tail -n 4", False, None, WRITTEN),
    Case("cat scope_1.txt scope_2.txt | xargs -d '\\n' rg bird | tail -n 1", False, None, ""),
    # Something else than the first lines of a listing.
    Case(f"{X} bird | head -c 500", False, None, WRITTEN),
    Case(f"{X} bird | head -n -1", False, None, WRITTEN),
    Case(f"{X} bird | tail -n +3", False, None, WRITTEN),
    Case(f"{X} bird | head -50 | tail -5", False, None, WRITTEN),
    Case(f"{X} bird | sort", False, None, WRITTEN),
    Case(f"{X} bird | sed -n '1,60p'", False, None, WRITTEN),
    Case(f"{X} bird | rg -v red", False, None, WRITTEN),
    Case(f"{X} bird | rg -i GREEN | head -n 30", False, None, ""),
    Case(f"{X} bird | grep -v red", False, None, WRITTEN),
    Case(f"{X} bird | cut -d: -f1 | sort | uniq -c", False, None, WRITTEN),
    Case(f"{X} bird | wc -l", False, None, ""),
    # Options that say what is printed.
    Case(f"{X} -C 2 bird", False, None, WRITTEN),
    Case(f"{X} -A1 -B1 bird | head -40", False, None, WRITTEN),
    Case(f"{X} -l bird", False, None, WRITTEN),
    Case(f"{X} --files-without-match bird", False, None, ""),
    Case(f"{X} -c bird", False, None, WRITTEN),
    Case(f"{X} --count-matches bird", False, None, WRITTEN),
    Case(f"{X} -o bird", False, None, WRITTEN),
    Case(f"{X} -v bird", False, None, WRITTEN),
    Case(f"{X} -r X bird", False, None, WRITTEN),
    Case(f"{X} --heading bird", False, None, WRITTEN),
    Case(f"{X} --column bird", False, None, WRITTEN),
    Case(f"{X} --vimgrep bird", False, None, WRITTEN),
    Case(f"{X} -b bird", False, None, WRITTEN),
    Case(f"{X} -I bird", False, None, WRITTEN),
    Case(f"{X} --passthru bird", False, None, WRITTEN),
    Case(f"{X} -q bird", False, None, ""),
    Case(f"{X} bird > /dev/null", False, None, ""),
    # Other programs.
    Case("cat scope_1.txt | xargs -d '\\n' grep bird", False, None, ""),
    Case("cat b.txt", False, None, ""),
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    root.mkdir()
    write(root, FILES)
    return root


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command)
def test_the_rule(case: Case, root: Path, tmp_path: Path) -> None:
    back = Backwards()
    where = context(
        root, tmp_path / "run", SCOPE, ["b.txt"], limits=ShellLimits(shown=M), reorder=back, whole_corpus=True
    )
    result = run(case.command, where)
    assert (result.verdict, result.state, result.exit_code) == ("run", "ok", 0)
    assert result.reranked == case.reranked == bool(back.asked) == bool(result.rerank_query)
    assert result.shown == (case.shown or 0)
    assert bool(result.pool) == (case.shown is not None)
    if case.notice:
        assert case.notice in result.observation.rpartition("\n")[2]
    else:
        assert not result.observation.endswith("]")


@pytest.mark.parametrize("case", [case for case in CASES if case.reranked], ids=lambda case: case.command)
def test_without_a_reranker_the_order_stays(case: Case, root: Path, tmp_path: Path) -> None:
    where = context(root, tmp_path / "run", SCOPE, ["b.txt"], limits=ShellLimits(shown=M))
    result = run(case.command, where)
    assert (result.state, result.reranked, result.rerank_query) == ("ok", False, "")
    assert "rerank" not in result.observation
    if result.pool:
        assert [match.shown_at for match in result.pool if match.shown_at] == list(range(1, result.shown + 1))
        assert "in the order of the list" in result.observation
    else:
        assert "tail" in case.command


def test_exactly_m_matches_are_not_reranked(root: Path, tmp_path: Path) -> None:
    for shown, reranked in ((6, True), (7, False), (8, False)):
        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(shown=shown), reorder=Backwards())
        assert run(f"{X} bird", where).reranked is reranked


def test_pipelines_of_a_command_are_judged_one_by_one(root: Path, tmp_path: Path) -> None:
    where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(shown=M), reorder=Backwards())
    result = run(f"{X} green; {X} bird | head -2; {X} -c bird && {X} three", where)
    assert result.reranked
    assert result.rerank_query.endswith("RG focus: bird")
    shown = sorted((m for m in result.pool if m.shown_at), key=lambda m: m.shown_at or 0)
    assert [match.shown_at for match in shown] == [1, 2, 3, 4]
    # They are counted as they stand in the observation.
    rows = [row for row in result.observation.split("\n") if ": " in row]
    assert [f"{match.path}:{match.line}: {match.text}" for match in shown] == rows
    assert [match.position for match in result.pool] == list(range(1, 10))


def test_the_shell_itself_expands_nothing(root: Path, tmp_path: Path) -> None:
    where = context(root, tmp_path / "run", SCOPE, reorder=Backwards())
    assert run("rg bird $(cat scope_1.txt)", where).verdict == "refused"
    assert run("rg bird `cat scope_1.txt`", where).verdict == "refused"


@pytest.mark.parametrize(
    ("after", "cap", "tail"),
    [
        ("", None, False),
        ("| head", 10, False),
        ("| tail", 10, True),
        ("| head -5", 5, False),
        ("| head -n5", 5, False),
        ("| head --lines 5", 5, False),
        ("| tail -n 5", 5, True),
    ],
)
def test_the_cap(after: str, cap: int | None, tail: bool, root: Path, tmp_path: Path) -> None:
    (tmp_path / "scope_1.txt").write_text("b.txt\n")
    (and_or,) = check(parse(f"{X} bird {after}"), Policy(str(root), str(tmp_path), (1,), False))
    listing = listing_of(and_or.pipelines[0], reranks=True)
    assert listing is not None
    assert (listing.cap, listing.tail) == (cap, tail)


@pytest.mark.parametrize(
    "after", ["| head -n 0", "| head -n +5", "| head -n 5k", "| head -v", "| head -n 2 -n 3", "| head b.txt"]
)
def test_no_cap(after: str, root: Path, tmp_path: Path) -> None:
    (tmp_path / "scope_1.txt").write_text("b.txt\n")
    (and_or,) = check(parse(f"{X} bird {after}"), Policy(str(root), str(tmp_path), (1,), False))
    assert listing_of(and_or.pipelines[0], reranks=True) is None
