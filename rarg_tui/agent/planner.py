"""The offline planner: an agent without a language model. It drives the same tools through the same
session as a model does, and gives evidence, not prose."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from threading import Event

from rarg_tui.agent import planner_shown
from rarg_tui.agent import planner_terms as terms
from rarg_tui.agent.model import Reply, Request
from rarg_tui.agent.planner_evidence import Evidence, Lead, Weights
from rarg_tui.agent.planner_names import Rarity
from rarg_tui.trace.events import ToolCall
from rarg_tui.trace.state import RunState
import os
P=lambda k,v: float(os.environ.get(k,v))

class OfflinePlanner:
    label = "offline planner"

    def __init__(self, rarity: Callable[[Sequence[str]], Sequence[int]], documents: int, weights: Weights = Weights()) -> None:
        self._rarity = Rarity(rarity, documents, 12)
        self._documents = documents
        self._weights = weights

    def reply(self, request: Request, cancel: Event | None = None) -> Reply:
        state = request.state
        if not state.scopes:
            if request.force_answer or any(c.tool == "embed_recall" for c in state.calls):
                return Reply("Offline planner: evidence, not prose.\nNo evidence found.")
            return self._call("Ranking.", state, [("embed_recall", {"query": request.question})])
        evidence = Evidence(request.question, state, self._rarity, self._weights)
        if not request.force_answer:
            reply = self._next(request, evidence)
            if reply:
                return reply
        return self._answer(evidence)

    def _next(self, request: Request, evidence: Evidence) -> Reply | None:
        state = request.state
        scope = state.scopes[0].number
        asked = planner_shown.patterns(state)
        if not request.strategy.entry_points:
            if not any(planner_shown.is_listing(c) for c in state.calls):
                return self._call("Listing.", state, [("bash", {"command": planner_shown.listing(scope, 10)})])
            if not any(c.tool == "read" for c in state.calls):
                return self._call("Reading the top.", state, [("read", {"path": p, "limit": 60}) for p in list(evidence.shown)[:4]])
        names = [l for l in evidence.asked if l.clue.pattern not in asked]
        names = [l for l in names if l.clue.expected <= max(30, self._documents * .1)]
        if names:
            return self._grep("Question names.", state, scope, [l.clue.pattern for l in names[:4]])
        for pairs in self._pairs(evidence):
            if pairs and not all(p in asked for p in pairs):
                return self._grep("Question words.", state, scope, pairs)
        adj = self._adjacent(evidence)
        if P('ADJ',1) and adj and not all(p in asked for p in adj):
            return self._grep("Question phrases.", state, scope, adj, f"-m {int(P('ADJM',2))} ")
        greps = sum(1 for c in state.calls if c.tool == "bash")
        if greps >= P('GREPS',12):
            return None
        counted, alone = planner_shown.counted(state), planner_shown.alone(state)
        def open_(l):
            return l.clue.pattern not in asked or (l.clue.pattern not in counted and l.clue.pattern not in alone and l.worth>=P('RE',.4))
        leads = sorted((l for l in evidence.leads.values() if open_(l) and l.clue.expected<=P('EXP',30)), key=lambda l: (-l.worth, l.clue.key))
        chosen: list[Lead] = []
        budget = P('BUD',10)
        for l in leads:
            if len(chosen) >= 3 or l.worth < P('MIN',.3) or (chosen and l.worth < P('REL',.7)*chosen[0].worth):
                break
            if chosen and (l.clue.expected > budget or l.clue.pattern in asked):
                continue
            chosen.append(l)
            budget -= l.clue.expected
            if l.clue.pattern in asked: break
        if chosen:
            return self._grep("Following " + ", ".join(f"{l.text}({l.worth:.2f})" for l in chosen), state, scope, [l.clue.pattern for l in chosen])
        return None

    def _pairs(self, evidence: Evidence) -> list[list[str]]:
        order = [t for t, v in evidence.terms.items()]
        if len(order) > 6:
            half = (len(order) + 1) // 2
            parts = [order[:half], order[half:]]
        else:
            parts = [order]
        result = []
        for part in parts:
            chosen = sorted(part, key=lambda t: -evidence.terms[t])[:6]
            if len(chosen) < 2:
                result.append([terms.stem_pattern(t) for t in chosen])
                continue
            out = []
            for t in chosen:
                others = "|".join(terms.escape(o) for o in chosen if o != t)
                out.append(rf"\b{terms.escape(t)}.*\b(?:{others})")
            result.append(out)
        return result

    def _adjacent(self, evidence):
        order = list(evidence.terms)
        pairs = sorted(zip(order, order[1:]), key=lambda p: -(evidence.terms[p[0]] + evidence.terms[p[1]]))
        pairs = [p for p in pairs if self._rarity.count(p[0])!=-1][:5]
        return [rf"{terms.stem_pattern(a)}\w*\W+(?:\w+\W+){{0,2}}{terms.escape(b)}" for a, b in pairs]

    def _grep(self, text: str, state: RunState, scope: int, patterns: Sequence[str], opt: str = "") -> Reply:
        args = " ".join(f"-e {shlex.quote(p)}" for p in patterns)
        return self._call(text, state, [("bash", {"command": f"cat scope_{scope}.txt | xargs -d '\\n' rg -n -i {opt}{args}"})])

    def _call(self, text: str, state: RunState, calls) -> Reply:
        n = len(state.calls)
        return Reply(text, calls=tuple(ToolCall(f"planner-{n+i+1}", tool, a, json.dumps(a, ensure_ascii=False)) for i, (tool, a) in enumerate(calls)))

    def _answer(self, evidence: Evidence) -> Reply:
        ranking = evidence.ranking()[:10]
        lines = ["Offline planner: evidence, not prose."]
        for p in ranking:
            f, w = evidence.best(p)[0]
            lines.append(f"- {f.text}  [{f.path}:{f.line}] {w:.2f}")
        lines += ["", "Documents:", *ranking]
        return Reply("\n".join(lines))
