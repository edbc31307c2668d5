from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rarg_tui.errors import MissingPart
from rarg_tui.evaluation import generated, scanning
from rarg_tui.evaluation.generated import ABSENT, BEST, COMMON, RARE, Generated, generate
from rarg_tui.evaluation.scanning import POOL, Scans


def small(directory: Path, seed: int = 1) -> Generated:
    return generate(directory / "corpus", documents=400, directories=30, words=100, scope=300, seed=seed)


class TestGenerate:
    def test_what_is_asked_for(self, tmp_path: Path) -> None:
        corpus = small(tmp_path)
        files = sorted(str(path.relative_to(corpus.root)) for path in corpus.root.rglob("*.txt"))
        assert len(files) == 400
        assert len({Path(file).parent for file in files}) == 30
        assert len(set(corpus.scope)) == 300
        assert set(corpus.scope) <= set(files)

    def test_the_same_arguments_give_the_same_bytes(self, tmp_path: Path) -> None:
        one, two = small(tmp_path / "a"), small(tmp_path / "b")
        assert one.scope == two.scope
        assert [(one.root / path).read_bytes() for path in one.scope] == [
            (two.root / path).read_bytes() for path in two.scope
        ]
        assert small(tmp_path / "c", seed=2).scope != one.scope

    def test_where_the_marked_words_stand(self, tmp_path: Path) -> None:
        corpus = small(tmp_path)
        texts = {path: (corpus.root / path).read_text() for path in corpus.scope}
        best = [path for path in corpus.scope if BEST in texts[path]]
        assert best == list(corpus.scope[:3])
        every = [path.read_text() for path in corpus.root.rglob("*.txt")]
        assert [sum(word in text for text in every) for word in (COMMON, RARE, ABSENT)] == [100, 4, 0]


class TestScans:
    @pytest.mark.parametrize("word", [COMMON, RARE, BEST, ABSENT])
    def test_the_same_lines_as_the_plain_ways(self, word: str, tmp_path: Path) -> None:
        scans = Scans(small(tmp_path), tmp_path)
        ours = scans.ordered(word)
        assert ours.lines == scans.plain(word, threads=1).lines
        assert sorted(ours.lines) == sorted(scans.plain(word).lines)
        assert 0 < ours.first <= ours.seconds

    def test_the_pool_ends_both(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scanning, "POOL", 7)
        scans = Scans(small(tmp_path), tmp_path)
        assert scans.ordered(COMMON).lines == scans.plain(COMMON, threads=1, most=7).lines
        assert len(scans.ordered(COMMON).lines) == 7
        assert POOL == 500

    def test_no_xargs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        find: Callable[[str], str | None] = scanning.find_program
        monkeypatch.setattr(scanning, "find_program", lambda name: None if name == "xargs" else find(name))
        with pytest.raises(MissingPart, match="needs xargs"):
            Scans(small(tmp_path), tmp_path)


def test_words_of_the_text_are_none_of_the_marked(tmp_path: Path) -> None:
    corpus = small(tmp_path)
    words = {word for path in corpus.root.rglob("*.txt") for word in path.read_text().split()}
    syllables = set("".join(generated._SYLLABLES))
    own = {COMMON, RARE, BEST, *["here", "stands", "in", "a", "line", "of", "its", "own"]}
    assert all(set(word) <= syllables for word in words - own)
