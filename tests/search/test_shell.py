from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.search.shell import ShellContext, ShellLimits, ShellResult, run
from rarg_tui.trace.events import STATES, Match
from tests.hostile import WORD, Hostile
from tests.search.scene import Backwards, context, write

LIST = "cat scope_1.txt | xargs -d '\\n' rg -n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    root.mkdir()
    write(
        root,
        {
            "b.txt": "green bird\nred bird\nno\n",
            "a file.txt": "a bird\n",
            "sub/c.txt": "bird one\nbird two\nbird three\n",
            "d.txt": "nothing here\n",
            "it's.txt": "one\nthe bird\ntwo\n",
        },
    )
    return root


SCOPE = ["sub/c.txt", "b.txt", "it's.txt", "a file.txt", "d.txt"]


@pytest.fixture
def calm(root: Path, tmp_path: Path) -> ShellContext:
    return context(root, tmp_path / "run", SCOPE, ["d.txt", "b.txt"])


def shell(command: str, where: ShellContext) -> ShellResult:
    result = run(command, where)
    assert result.state in STATES
    assert set(result.elapsed_ms) == {"scan", "rerank"}
    return result


class TestListing:
    def test_in_scope_order(self, calm: ShellContext) -> None:
        result = shell(f"{LIST} bird", calm)
        assert result.observation.split("\n") == [
            "sub/c.txt:1: bird one",
            "sub/c.txt:2: bird two",
            "sub/c.txt:3: bird three",
            "b.txt:1: green bird",
            "b.txt:2: red bird",
            "it's.txt:2: the bird",
            "a file.txt:1: a bird",
        ]
        assert (result.verdict, result.state, result.exit_code, result.scope) == ("run", "ok", 0, 1)
        assert (result.pattern, result.reranked, result.pool_full, result.shown) == ("bird", False, False, 7)
        assert [match.shown_at for match in result.pool] == list(range(1, 8))
        assert [match.document_rank for match in result.pool] == [1, 1, 1, 2, 2, 3, 4]
        assert result.seen == ("sub/c.txt", "b.txt", "it's.txt", "a file.txt")

    def test_a_literal_line_end_in_the_delimiter(self, calm: ShellContext) -> None:
        assert shell("cat scope_1.txt | xargs -d '\n' rg bird", calm).shown == 7

    def test_reranked_only_when_more_matched_than_shown(self, root: Path, tmp_path: Path) -> None:
        back = Backwards()
        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(shown=3), reorder=back)
        result = shell(f"{LIST} -i 'bird|nest'", where)
        assert [match.shown_at for match in result.pool] == [None] * 4 + [3, 2, 1]
        assert [match.position for match in result.pool] == list(range(1, 8))
        assert all(match.score for match in result.pool)
        assert result.observation.endswith("[3 of 7 matches shown, best first (reranked)]")
        assert result.rerank_query == "which bird is green\n\nRG focus: bird nest"
        assert back.asked == [(result.rerank_query, ("bird", "nest"), 7)]
        assert result.reranked
        few = shell(f"{LIST} the", where)
        assert (few.reranked, few.rerank_query, few.shown) == (False, "", 1)

    def test_own_words_make_the_query(self, root: Path, tmp_path: Path) -> None:
        limits = ShellLimits(shown=1)
        where = context(
            root, tmp_path / "run", SCOPE, limits=limits, reorder=Backwards(), rerank_query="own words"
        )
        assert shell(f"{LIST} bird", where).rerank_query == "own words"

    @pytest.mark.parametrize("after", ["head -n 2", "head -2", "head --lines=2", "tail -n 2", "tail -2"])
    def test_head_and_tail_cap(self, after: str, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, reorder=Backwards())
        result = shell(f"{LIST} bird | {after}", where)
        assert (result.shown, result.reranked, len(result.pool)) == (2, True, 7)
        assert result.observation.startswith("a file.txt:1: a bird\nit's.txt:2: the bird\n[2 of 7")

    def test_tail_of_few_is_the_end(self, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, reorder=Backwards())
        assert shell(f"{LIST} -e one -e two | tail -n 9", where).shown == 4
        plain = context(root, tmp_path / "run", SCOPE)
        assert shell(f"{LIST} bird | tail -n 1", plain).observation == "a file.txt:1:a bird"

    @pytest.mark.parametrize("tail", ["", " | head -n 4"])
    def test_without_reranker_the_first_are_shown(self, tail: str, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(shown=2, pool=5))
        result = shell(f"{LIST} bird{tail}", where)
        assert result.observation == (
            "sub/c.txt:1: bird one\nsub/c.txt:2: bird two\n"
            "[2 of the first 5 matches shown, in the order of the list; "
            "the pool limit was reached, there are more]"
        )
        assert (result.pool_full, len(result.pool), result.shown) == (True, 5, 2)

    @pytest.mark.parametrize(
        "command",
        [
            "head -3 scope_1.txt | xargs -d '\\n' rg -n bird",
            "cat scope_1.txt | grep txt | xargs -d '\\n' rg -n bird",
            "xargs -a scope_1.txt -d '\\n' rg -n bird",
            "xargs -d '\\n' rg -n bird < scope_1.txt",
            "cat scope_1.txt | xargs -d '\\n' rg -l bird | xargs -d '\\n' rg -n bird",
        ],
    )
    def test_part_of_a_scope_is_that_scope(self, command: str, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(shown=1), reorder=Backwards())
        result = shell(command, where)
        assert (result.scope, result.reranked, result.shown) == (1, True, 1)

    @pytest.mark.parametrize(
        ("command", "said"),
        [
            (
                "cat scope_1.txt scope_2.txt | sort -u | xargs -d '\\n' rg -n bird",
                "scope_1.txt and scope_2.txt",
            ),
            ("sort scope_1.txt | xargs -d '\\n' rg -n bird", "not in the order of the scope"),
        ],
    )
    def test_another_order_is_said_and_not_reranked(
        self, command: str, said: str, root: Path, tmp_path: Path
    ) -> None:
        where = context(
            root, tmp_path / "run", SCOPE, ["b.txt"], limits=ShellLimits(shown=1), reorder=Backwards()
        )
        result = shell(command, where)
        assert result.reranked is False
        assert said in result.observation
        assert result.pool[0].path == "a file.txt"

    def test_files_that_are_named(self, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(shown=1), reorder=Backwards())
        result = shell("rg bird b.txt './sub/c.txt'", where)
        assert (result.reranked, result.scope, len(result.pool)) == (False, None, 5)
        assert result.observation.startswith("b.txt:1: green bird\n[1 of 5 matches shown")
        assert result.pool[-1].path == "sub/c.txt"

    def test_a_failing_reranker_leaves_the_order(self, root: Path, tmp_path: Path) -> None:
        class Broken:
            def rerank(self, query: str, keywords: Sequence[str], matches: Sequence[Match]) -> list[Match]:
                raise RargError("the model is gone.")

        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(shown=1), reorder=Broken())
        result = shell(f"{LIST} bird", where)
        assert (result.reranked, result.state) == (False, "ok")
        assert "not reranked: the model is gone]" in result.observation

    def test_two_listings_make_one_pool(self, calm: ShellContext) -> None:
        told: list[Match] = []
        result = run(f"echo A; {LIST} green; {LIST} three", calm, on_matches=told.extend)
        assert result.observation == "A\nb.txt:1: green bird\nsub/c.txt:3: bird three"
        assert [match.position for match in result.pool] == [1, 2]
        assert result.pattern == "green | three"
        assert len(told) == 2

    def test_rows_of_long_and_of_several_lines(self, root: Path, tmp_path: Path) -> None:
        write(root, {"long.txt": "x" * 400 + "bird" + "y" * 400})
        where = context(root, tmp_path / "run", ["long.txt", "b.txt"], limits=ShellLimits(line_length=40))
        first, *others = shell(f"{LIST} -U -e bird", where).observation.split("\n")
        assert first.startswith("long.txt:1: …xxx")
        assert first.endswith("yyy… [764 characters cut]")
        assert others[-1] == "[1 line shortened]"
        both = shell(f"{LIST} -U 'green bird\\nred'", where).observation
        assert both == "b.txt:1: green bird\nb.txt:2: red bird"

    def test_bytes_and_lines_are_a_budget_too(self, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(output_bytes=50))
        result = shell(f"{LIST} bird", where)
        assert (result.shown, len(result.pool)) == (2, 7)
        notice = "[2 of 7 matches shown, in the order of the list; no more fit in 50 bytes]"
        assert result.observation.endswith(notice)


