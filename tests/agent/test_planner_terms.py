"""Words, names and sentences."""

from __future__ import annotations

import re

import pytest

from rarg_tui.agent import planner_terms as terms
from rarg_tui.agent.planner_names import Rarity, title_words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "The Halden orrery was restored by Ilse Brandt of Kaltenried.",
            ["Halden", "Ilse Brandt", "Kaltenried"],
        ),
        ("It went from Mrs. Abernant to Dr. Quillfeather in May 1912.", ["Abernant", "Quillfeather"]),
        ("Marchbanks No. 771, pledged by one Emmerich Dahl.", ["Marchbanks No. 771", "Emmerich Dahl"]),
        ("It is HO-1147, or P-8817.", ["HO-1147", "P-8817"]),
        ("Miss M. O'Hara and Kittering & Shaw", ["M. O'Hara", "Kittering & Shaw"]),
        ("Ermengarde of Tours met the Duke of York.", ["Ermengarde of Tours", "Duke of York"]),
        ("He read “A True Story” aloud.", ["True Story", "A True Story"]),
        ("Fog. Fourteen came.", ["Fog", "Fourteen"]),
        ("VII. Voted.", ["Voted"]),
        ("Κατερίνα Παππά και Ænes Ødegård", ["Κατερίνα Παππά", "Ænes Ødegård"]),
        ("ハルデンの太陽系儀「三羽の鷺」", ["ハルデン", "太陽系儀", "三羽", "三羽の鷺"]),
        ("ساعة هالدن", ["ساعة", "هالدن"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("nothing but small words", []),
        ("", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert [name.text for name in terms.parse(text).names] == names


def test_a_lone_first_word_is_a_doubtful_name() -> None:
    assert [name.doubtful for name in terms.parse("Damage to Halden").names] == [True, False]


def test_sentences_keep_their_lines() -> None:
    text = "A title\n\nDr. Quill left. He met Mrs. Abernant\nat No. 7.\n- Item one\n- Item two\n\nX. Y. Zed."
    assert [(s.line, s.text) for s in terms.sentences(text, 10)] == [
        (10, "A title"),
        (12, "Dr. Quill left."),
        (12, "He met Mrs. Abernant at No. 7."),
        (14, "- Item one"),
        (15, "- Item two"),
        (17, "X. Y. Zed."),
    ]


def test_forms_of_a_word_share_a_stem() -> None:
    assert len({terms.stem(word) for word in ("restored", "Restorer", "restoring", "restores")}) == 1
    assert terms.stem("bees") == "bees"


def test_html_is_left_out() -> None:
    assert terms.plain("<p>Mr. <b>Farrow</b> &amp; son</p>").split() == ["Mr.", "Farrow", "&", "son"]
    assert terms.plain("a < b\nc > d") == "a < b\nc > d"


@pytest.mark.parametrize("word", ["O'Hara", "C++", "[x]", "a|b", "HO-1147", "^$", "\\d"])
def test_a_pattern_matches_its_word_and_nothing_else(word: str) -> None:
    assert re.fullmatch(terms.escape(word), word)
    assert not re.search(terms.escape(word), "Hara C aab 1147 7d")


def test_words_of_a_phrase_may_have_anything_but_letters_between_them() -> None:
    pattern = re.compile(terms.phrase_pattern(("Maeve", "O", "Hara")))
    assert pattern.search("by Maeve O’Hara, M.D.")
    assert pattern.search("Maeve  (O. Hara)")
    assert not pattern.search("Maeve and O'Hara")


def counts(**known: int) -> Rarity:
    return Rarity(lambda words: [known.get(word.lower(), 0) for word in words], 1000)


def test_a_rare_word_stands_for_its_name() -> None:
    clue = counts(clarence=30, brown=90, stenersen=2).clue(("Clarence", "Stenersen"))
    assert clue is not None
    assert (clue.key, clue.pattern, clue.expected) == (("stenersen",), r"\bStenersen\b", 2)


def test_a_name_of_common_words_is_looked_up_whole() -> None:
    clue = counts(clarence=30, brown=90).clue(("Clarence", "Brown"))
    assert clue is not None
    assert (clue.key, clue.pattern) == (("clarence", "brown"), r"\bClarence\W+Brown\b")


def test_of_two_equally_rare_words_the_last_is_the_key() -> None:
    clue = counts(ilse=3, brandt=3).clue(("Ilse", "Brandt"))
    assert clue is not None
    assert clue.key == ("brandt",)


def test_a_name_that_is_nowhere_has_no_clue() -> None:
    assert counts().clue(("Nobody", "Here")) is None
    assert counts(the=900).clue(("The",)) is None


def test_the_title_is_the_file_name_without_its_addition() -> None:
    assert title_words("films/Dark River (2017 film).txt") == {"dark", "river"}
    assert title_words("people/(untitled).txt") == {"untitled"}
