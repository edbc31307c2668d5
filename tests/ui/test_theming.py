from __future__ import annotations

import os
import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

from rarg_tui.ui.palette import Palette
from rarg_tui.ui.theming import (
    COLORS,
    DEFAULT_THEME,
    MAX_BYTES,
    VARIABLES,
    fallback_theme,
    load_themes,
    no_color,
    variable_defaults,
)
from rarg_tui.ui.widgets.cells import Cell, ListSource, Row
from rarg_tui.ui.widgets.row_list import RowList
from tests.ui.widget_harness import THEMES, showing, until

SHIPPED, PROBLEMS = load_themes([THEMES])
NAMES = ["deuteranopia", "high-contrast", "mono", "rarg-dark", "rarg-light", "tritanopia"]
# Backgrounds and lines; bars, whose numbers stand beside them, need 3:1 like any graphic.
NOT_TEXT = {"match", "match-text", "band-a", "band-b", "cursor", "cursor-blurred", "rule"}
BARS = {"bar", "scope-bar", "gold-bar"}


def color(theme: Theme, key: str) -> Color:
    return Color.parse(theme.variables.get(f"rarg-{key}") or getattr(theme, key))


def luminance(c: Color) -> float:
    parts = [v / 255 / 12.92 if v / 255 <= 0.03928 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in c.rgb]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: Color, other: Color) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_shipped_themes_are_sound() -> None:
    assert [theme.name for theme in SHIPPED] == NAMES
    assert PROBLEMS == []
    assert DEFAULT_THEME in NAMES
    for name in NAMES:
        keys = tomllib.loads((THEMES / f"{name}.toml").read_text())
        assert list(keys["colors"]) == list(COLORS)
        assert list(keys["rarg"]) == list(VARIABLES)


@pytest.mark.parametrize("theme", [*SHIPPED, fallback_theme()], ids=lambda theme: theme.name)
def test_all_text_can_be_read(theme: Theme) -> None:
    backgrounds = ["background", "surface", "panel", "band-a", "band-b", "cursor", "cursor-blurred"]
    texts = [key for key in VARIABLES if key not in NOT_TEXT | BARS]
    texts += ["foreground", "primary", "secondary", "accent", "warning", "error", "success"]
    for background in backgrounds:
        for text in texts:
            ratio = contrast(color(theme, text), color(theme, background))
            assert ratio >= 4.5, f"{text} on {background}: {ratio:.2f}"
        for bar in BARS:
            if background in ("background", "surface"):
                assert contrast(color(theme, bar), color(theme, background)) >= 2.9, bar
    assert contrast(color(theme, "match-text"), color(theme, "match")) >= 4.5


def test_high_contrast_is_high() -> None:
    theme = next(theme for theme in SHIPPED if theme.name == "high-contrast")
    for text in (*(key for key in VARIABLES if key not in NOT_TEXT), "foreground"):
        for background in ("background", "surface", "panel"):
            assert contrast(color(theme, text), color(theme, background)) >= 7, (text, background)


