"""A run of the offline planner on a handful of documents, without an index and without ripgrep."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rarg_tui.agent.model import Reply, Request
from rarg_tui.agent.planner import OfflinePlanner
from rarg_tui.agent.profiles import profile
from rarg_tui.agent.strategies import strategy
from rarg_tui.trace import events as ev
from rarg_tui.trace.reducer import reduce
from rarg_tui.trace.state import RunState


class PlannerRun:
    """``documents`` maps paths, best first, to texts; ``entries`` are the documents whose text comes as
    an entry point; at most ``shown`` matches are shown."""

    def __init__(
        self,
        question: str,
        documents: Mapping[str, str],
        entries: Sequence[str] = (),
        strategy_name: str = "rarg+",
        profile_name: str = "bcplus",
        shown: int = 30,
    ) -> None:
        self.question = question
        self.documents = documents
        self.entries = entries
        self.strategy = strategy(strategy_name)
        self.profile = profile(profile_name)
        self.shown = shown
        self.planner = OfflinePlanner(self.frequencies, len(documents))
        self.state = RunState(question=question)

    def frequencies(self, words: Sequence[str]) -> list[int]:
        texts = [set(re.findall(r"[^\W_]+", f"{p} {t}".lower())) for p, t in self.documents.items()]
        return [sum(word.lower() in text for text in texts) for word in words]

    def ask(self, force_answer: bool = False) -> Reply:
        return self.planner.reply(
            Request(self.question, self.strategy, self.profile, [], self.state, force_answer)
        )

    def propose(self, reply: Reply) -> None:
        turn = len(self.state.turns) + 1
        self._add(ev.ModelReplied(turn=turn, text=reply.text, calls=reply.calls))
        for call in reply.calls:
            number = len(self.state.calls) + 1
            self._add(ev.CallProposed(call=number, turn=turn, tool=call.tool, arguments=call.arguments))

    def execute(self) -> None:
        """Run the calls that wait."""
        while call := self.state.next_call:
            arguments = call.arguments or {}
            if call.tool == "embed_recall":
                self._recall(call.number, arguments["query"])
            elif call.tool == "read":
                self._read(call.number, arguments)
            elif arguments["command"].startswith("head"):
                listing = "\n".join(list(self.documents)[:10])
                self._done(call.number, "bash", "ok", observation=listing)
            else:
                self._search(call.number, arguments["command"])

    def to_the_end(self) -> Reply:
        """Steps until the answer, which must come in time."""
        for _ in range(20):
            reply = self.ask()
            if not reply.calls:
                return reply
            self.propose(reply)
            self.execute()
        raise AssertionError("no answer within twenty turns")

    @property
    def commands(self) -> list[str]:
        return [
            str((call.arguments or {}).get("command")) for call in self.state.calls if call.tool == "bash"
        ]

    def skip(self) -> None:
        while call := self.state.next_call:
            self._add(ev.CallSkipped(call=call.number))

    def edit(self, **arguments: Any) -> None:
        call = self.state.next_call
        assert call is not None
        self._add(ev.CallEdited(call=call.number, before=call.arguments, after=arguments))

    def fail(self) -> None:
        call = self.state.next_call
        assert call is not None
        self._done(call.number, call.tool, "failed", observation="(error: it broke)")

    def _add(self, event: ev.Event) -> None:
        self.state = reduce(self.state, event)

    def _done(self, call: int, tool: str, state: str, **more: Any) -> None:
        self._add(ev.CallExecuted(call=call, tool=tool, state=state, **{"observation": "", **more}))

    def _rank(self, path: str) -> int:
        return list(self.documents).index(path) + 1

    def _recall(self, call: int, query: str) -> None:
        points = tuple(
            ev.EntryPoint(path, 1, len(self.documents[path].split("\n")), self.documents[path])
            for path in self.entries
        )
        self._add(
            ev.ScopeCreated(
                scope=len(self.state.scopes) + 1,
                call=call,
                query=query,
                ranker="hybrid",
                rankers={},
                documents=len(self.documents),
                entry_points=points,
            )
        )
        seen = {point.path: self._rank(point.path) for point in points}
        self._done(call, "embed_recall", "ok", observation="scope_1.txt", seen=seen)

    def _read(self, call: int, arguments: Mapping[str, Any]) -> None:
        path, first = arguments["path"], arguments.get("offset", 1)
        lines = self.documents[path].split("\n")[first - 1 :]
        rows = [f"{path}, lines {first}-{first + len(lines) - 1}"]
        rows += [f"{number}: {line}" for number, line in enumerate(lines, first)]
        seen = {path: self._rank(path)}
        self._done(call, "read", "ok", observation="\n".join(rows), document=path, seen=seen)

    def _search(self, call: int, command: str) -> None:
        listing, searching = command.split(" | ", 1)
        assert re.fullmatch(r"cat scope_\d+\.txt", listing)
        words = shlex.split(searching)
        assert words[:6] == ["xargs", "-d", "\\n", "rg", "-n", "-i"]
        assert words[6::2] == ["-e"] * len(words[6::2])
        wanted = re.compile("|".join(words[7::2]), re.IGNORECASE)
        matches = [
            ev.Match(path, number, line, document_rank=self._rank(path))
            for path, text in self.documents.items()
            for number, line in enumerate(text.split("\n"), 1)
            if wanted.search(line)
        ]
        pool = tuple(
            replace(match, position=at, shown_at=at if at <= self.shown else None)
            for at, match in enumerate(matches, 1)
        )
        seen = {match.path: match.document_rank for match in pool if match.shown_at}
        state = "ok" if pool else "no_match"
        self._done(call, "bash", state, pool=pool, shown=min(len(pool), self.shown), scope=1, seen=seen)
