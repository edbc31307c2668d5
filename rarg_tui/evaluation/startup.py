"""How long a program takes from its start to its first words on a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from fcntl import ioctl
from struct import pack
from termios import TIOCSWINSZ
from time import perf_counter

from rarg_tui.errors import RargError

ROWS, COLUMNS = 48, 160

#: The plain way: the smallest Textual app that says something.
EMPTY_WORD = "nothing-here"
EMPTY_APP = (
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Empty(App):\n"
    f"    def compose(self):\n        yield Static({EMPTY_WORD!r})\n"
    "Empty().run()\n"
)

_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;:?<>=]*[a-zA-Z]|\][^\x07]*\x07|[@-Z\\-_])")


def first_paint(argv: Sequence[str], word: str, timeout_s: float = 30.0) -> float:
    """Seconds from starting ``argv`` on a terminal of 160×48 until ``word`` has been written to it.

    The program is killed then. Raises ``RargError`` when it ends, or ``timeout_s`` passes, without it.
    """
    leader, follower = pty.openpty()
    ioctl(follower, TIOCSWINSZ, pack("HHHH", ROWS, COLUMNS, 0, 0))
    started = perf_counter()
    process = subprocess.Popen(
        argv,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(follower)
    seen = b""
    try:
        while perf_counter() - started < timeout_s:
            if not select.select([leader], [], [], 0.1)[0]:
                continue
            try:
                seen += os.read(leader, 65_536)
            except OSError:  # the program has closed its terminal
                break
            if word.encode() in _ESCAPES.sub(b"", seen):
                return perf_counter() - started
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(leader)
    raise RargError(f"{argv[0]} did not show {word!r} on a terminal: {_ESCAPES.sub(b'', seen)[-200:]!r}")


def python(*arguments: str) -> list[str]:
    """A command line for this interpreter."""
    return [sys.executable, *arguments]
