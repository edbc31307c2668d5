from __future__ import annotations

from pathlib import Path

import pytest

from rarg_tui.errors import RargError
from rarg_tui.evaluation import trec


def written(tmp_path: Path, text: str | bytes) -> Path:
    file = tmp_path / "file.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 0 d 1\n", {"1": {"d": 1}}),
        ("1\tQ0\ta b.txt\t2\r\n", {"1": {"a b.txt": 2}}),
        ("1 0.5 sub/d.txt -1", {"1": {"sub/d.txt": -1}}),
        ("# a comment of five words\n\n1   0   d   0\n", {"1": {"d": 0}}),
        ("#\tcomment\n#q\t0\td\t1\n", {"#q": {"d": 1}}),
        ("query-id\tcorpus-id\tscore\nq\tA: b\t1.0\n", {"q": {"A: b": 1}}),
        ("q\td\t1\n", {"q": {"d": 1}}),
        ("query-id corpus-id score\nq 51 1\n", {"q": {"51": 1}}),
        ("\ufeff1 0 d 1\n1 0 d 1\n", {"1": {"d": 1}}),
        ("q\t\t1\n", {"q": {"": 1}}),
        ("q\t0\ta\tb.txt\t1\n", {"q": {"a\tb.txt": 1}}),
        ("1 0 a\u2028b 1\n".replace(" ", "\t"), {"1": {"a\u2028b": 1}}),
        ("", {}),
    ],
)
def test_judgements_are_read_as_they_are_found(
    tmp_path: Path, text: str, expected: dict[str, dict[str, int]]
) -> None:
    assert trec.qrels(written(tmp_path, text)) == expected


def test_any_byte_of_a_path_comes_through(tmp_path: Path) -> None:
    assert trec.qrels(written(tmp_path, b"1 0 caf\xe9.txt 1\n")) == {"1": {"caf\udce9.txt": 1}}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1 0 d 1\n1 0 a b 1\n", "line 2: not a judgement"),
        ("1 0 d high\n", "line 1: not a judgement"),
        ("1 0 d 0.5\n", "line 1: not a judgement"),
        ("1 0 d 1\n1 0 d 2\n", "line 2: 'd' is judged twice for question '1', as 1 and 2"),
        ("query-id corpus-id score\n\nr\n", "line 3: not a judgement"),
    ],
)
def test_a_line_that_is_no_judgement_is_named(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(RargError, match=f"file.txt, {where}"):
        trec.qrels(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<DOC>\n<DOCNO> 1 </DOCNO>\n\n Which\n one?\n</DOC>\n<DOC><DOCNO>2</DOCNO>b</DOC>",
            ["1|Which one?", "2|b"],
        ),
        (
            "<top>\n<num> Number: 301\n<title> Organized Crime\n\n<desc> Description:\nWho?\n\n"
            "<narr> Narrative:\nNo.\n</top>\n\n<top>\n<num> Number: 051 \n"
            "<title> Topic:  Airbus <desc> Description: x\n</top>",
            ["301|Organized Crime", "051|Airbus"],
        ),
        ("<top><num>7</num><title></title><desc>Description: How\nfar?</desc></top>", ["7|How far?"]),
        ("<top>\n<num> 1\n<title> a\n<top>\n<num> 2\n<title> b\n", ["1|a", "2|b"]),
        (
            '<?xml version="1.0"?><topics><topic number="3"><query>masks &amp; gowns</query>'
            "<question>Do they?</question></topic></topics>",
            ["3|masks & gowns"],
        ),
        ("1\tfirst one?\r\n2\ta\tb\n", ["1|first one?", "2|a b"]),
        ("query_id\tquery\nx y\tthird\n", ["x y|third"]),
    ],
)
def test_topics_are_read_as_they_are_found(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert [f"{name}|{question}" for name, question in trec.topics(written(tmp_path, text))] == expected


def test_old_topics_are_latin_1(tmp_path: Path) -> None:
    assert trec.topics(written(tmp_path, b"1\tcaf\xe9\n")) == [("1", "café")]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1\ta\nb\n", "line 2: not a topic"),
        ("\n<top>\n<title> a\n</top>", "line 2: a topic without a number"),
    ],
)
def test_what_is_no_topic_is_named(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(RargError, match=f"file.txt, {where}"):
        trec.topics(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RargError, match=r"none\.txt cannot be read: No such file"):
        trec.qrels(tmp_path / "none.txt")
