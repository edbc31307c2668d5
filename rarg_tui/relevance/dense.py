"""Vectors from a sentence-transformers model, which runs in a process of its own."""

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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import RargError
from rarg_tui.relevance import frames, models
from rarg_tui.relevance.presets import DenseOptions, Recipe, recipe
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.vectors import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A document longer than the model's window has several, which share so many tokens with their neighbours.
#: What lies behind the last is not seen, and the index says so.
OVERLAP = 16

_START_S = 300.0
_WAIT_S = 0.05


class DenseEmbedder:
    """One vector a window, the document's title in front of each; the process starts with the first
    text and serves builds and queries alike."""

    name = "dense"
    batch = 32
    destination = ""

    def __init__(self, options: DenseOptions) -> None:
        self._options = options
        self._process: _Process | None = None
        self._settings: Mapping[str, Any] | None = None
        self._lock = threading.Lock()

    @cached_property
    def _recipe(self) -> Recipe:
        folder = self._folder
        found = recipe(self._options, models.label(folder), models.prompts(folder) or None)
        # A preset's pooling is for directories that do not say it; what a person set holds anyway.
        own = self._options.pooling is None and models.is_whole(folder)
        return replace(found, pooling=None) if own else found

    @cached_property
    def _folder(self) -> Path:
        return models.model_folder(self._options.dense_model)

    def settings(self) -> Mapping[str, Any]:
        if self._settings is None:
            folder, made = self._folder, self._recipe
            pooling = (made.pooling or "the model's own") + ", maximum over windows"
            self._settings = {
                "model": models.label(folder),
                "model_fingerprint": models.fingerprint(folder),
                "tokenizer": "the model's own",
                "pooling": pooling if self._options.normalize else f"{pooling}, not normalised",
                "max_length": made.max_length or models.own_length(folder),
                "windows_at_most": self._options.windows or "all",
                "overlap_tokens": OVERLAP,
                "title_in_front": True,
                "prefixes": [made.query_prefix, made.document_prefix],
            }
        return self._settings

    def about(self, cancel: threading.Event | None = None) -> str:
        """One line about the model, which is loaded for it."""
        self.query("", cancel)
        about = self._process.about if self._process is not None else {}
        return "{dimension} numbers a vector, {max_length} tokens a window, on {device}".format(**about)

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        items = [[clean(one.title), clean(one.text)] for one in contents]
        request = {
            "op": "documents",
            "items": items,
            "windows": self._options.windows,
            "overlap": OVERLAP,
            "prefix": self._recipe.document_prefix,
        }
        header, vectors = self._ask(request, cancel)
        ends = np.cumsum(header["counts"])
        each = np.split(vectors, ends[:-1])
        return [
            Embedded(rows, int(seen), len(one.text))
            for rows, seen, one in zip(each, header["seen"], contents, strict=True)
        ]

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        request = {"op": "query", "text": clean(text), "prefix": self._recipe.query_prefix}
        vector: NDArray[np.float32] = self._ask(request, cancel)[1][0]
        return vector

    def texts(self, texts: Sequence[str], cancel: threading.Event | None = None) -> NDArray[np.float32]:
        """One unit vector for each of ``texts``, such as lines: they are what is looked for, so they have the
        prefix of documents. What is longer than the model's window is seen up to there."""
        request = {
            "op": "texts",
            "texts": [clean(text) for text in texts],
            "prefix": self._recipe.document_prefix,
        }
        return self._ask(request, cancel)[1]

    def close(self) -> None:
        process = self._process
        if process is not None:
            process.kill()  # before the lock is free: whoever waits for an answer stops waiting
            with self._lock:
                process.dispose()

    def _ask(
        self, request: Mapping[str, Any], cancel: threading.Event | None
    ) -> tuple[dict[str, Any], NDArray[np.float32]]:
        with self._lock:
            if self._process is None or not self._process.alive():
                if self._process is not None:
                    self._process.dispose()
                how = {
                    "device": self._options.device,
                    "pooling": self._recipe.pooling,
                    "max_length": self._recipe.max_length,
                    "normalize": self._options.normalize,
                }
                self._process = _Process(self._folder, how, cancel)
            process = self._process
            header, payload = process.ask(request, cancel)
            return header, np.frombuffer(payload, np.float32).reshape(-1, process.dimension)


class _Process:
    """The running model process. Not safe for several threads at once; its owner holds a lock."""

    def __init__(self, model: Path, how: Mapping[str, Any], cancel: threading.Event | None) -> None:
        package_parent = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONPATH": os.pathsep.join([package_parent, *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        # -P: a file in the working directory, which may be a corpus, must never be imported.
        command = [
            sys.executable,
            "-P",
            "-m",
            "rarg_tui.relevance.dense_process",
            str(model),
            json.dumps(how),
        ]
        descriptor, name = tempfile.mkstemp(prefix="rarg-model-")
        os.unlink(name)
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
            raise RargError(f"The dense model's process cannot be started ({error.strerror}).") from None
        atexit.register(self.kill)
        try:
            self.about, _ = self._answer(cancel, time.monotonic() + _START_S)
        except RargError:
            self.kill()
            self.dispose()
            raise
        self.dimension = int(self.about["dimension"])

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
            raise RargError(f"The dense model failed ({header['error']}); see `rarg doctor`.")
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
                raise RargError(f"The dense model did not start within {_START_S:.0f} s; see `rarg doctor`.")
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
        return RargError(f"The dense model's process ended (code {code}: {said or 'no message'}); try again.")
