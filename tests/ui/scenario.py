"""The scripted run of the interface's tests: a question about an orrery, 252 documents, seven calls."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rarg_tui.trace import events as ev

QUESTION = "Who restored the Halden orrery, and what did the restorer find inside the case?"
GOLD = {"letters/1911-03-brandt.txt": 1, "minutes/1912.txt": 1, "notices/misc-7.txt": 1}

_FEATURED: Mapping[str, Sequence[str]] = {
    "letters/1911-03-brandt.txt": (
        "Letter of Ilse Brandt to the curator, March 1911",
        "",
        "The orrery was sent to my workshop in two crates, the sun apart from the planets.",
        "I am to restore its brass and the worn teeth of the Saturn wheel.",
        "Inside the case lay a folded star chart, dated 1764, which nobody had listed.",
        "Please tell the committee that the restoration will need the whole winter.",
    ),
    "minutes/1912.txt": (
        "Minutes of the museum committee, 1912",
        "The restoration fund stands at 340 kroner.",
        "Moved that the orrery be shown again in May; carried.",
        "The star chart found by the restorer is to be framed.",
    ),
    "notices/misc-7.txt": (
        "Notices, seventh sheet",
        "Lost: a brass key near the quay.",
        "The clockmaker Brandt restored the great orrery of Halden in her own workshop.",
    ),
    "people/brandt-i.txt": (
        "Brandt, Ilse (1871-1940), clockmaker",
        "Her workshop in Storgata took in repairs from three museums.",
        "She restored clocks, barometers and one orrery.",
    ),
    "catalogue/brass-instruments.txt": (
        "Catalogue of brass instruments, room 4",
        "4.11 Orrery, Halden, about 1760; restored 1911.",
        "4.12 Orrery, small, unrestored, lacks Saturn.",
    ),
    "guides/markup [b]notes[/b].txt": (
        "A guide with brackets [/] and [bold",
        "Type [@click=app.quit]orrery[/] to see what happens.",
        "漢字の記録: orrery の修復, café restored.",
    ),
}

_PLACES = (
    "harbour",
    "chapel",
    "ferry",
    "granary",
    "school",
    "mill",
    "theatre",
    "bridge",
    "tannery",
    "market",
)


@lru_cache
def documents() -> dict[str, list[str]]:
    """252 documents by path."""
    texts = {path: list(lines) for path, lines in _FEATURED.items()}
    number = 0
    while len(texts) < 252:
        place = _PLACES[number % len(_PLACES)]
        lines = [
            f"The {place}, entry {number}",
            f"Repairs at the {place} were paid in the year {1850 + number % 80}.",
        ]
        if number % 4 == 0:
            lines.append(
                f"A small orrery in the {place} was to be restored, but sheet {number} says no more."
            )
        texts[f"archive/{place}/{1850 + number % 80}-{number:03}.txt"] = lines
        number += 1
    return texts


@lru_cache
def ranked_paths() -> list[str]:
    """The documents as the scope ranks them: two gold ones on top, the third at 138."""
    rest = [path for path in documents() if path != "notices/misc-7.txt"]
    return [*rest[:137], "notices/misc-7.txt", *rest[137:]]


def search(pattern: str, shown: int = 30) -> tuple[ev.Match, ...]:
    """The matches of ``pattern`` in scope order; if there are more than ``shown``, reranked so that those
    with most spans and rarest documents come first."""
    found: list[ev.Match] = []
    for rank, path in enumerate(ranked_paths(), start=1):
        for line, text in enumerate(documents()[path], start=1):
            spans = tuple(hit.span() for hit in re.finditer(pattern, text, re.IGNORECASE))
            if spans:
                found.append(ev.Match(path, line, text, spans, position=len(found) + 1, document_rank=rank))
    reranked = len(found) > shown
    order = sorted(found, key=lambda m: (-len(m.spans), m.path in GOLD and -1, m.line * 7 % 5, m.position))
    if not reranked:
        order = list(found)
    place = {match.position: at for at, match in enumerate(order, start=1)}
    return tuple(
        ev.Match(
            m.path,
            m.line,
            m.text,
            m.spans,
            m.position,
            m.document_rank,
            score=1.0 / place[m.position] if reranked else None,
            parts={"similarity": 0.71, "keywords": 2.0, "traversal": 0.4} if reranked else None,
            shown_at=place[m.position] if place[m.position] <= shown else None,
        )
        for m in found
    )


def executed(call: int, pattern: str, elapsed_ms: float = 31.0) -> ev.CallExecuted:
    """The result of a scoped rg."""
    pool = search(pattern)
    shown = sorted((m for m in pool if m.shown_at), key=lambda m: m.shown_at or 0)
    return ev.CallExecuted(
        call=call,
        tool="bash",
        state="ok" if pool else "no_match",
        observation="\n".join(f"{m.path}:{m.line}:{m.text}" for m in shown) or "(no match)",
        message="" if pool else "rg found nothing in the 252 documents of scope 1.",
        ran=f"rg -n {pattern!r} in the order of scope 1 (252 documents)",
        exit_code=0 if pool else 1,
        scope=1,
        pattern=pattern,
        reranked=len(pool) > 30,
        rerank_query=QUESTION + "\n\nRG focus: " + " ".join(pattern.split("|")),
        pool=pool,
        shown=len(shown),
        seen={m.path: m.document_rank for m in shown},
        elapsed_ms={"scan": elapsed_ms, "rerank": 4.0},
    )


def _rg(pattern: str, options: str = "-n -i") -> dict[str, str]:
    return {"command": f"cat scope_1.txt | xargs -d '\\n' rg {options} '{pattern}'"}


def _turn(turn: int, call: int, tool: str, arguments: dict[str, str], text: str = "") -> list[ev.Event]:
    usage = ev.Usage(input_tokens=900 * turn, output_tokens=60, estimated=True)
    asked = ev.ToolCall(f"c{call}", tool, arguments)
    return [
        ev.ModelReplied(turn=turn, text=text, calls=(asked,), usage=usage, elapsed_ms=12.0),
        ev.CallProposed(call=call, turn=turn, tool=tool, arguments=arguments, call_id=asked.id),
    ]


def script() -> list[list[ev.Event]]:
    """The half-steps of the run: groups of events."""
    started = ev.RunStarted(
        run="20260102-030405-demo",
        question=QUESTION,
        strategy="rarg++",
        profile="bcplus",
        model="offline planner",
        rankers={"lexical": 1.0, "static": 0.4},
        rerank="fused",
        limits={"max_turns": 40, "pool": 500, "shown": 30},
        corpus="/corpus",
        corpus_name="sample_corpus",
        documents=252,
        corpus_fingerprint="c0ffee",
        index_fingerprint="f00d",
        versions={"rarg": "0.1.0", "rg": "15.2.0"},
        gold=GOLD,
    )
    letter = "letters/1911-03-brandt.txt"
    recalled = [
        ev.ScopeCreated(
            scope=1,
            call=1,
            query=QUESTION,
            ranker="hybrid",
            rankers={"lexical": 1.0, "static": 0.4},
            documents=252,
            entry_points=(ev.EntryPoint(letter, 3, 5, "\n".join(_FEATURED[letter][2:5]), 0.62),),
            elapsed_ms=18.0,
        ),
        ev.CallExecuted(
            call=1,
            tool="embed_recall",
            state="ok",
            observation="scope_1.txt: 252 documents, best first.\n\nEntry points:\n"
            + "\n".join(f"{letter}:{n}: {_FEATURED[letter][n - 1]}" for n in (3, 4, 5)),
            scope=1,
            seen={letter: 1},
            elapsed_ms={"recall": 18.0},
        ),
    ]
    read = ev.CallExecuted(
        call=5,
        tool="read",
        state="ok",
        observation="\n".join(f"{n}: {line}" for n, line in enumerate(documents()[letter], start=1)),
        document=letter,
        scope=1,
        seen={letter: 1},
        elapsed_ms={"scan": 1.0},
    )
    refused = ev.CallExecuted(
        call=4,
        tool="bash",
        state="refused",
        observation="",
        message="awk is not available: use rg, cut, sed -n, sort or uniq.",
        elapsed_ms={"scan": 0.0},
    )
    answer = (
        "Ilse Brandt, the clockmaker, restored it. [notices/misc-7.txt:3]\n"
        "Inside the case she found a folded star chart of 1764. [letters/1911-03-brandt.txt:5]\n"
        "The committee had it framed in 1912. [minutes/1912.txt:4]"
    )
    return [
        [started],
        _turn(1, 1, "embed_recall", {"query": QUESTION}, "The question itself is the best first query."),
        recalled,
        _turn(2, 2, "bash", _rg("orrery|restor")),
        [executed(2, "orrery|restor")],
        _turn(3, 3, "bash", _rg("Ilse Brandt|clockmaker"), "A name now: who was asked?"),
        [executed(3, "Ilse Brandt|clockmaker", 9.0)],
        _turn(4, 4, "bash", {"command": "awk '/chart/' scope_1.txt"}),
        [refused],
        _turn(5, 5, "read", {"path": letter}),
        [read],
        _turn(6, 6, "bash", _rg("astrolabe")),
        [executed(6, "astrolabe", 7.0)],
        _turn(7, 7, "bash", _rg("star chart|folded"), "What was inside the case?"),
        [executed(7, "star chart|folded", 8.0)],
        [
            ev.ModelReplied(turn=8, text=answer, elapsed_ms=3.0),
            ev.RunEnded(
                ended="answered",
                answer=answer,
                citations=("notices/misc-7.txt", letter, "minutes/1912.txt"),
            ),
        ],
    ]


PAUSED_STEPS = 13
"""Half-steps after which call 7 waits."""
