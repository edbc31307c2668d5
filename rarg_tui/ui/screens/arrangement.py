"""Which panes are on the screen: a pure function of its size and of what the person chose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Form = Literal["tiny", "narrow", "normal", "wide"]

TOP = ("transcript", "scope", "hits", "document")
BOTTOM = ("raw", "ranked")
_SIDE = ("scope", "hits", "document")


def form_of(width: int, height: int) -> Form:
    """The form of the workbench on a screen of ``width`` × ``height`` cells."""
    if width < 40 or height < 10:
        return "tiny"
    if width < 100 or height < 16:
        return "narrow"
    return "wide" if width >= 140 and height >= 40 else "normal"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """``pane`` has the focus; ``side`` is what stands beside the transcript when there is no room for
    all; with ``zoomed`` the focused pane has the whole screen; ``document`` says whether one is open."""

    form: Form = "wide"
    pane: str = "transcript"
    side: str = "scope"
    zoomed: bool = False
    document: bool = False

    @property
    def visible(self) -> tuple[str, ...]:
        """The panes on screen, in the order of their number keys, the document last."""
        if self.form == "tiny":
            return ()
        if self.form == "narrow" or self.zoomed:
            return (self.pane,)
        if self.document:
            return ("transcript", *BOTTOM, "document")
        if self.form == "wide":
            return ("transcript", "scope", "hits", *BOTTOM)
        return ("transcript", self.side if self.side != "document" else "scope", *BOTTOM)

    def focus(self, pane: str) -> Arrangement:
        """With ``pane`` on screen and in focus."""
        covers = pane in ("scope", "hits")
        return replace(
            self,
            pane=pane,
            side=pane if covers else self.side,
            document=(self.document and not covers) or pane == "document",
        )

    def back(self) -> Arrangement:
        """One step back: out of the zoom, then out of the document, then to the transcript."""
        if self.zoomed:
            return replace(self, zoomed=False)
        if self.document:
            return replace(self, document=False, pane=self.side if self.pane == "document" else self.pane)
        return replace(self, pane="transcript")

    def cycle(self, step: int) -> Arrangement:
        """The next (1) or previous (-1) pane; on a narrow screen all of them take part."""
        among = (*TOP[:3], *BOTTOM, "document") if self.form == "narrow" or self.zoomed else self.visible
        if not among:
            return self
        at = among.index(self.pane) if self.pane in among else -1
        return self.focus(among[(at + step) % len(among)])
