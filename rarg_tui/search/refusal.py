"""Why a command does not run: not understood, or not allowed."""

from __future__ import annotations

from rarg_tui.errors import RargError


class CommandError(RargError):
    """The command is no valid call: it cannot be parsed, or names something that does not exist."""


class Refused(RargError):
    """The guard does not allow the command; the message says what to do instead."""
