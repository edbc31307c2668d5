"""Themes from TOML files, and the styles that widgets draw with.

A theme file has ``name`` and ``dark``, a table ``[colors]`` with Textual's base colours (``primary`` is
the one that must be there) and a table ``[rarg]`` with the colours that mean something here, such as
``gold`` or ``rank-up``; what it leaves out is derived from the rest. In style sheets they are
``$rarg-gold``, ``$rarg-rank-up``, …: the app's ``get_theme_variable_defaults`` returns
``variable_defaults()`` so that they exist under every theme.

Textual ends the app when it meets a bad colour in a theme, so every value is checked here first.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from textual.color import Color, ColorParseError
from textual.theme import Theme

MAX_BYTES = 65_536
DEFAULT_THEME = "rarg-dark"
FALLBACK_NAME = "rarg-plain"

COLORS = (
    "primary",
    "secondary",
    "accent",
    "warning",
    "error",
    "success",
    "foreground",
    "background",
    "surface",
    "panel",
)
"""Keys of ``[colors]``."""

VARIABLES: Mapping[str, str] = {
    "gold": "a relevant document or line",
    "hit": "a document that the model has seen",
    "match": "background of matched text",
    "match-text": "matched text, on `match`",
    "rank-up": "moved up by a reranker",
    "rank-down": "moved down by a reranker",
    "cut-line": "the line below which the model saw nothing",
    "band-a": "background of rows",
    "band-b": "background of every other group of rows",
    "muted": "what matters less",
    "heading": "column titles and labels",
    "path": "paths of documents",
    "number": "ranks, scores, line numbers",
    "bar": "bars of a histogram",
    "gold-bar": "the relevant part of a bar",
    "scope-bar": "how far a scope reaches",
    "cursor": "background of the selected row",
    "cursor-blurred": "the same in a pane without focus",
    "cursor-mark": "the mark at the left of the selected row",
    "rule": "borders and rules",
    "running": "state: running",
    "paused": "state: paused",
    "failed": "state: failed",
    "syntax-keyword": "in documents: keywords",
    "syntax-string": "in documents: strings",
    "syntax-comment": "in documents: comments",
    "syntax-number": "in documents: numbers and constants",
    "syntax-name": "in documents: functions, classes, tags, headings",
    "syntax-operator": "in documents: operators and punctuation",
}
"""Keys of ``[rarg]`` and what each is for."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class _Bad(Exception):
    """What is wrong with a theme file, as the end of a sentence that starts with its name."""


def no_color(environ: Mapping[str, str] | None = None) -> bool:
    """Whether ``NO_COLOR`` is set, to anything at all.

    Ask before the App is constructed and pass ``ansi_color=True`` to it then: with Textual's default it
    would write shades of grey as true colours, which is colour to a terminal.
    """
    return "NO_COLOR" in (os.environ if environ is None else environ)


def load_themes(dirs: Sequence[Path]) -> tuple[list[Theme], list[str]]:
    """The themes of all ``*.toml`` files in ``dirs`` (by directory, then file name), and one sentence for
    each file that cannot be used. Missing directories hold no themes. Never raises for what a file
    holds; if no theme can be used, ``fallback_theme()`` is the one returned."""
    themes: dict[str, Theme] = {}
    origin: dict[str, Path] = {}
    problems: list[str] = []
    for directory in dirs:
        try:
            files = sorted(directory.glob("*.toml"))
        except OSError as error:
            problems.append(f"Themes in {directory} cannot be read: {error.strerror or error}.")
            continue
        for file in files:
            try:
                theme = _read(file)
                if theme.name in origin:
                    raise _Bad(f"the name {theme.name!r} is taken by {origin[theme.name]}; choose another")
            except _Bad as bad:
                problems.append(f"Theme {file} was left out: {bad}.")
                continue
            themes[theme.name] = theme
            origin[theme.name] = file
    return list(themes.values()) or [fallback_theme()], problems


def fallback_theme() -> Theme:
    """A theme that needs no file."""
    return _build(FALLBACK_NAME, True, {"primary": "#7fa6d9", "background": "#11141a"}, {})


def variable_defaults() -> dict[str, str]:
    """Values of all ``$rarg-…`` variables, for themes that do not define them."""
    return {key: value for key, value in fallback_theme().variables.items() if key.startswith("rarg-")}


