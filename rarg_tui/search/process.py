"""Every child process of a search is started here: no shell, a bare environment, a group of its own,
confined by the kernel where it can."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import TracebackType
from typing import IO, Self

from rarg_tui.search import landlock

#: Why a group of children was stopped.
CANCELLED, TIMED_OUT, ENOUGH = "cancelled", "timed_out", "enough"

#: The memory that a child of a group with a time limit may have, bytes: a regular expression or a sed
#: script of a few words can ask for all there is.
_MEMORY = 2 << 30

#: How often the watcher looks at the clock and at the cancel event, seconds.
_WATCH = 0.02


def environment() -> dict[str, str]:
    """All that a child sees of our environment: where programs are, and a UTF-8 locale."""
    return {"PATH": _path(), "LANG": "C.UTF-8"}


@lru_cache(maxsize=256)
def find_program(name: str) -> str | None:
    """The absolute path of an installed program, or ``None``."""
    return shutil.which(name, path=_path())


def _path() -> str:
    # A relative entry would let a file of the corpus be started.
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry)) or "/usr/bin:/bin"


class Stopped(Exception):
    """No more children may be started: the group was cancelled, timed out or has enough."""


class Children:
    """The running children of one pipeline or scan; leaving the ``with`` block kills what is left.

    ``cancel`` and ``timeout_s`` (seconds; ``None``: no limit) are watched by a thread, so that callers
    can simply block on a pipe: when the group is stopped, every pipe ends. Where there is a time limit,
    the system is told to bound memory too, and computing time in case nobody is left to stop a child.

    ``readable``: the files and directories that a child may read; where the kernel has Landlock it may do
    nothing else with files, and run nothing but itself. ``None``: the children are not confined. A group
    with a ``parent`` is part of it: it can be stopped alone, is stopped with its parent, and its children
    are confined as the parent's.
    """

    def __init__(
        self,
        cancel: threading.Event | None = None,
        timeout_s: float | None = None,
        parent: Children | None = None,
        readable: Sequence[str] | None = None,
    ) -> None:
        self._reason = ""
        self._parent = parent
        self._readable = readable
        self._starters: dict[str, ThreadPoolExecutor] = {}
        self._cancel = cancel
        self._timeout_s = timeout_s
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._live: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._look()
        if self._cancel is not None or self._deadline is not None:
            self._watcher = threading.Thread(target=self._watch, name="rarg-watch", daemon=True)
            self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self.stop(ENOUGH)
        for starter in self._starters.values():
            starter.shutdown()
        # Once more: an interrupt may have come while a child was on its way.
        self.stop(ENOUGH)
        with self._lock:
            left = list(self._live)
        for process in left:
            self.wait(process)
        if self._watcher is not None:
            self._watcher.join()

    @property
    def reason(self) -> str:
        """Why the group was stopped, or ``""``."""
        return self._reason or (self._parent.reason if self._parent is not None else "")

    @property
    def stopped(self) -> bool:
        return bool(self.reason)

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        executable: str | None = None,
        confined: bool = True,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        """Start ``argv`` in a session of its own; ``executable`` is the program's absolute path where
        its first item is a mere name. ``confined`` is false for what confines itself.

        Raises :class:`Stopped` after :meth:`stop`, ``OSError`` when the program cannot be started.
        """

        def start_here() -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                executable=executable,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=environment(),
                start_new_session=True,
            )
            self._live.add(process)
            return process

        with self._lock:
            if self._reason:
                raise Stopped(self._reason)
            if self._parent is not None:
                process = self._parent.start(
                    argv,
                    cwd=cwd,
                    executable=executable,
                    confined=confined,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                )
                self._live.add(process)
                return process
            if self._readable is None or not confined or not landlock.version():
                process = start_here()
            else:
                process = self._starter(executable or argv[0]).submit(start_here).result()
        if self._timeout_s is not None:
            _bound(process.pid, self._timeout_s)
        return process

    def _starter(self, program: str) -> ThreadPoolExecutor:
        """The thread that starts ``program``: it has given up all other rights, and a child has those of
        the thread that started it."""
        starter = self._starters.get(program)
        if starter is None:
            allowed = (self._readable or (), landlock.files_of(program))
            starter = ThreadPoolExecutor(1, "rarg-start", landlock.restrict, allowed)
            self._starters[program] = starter
        return starter

    def wait(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for a child that ends, and forget it. Its exit code; negative for a signal."""
        code = process.wait()
        self._forget(process)
        return code

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._live.discard(process)
        if self._parent is not None:
            self._parent._forget(process)

    def stop(self, reason: str) -> None:
        """Kill all children; the first reason is kept."""
        with self._lock:
            self._reason = self._reason or reason
            live = list(self._live)
        for process in live:
            kill(process)

    def _watch(self) -> None:
        while not self._done.wait(_WATCH) and not self._reason:
            self._look()

    def _look(self) -> None:
        if self._cancel is not None and self._cancel.is_set():
            self.stop(CANCELLED)
        elif self._deadline is not None and time.monotonic() >= self._deadline:
            self.stop(TIMED_OUT)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a child and all that it started."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()


def _bound(pid: int, seconds: float) -> None:
    """Limit memory and computing time (of all its threads together) of a process, where the system can
    do so from outside."""
    if sys.platform == "linux":
        import resource

        computing = (math.ceil(seconds) + 1) * (os.cpu_count() or 1)
        for limit, most in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_CPU, computing)):
            # It may have ended already, or be bounded more tightly by whoever started us.
            with contextlib.suppress(OSError, ValueError):
                resource.prlimit(pid, limit, (most, most))


class Drain:
    """Reads a child's stderr to its end in a thread, keeping the first ``limit`` bytes."""

    def __init__(self, stream: IO[bytes], limit: int = 65_536) -> None:
        self._stream = stream
        self._limit = limit
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, name="rarg-stderr", daemon=True)
        self._thread.start()

    def text(self) -> str:
        """What was kept, once the stream has ended."""
        self._thread.join()
        return self._kept.decode("utf-8", "surrogateescape")

    def _read(self) -> None:
        with self._stream as stream:
            while chunk := os.read(stream.fileno(), 65_536):
                self._kept += chunk[: self._limit - len(self._kept)]
