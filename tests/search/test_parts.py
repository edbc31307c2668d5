"""The small parts: xargs input, sed scripts, keywords, batches, options."""

from __future__ import annotations

import pytest

from rarg_tui.errors import RargError
from rarg_tui.search.batches import BatchSizes, batches
from rarg_tui.search.keywords import MOST, focused, keywords
from rarg_tui.search.refusal import CommandError, Refused
from rarg_tui.search.rg_options import read_rg
from rarg_tui.search.sed_script import check_sed
from rarg_tui.search.xargs import Xargs, read_xargs, split_names


class TestXargs:
    @pytest.mark.parametrize("delimiter", ["\\n", "\n"])
    def test_lines(self, delimiter: str) -> None:
        xargs, command = read_xargs(["-d", delimiter, "-r", "rg", "-n", "x"])
        assert command == ["rg", "-n", "x"]
        assert split_names(b"a b\n\n-c\n", xargs) == [b"a b", b"", b"-c"]

    def test_attached_and_null(self) -> None:
        assert read_xargs(["-0", "cat"])[0].delimiter == b"\0"
        assert read_xargs(["-d\\t", "-n2", "cat"])[0] == Xargs(b"\t", 2)
        assert split_names(b"a\0b", Xargs(b"\0")) == [b"a", b"b"]

    def test_nothing(self) -> None:
        assert split_names(b"", Xargs(b"\n")) == []
        assert split_names(b"", Xargs()) == []

    def test_own_rules_only_where_they_tear_nothing(self) -> None:
        assert split_names(b"a\nb\n\nc", Xargs()) == [b"a", b"b", b"c"]
        for torn in (b"a b\n", b"it's\n", b"a\\b\n"):
            with pytest.raises(CommandError, match="-d"):
                split_names(torn, Xargs())

    def test_null_over_lines(self) -> None:
        with pytest.raises(CommandError, match="NUL"):
            split_names(b"a\nb\n", Xargs(b"\0"))


class TestSed:
    @pytest.mark.parametrize(
        "script",
        [
            "1,5p",
            "10q",
            "$p",
            "/a/p",
            "/a/,/b/p",
            "/a/I,+3p",
            "0~4p",
            "s/a/b/g",
            "s|/|x|2p",
            "y/ab/cd/",
            "p;p",
            "1{p;q}",
            "1!d",
            "2,4!{p}",
            "\\,a,p",
            "s/\\//x/",
            "=",
            "# note\np",
            "s/[0-9]*/N/",
            "1,5 p ; 7q",
            "F",
            ":a;n;ta;b",
        ],
    )
    def test_prints(self, script: str) -> None:
        check_sed(script)

    @pytest.mark.parametrize(
        "script",
        [
            "w f",
            "1w f",
            "s/a/b/w f",
            "s/a/b/ew f",
            "s/a/b/e",
            "e",
            "1e id",
            "r f",
            "R f",
            "W f",
            "1{w f",
            "p;w f",
            "/a/e",
            "s/a/b/;e id",
            "a text",
            "i\\x",
            "c x",
            "v",
            "s/a/b/gw f",
            "s/[/]/x/;e",
            "y/a/b/;w f",
            "1,2!{p;e id}",
            "}",
            "p}w f",
            "p w f",
            "s/x/\\\n/e",
        ],
    )
    def test_does_nothing_else(self, script: str) -> None:
        with pytest.raises(RargError):
            check_sed(script)


class TestKeywords:
    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("comet hunter", ["comet", "hunter"]),
            (r"(?i)\bcomet\s+hunters?\b", ["comet", "hunters"]),
            ("alpha|beta|Alpha", ["alpha", "beta"]),
            (r"[A-Z]\w+ Dr\. [^abc]{2,3}", ["Dr"]),
            (r"first.{0,40}light", ["first", "light"]),
            (r"(?<=Dr\. )Smith", ["Dr", "Smith"]),
            (r"(?P<year>1984)\p{L}+\x41", ["1984"]),
            ("漢字|é", ["漢字", "é"]),
            (r"O'Brien|well-known", ["O'Brien", "well-known"]),
            (r"\d{4}-\d{2}", []),
            (r"\Qa.b\E", []),
            (r"[Cc]omet [Éé]toile [Tt][Hh]e [CX]at", ["Comet", "Étoile", "THe", "at"]),
            (r"C:\\Users\\bob", ["Users", "bob"]),
            (r"\d\\bird", ["bird"]),
        ],
    )
    def test_words(self, pattern: str, expected: list[str]) -> None:
        assert keywords([pattern]) == expected

    def test_fixed_several_and_at_most(self) -> None:
        assert keywords(["a.b(foo)", "bar"], fixed=True) == ["foo", "bar"]
        assert len(keywords([" ".join(f"w{n}" for n in range(99))])) == MOST

    def test_focus(self) -> None:
        assert focused("who", ["a", "b"]) == "who\n\nRG focus: a b"
        assert (focused("who", []), focused("", ["a"]), focused("q", ["a"], "own")) == ("who", "a", "own")


class TestBatches:
    def test_grow_up_to_a_limit(self) -> None:
        sizes = BatchSizes(first=1, growth=3, most=5)
        assert [len(batch) for batch in batches(map(str, range(20)), sizes)] == [1, 3, 5, 5, 5, 1]

    def test_the_bytes_of_names_count(self) -> None:
        sizes = BatchSizes(first=10, most_bytes=10)
        assert list(batches(["aaaa", "bbbb", "é" * 20, "c"], sizes)) == [["aaaa", "bbbb"], ["é" * 20], ["c"]]
        assert list(batches([], sizes)) == []


class TestRgOptions:
    def test_plain(self) -> None:
        call = read_rg(
            ["-nSi", "-m3", "-e", "a", "-eb", "--max-count=2", "-j", "4", "--sort=path", "--color=always"]
        )
        assert call.plain
        assert call.patterns == ("a", "b")
        assert call.arguments() == ["-n", "-S", "-i", "-m", "3", "--max-count=2", "--regexp=a", "--regexp=b"]

    @pytest.mark.parametrize(
        "option",
        [
            "-c",
            "-l",
            "-o",
            "-C2",
            "-A=1",
            "--heading",
            "-v",
            "-0",
            "-I",
            "-rX",
            "--vimgrep",
            "--column",
            "-b",
            "-p",
            "--trim",
        ],
    )
    def test_other_shapes(self, option: str) -> None:
        assert not read_rg([option, "x"]).plain

    def test_pattern_and_paths(self) -> None:
        call = read_rg(["x", "-i", "a", "--", "-b"])
        assert (call.patterns, call.paths) == (("x",), ("a", "-b"))
        assert read_rg(["--", "-x", "f"]).patterns == ("-x",)
        assert read_rg(["-F", "a", "--no-fixed-strings"]).fixed is False
        assert read_rg(["-p", "x"]).arguments() == ["--heading", "-n", "--regexp=x"]

    @pytest.mark.parametrize("arguments", [["--pre=x", "a"], ["--pr", "a"], ["-ziL", "a"], ["--json", "a"]])
    def test_refused(self, arguments: list[str]) -> None:
        with pytest.raises(Refused):
            read_rg(arguments)
