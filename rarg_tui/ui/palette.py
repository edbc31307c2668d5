"""Style words to terminal styles, under the theme of the moment.

Line-API widgets draw their own segments, so they cannot leave colours to a style sheet. They write
styles as words, for instance ``"gold bold"`` or ``"muted on-band-b"``, and a ``Palette`` made from the
app's theme variables turns them into Rich styles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color, ColorParseError

from rarg_tui.ui.theming import VARIABLES, variable_defaults

if TYPE_CHECKING:
    from textual.widget import Widget

_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")
_BASE = (
    "foreground",
    "background",
    "surface",
    "panel",
    "primary",
    "secondary",
    "accent",
    "warning",
    "error",
    "success",
)
# Without colour these words must still be told from plain text. A cursor without focus has its mark.
_WITHOUT_COLOR = {
    "match": Style(bold=True, underline=True),
    "gold": Style(bold=True),
    "hit": Style(bold=True),
    "muted": Style(dim=True),
    "heading": Style(bold=True),
    "on-cursor": Style(reverse=True),
}


class Palette:
    """The styles of one theme.

    Words: a key of ``theming.VARIABLES`` or a base colour of Textual colours the text, ``on-`` in front of
    it the background; ``match`` sets text and background of matched text at once; ``bold dim italic
    underline reverse strike``. Later words win; unknown ones are an error of the caller (KeyError).
    """

    def __init__(self, variables: Mapping[str, str], no_color: bool = False) -> None:
        self.variables = variables
        self._no_color = no_color
        self._defaults = variable_defaults()
        self._cache: dict[str, Style] = {}

    def style(self, words: str) -> Style:
        """The Rich style of ``words``, which may be empty."""
        style = self._cache.get(words)
        if style is None:
            style = (
                Style.combine([self._word(word) for word in words.split()]) if words.strip() else Style.null()
            )
            self._cache[words] = style
        return style

    def _word(self, word: str) -> Style:
        if word in _ATTRIBUTES:
            return Style.parse(word)
        key = word.removeprefix("on-")
        if key not in VARIABLES and key not in _BASE:
            raise KeyError(f"no style word {word!r}")
        if self._no_color:
            return _WITHOUT_COLOR.get(word, Style.null())
        if word == "match":
            text, background = self._color("match-text"), self._color("match")
            return Style.from_color(text.rich_color, background.rich_color) + Style(bold=True)
        color = self._color(key).rich_color
        return Style.from_color(bgcolor=color) if word.startswith("on-") else Style.from_color(color)

    def _color(self, key: str) -> Color:
        name = f"rarg-{key}" if key in VARIABLES else key
        try:
            return Color.parse(self.variables[name])
        except (KeyError, ColorParseError):
            # Textual's own themes do not know our variables, and give some of theirs as "auto 87%".
            return Color.parse(self._defaults.get(name, "#808080"))


def palette_of(widget: Widget, current: Palette | None = None) -> Palette:
    """The palette of the widget's app: ``current`` again unless the theme changed since it was made."""
    variables = widget.app.theme_variables
    if current is not None and current.variables is variables:
        return current
    return Palette(variables, widget.app.no_color)
