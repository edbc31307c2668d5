"""The process around a command: standard streams that can be used, UTF-8, and an orderly end on signals."""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType
from typing import NoReturn, TextIO


def settle() -> None:
    """Make this process fit to run a command; may start the interpreter anew in its place, once."""
    _occupy()
    _speak_utf8()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # not where nohup has it ignored
            signal.signal(number, _leave)


def silence(stream: TextIO) -> None:
    """Send what ``stream`` still holds to nowhere, so that it cannot fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _occupy() -> None:
    """Stand in for standard streams that were closed: else a file opened later would get their number,
    and whoever writes to stderr would write into it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _speak_utf8() -> None:
    """File names and documents are UTF-8 or bytes, whatever the locale says of the terminal."""
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """End as on an error, so that programs that were started end too, and files are put away."""
    sys.exit(128 + number)
