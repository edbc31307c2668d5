from __future__ import annotations

import os

from rarg_tui.evaluation.names import Names
from tests.evaluation.forms import AWKWARD


def test_names_are_readable() -> None:
    names = Names()
    assert [names.name(one) for one in ("Lothair II", "a/b.txt", 'Who: "me"?', "e\u0301t", "", "..")] == [
        "Lothair II.txt",
        "a b.txt",
        "Who me.txt",
        "\u00e9t.txt",
        "document.txt",
        "document (2).txt",
    ]


def test_no_two_names_are_mixed_up_by_a_file_system() -> None:
    names = Names()
    given = [
        names.name(one)
        for one in ("Straße", "STRASSE", "é", "e\u0301", "É", "a", "a (2)", "A", "a" * 300, "a" * 301)
    ]
    assert len({name.casefold() for name in given}) == len(given)
    assert given[:2] == ["Straße.txt", "STRASSE (2).txt"]
    assert given[5:8] == ["a.txt", "a (2).txt", "A (3).txt"]


def test_names_are_safe() -> None:
    names = Names()
    for one in [*AWKWARD, "a\0b", "\u0085", "-x", ".x", "x" * 100_000, "😀" * 300]:
        name = names.name(one)
        assert len(os.fsencode(name)) < 255
        assert not name.startswith((".", "-", " "))
        assert not set(name) & set('/\\:*?"<>|\0\n')
        assert name.isprintable()


def test_many_of_the_same_name_take_no_longer() -> None:
    names = Names()
    assert [names.name("?") for _ in range(20_000)][-1] == "document (20000).txt"
