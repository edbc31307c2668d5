"""A program on a pseudo-terminal: its keys, its output, its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic

PATIENCE_S = 30.0
"""After this a condition counts as never holding; nothing is decided by the clock."""

_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;:?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>])")


class Terminal:
    """The master side of a pseudo-terminal on which a program runs."""

    def __init__(self, pid: int, master: int, slave: int) -> None:
        self.pid = pid
        self._master = master
        self._slave = slave
        self.output = b""
        self.exit_code: int | None = None

    @property
    def text(self) -> str:
        """What was written, without escape sequences."""
        return _ESCAPES.sub(b"", self.output).decode("utf-8", "replace")

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def forget(self) -> None:
        """Look only at what is written from now on."""
        self.output = b""

    def wait_for(self, *words: str) -> None:
        """Read until all of ``words`` were written."""
        self._until(lambda: all(word in self.text for word in words), f"{words} in {self.text[-3000:]!r}")

    def wait_for_end(self) -> int:
        """Read until the program has ended; its exit code."""
        self._until(self._has_ended, "the program did not end")
        self._read(0.0)
        assert self.exit_code is not None
        return self.exit_code

    def modes(self) -> list[object]:
        """The settings of the terminal's line discipline."""
        return termios.tcgetattr(self._slave)[:4]

    def _has_ended(self) -> bool:
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code is not None

    def _until(self, condition: object, otherwise: str) -> None:
        assert callable(condition)
        end = monotonic() + PATIENCE_S
        while not condition():
            assert monotonic() < end, otherwise
            self._read(0.05)

    def _read(self, patience: float) -> None:
        while select.select([self._master], [], [], patience)[0]:
            try:
                data = os.read(self._master, 65_536)
            except OSError:
                return
            if not data:
                return
            self.output += data
            patience = 0.0


@contextmanager
def terminal(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, size: tuple[int, int] = (160, 48)
) -> Iterator[Terminal]:
    """Run ``python -m rarg_tui ARGUMENTS`` on a terminal of ``size`` columns and rows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    # COLUMNS and LINES would overrule the size of the terminal.
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    env = {**clean, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(environment or {})}
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for target in (0, 1, 2):
            os.dup2(slave, target)
        os.execve(sys.executable, [sys.executable, "-m", "rarg_tui", *arguments], env)
    running = Terminal(pid, master, slave)
    try:
        yield running
    finally:
        if running.exit_code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(master)
        os.close(slave)
