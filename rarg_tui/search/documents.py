"""The documents below a directory of the corpus, as a search of the whole corpus needs them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rarg_tui.search.places import Place
from rarg_tui.search.process import Children, Drain
from rarg_tui.search.refusal import CommandError
from rarg_tui.search.rg import find_rg


def relative(text: str, root: str) -> str:
    """A path as typed, relative to the root."""
    if os.path.isabs(text):
        text = os.path.relpath(os.path.realpath(text), os.path.realpath(root))
    return os.path.normpath(text)


def below(
    places: Sequence[Place], paths: Sequence[str], root: str, filters: Sequence[str], children: Children
) -> list[str]:
    """Those of ``paths`` that ``places`` name or hold, place by place; a path once only. ``filters`` are
    rg's own options (``-g``, ``-t``, …) for the files of a directory."""
    allowed = frozenset(filtered(filters, root, children)) if filters else None
    found: dict[str, None] = {}
    for place in places:
        name = relative(place.text, root)
        if place.kind != "directory":
            found[name] = None
            continue
        prefix = "" if name == "." else name + "/"
        for path in paths:
            if path.startswith(prefix) and (allowed is None or path in allowed):
                found[path] = None
    return list(found)


def filtered(filters: Sequence[str], root: str, children: Children) -> list[str]:
    """The files below the root that rg would search with ``filters``. Raises :class:`CommandError` with
    rg's own message for a bad glob or type."""
    argv = [find_rg().path, "--files", "--null", "--no-config", "--no-ignore", "--color=never", *filters]
    process = children.start([*argv, "--", "."], cwd=root)
    assert process.stdout is not None
    assert process.stderr is not None
    errors = Drain(process.stderr)
    with process.stdout as stdout:
        names = stdout.read().split(b"\0")
    if children.wait(process) == 2 and len(names) <= 1:
        raise CommandError(errors.text().strip().removeprefix("rg: "))
    return [os.fsdecode(name.removeprefix(b"./")) for name in names if name]
