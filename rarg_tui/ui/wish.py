"""What the workbench was started for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wish:
    """A question, or a saved ``run`` to show; a ``demo`` takes the corpus' first question. Empty names
    leave strategy, model and profile to the settings."""

    question: str = ""
    strategy: str = ""
    model: str = ""
    profile: str = ""
    run: str = ""
    demo: bool = False

    @property
    def begins(self) -> bool:
        """Whether a run begins without asking."""
        return bool(self.question or self.run or self.demo)
