"""A program of its own, measured from its start to its end."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from rarg_tui.errors import RargError


@dataclass(frozen=True, slots=True)
class Child:
    """``seconds`` it took, ``peak_mb`` of memory that was resident at most (mapped files count), and what
    it printed."""

    seconds: float
    peak_mb: int
    output: bytes


def measured(argv: Sequence[str]) -> Child:
    """Run ``argv`` to its end. Raises :class:`RargError` with its last words when it fails."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = perf_counter()
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        seconds = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        for stream in (output, errors):
            stream.seek(0)
        if process.returncode:
            said = errors.read().decode("utf-8", "replace").strip()
            raise RargError(f"{argv[0]} failed (code {process.returncode}): {said[-300:]}")
        return Child(seconds, used.ru_maxrss // 1024, output.read())
