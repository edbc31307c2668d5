from __future__ import annotations

import re
from itertools import chain

import pytest

from rarg_tui.ui.action_list import ACTIONS
from rarg_tui.ui.keymap import keymap
from tests.ui.app_harness import running
from tests.ui.fakes import FakeSettings, FakeWorkbench
from tests.ui.scenario import documents


def test_no_choice_changes_nothing() -> None:
    made = keymap({})
    assert made.registry == ACTIONS
    assert not made.bindings
    assert not made.problems


def test_a_choice_takes_the_place_of_the_keys() -> None:
    made = keymap({"step": "f8, space", "pause": "ctrl+s", "help": "?"})
    assert made.bindings == {"step": "f8,space", "pause": "ctrl+s", "help": "question_mark"}
    assert next(one.keys for one in made.registry if one.id == "step") == "f8,space"


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"stpe": "s"}, "did you mean step?"),
        ({"zzz": "s"}, "no action 'zzz'"),
        ({"step": "c"}, "c for step is the key of continue already"),
        ({"step": "control+c"}, "no key"),
        ({"step": "bogus"}, "no key"),
        ({"step": " , "}, "has no keys"),
        ({"step": "f8", "continue": "f8"}, "f8 for continue is the key of step"),
    ],
)
def test_a_choice_that_cannot_be_is_left_out_with_a_sentence(chosen: dict[str, str], words: str) -> None:
    made = keymap(chosen)
    assert len(made.problems) == 1
    assert words in made.problems[0]


async def test_chosen_keys_work_and_are_shown() -> None:
    settings = FakeSettings(keys={"step": "f8", "nonsense": "x"})
    async with running(FakeWorkbench(settings=settings)) as run:
        assert any("nonsense" in toast for toast in run.toasts)
        await run.press("s")
        assert run.session.state.turns == ()
        await run.press("f8")
        assert len(run.session.state.turns) == 1
        assert "f8 step" in " ".join(run.text().split())


async def test_ascii_draws_no_boxes_stars_or_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RARG_ASCII", "1")
    async with running() as run:
        await run.steps(4)
        letters = "".join(chain.from_iterable(documents().values()))
        for keys in ((), ("3",), ("a",), ("escape", "question_mark"), ("escape", "ctrl+p"), ("escape", "c")):
            await run.press(*keys)
            run.bench.say("“…” · ≤")
            await run.pilot.pause()
            assert {sign for sign in run.text() if not sign.isascii()} <= set(letters)
        await run.press("2")
        assert re.search(r"\*    1 .* letters/1911-03-brandt.txt", run.text())
