from __future__ import annotations

import pytest

from rarg_tui.agent.answer import cited

DOCUMENTS = {"a.txt", "letters/b c.txt", "x[1].txt", "colon:12:name.txt", "O'Hara, M.md"}


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("It was Ilse [letters/b c.txt:3] and [a.txt].", ("letters/b c.txt", "a.txt")),
        ("Documents:\na.txt\nletters/b c.txt\n", ("a.txt", "letters/b c.txt")),
        ("[letters/b c.txt]\n\nDocuments:\n- a.txt\n", ("a.txt",)),
        ("1. letters/b c.txt\n2) a.txt\n3. none.txt", ("letters/b c.txt", "a.txt")),
        ("[a.txt; letters/b c.txt]", ("a.txt", "letters/b c.txt")),
        (
            "[x[1].txt:4] [colon:12:name.txt] [O'Hara, M.md]",
            ("x[1].txt", "colon:12:name.txt", "O'Hara, M.md"),
        ),
        ("[a.txt] again [a.txt:9-12]", ("a.txt",)),
        ("`a.txt` is not in brackets, [invented.txt] is none", ()),
        ("Documents:\ninvented.txt\n\nsee [a.txt]", ("a.txt",)),
        ("", ()),
    ],
)
def test_documents_named_in_an_answer(text: str, documents: tuple[str, ...]) -> None:
    assert cited(text, DOCUMENTS.__contains__) == documents


def test_a_hostile_answer_takes_no_time() -> None:
    assert cited("[" * 50_000 + "]" * 50_000 + "\n" + "- " * 50_000, DOCUMENTS.__contains__) == ()
