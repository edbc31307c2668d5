"""A model process from within: requests from stdin, one answer each to stdout (see
:mod:`rarg_tui.relevance.frames`). The first message, unasked, is what the model is. It ends with its parent,
whose end closes stdin."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from rarg_tui.relevance import frames

_NICE = 5

#: Characters of a library's message.
_LONGEST = 300


#: Answers a request with a header and a payload.
Answer = Callable[[dict[str, Any]], tuple[dict[str, Any], bytes]]


def serve(load: Callable[[], tuple[dict[str, Any], Answer]]) -> int:
    """Load a model and answer until the parent is gone; 1 when it cannot be loaded."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not come between our messages
    with_nice = getattr(os, "nice", None)
    if with_nice is not None:
        with_nice(_NICE)

    def say(header: dict[str, Any], payload: bytes = b"") -> None:
        out.write(frames.pack(header, payload))
        out.flush()

    requests: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    try:
        about, answer = load()
        say(about)
    except Exception as error:
        say({"error": _sentence(error)})
        return 1
    while True:
        request = requests.get()
        try:
            say(*answer(request))
        except Exception as error:
            say({"error": _sentence(error)})


def _sentence(error: Exception) -> str:
    """What a library says, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]


def _listen(requests: queue.Queue[dict[str, Any]]) -> None:
    def exactly(count: int) -> bytes:
        data = sys.stdin.buffer.read(count)
        if len(data) < count:
            raise EOFError
        return data

    try:
        while True:
            requests.put(frames.read(exactly)[0])
    except (EOFError, ValueError, OSError):
        os._exit(0)  # the parent is gone: stop even in the middle of a batch