# Machado, Oliveira & Fernandes (2009), severity 1.0, on linear RGB.
DEFICIENCIES = {
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def seen_as(c: Color, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """CIE L*a*b* (D65) of a colour as eyes with the deficiency see it."""
    linear = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in c.rgb]
    r, g, b = (
        min(max(sum(weight * value for weight, value in zip(row, linear, strict=True)), 0), 1)
        for row in matrix
    )
    x, y, z = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("name", DEFICIENCIES)
def test_meanings_stay_apart_for_the_eyes_a_theme_is_made_for(name: str) -> None:
    theme = next(theme for theme in SHIPPED if theme.name == name)
    for one, other in [*combinations(("rank-up", "rank-down", "foreground"), 2), ("gold", "hit")]:
        first, second = (seen_as(color(theme, key), DEFICIENCIES[name]) for key in (one, other))
        distance = sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5
        assert distance >= 20, f"{one} and {other}: {distance:.0f}"


def write(directory: Path, text: str | bytes, name: str = "mine.toml") -> Path:
    path = directory / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


GOOD = 'name = "mine"\n[colors]\nprimary = "#336699"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "line 1"),
        (b"\x00\xff\xfe\x00", "line 1 is not UTF-8"),
        ("x" * (MAX_BYTES + 1), "larger than"),
        ("[colors]\nprimary = '#fff'", "'name' is missing"),
        ('name = "Mine [/]"\n[colors]\nprimary = "red"', "'name' (line 1)"),
        ('name = "mine"', "'primary' is missing"),
        ('name = "mine"\ncolors = 3', "'colors' (line 2)"),
        ('name = "mine"\ndark = "yes"\n[colors]\nprimary = "red"', "'dark' (line 2)"),
        (GOOD + 'accent = "#12345"', "'accent' (line 4) in [colors] is '#12345'"),
        (GOOD + 'accent = "auto 50%"', "'accent' (line 4)"),
        (GOOD + 'accent = "ansi_red"', "'accent' (line 4)"),
        (GOOD + 'accent = "transparent"', "'accent' (line 4)"),
        (GOOD + "accent = 12", "'accent' (line 4) in [colors] is 12"),
        (GOOD + "acent = 'red'", "'acent' (line 4) in [colors] is no key of a theme; did you mean 'accent'"),
        (GOOD + "[rarg]\ngold = '#ffd700'\nrankup = 'red'", "'rankup' (line 6) in [rarg]"),
        (GOOD + "[rargh]\n", "'rargh' (line 4)"),
        (GOOD + "[rarg]\ngold = '[/foo]'", "'gold' (line 5)"),
        ("a = " + "[" * 5000, "not valid TOML"),
    ],
)
def test_a_bad_file_is_left_out_with_one_sentence(tmp_path: Path, text: str | bytes, says: str) -> None:
    path = write(tmp_path, text)
    write(tmp_path, GOOD.replace("mine", "good"), "zz.toml")
    themes, problems = load_themes([tmp_path])
    assert [theme.name for theme in themes] == ["good"]
    assert len(problems) == 1
    assert str(path) in problems[0]
    assert says in problems[0]
    assert problems[0].endswith(".")
    assert "\n" not in problems[0]


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "gone.toml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "linked.toml").symlink_to(write(tmp_path, GOOD, "kept"))
    themes, problems = load_themes([tmp_path])
    assert [theme.name for theme in themes] == ["mine"]
    assert len(problems) == 3
    assert all("it is no file" in problem for problem in problems)


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("mine", "mono"))
    themes, problems = load_themes([THEMES, tmp_path])
    assert [theme.name for theme in themes] == NAMES
    assert "taken by" in problems[0]


def test_without_a_usable_file_there_is_still_a_theme(tmp_path: Path) -> None:
    (tmp_path / "directory.toml").mkdir()
    themes, problems = load_themes([tmp_path, tmp_path / "missing"])
    assert [theme.name for theme in themes] == [fallback_theme().name]
    assert len(problems) == 1


def test_a_theme_of_three_lines_is_complete(tmp_path: Path) -> None:
    write(tmp_path, GOOD + '[rarg]\ngold = "gold"\n')
    [theme], _ = load_themes([tmp_path])
    assert {f"rarg-{key}" for key in VARIABLES} <= theme.variables.keys()
    assert theme.variables["rarg-gold"] == "#FFD700"
    assert variable_defaults().keys() == {f"rarg-{key}" for key in VARIABLES}


def test_no_color_is_set_by_any_value() -> None:
    assert no_color({"NO_COLOR": "1"})
    assert no_color({"NO_COLOR": ""})
    assert not no_color({})


def test_style_words() -> None:
    palette = Palette(SHIPPED[3].variables)
    style = palette.style("gold bold on-band-b")
    assert style.bold
    assert style.color is not None
    assert style.color.name == SHIPPED[3].variables["rarg-gold"].lower()
    assert style.bgcolor is not None
    assert not palette.style("")
    with pytest.raises(KeyError, match="golden"):
        palette.style("golden")


def test_without_colour_nothing_has_a_colour_and_what_matters_still_differs() -> None:
    palette = Palette(SHIPPED[3].variables, no_color=True)
    for key in VARIABLES:
        for word in (key, f"on-{key}"):
            assert palette.style(word).color is None
            assert palette.style(word).bgcolor is None
    for word in ("match", "gold", "hit", "muted", "on-cursor"):
        assert palette.style(word)


async def test_a_theme_change_repaints_at_once() -> None:
    rows = RowList()
    rows.set_rows(ListSource([Row((Cell("gold", "gold"),)), Row((Cell("x"),))]))
    async with showing(rows) as (app, pilot):
        for name in [*NAMES, "textual-dark", "ansi-light", "nord"]:
            app.theme = name
            expected = Palette(app.theme_variables).style("gold").color

            def gold(expected: object = expected) -> bool:
                return any(
                    segment.style is not None and "gold" in segment.text and segment.style.color == expected
                    for segment in rows.render_line(0)
                )

            await until(pilot, gold)
