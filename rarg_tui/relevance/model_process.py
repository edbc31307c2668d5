"""A model in a process of its own, as its owner sees it: loading torch here would stall the interface."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import RargError
from rarg_tui.relevance import frames

_START_S = 300.0
_WAIT_S = 0.05


class ModelServer:
    """Asks the process of one model, which starts with the first request and again when it has died. Safe to
    use from several threads. ``module`` is what the process runs, ``name`` what errors call the model,
    ``folder`` says where it lies, ``how`` what else the process must know, as JSON."""

    def __init__(
        self, module: str, name: str, folder: Callable[[], Path], how: Callable[[], Mapping[str, Any]]
    ) -> None:
        self.about: Mapping[str, Any] = {}
        self._module = module
        self._name = name
        self._folder = folder
        self._how = how
        self._process: ModelProcess | None = None
        self._lock = threading.Lock()

    def ask(self, request: Mapping[str, Any], cancel: threading.Event | None) -> tuple[dict[str, Any], bytes]:
        """The answer to ``request``; :attr:`about` is then what the model says of itself."""
        with self._lock:
            if self._process is None or not self._process.alive():
                if self._process is not None:
                    self._process.dispose()
                self._process = ModelProcess(self._module, self._name, self._folder(), self._how(), cancel)
                self.about = self._process.about
            return self._process.ask(request, cancel)

    def close(self) -> None:
        """End the process."""
        process = self._process
        if process is not None:
            process.kill()  # before the lock is free: whoever waits for an answer stops waiting
            with self._lock:
                process.dispose()


class ModelProcess:
    """A running model process: ``module`` is run with ``model`` and ``how``, and ``name`` is what errors
    call it. ``about`` is what it says of itself. Not safe for several threads at once; its owner holds a
    lock."""

    def __init__(
        self,
        module: str,
        name: str,
        model: Path,
        how: Mapping[str, Any],
        cancel: threading.Event | None,
    ) -> None:
        self._name = name
        package_parent = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONPATH": os.pathsep.join([package_parent, *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        # -P: a file in the working directory, which may be a corpus, must never be imported.
        command = [sys.executable, "-P", "-m", module, str(model), json.dumps(how)]
        descriptor, file = tempfile.mkstemp(prefix="rarg-model-")
        os.unlink(file)
        self._errors: IO[bytes] = os.fdopen(descriptor, "w+b")
        try:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self._errors.close()
            raise RargError(f"The {name}'s process cannot be started ({error.strerror}).") from None
        atexit.register(self.kill)
        try:
            self.about, _ = self._answer(cancel, time.monotonic() + _START_S)
        except RargError:
            self.kill()
            self.dispose()
            raise

    def alive(self) -> bool:
        return self._child.poll() is None

    def ask(self, request: Mapping[str, Any], cancel: threading.Event | None) -> tuple[dict[str, Any], bytes]:
        """Send ``request`` and wait for its answer. A cancelled or broken exchange ends the process."""
        if self._child.stdin is None:
            raise RargError("The model process has no input.")
        try:
            data = memoryview(frames.pack(request))
            while data:
                data = data[self._child.stdin.write(data) :]
        except OSError:
            raise self._ended() from None
        return self._answer(cancel, None)

    def kill(self) -> None:
        """End the process and what it started, now; from any thread."""
        atexit.unregister(self.kill)
        if self._child.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()

    def dispose(self) -> None:
        """Close the pipes of a process that has ended."""
        for stream in (self._child.stdin, self._child.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _answer(self, cancel: threading.Event | None, deadline: float | None) -> tuple[dict[str, Any], bytes]:
        try:
            header, payload = frames.read(lambda count: self._exactly(count, cancel, deadline))
        except EOFError:
            raise self._ended() from None
        except RargError:
            self.kill()
            raise
        if "error" in header:
            raise RargError(f"The {self._name} failed ({header['error']}); see `rarg doctor`.")
        return header, payload

    def _exactly(self, count: int, cancel: threading.Event | None, deadline: float | None) -> bytes:
        if self._child.stdout is None:
            raise EOFError
        descriptor = self._child.stdout.fileno()
        data = bytearray()
        while len(data) < count:
            readable, _, _ = select.select([descriptor], [], [], _WAIT_S)
            if cancel is not None and cancel.is_set():
                raise Cancelled("Stopped on request.")
            if readable:
                block = os.read(descriptor, count - len(data))
                if not block:
                    raise EOFError
                data += block
            elif deadline is not None and time.monotonic() > deadline:
                raise RargError(f"The {self._name} did not start within {_START_S:.0f} s; see `rarg doctor`.")
        return bytes(data)

    def _ended(self) -> RargError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip().split("\n")[-1][-300:]
        code = self._child.poll()
        self.kill()
        if code == -signal.SIGKILL:
            said = "killed, perhaps because memory ran out"
        return RargError(
            f"The {self._name}'s process ended (code {code}: {said or 'no message'}); try again."
        )
