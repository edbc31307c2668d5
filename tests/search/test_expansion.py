"""Whether bash would expand a word: bounded, and silent about what lies outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from rarg_tui.search import expansion
from rarg_tui.search.expansion import Expansion


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    corpus = tmp_path / "corpus"
    (corpus / "letters").mkdir(parents=True)
    (corpus / "letters" / "a.txt").write_text("x")
    (corpus / ".hidden").write_text("x")
    (corpus / "away").symlink_to(tmp_path / "outside")
    return corpus


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        ("*.txt", False),
        ("letters/*", True),
        ("./letters/?.txt", True),
        ("*/a*", True),
        ("letters/*/", True),
        ("*/*/*", False),
        ("nowhere/*", False),
        (".h*", True),
        ("[*]", False),
        ("foo.*bar", False),
    ],
)
def test_inside(root: Path, pattern: str, answer: bool) -> None:
    (root / "away").unlink()
    assert Expansion(str(root)).of(pattern) is answer


@pytest.mark.parametrize(
    "pattern", ["/etc/*", "/no-such-name*", "../no*", "letters/../../no*", "away/no*", "*/no*"]
)
def test_outside_the_answer_tells_nothing(root: Path, pattern: str) -> None:
    assert Expansion(str(root)).of(pattern)


def test_links_in_a_circle_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "away").unlink()
    for name in "abcd":
        (root / name).symlink_to(".")
    monkeypatch.setattr(expansion, "_MOST_ENTRIES", 10_000)
    assert Expansion(str(root)).of("*/" * 30 + "no-such-name")


def test_many_words_have_one_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a command of thousands of patterns reads a large corpus thousands of times."""
    monkeypatch.setattr(expansion, "_MOST_ENTRIES", 10)
    one = Expansion(str(root))
    assert [one.of("zz*") for _ in range(6)] == [False, False, False, True, True, True]
