"""A small finished run, as events: what the tests of the log, the reducer and the exports share."""

from __future__ import annotations

from pathlib import Path

from rarg_tui.trace import events as ev
from rarg_tui.trace.log import RunLog

GOLD = "letters/b.txt"


def started(question: str = "Who mended the clock?", **changes: object) -> ev.RunStarted:
    fields: dict[str, object] = {
        "run": "clock",
        "question": question,
        "strategy": "rarg++",
        "profile": "bcplus",
        "model": "offline planner",
        "rankers": {"lexical": 1.0, "static": 0.5},
        "rerank": "fused",
        "limits": {"shown": 30},
        "corpus": "/corpus",
        "corpus_name": "corpus",
        "documents": 3,
        "corpus_fingerprint": "c0",
        "index_fingerprint": "i0",
        "versions": {"rarg": "0", "rg": "15.2.0"},
        "gold": {GOLD: 1, "letters/never.txt": 1},
    }
    return ev.RunStarted(**{**fields, **changes})  # type: ignore[arg-type]


def events() -> list[ev.Event]:
    point = ev.EntryPoint("letters/a.txt", 1, 2, "The clock was sent to Ilse.", 0.5)
    match = ev.Match(GOLD, 3, "Ilse mended it", ((0, 4),), 1, 2, 0.9, {"similarity": 0.4}, 1, 0)
    return [
        started(),
        ev.ModelReplied(
            turn=1,
            text="Looking.",
            calls=(ev.ToolCall("x", "embed_recall", {"query": "clock"}, '{"query": "clock"}'),),
            usage=ev.Usage(input_tokens=10, output_tokens=2, cost_usd=0.25),
        ),
        ev.CallProposed(call=1, turn=1, tool="embed_recall", arguments={"query": "clock"}),
        ev.ScopeCreated(
            scope=1,
            call=1,
            query="clock",
            ranker="hybrid",
            rankers={"lexical": 1.0},
            documents=3,
            entry_points=(point,),
        ),
        ev.CallExecuted(
            call=1,
            tool="embed_recall",
            state="ok",
            observation='"clock" → scope_1.txt (3 documents, best first)',
            scope=1,
            seen={"letters/a.txt": 1},
        ),
        ev.ModelReplied(turn=2, calls=(ev.ToolCall("y", "bash", {"command": "rg"}, "{}"),)),
        ev.CallProposed(call=2, turn=2, tool="bash", arguments={"command": "rg"}),
        ev.CallEdited(call=2, before={"command": "rg"}, after={"command": "rg Ilse"}),
        ev.CallExecuted(
            call=2,
            tool="bash",
            state="ok",
            observation=f"{GOLD}:3: Ilse mended it",
            scope=1,
            pattern="Ilse",
            reranked=True,
            pool=(match,),
            shown=1,
            seen={GOLD: 2, "letters/a.txt": 1},
            elapsed_ms={"scan": 3.0},
        ),
        ev.ModelReplied(turn=3, text="Ilse. [letters/b.txt:3]"),
        ev.RunEnded(ended="answered", answer="Ilse. [letters/b.txt:3]", citations=(GOLD,)),
        ev.NoteAdded(text="well found", about=9),
    ]


def write(directory: Path) -> tuple[ev.Event, ...]:
    log = RunLog(directory)
    for event in events():
        log.append(event)
    log.close()
    return log.events
