"""Which model answers, and at which server: by the settings, else by what the environment offers."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from rarg_tui import api_key
from rarg_tui.config import Settings
from rarg_tui.errors import RargError

if TYPE_CHECKING:
    from rarg_tui.agent.openai_model import OpenAIModel

OFFLINE = "offline planner"

#: Asked for when there is a key but no model was named: the model of the paper's main table.
DEFAULT_MODEL = "gpt-5.4-mini"

#: Where no server is named. Always said to the client, which else takes what it finds elsewhere.
OPENAI = "https://api.openai.com/v1"


class Hosted:
    """The one server at which models other than the offline planner are asked."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._named = settings.base_url or os.environ.get("OPENAI_BASE_URL", "").strip()
        self.server = self._named or OPENAI

    @cached_property
    def key(self) -> api_key.ApiKey:
        return api_key.find(self.server)

    @property
    def default(self) -> str:
        """The model when none is named; empty: the first that the server lists."""
        if self._settings.model or self._named:
            return self._settings.model or ""
        return DEFAULT_MODEL if self.key.value else OFFLINE

    def model(self, name: str) -> OpenAIModel:
        """The model called ``name``, or the first that the server lists."""
        from rarg_tui.agent.openai_model import OpenAIModel, first_model

        settings, key = self._settings, self.key.value
        if not key and not self._named:
            raise RargError(
                f"{name} needs a key or a server: set {api_key.VARIABLE}, give --base-url, "
                "or leave --model out for the offline planner."
            )
        chosen = name or first_model(self.server, key)
        return OpenAIModel(
            chosen,
            base_url=self.server,
            api_key=key,
            price=settings.prices.get(chosen),
            api=settings.api,
            reasoning_effort=settings.reasoning_effort or "",
        )
