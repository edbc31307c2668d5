"""The small parts: xargs input, sed scripts, keywords, excerpts, records, batches, options."""

from __future__ import annotations

import base64
import json
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from rarg_tui.errors import RargError
from rarg_tui.search.batches import BatchSizes, batches, in_order
from rarg_tui.search.excerpt import MARK, excerpt
from rarg_tui.search.keywords import MOST, focused, keywords
from rarg_tui.search.records import decode_line, read_end, read_match
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
            "F",
            "v",
            "b",
            "ta",
            ":a",
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


class TestExcerpt:
    def test_short(self) -> None:
        assert excerpt("abc", [(1, 2)], 10) == ("abc", ((1, 2),), 0)

    def test_around_one(self) -> None:
        text = "x" * 500 + "HIT" + "y" * 500
        cut, spans, left_out = excerpt(text, [(500, 503)], 41)
        assert cut == MARK + "x" * 19 + "HIT" + "y" * 19 + MARK
        assert [cut[a:b] for a, b in spans] == ["HIT"]
        assert left_out == len(text) - 41

    def test_at_the_ends_and_far_apart(self) -> None:
        text = "A" + "x" * 300 + "B" + "x" * 300 + "C"
        cut, spans, left_out = excerpt(text, [(0, 1), (301, 302), (602, 603)], 60)
        assert [cut[a:b] for a, b in spans] == ["A", "B", "C"]
        assert cut.count(MARK) == 2
        assert left_out == len(text) - (len(cut) - 2)

    def test_many_long_and_none(self) -> None:
        text = "ab" * 10_000
        cut, spans, left_out = excerpt(text, [(at, at + 1) for at in range(0, len(text), 2)], 100)
        assert all(cut[a:b] == "a" for a, b in spans)
        assert len(cut) <= 104
        assert left_out >= len(text) - 100
        assert excerpt("z" * 90, [(0, 90)], 10)[:2] == ("z" * 10 + MARK, ((0, 10),))
        assert excerpt("z" * 90, [], 10) == ("z" * 10 + MARK, (), 80)
        assert excerpt("z" * 90, [(90, 90)], 10)[2] == 80


class TestRecords:
    def test_bytes_become_characters(self) -> None:
        line = "前 NEEDLE 後\r\n".encode()
        text, spans = decode_line(line, [(4, 10)])
        assert text == "前 NEEDLE 後"
        assert [text[a:b] for a, b in spans] == ["NEEDLE"]

    def test_what_is_not_utf8(self) -> None:
        text, spans = decode_line(b"\xff\xe9 NEEDLE \xc3(\n", [(3, 9)])
        assert [text[a:b] for a, b in spans] == ["NEEDLE"]
        assert text == "\ufffd\ufffd NEEDLE \ufffd("

    def test_spans_that_cut_characters_do_not_shift_others(self) -> None:
        text, spans = decode_line("é NEEDLE".encode(), [(0, 1), (3, 9)])
        assert text[spans[1][0] : spans[1][1]] == "NEEDLE"

    def test_the_line_end_is_no_part(self) -> None:
        assert decode_line(b"ab\r\n", [(0, 4)]) == ("ab", [(0, 2)])

    def test_a_match(self) -> None:
        path = base64.b64encode(b"latin-\xe9.txt").decode()
        match = read_match(record({"bytes": path}, {"text": "a hit\n"}, [(2, 5)]), 100)
        assert (match.path, match.line, match.text, match.spans) == (
            os.fsdecode(b"latin-\xe9.txt"),
            7,
            "a hit",
            ((2, 5),),
        )
        assert read_match(record({"text": "./-"}, {"text": "x\n"}, []), 9).path == "-"

    def test_a_long_record_is_read_in_part(self) -> None:
        text = '"submatches":[' + "a" * 200_000
        data = record({"text": "f"}, {"text": text}, [(at, at + 1) for at in range(14, 9_000)])
        whole, torn = read_match(data, 50), read_match(data[: len(data) // 2], 50)
        assert whole == torn
        assert len(text) - 50 <= whole.cut < len(text)
        assert whole.spans[0][1] - whole.spans[0][0] == 1

    def test_not_understood(self) -> None:
        for bad in (
            b'{"type":"match","data":{}}',
            b"{",
            b'{"type":"match","data":{"lines":{"text":"' + b"a" * 70_000,
        ):
            with pytest.raises(ValueError, match=r"."):
                read_match(bad, 10)

    def test_an_end(self) -> None:
        assert read_end(b'{"type":"end","data":{"path":{"text":"f"},"binary_offset":3}}') == ("f", 3)


def record(path: object, lines: object, spans: list[tuple[int, int]]) -> bytes:
    data = {
        "path": path,
        "lines": lines,
        "line_number": 7,
        "absolute_offset": 0,
        "submatches": [{"match": {"text": "x"}, "start": a, "end": b} for a, b in spans],
    }
    return json.dumps({"type": "match", "data": data}, separators=(",", ":")).encode() + b"\n"


class TestBatches:
    def test_grow_up_to_a_limit(self) -> None:
        sizes = BatchSizes(first=1, growth=3, most=5)
        assert [len(batch) for batch in batches(map(str, range(20)), sizes)] == [1, 3, 5, 5, 5, 1]

    def test_the_bytes_of_names_count(self) -> None:
        sizes = BatchSizes(first=10, most_bytes=10)
        assert list(batches(["aaaa", "bbbb", "é" * 20, "c"], sizes)) == [["aaaa", "bbbb"], ["é" * 20], ["c"]]
        assert list(batches([], sizes)) == []

    def test_results_come_in_order(self) -> None:
        gate = threading.Event()

        def work(batch: object) -> object:
            if batch == ["0"]:
                gate.wait(5)
            else:
                gate.set()
            return batch

        sizes = BatchSizes(first=1, growth=1, most=1, workers=2)
        items = [[str(n)] for n in range(6)]
        assert list(in_order(work, items, sizes, lambda: None)) == items

    def test_an_early_end_stops_the_work(self) -> None:
        stopped = threading.Event()

        def work(batch: object) -> object:
            if batch != ["0"]:
                stopped.wait(5)
            return batch

        results = in_order(work, [[str(n)] for n in range(9)], BatchSizes(workers=2), stopped.set)
        assert next(results) == ["0"]
        results.close()
        assert stopped.is_set()

    def test_an_interrupt_stops_the_work_that_is_waited_for(self) -> None:
        waited_for, stopped = threading.Event(), threading.Event()
        stopped_in_time: list[bool] = []

        def items() -> Iterator[list[str]]:
            yield ["0"]
            waited_for.set()

        def work(batch: object) -> object:
            waited_for.wait()
            for _ in range(5):  # one that comes just before the main thread waits goes unnoticed
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                if stopped.wait(2):
                    break
            stopped_in_time.append(stopped.is_set())
            return batch

        with pytest.raises(KeyboardInterrupt):
            list(in_order(work, items(), BatchSizes(workers=1), stopped.set))
        assert stopped_in_time == [True]


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
