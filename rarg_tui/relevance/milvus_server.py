"""A connection to Milvus that is bounded in time, quiet, and speaks in errors of one sentence."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from rarg_tui.corpus.progress import check
from rarg_tui.errors import MissingPart, RargError

#: Seconds until a server counts as unreachable, and until one call of it has failed.
CONNECT_S = 5.0
CALL_S = 60.0
#: Seconds between two tries: doubled from the first to the last.
FIRST_PAUSE_S = 0.5
LAST_PAUSE_S = 8.0

_TOKEN = "MILVUS_TOKEN"
_LOOK_S = 0.02

_files: Counter[str] = Counter()
_files_lock = threading.Lock()


class MilvusServer:
    """A Milvus server at an address, or a file (``Path``) that milvus-lite serves inside this process and
    locks against others. Connects with the first call; safe for several threads."""

    def __init__(self, uri: str | Path) -> None:
        self.is_file = isinstance(uri, Path)
        self.uri = os.path.abspath(uri) if isinstance(uri, Path) else uri
        self._client: Any = None
        self._lock = threading.Lock()

    def require(self) -> None:
        """Raises :class:`MissingPart` when a package is not installed."""
        for package in ("pymilvus", "milvus_lite") if self.is_file else ("pymilvus",):
            if importlib.util.find_spec(package) is None:
                raise MissingPart(
                    f"The store milvus needs the package `{package}`; install it with "
                    "`pip install 'rarg[milvus]'`, or choose --store faiss."
                )

    def call(
        self,
        name: str,
        *args: Any,
        cancel: threading.Event | None = None,
        timeout: float = CALL_S,
        patience: float = 0.0,
        **more: Any,
    ) -> Any:
        """What the client's method ``name`` gives within ``timeout`` seconds; an unreachable server is
        tried again for ``patience`` seconds. Raises ``Cancelled``, :class:`MissingPart` when the server
        cannot be reached, and :class:`RargError` when it refuses."""
        self.require()

        def ask() -> Any:
            return getattr(self._connected(), name)(*args, timeout=timeout, **more)

        until = time.monotonic() + patience
        pause = FIRST_PAUSE_S
        while True:
            try:
                return _watched(ask, cancel)
            except _failures() as error:
                if not _unreachable(error):
                    raise RargError(f"Milvus at {self.uri} refuses to {name} ({_why(error)}).") from None
                self._disconnect()
                if time.monotonic() + pause > until:
                    raise self._lost(error) from None
            (cancel or threading.Event()).wait(pause)
            check(cancel)
            pause = min(2 * pause, LAST_PAUSE_S)

    def close(self) -> None:
        """Disconnect; the last in this process that closes a file unlocks it."""
        self._disconnect()

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                with _held(self.uri) if self.is_file else contextlib.nullcontext():
                    self._client = self._connect()
            return self._client

    def _connect(self) -> Any:
        token = "" if self.is_file else os.environ.get(_TOKEN, "")
        try:
            return _client_class()(self.uri, token=token, timeout=CONNECT_S)
        except _failures() as error:
            raise _Unconnected(_why(error)) from None

    def _disconnect(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()
            if self.is_file:
                _release(self.uri)

    def _lost(self, error: Exception) -> MissingPart:
        if not self.is_file:
            return MissingPart(
                f"Milvus at {self.uri} cannot be reached ({_why(error)}); start it, name another with --uri, "
                f"or set {_TOKEN} if it asks for one."
            )
        if not Path(self.uri).parent.is_dir():
            return MissingPart(
                f"The directory of the Milvus file {self.uri!r} does not exist; make it, or name another "
                "with --uri."
            )
        return MissingPart(
            f"The Milvus file {self.uri!r} cannot be opened ({_Listener.heard or _why(error)}); one process "
            "at a time can have it: close the other, or use a Milvus server."
        )


class _Unconnected(Exception):
    """Why there is no connection."""


class _Listener(logging.Handler):
    """milvus-lite tells only its log why a file cannot be opened."""

    heard = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            _Listener.heard = str(record.exc_info[1])


@cache
def _client_class() -> Any:
    # gRPC writes about forks and lost connections to stderr, in the middle of the screen.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    import pymilvus

    for name in ("pymilvus", "pymilvus.milvus_client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger("milvus_lite").addHandler(_Listener())
    return pymilvus.MilvusClient


@cache
def _failures() -> tuple[type[Exception], ...]:
    import grpc
    from pymilvus.exceptions import MilvusException

    return MilvusException, grpc.RpcError, _Unconnected


def _unreachable(error: Exception) -> bool:
    if isinstance(error, _Unconnected):
        return True
    from grpc import StatusCode
    from pymilvus.client.types import Status

    code = getattr(error, "code", None)
    lost = (Status.CONNECT_FAILED, StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED)
    return (code() if callable(code) else code) in lost


def _why(error: Exception) -> str:
    details = getattr(error, "details", None)
    said = details() if callable(details) else getattr(error, "message", None) or str(error)
    first = (str(said).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    token = os.environ.get(_TOKEN, "")
    return first.replace(token, "…") if token else first


def _watched(call: Callable[[], Any], cancel: threading.Event | None) -> Any:
    """``call()`` in a thread that is left behind when ``cancel`` is set: gRPC waits without looking."""
    if cancel is None:
        return call()
    given: list[Any] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            given.append(call())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_S)
        check(cancel)
    if failed:
        raise failed[0]
    return given[0]


@contextlib.contextmanager
def _held(file: str) -> Any:
    """Counts one more user of ``file`` in this process, unless opening fails."""
    with _files_lock:
        _files[file] += 1
    try:
        yield
    except BaseException:
        _release(file)
        raise


def _release(file: str) -> None:
    from milvus_lite.server_manager import server_manager_instance

    with _files_lock:
        _files[file] -= 1
        if not _files[file]:
            server_manager_instance.release_server(file)