class TestAsWritten:
    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            (f"{LIST} -l bird | head -2", "sub/c.txt\nb.txt"),
            (f"{LIST} -c bird | sort -t: -k2 -nr | head -n 1", "sub/c.txt:3"),
            (f"{LIST} bird | rg -i GREEN | head -n 9", "b.txt:1:green bird"),
            (f"{LIST} -C1 the", "it's.txt-1-one\nit's.txt:2:the bird\nit's.txt-3-two"),
            (f"{LIST} -o 'gr..n|t..ee'", "sub/c.txt:3:three\nb.txt:1:green"),
            (f"{LIST} bird | sed -n '2p'", "sub/c.txt:2:bird two"),
            (
                f"{LIST} bird | cut -d: -f1 | uniq -c | sed 's/^ *//'",
                "3 sub/c.txt\n2 b.txt\n1 it's.txt\n1 a file.txt",
            ),
            (f"{LIST} bird | tail -n +7", "a file.txt:1:a bird"),
            ("rg -c bird b.txt", "2"),
            ("rg -v bird b.txt", "no"),
            ("rg -n sub scope_1.txt", "1:sub/c.txt"),
            ("wc -l scope_1.txt", "5 scope_1.txt"),
            ("wc -l < scope_1.txt", "5"),
            ("sed -n '1,2p' 'a file.txt'", "a bird"),
            (
                "head -1 scope_1.txt scope_2.txt",
                "==> scope_1.txt <==\nsub/c.txt\n\n==> scope_2.txt <==\nd.txt",
            ),
            ("cat scope_1.txt | xargs -d '\\n' grep -h green", "green bird"),
            ("cat scope_2.txt | xargs -d '\\n' wc -l | tr -d ' '", "1d.txt\n3b.txt\n4total"),
            ("cat scope_1.txt | xargs -d '\\n' -n1 sed -n 1p | head -2", "bird one\ngreen bird"),
            ("printf 'x y\\n' | xargs -d '\\n' echo got", "got x y"),
            ("echo a; echo b && false || echo c", "a\nb\nc"),
            ("true && echo yes || echo no", "yes"),
            ("rg zzz b.txt && echo yes || echo no", "(no matches)\nno"),
            ("! rg -q zzz b.txt && echo absent", "(no matches)\nabsent"),
            ("[ -f b.txt ] && [ ! -d b.txt ] && echo file", "file"),
            (f"{LIST} -q bird && echo found", "found"),
            (f"{LIST} bird >/dev/null; echo done", "done"),
            ("set -e; false; echo never", "(no output)"),
            ("set -e; false || echo once", "once"),
            ("[ -s scope_1.txt ] && echo full || :", "full"),
            ("echo a && " * 30 + "echo b", "a\n" * 30 + "b"),
            ("cat b.txt 2>&1 | nl -ba | tail -1 | tr -s ' ' | tr '\\t' ' '", " 3 no"),
            ("cat scope_1.txt | comm -12 - scope_1.txt 2>/dev/null | head -1", "sub/c.txt"),
        ],
    )
    def test_output(self, command: str, expected: str, calm: ShellContext) -> None:
        result = shell(command, calm)
        assert result.observation == expected
        assert (result.verdict, result.pool, result.reranked) == ("run", (), False)

    def test_pipefail(self, calm: ShellContext) -> None:
        assert shell("rg -c zzz b.txt | cat", calm).exit_code == 0
        assert shell("set -o pipefail; rg -c zzz b.txt | cat", calm).exit_code == 1

    def test_seen(self, calm: ShellContext) -> None:
        assert shell(f"{LIST} -l bird", calm).seen == ("sub/c.txt", "b.txt", "it's.txt", "a file.txt")
        assert shell(f"{LIST} -C1 the", calm).seen == ("it's.txt",)
        assert shell("sed -n 1p b.txt", calm).seen == ("b.txt",)
        assert shell("cat scope_1.txt | xargs -d '\\n' head -n1 | head -2", calm).seen == ("sub/c.txt",)
        assert shell("cat scope_1.txt", calm).seen == ()
        assert shell("ls", calm).seen == ()

    def test_long_output_is_cut_and_said(self, root: Path, tmp_path: Path) -> None:
        write(root, {"long.txt": "".join(f"line {n}\n" for n in range(90_000))})
        where = context(root, tmp_path / "run", ["long.txt"])
        for command in ("cat long.txt", f"{LIST} -o line", "cat long.txt | sed -n p"):
            text = shell(command, where).observation
            assert text.count("\n") == 2000
            assert text.endswith(
                "[the first 2000 lines shown, there are more; narrow it, or use head, tail or sed -n]"
            )

    def test_the_runs_directory_stays_private(self, calm: ShellContext) -> None:
        text = shell("wc -l scope_1.txt b.txt", calm).observation
        assert "scope_1.txt" in text
        assert str(calm.run_dir) not in text

    def test_what_programs_complain_of(self, calm: ShellContext) -> None:
        gone = shell("cat gone.txt", calm)
        assert (gone.state, gone.exit_code, gone.observation) == (
            "failed",
            1,
            "cat: gone.txt: No such file or directory",
        )
        half = shell("cat d.txt gone.txt", calm)
        assert (half.state, half.observation.split("\n")[0]) == ("partial", "nothing here")
        assert shell("cat gone.txt 2>/dev/null || echo none", calm).observation == "none"


