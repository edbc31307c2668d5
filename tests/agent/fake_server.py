"""An OpenAI-compatible server that speaks real HTTP and says what a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


class FakeServer:
    """Answers each request with the next of ``replies``: a body for status 200, or (status, body).
    ``None`` keeps the client waiting until the server is stopped."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.requests: list[dict[str, Any]] = []
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
            fake.asked.set()
            reply = fake.replies.pop(0)
            if reply is None:
                fake.stopped.wait()
                return
            self._send(*(reply if isinstance(reply, tuple) else (200, reply)))

        def do_GET(self) -> None:
            self._send(200, fake.models)

        def _send(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
