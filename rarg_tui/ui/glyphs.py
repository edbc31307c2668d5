"""The signs that the workbench draws with, in two sets: Unicode, and ASCII for terminals without it.

Every glyph is one terminal cell wide, so the sets can be swapped without moving anything.
"""

from __future__ import annotations

import locale
import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of signs. ``bar`` is empty to full in eighths, ``running`` the frames of a spinner."""

    hit: str
    gold: str
    gold_missed: str
    up: str
    down: str
    same: str
    out: str
    collapsed: str
    expanded: str
    cursor: str
    bar: str
    spark: str
    rule: str
    check: str
    cross: str
    ellipsis: str
    arrow: str
    branch: str
    separator: str
    breakpoint: str
    paused: str
    ended: str
    running: tuple[str, ...]


UNICODE = Glyphs(
    hit="●",
    gold="★",
    gold_missed="☆",
    up="▲",
    down="▼",
    same="=",
    out="–",
    collapsed="▸",
    expanded="▾",
    cursor="▌",
    bar=" ▏▎▍▌▋▊▉█",
    spark="▁▂▃▄▅▆▇█",
    rule="─",
    check="✓",
    cross="✗",
    ellipsis="…",
    arrow="→",
    branch="↳",
    separator="·",
    breakpoint="◆",
    paused="■",
    ended="□",
    running=("⣷", "⣯", "⣟", "⡿", "⢿", "⣻", "⣽", "⣾"),
)

ASCII = Glyphs(
    hit="o",
    gold="*",
    gold_missed="?",
    up="^",
    down="v",
    same="=",
    out="-",
    collapsed=">",
    expanded="v",
    cursor=">",
    bar="    -====",
    spark="_.-~=+*#",
    rule="-",
    check="y",
    cross="x",
    ellipsis="~",
    arrow=">",
    branch="`",
    separator="|",
    breakpoint="!",
    paused="#",
    ended="#",
    running=("|", "/", "-", "\\"),
)


def glyphs(environ: Mapping[str, str] | None = None, encoding: str | None = None) -> Glyphs:
    """The set for this terminal.

    ``RARG_ASCII`` decides if it is set (``0`` means Unicode, anything else ASCII); otherwise ASCII is for
    locales whose encoding is not UTF-8 and for the Linux console, whose font lacks most of the signs.
    """
    env = os.environ if environ is None else environ
    wish = env.get("RARG_ASCII", "")
    if wish:
        return UNICODE if wish == "0" else ASCII
    name = (encoding or locale.getpreferredencoding(False)).lower().replace("-", "").replace("_", "")
    return UNICODE if name.startswith("utf") and env.get("TERM") != "linux" else ASCII