class TestStates:
    def test_no_match_is_no_failure(self, calm: ShellContext) -> None:
        result = shell(f"{LIST} absent", calm)
        assert (result.state, result.exit_code, result.observation) == ("no_match", 1, "(no matches)")

    def test_an_empty_scope_finds_nothing(self, root: Path, tmp_path: Path) -> None:
        result = shell(f"{LIST} bird", context(root, tmp_path / "run", []))
        assert (result.state, result.pool) == ("no_match", ())
        assert "empty" in result.observation

    def test_partial(self, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", ["gone.txt", "b.txt"])
        result = shell(f"{LIST} green", where)
        assert (result.state, result.exit_code, result.shown) == ("partial", 0, 1)
        assert result.observation == (
            "b.txt:1: green bird\n[1 file not read: gone.txt: No such file or directory]"
        )
        nothing = shell(f"{LIST} absent", where)
        assert (nothing.state, nothing.exit_code) == ("partial", 2)
        assert "(no matches)" not in nothing.observation
        raw = shell(f"{LIST} -c green", where)
        assert (raw.state, raw.observation.split("\n")[0]) == ("partial", "b.txt:1")

    def test_a_corpus_that_is_gone(self, tmp_path: Path) -> None:
        where = context(tmp_path / "gone", tmp_path / "run", ["a.txt"])
        for command in (f"{LIST} bird", f"{LIST} -c bird", "cat a.txt"):
            assert shell(command, where).state in ("failed", "error")

    def test_failed(self, root: Path, tmp_path: Path) -> None:
        result = shell(f"{LIST} bird", context(root, tmp_path / "run", ["gone.txt"]))
        assert (result.verdict, result.state, result.exit_code) == ("run", "failed", 2)

    @pytest.mark.parametrize(
        "command", [f"{LIST} '(open'", f"{LIST} -c '(open' | head", "rg '(open' scope_1.txt"]
    )
    def test_a_bad_pattern(self, command: str, calm: ShellContext) -> None:
        result = shell(command, calm)
        assert (result.verdict, result.state, result.exit_code) == ("error", "error", 2)
        assert "regex parse error" in result.observation
        assert "\n    ^" in result.observation
        assert result.reason == result.message

    def test_refused_and_error(self, calm: ShellContext) -> None:
        refused = shell("rm -rf .", calm)
        assert (refused.verdict, refused.state, refused.exit_code) == ("refused", "refused", 2)
        assert refused.observation == f"(refused: {refused.reason})"
        error = shell("cat scope_7.txt", calm)
        assert (error.verdict, error.state) == ("error", "error")
        assert "scope_1.txt, scope_2.txt" in error.reason

    def test_torn_names_are_explained(self, calm: ShellContext) -> None:
        result = shell("cat scope_1.txt | xargs rg bird", calm)
        assert (result.verdict, "-d '\\n'" in result.reason) == ("error", True)

    def test_what_leads_out_is_left_out(self, root: Path, tmp_path: Path) -> None:
        (root / "out.txt").symlink_to("/etc/passwd")
        (root / "away").symlink_to("/etc")
        os.mkfifo(root / "pipe")
        names = ["out.txt", "away/passwd", "../x", "/etc/passwd", "pipe", "sub", ".h", "b.txt"]
        where = context(root, tmp_path / "run", names)
        for command in (f"{LIST} -e bird -e root", "cat scope_1.txt | xargs -d '\\n' cat"):
            result = shell(command, where)
            assert "root:" not in result.observation
            assert "green bird" in result.observation
            assert result.state == "partial" or "cat" in command


class TestHostile:
    def test_all_names_in_one_scope(self, hostile_corpus: Hostile, tmp_path: Path) -> None:
        paths = sorted(hostile_corpus.lines, key=os.fsencode)
        where = context(
            hostile_corpus.root, tmp_path / "run", paths, limits=ShellLimits(shown=99, pool=9_999)
        )
        result = shell(f"{LIST} -m 2 {WORD}", where)
        found = [match.path for match in result.pool]
        assert {p: found.count(p) for p in paths} == {p: min(2, hostile_corpus.lines[p]) for p in paths}
        counted = shell(f"{LIST} -c {WORD}", where).observation.encode("utf-8", "replace")
        assert len(counted.splitlines()) >= len([p for p in paths if hostile_corpus.lines[p]])
        assert not (hostile_corpus.root / "pwned").exists()
        json.dumps([match.to_json() for match in result.pool])

    @pytest.mark.parametrize(
        "command",
        ["\x00", "\ud800", "'" * 999, "(" * 500, "a|" * 500 + "a", "🧭" * 50, "\x1b[2J", "x" * 99_999],
    )
    def test_never_raises(self, command: str, calm: ShellContext) -> None:
        assert shell(command, calm).verdict in ("error", "refused")

    def test_no_key_can_be_printed(self, calm: ShellContext, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SECRET_KEY", "hunter2")
        monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(calm.root / "b.txt"))
        for command in ("printf '%s\\n' \"$SECRET_KEY\"", "echo '$SECRET_KEY'", f"{LIST} bird"):
            assert "hunter2" not in shell(command, calm).observation


class TestWholeCorpus:
    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("rg -l bird", "a file.txt\nb.txt\nit's.txt\nsub/c.txt"),
            ("rg -l bird .", "a file.txt\nb.txt\nit's.txt\nsub/c.txt"),
            ("rg -l bird sub", "sub/c.txt"),
            ("rg -l bird -g '!sub' -g '*b*'", "b.txt"),
            ("rg --files sub", "sub/c.txt"),
            ("rg --files | rg -c txt", "5"),
            (
                "rg bird ./sub | head -n 1",
                "sub/c.txt:1: bird one\n[1 of 3 matches shown, in the order of the list]",
            ),
            ("grep -rlw green .", "./b.txt"),
        ],
    )
    def test_runs_where_allowed(self, command: str, expected: str, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, whole_corpus=True)
        assert shell(command, where).observation == expected
        assert shell(command, context(root, tmp_path / "run", SCOPE)).verdict == "refused"

    def test_a_bad_type_is_an_error(self, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, whole_corpus=True)
        assert shell("rg -t nope x .", where).verdict == "error"


class TestStopping:
    def test_timed_out(self, root: Path, tmp_path: Path) -> None:
        where = context(root, tmp_path / "run", SCOPE, limits=ShellLimits(timeout_s=0))
        for command in (f"{LIST} bird", f"{LIST} -c bird", "cat b.txt | sort"):
            result = shell(command, where)
            assert (result.verdict, result.state) == ("run", "timed_out")
            assert "(no matches)" not in result.observation
            assert "stopped" in result.observation

    def test_cancelled(self, calm: ShellContext) -> None:
        cancel = threading.Event()
        cancel.set()
        for command in (f"{LIST} bird", "echo a; echo b"):
            assert run(command, calm, cancel).state == "cancelled"

    def test_cancelled_while_matches_come(self, calm: ShellContext) -> None:
        cancel = threading.Event()

        def stop(matches: Sequence[Match]) -> None:
            cancel.set()

        result = run(f"{LIST} bird; echo never", calm, cancel, stop)
        assert "never" not in result.observation
