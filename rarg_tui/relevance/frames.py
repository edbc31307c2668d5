"""Messages to and from the model process: a JSON header and raw bytes, both with their length in front."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

_HEAD = struct.Struct(">II")


def pack(header: Mapping[str, Any], payload: bytes = b"") -> bytes:
    """One message."""
    body = json.dumps(header).encode()
    return _HEAD.pack(len(body), len(payload)) + body + payload


def read(exactly: Callable[[int], bytes]) -> tuple[dict[str, Any], bytes]:
    """The next message. ``exactly(n)`` gives n bytes or raises ``EOFError``."""
    length, extra = _HEAD.unpack(exactly(_HEAD.size))
    header = json.loads(exactly(length))
    if not isinstance(header, dict):
        raise ValueError("a message that is no object")
    return header, exactly(extra)
