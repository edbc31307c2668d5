from __future__ import annotations

from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.search.grep import GrepResult, grep, grep_raw
from rarg_tui.search.rg import find_rg
from rarg_tui.search.shell import Reorder, ShellLimits
from tests.hostile import WORD, Hostile
from tests.search.scene import Backwards, write

PATHS = ["b.md", "a.txt", "c.txt"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, {"a.txt": "bird\nno\n", "b.md": "bird two\nbird\n", "c.txt": "a bird\n"})
    return tmp_path


def search(
    root: Path,
    *arguments: str,
    paths: list[str] | None = None,
    query: str | None = "green bird",
    ranked: bool = True,
    shown: int = 30,
    reorder: Reorder | None = None,
) -> GrepResult:
    return grep(
        root, paths if paths is not None else PATHS, arguments, scope_query=query, ranked=ranked,
        limits=ShellLimits(shown=shown), reorder=reorder,
    )  # fmt: skip


def test_in_scope_order(root: Path) -> None:
    result = search(root, "bird")
    assert [(m.path, m.line, m.document_rank) for m in result.pool] == [
        ("b.md", 1, 1), ("b.md", 2, 1), ("a.txt", 1, 2), ("c.txt", 1, 3),
    ]  # fmt: skip
    assert (result.state, result.message, result.pattern) == ("ok", "", "bird")
    assert result.shown == result.pool
    assert result.rg_version == find_rg().version
    assert result.keywords == ("bird",)
    assert (result.reranked, result.rerank_query, result.pool_full) == (False, "", False)


def test_reranked(root: Path) -> None:
    result = search(root, "-i", "BIRD", shown=2, reorder=Backwards())
    assert [m.path for m in result.shown] == ["c.txt", "a.txt"]
    assert [m.shown_at for m in result.pool] == [None, None, 2, 1]
    assert result.reranked
    assert result.rerank_query == "green bird\n\nRG focus: BIRD"
    assert result.notice == "2 of 4 matches shown, best first (reranked)"


def test_the_whole_corpus_is_reranked_only_for_a_query(root: Path) -> None:
    without = search(root, "bird", query=None, ranked=False, shown=1, reorder=Backwards())
    assert (without.reranked, without.pool[0].document_rank) == (False, None)
    assert search(root, "bird", query="q", ranked=False, shown=1, reorder=Backwards()).reranked


def test_filters_leave_documents_out(root: Path) -> None:
    assert {m.path for m in search(root, "-g", "*.txt", "bird").pool} == {"a.txt", "c.txt"}
    assert [m.document_rank for m in search(root, "-tmd", "bird").pool] == [1, 1]
    with pytest.raises(RargError, match="nope"):
        search(root, "-t", "nope", "bird")


def test_other_forms_are_text(root: Path) -> None:
    result = search(root, "-c", "bird")
    assert (result.text, result.pool, result.state) == ("b.md:2\na.txt:1\nc.txt:1", (), "ok")
    assert search(root, "-l", "zzz").state == "no_match"


def test_states(root: Path) -> None:
    assert search(root, "zzz").state == "no_match"
    partial = search(root, "bird", paths=["gone", "a.txt"])
    assert (partial.state, len(partial.pool)) == ("partial", 1)
    assert "gone" in partial.message
    assert search(root, "bird", paths=["gone"]).state == "failed"
    assert search(root, "bird", paths=[]).state == "no_match"
    bad = search(root, "(open")
    assert bad.state == "failed"
    assert "regex parse error" in bad.message
    assert grep(
        root, PATHS, ["bird"], scope_query=None, ranked=True, limits=ShellLimits(timeout_s=0), reorder=None
    ).state == "timed_out"  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [["bird", "a.txt"], [], ["--pre", "x", "bird"], ["--files"], ["--json", "x"]]
)
def test_bad_arguments(arguments: list[str], root: Path) -> None:
    with pytest.raises(RargError, match=r"[.]$"):
        search(root, *arguments)


def test_a_file_of_patterns_is_the_persons(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = root / "away"
    write(away, {"pats": "two\n"})
    monkeypatch.chdir(away)
    assert [m.text for m in search(root, "-f", "pats").pool] == ["bird two"]


def test_raw(root: Path) -> None:
    out = bytearray()
    result = grep_raw(root, PATHS, ["-n", "-g", "*.txt", "bird"], out.extend)
    assert out == b"b.md:1:bird two\nb.md:2:bird\na.txt:1:bird\nc.txt:1:a bird\n"
    assert (result.state, result.exit_code) == ("ok", 0)
    out.clear()
    grep_raw(root, PATHS, ["-g", "*.txt", "bird"], out.extend, whole_corpus=True)
    assert out == b"a.txt:bird\nc.txt:a bird\n"
    assert grep_raw(root, PATHS, ["zzz"], out.extend).exit_code == 1
    assert grep_raw(root, ["gone"], ["zzz"], out.extend).exit_code == 2
    bad = grep_raw(root, PATHS, ["(open"], out.extend)
    assert (bad.state, bad.exit_code, "^" in bad.message) == ("failed", 2, True)


def test_a_scope_file_may_not_lead_out(hostile_corpus: Hostile) -> None:
    root = hostile_corpus.root
    names = ["../x", "/etc/passwd", "outside.txt", "pipe.txt", "loop/plain.txt", "link.txt", ".hidden.txt"]
    result = search(root, "-e", WORD, "-e", "root", paths=names)
    assert [m.path for m in result.pool] == ["loop/plain.txt", "link.txt", ".hidden.txt"]
    assert result.state == "partial"
