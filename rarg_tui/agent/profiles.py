"""Profiles: the limits of a run, as data.

The figures are those of the released RARG scripts for BrowseComp-Plus (``bcplus``, question answering)
and BRIGHT (``bright``, ranking documents), arXiv 2607.24223; the quota is rarg's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from rarg_tui.errors import RargError
from rarg_tui.toml_file import nearest


@dataclass(frozen=True, slots=True)
class Profile:
    """Limits. Lengths in characters, times in seconds, tokens as the server or an estimate counts them.

    ``pool`` is M and ``shown`` m of the paper; ``entry_documents`` is its X; ``quota`` is how many lines
    of a document go before the next round (0: no quota); ``output_bytes`` bounds what bash shows;
    ``answer_form`` is a text with citations or a ranking of ten documents. No turn begins once ``max_tokens``
    (input and output) or ``max_cost_usd`` are used up; ``None``: no such budget.
    """

    name: str
    description: str
    max_turns: int
    force_answer_turn: int
    keep_results: int
    compaction_tokens: int
    scope_cap: int = 10_000
    pool: int = 500
    shown: int = 30
    line_length: int = 1_000
    output_bytes: int = 51_200
    quota: int = 3
    timeout_s: float = 30.0
    entry_documents: int = 20
    entry_points: int = 10
    answer_form: Literal["answer", "ranking"] = "answer"
    max_tokens: int | None = None
    max_cost_usd: float | None = None

    def limits(self) -> dict[str, Any]:
        """The limits as they are recorded in a run's first event."""
        data = asdict(self)
        del data["name"], data["description"]
        return data

    def with_limits(self, limits: Mapping[str, Any]) -> Profile:
        """This profile with the limits that are given in place of its own; what is no limit is ignored,
        since a later version's log may hold more."""
        known = {field.name for field in fields(self)} - {"name", "description"}
        return replace(self, **{name: value for name, value in limits.items() if name in known})


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="bcplus",
            description="answer a question, with citations",
            max_turns=101,
            force_answer_turn=100,
            keep_results=40,
            compaction_tokens=230_000,
        ),
        Profile(
            name="bright",
            description="rank ten documents",
            max_turns=41,
            force_answer_turn=40,
            keep_results=40,
            compaction_tokens=230_000,
            shown=60,
            line_length=500,
            quota=1,
            entry_documents=50,
            answer_form="ranking",
        ),
    )
}


def profile(name: str) -> Profile:
    """The profile called ``name``; ``RargError`` with the nearest name when there is none."""
    if name not in PROFILES:
        raise RargError(unknown("profile", name, PROFILES))
    return PROFILES[name]


def unknown(what: str, name: str, known: Mapping[str, object]) -> str:
    """One sentence: there is no ``what`` called ``name``; the nearest, or all, that there are."""
    return f"There is no {what} {name!r}; {nearest(name, known)}"
