"""A run with a real model, as it was logged: Qwen2.5-Coder-1.5B-Instruct (4 bits) behind llama.cpp's
server, which streamed. So small a model answers without calling a tool; what it says is not tested."""

from __future__ import annotations

from pathlib import Path

from rarg_tui.trace.log import load
from rarg_tui.trace.reducer import replay

RUN = Path(__file__).parent / "data" / "real-run"


def test_the_log_opens_and_says_what_happened() -> None:
    loaded = load(RUN)
    state = replay(loaded.events)
    assert loaded.notices == ()
    assert (state.corpus, state.documents, state.strategy) == ("/corpus", 256, "rarg++")
    assert (len(state.turns), len(state.calls), state.ended) == (1, 0, "answered")
    assert (state.usage.input_tokens, state.usage.output_tokens) == (832, 63)
    assert not state.usage.estimated
    assert state.usage.cost_usd is None
    assert state.citations == (), "what it names is no document"
