"""The tools of a run, for a model and for a person alike."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event as Cancel
from typing import Any

from rarg_tui.agent.profiles import unknown
from rarg_tui.agent.tools.base import Call, OnMatches, Tool, World, checked
from rarg_tui.agent.tools.bash import Bash
from rarg_tui.agent.tools.read import Read, ReadCharacters
from rarg_tui.agent.tools.recall import EmbedRecall
from rarg_tui.agent.tools.retrieval import FinalResults, Retrieve, Search, Think
from rarg_tui.agent.tools.working_set import Pull, SearchMore
from rarg_tui.agent.workspace import Workspace
from rarg_tui.errors import RargError
from rarg_tui.trace import events as ev
from rarg_tui.trace.state import RunState

#: As strategies name them; two may have one name for the model.
TOOLS: Mapping[str, Tool] = {
    "embed_recall": EmbedRecall(),
    "bash": Bash(),
    "read": Read(),
    "read_characters": ReadCharacters(),
    "search_more": SearchMore(),
    "pull": Pull(),
    "search": Search(),
    "retrieve": Retrieve(),
    "think": Think(),
    "final_results": FinalResults(),
}

#: What a person may use by hand under any strategy.
_BY_HAND = ("embed_recall", "bash", "read")


class Toolbox:
    """Runs the calls of one run in its ``world``."""

    def __init__(self, world: World) -> None:
        self.world = world
        if world.strategy.workspace:
            world.workspace = Workspace(world.corpus)
        self._tools = {TOOLS[key].name: TOOLS[key] for key in world.strategy.tools}
        self._by_hand = {TOOLS[key].name: TOOLS[key] for key in _BY_HAND} | self._tools

    def schemas(self, *names: str) -> list[dict[str, Any]]:
        """The tools of the strategy, or those of the given names, in the form of Chat Completions."""
        return [self._tools[name].schema(self.world) for name in names or self._tools]

    def execute(
        self,
        call: int,
        tool: str,
        arguments: Mapping[str, Any] | None,
        state: RunState,
        cancel: Cancel | None = None,
        on_matches: OnMatches | None = None,
        by: str = "model",
    ) -> list[ev.Event]:
        """Run a call; what happened, as events with its ``CallExecuted``, and a ``RunEnded`` behind it
        where the call ends the run.

        Never raises for what a model can do wrong: such a call has the state ``error`` and an observation
        that says how to do it right.
        """
        try:
            given = self.checked(tool, arguments, by)
            self._restore(state)
            return self._known(by)[tool].run(Call(call, given, state, cancel, on_matches), self.world)
        except RargError as error:
            return [
                ev.CallExecuted(
                    call=call, tool=tool, state="error", observation=f"(error: {error})", message=str(error)
                )
            ]

    def checked(self, tool: str, arguments: Mapping[str, Any] | None, by: str = "model") -> Mapping[str, Any]:
        """``arguments`` held against the tool's schema; raises ``RargError`` with what is wrong."""
        known = self._known(by)
        if tool not in known:
            raise RargError(unknown("tool", tool, known))
        return checked(known[tool].schema(self.world), arguments)

    def close(self) -> None:
        """Remove what was only there for this run to work with."""
        if self.world.workspace is not None:
            self.world.workspace.close()

    def _known(self, by: str) -> Mapping[str, Tool]:
        return self._by_hand if by == "user" else self._tools

    def _restore(self, state: RunState) -> None:
        """Bring back what the scopes of a resumed run had brought into the workspace."""
        workspace = self.world.workspace
        if workspace is not None and not len(workspace):
            for scope in state.scopes:
                workspace.add(self.world.scope(scope.number).paths)