def _read(file: Path) -> Theme:
    """Raises ``_Bad``."""
    if not file.is_file():
        # A pipe would never end, nor come to a start.
        raise _Bad("it is no file")
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise _Bad(f"it cannot be read ({error.strerror or error})") from None
    if len(data) > MAX_BYTES:
        raise _Bad(f"it is larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Bad(f"line {line} is not UTF-8 text") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        end = f"at line {len(text.splitlines())}, the end"
        raise _Bad(f"it is not valid TOML: {str(error).replace('at end of document', end)}") from None
    except RecursionError:
        raise _Bad("it is not valid TOML: nested too deeply") from None
    return _from_table(table, text)


def _from_table(table: dict[str, object], text: str) -> Theme:
    _known(table, ("name", "dark", "colors", "rarg"), "", text)
    name = table.get("name")
    if name is None:
        raise _Bad("the key 'name' is missing")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        where = _where(text, "", "name")
        raise _Bad(f"'name'{where} must be small letters, digits and hyphens, 40 at most")
    dark = table.get("dark", True)
    if not isinstance(dark, bool):
        raise _Bad(f"'dark'{_where(text, '', 'dark')} must be true or false")
    colors = _colors(table, "colors", COLORS, text)
    if "primary" not in colors:
        raise _Bad("the key 'primary' is missing from [colors]")
    return _build(name, dark, colors, _colors(table, "rarg", tuple(VARIABLES), text))


def _colors(table: dict[str, object], section: str, allowed: Sequence[str], text: str) -> dict[str, str]:
    """The colours of one table, each checked."""
    values = table.get(section, {})
    if not isinstance(values, dict):
        raise _Bad(f"'{section}'{_where(text, '', section)} must be a table [{section}]")
    _known(values, allowed, section, text)
    colors = {}
    for key, value in values.items():
        try:
            color = Color.parse(value) if isinstance(value, str) else None
        except ColorParseError:
            color = None
        if color is None or color.ansi is not None or color.a != 1:
            where = _where(text, section, key)
            raise _Bad(f"'{key}'{where} in [{section}] is {_shown(value)}, not an opaque colour like #7aa2d6")
        colors[key] = color.hex
    return colors


def _known(values: Mapping[str, object], allowed: Sequence[str], section: str, text: str) -> None:
    for key in values:
        if key not in allowed:
            near = get_close_matches(key, allowed, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(allowed)}"
            inside = f" in [{section}]" if section else ""
            raise _Bad(f"'{key}'{_where(text, section, key)}{inside} is no key of a theme{hint}".rstrip("?"))


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:59] + "…"


def _where(text: str, section: str, key: str) -> str:
    """ " (line N)" of a key, or "" if it stands in a form this does not look for (a dotted key, say)."""
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("["):
            current = line.strip("[]").split("]")[0].strip().strip("\"'")
            if not section and current == key:
                return f" (line {number})"
        elif current == section and line.split("=")[0].strip().strip("\"'") == key:
            return f" (line {number})"
    return ""


def _build(name: str, dark: bool, colors: Mapping[str, str], rarg: Mapping[str, str]) -> Theme:
    """A theme with everything that was left out derived from what is there."""

    def color(key: str, default: str) -> Color:
        return Color.parse(colors.get(key, default))

    foreground = color("foreground", "#d8dde6" if dark else "#252a33")
    background = color("background", "#11141a" if dark else "#fbfaf7")
    primary = color("primary", "#7fa6d9")
    surface = color("surface", background.blend(foreground, 0.04).hex)
    panel = color("panel", background.blend(foreground, 0.09).hex)
    secondary = color("secondary", primary.blend(foreground, 0.3).hex)
    warning = color("warning", "#e6b566" if dark else "#8a5a00")
    success = color("success", "#86c995" if dark else "#22692c")
    error = color("error", "#ec8f8a" if dark else "#a82e2a")
    accent = color("accent", warning.hex)
    muted = foreground.blend(background, 0.36)
    derived = {
        "gold": warning,
        "hit": success,
        "match": background.blend(accent, 0.28),
        "match-text": foreground,
        "rank-up": success,
        "rank-down": error,
        "cut-line": warning,
        "band-a": background,
        "band-b": background.blend(foreground, 0.03),
        "muted": muted,
        "heading": secondary,
        "path": foreground,
        "number": muted,
        "bar": primary,
        "gold-bar": warning,
        "scope-bar": secondary,
        "cursor": background.blend(primary, 0.17),
        "cursor-blurred": background.blend(foreground, 0.09),
        "cursor-mark": accent,
        "rule": background.blend(foreground, 0.24),
        "running": success,
        "paused": warning,
        "failed": error,
        "syntax-keyword": primary,
        "syntax-string": success,
        "syntax-comment": muted,
        "syntax-number": warning,
        "syntax-name": secondary,
        "syntax-operator": muted,
    }
    own = {key: rarg.get(key, derived[key].hex) for key in VARIABLES}
    variables = {f"rarg-{key}": value for key, value in own.items()} | {
        "border": primary.hex,
        "border-blurred": own["rule"],
        "block-cursor-background": own["cursor"],
        "block-cursor-foreground": foreground.hex,
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": own["cursor-blurred"],
        "block-cursor-blurred-foreground": foreground.hex,
        "footer-background": surface.hex,
        "footer-foreground": foreground.hex,
        "footer-key-foreground": accent.hex,
        "footer-description-foreground": own["muted"],
        "input-selection-background": own["match"],
        "input-selection-foreground": own["match-text"],
        "scrollbar": own["rule"],
        "scrollbar-hover": own["muted"],
        "scrollbar-active": primary.hex,
        "scrollbar-background": background.hex,
        "scrollbar-background-hover": background.hex,
        "scrollbar-background-active": background.hex,
        "scrollbar-corner-color": background.hex,
        "text-muted": own["muted"],
    }
    return Theme(
        name=name,
        dark=dark,
        primary=primary.hex,
        secondary=secondary.hex,
        accent=accent.hex,
        warning=warning.hex,
        error=error.hex,
        success=success.hex,
        foreground=foreground.hex,
        background=background.hex,
        surface=surface.hex,
        panel=panel.hex,
        variables=variables,
    )
