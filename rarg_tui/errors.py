"""The errors that people meet: each message is one sentence that says what to do."""

from __future__ import annotations


class RargError(Exception):
    """Bad input, or something a person can mend. The command line prints the message and exits with
    ``exit_code``."""

    exit_code = 2


class MissingPart(RargError):
    """A part that the user must provide is missing: rg, a model, a server."""

    exit_code = 3
