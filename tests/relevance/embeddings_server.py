"""An embeddings server that speaks real HTTP, and fails as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: What the fake model knows: the vector of a text says how often it holds each of these.
WORDS = ("bird", "loom", "clock", "sea")

Reply = tuple[int, bytes, dict[str, str]]


def vector(text: str) -> list[float]:
    return [0.1 + text.lower().count(word) for word in WORDS]


def body(texts: list[str]) -> dict[str, Any]:
    """A good reply, its rows in another order than the texts, as the format allows."""
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    return {"object": "list", "model": "fake", "data": rows[::-1], "usage": {"prompt_tokens": 1}}


def status(code: int, said: Any = "no", **headers: str) -> Callable[[list[str]], Reply]:
    data = json.dumps({"error": {"message": said, "code": None}}).encode()
    return lambda _: (code, data, {name.replace("_", "-"): value for name, value in headers.items()})


def says(data: bytes) -> Callable[[list[str]], Reply]:
    return lambda _: (200, data, {})


class FakeEmbeddings:
    """Answers request after request with the next of ``faults``; ``None`` there is a good reply, ``"reset"``
    ends the connection, ``"wait"`` keeps it until the server stops. Then all replies are good."""

    def __init__(self) -> None:
        self.faults: list[Any] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.waiting = threading.Event()
        self.stopped = threading.Event()
        self.most = 1_000
        self.url = ""

    @property
    def texts(self) -> list[str]:
        return [text for request in self.asked for text in request["input"]]


@contextmanager
def serving() -> Iterator[FakeEmbeddings]:
    fake = FakeEmbeddings()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.asked.append(request)
            fake.keys.append(self.headers.get("Authorization"))
            fault = fake.faults.pop(0) if fake.faults else None
            if fault == "reset":
                self.close_connection = True
                self.connection.close()
                return
            if fault == "wait":
                fake.waiting.set()
                fake.stopped.wait()
                self.close_connection = True
                return
            texts = request["input"]
            if self.path != "/v1/embeddings":
                reply = status(404)(texts)
            elif len(texts) > fake.most:
                reply = status(413, "batch too large")(texts)
            else:
                reply = fault(texts) if fault else (200, json.dumps(body(texts)).encode(), {})
            code, data, headers = reply
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
