"""An OpenAI-compatible server that speaks real HTTP and says what a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def completion(text: str | None = None, *calls: tuple[str, str], **usage: int) -> dict[str, Any]:
    """A Chat Completions reply; ``calls`` are (tool, raw argument string)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": "same-id", "type": "function", "function": {"name": name, "arguments": raw}}
            for name, raw in calls
        ]
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, **usage},
    }


@dataclass(frozen=True)
class Stream:
    """A reply in pieces. ``cut``: the connection breaks after the last of them."""

    events: tuple[Any, ...]
    cut: bool = False

    def data(self) -> bytes:
        return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in self.events)


class Broken:
    """A reply of which half arrives."""


def delta(finish: str | None = None, **parts: Any) -> dict[str, Any]:
    """A chunk of a Chat Completions stream."""
    return {"choices": [{"index": 0, "delta": parts, "finish_reason": finish}]}


def call_delta(arguments: str, **parts: Any) -> dict[str, Any]:
    """A chunk with a piece of a call; ``parts`` are index, id and name, as far as a server gives them."""
    function = {"arguments": arguments, **({"name": parts.pop("name")} if "name" in parts else {})}
    return delta(tool_calls=[{**parts, "function": function}])


USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


def streamed(*events: Any, usage: Any = USAGE, finish: str = "stop") -> Stream:
    """A stream as OpenAI ends it: the reason of its end, then the counts in a chunk of their own."""
    return Stream((*events, delta(finish), {"choices": [], "usage": usage}))


class FakeServer:
    """Answers each request with the next of ``replies``, the last one again and again: a body for status
    200, (status, body), (status, body, headers), or a :class:`Stream`. ``None`` keeps the client waiting
    until the server is stopped."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.stopped = threading.Event()
        self.asked = threading.Event()
        self.url = ""
        self.models: Any = {"object": "list", "data": [{"id": "served", "object": "model"}]}


@contextmanager
def serving(*replies: Any) -> Iterator[FakeServer]:
    fake = FakeServer(*replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            fake.requests.append(json.loads(self.rfile.read(length)))
            fake.keys.append(self.headers.get("Authorization", ""))
            fake.asked.set()
            reply = fake.replies.pop(0) if len(fake.replies) > 1 else fake.replies[0]
            if reply is None:
                fake.stopped.wait()
            elif isinstance(reply, Stream):
                self._stream(reply)
            elif isinstance(reply, Broken):
                self._send(200, completion("x"), {"Content-Length": "9999"})
            else:
                self._send(*(reply if isinstance(reply, tuple) else (200, reply)))

        def do_GET(self) -> None:
            self._send(200, fake.models)

        def _send(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            usual = {"Content-Type": "application/json", "Content-Length": str(len(data))}
            for name, value in (usual | dict(headers or {})).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, stream: Stream) -> None:
            data = stream.data()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            if stream.cut:
                self.send_header("Content-Length", str(len(data) + 1))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
