"""The key of a server: from the environment or the system's keyring, and never kept anywhere else."""

from __future__ import annotations

import os
from typing import NamedTuple

from rarg_tui import consent

VARIABLE = "OPENAI_API_KEY"

#: The name under which the keyring keeps our keys; the user there is the host of the server.
SERVICE = "rarg"


class ApiKey(NamedTuple):
    """``value`` is a secret: it goes to the server and nowhere else. ``origin`` is for people."""

    value: str = ""
    origin: str = ""


def find(base_url: str) -> ApiKey:
    """The key for the server; both fields are empty when there is none."""
    if value := os.environ.get(VARIABLE, "").strip():
        return ApiKey(value, f"{VARIABLE} in the environment")
    host = consent.server(base_url)
    if value := _from_keyring(host):
        return ApiKey(value, f"the system keyring (service {SERVICE}, user {host})")
    return ApiKey()


def _from_keyring(host: str) -> str:
    try:
        import keyring

        return (keyring.get_password(SERVICE, host) or "").strip()
    except Exception:  # not installed, no keyring on this machine, locked: all the same to us
        return ""
