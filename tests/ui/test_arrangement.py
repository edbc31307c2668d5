from __future__ import annotations

from dataclasses import replace

import pytest

from rarg_tui.ui.action import PANES
from rarg_tui.ui.screens.arrangement import Arrangement, Form, form_of


@pytest.mark.parametrize(
    ("size", "form"),
    [
        ((160, 48), "wide"),
        ((140, 40), "wide"),
        ((139, 40), "normal"),
        ((160, 39), "normal"),
        ((100, 24), "normal"),
        ((99, 24), "narrow"),
        ((80, 24), "narrow"),
        ((120, 12), "narrow"),
        ((40, 10), "narrow"),
        ((39, 30), "tiny"),
        ((200, 9), "tiny"),
        ((0, 0), "tiny"),
    ],
)
def test_forms(size: tuple[int, int], form: str) -> None:
    assert form_of(*size) == form


def test_wide_shows_five_panes_and_the_document_covers_two() -> None:
    wide = Arrangement("wide")
    assert wide.visible == ("transcript", "scope", "hits", "raw", "ranked")
    opened = wide.focus("document")
    assert opened.visible == ("transcript", "raw", "ranked", "document")
    assert opened.focus("scope").visible == wide.visible


def test_normal_shares_a_place_between_scope_and_hits() -> None:
    normal = Arrangement("normal")
    assert normal.visible == ("transcript", "scope", "raw", "ranked")
    assert normal.focus("hits").visible == ("transcript", "hits", "raw", "ranked")


def test_one_pane_when_narrow_or_zoomed_none_when_tiny() -> None:
    assert Arrangement("narrow", "raw").visible == ("raw",)
    assert Arrangement("wide", "hits", zoomed=True).visible == ("hits",)
    assert Arrangement("tiny").visible == ()
    assert Arrangement("tiny").cycle(1) == Arrangement("tiny")


@pytest.mark.parametrize("form", ["narrow", "normal", "wide"])
def test_the_focused_pane_is_always_on_screen(form: Form) -> None:
    for name, _, _ in PANES:
        for opened in (False, True):
            focused = Arrangement(form, document=opened).focus(name)
            assert name in focused.visible
            assert focused.back().pane in focused.back().visible


def test_back_undoes_zoom_then_document_then_goes_to_the_transcript() -> None:
    at = replace(Arrangement("wide").focus("raw").focus("document"), zoomed=True)
    at = at.back()
    assert (at.zoomed, at.document) == (False, True)
    at = at.back()
    assert (at.document, at.pane) == (False, "scope")
    assert at.back().pane == "transcript"


@pytest.mark.parametrize("step", [1, -1])
def test_tab_reaches_every_pane_of_a_narrow_screen(step: int) -> None:
    at, seen = Arrangement("narrow"), set()
    for _ in PANES:
        at = at.cycle(step)
        seen.add(at.pane)
    assert seen == {name for name, _, _ in PANES}
