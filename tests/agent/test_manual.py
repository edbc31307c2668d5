from __future__ import annotations

import pytest

from rarg_tui.agent.manual import as_line, parse_line
from rarg_tui.errors import RargError
from rarg_tui.trace.reducer import replay
from rarg_tui.trace.state import RunState
from tests.trace import scripted

WITH_SCOPE = replay(scripted.events())


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("recall  who mended it? ", "embed_recall", {"query": "who mended it?"}),
        ("read letters/a b.txt", "read", {"path": "letters/a b.txt"}),
        ("read letters/a.txt:12", "read", {"path": "letters/a.txt", "offset": 12}),
        ("read colon:12:name.txt", "read", {"path": "colon:12:name.txt"}),
        ("shell wc -l scope_1.txt", "bash", {"command": "wc -l scope_1.txt"}),
        ('rg "a|b"', "bash", {"command": "cat scope_1.txt | xargs -d '\\n' rg -n 'a|b'"}),
        ("rg a|b", "bash", {"command": "cat scope_1.txt | xargs -d '\\n' rg -n 'a|b'"}),
        ("rg O'Hara", None, None),  # a quote that is left open
        ("rg -N x | head -3", "bash", {"command": "cat scope_1.txt | xargs -d '\\n' rg -N x | head -3"}),
        ('rg "(un;closed"', "bash", {"command": "cat scope_1.txt | xargs -d '\\n' rg -n '(un;closed'"}),
    ],
)
def test_a_typed_line_becomes_the_call_a_model_would_make(
    line: str, tool: str | None, arguments: dict[str, object] | None
) -> None:
    if tool is None:
        with pytest.raises(RargError, match="quotes"):
            parse_line(line, WITH_SCOPE)
    else:
        assert parse_line(line, WITH_SCOPE) == (tool, arguments)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "Type a command"),
        ("recal x", "did you mean recall"),
        ("recall", "recall QUERY"),
        ("rg -i", "needs a pattern"),
    ],
)
def test_a_bad_line_is_answered_with_its_form(line: str, sentence: str) -> None:
    with pytest.raises(RargError, match=sentence):
        parse_line(line, WITH_SCOPE)


def test_rg_without_a_scope_says_how_to_get_one() -> None:
    with pytest.raises(RargError, match="recall"):
        parse_line("rg x", RunState())


@pytest.mark.parametrize("line", ["recall who?", "read a b.txt:3", "shell wc -l scope_1.txt"])
def test_a_call_can_be_typed_again(line: str) -> None:
    assert as_line(*parse_line(line, WITH_SCOPE)) == line
