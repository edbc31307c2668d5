"""Files of one JSON object a line, plain or compressed by gzip, read as a stream."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from rarg_tui.errors import RargError

#: No record is longer, in bytes: a line without an end must not fill the memory.
LONGEST = 64 << 20

_REPORT_EVERY = 500

#: Told how many bytes of how many are read.
Report = Callable[[int, int], None]


def records(file: Path, report: Report = lambda done, total: None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Where each record stands ("FILE, line N"), and the record; empty lines are passed over. Raises
    ``RargError`` that names file and line."""
    number = 0
    try:
        with file.open("rb") as raw:
            total = os.fstat(raw.fileno()).st_size
            packed = file.name.endswith(".gz")
            stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]  # it reads as one
            while line := stream.readline(LONGEST + 1):
                number += 1
                where = f"{file}, line {number}"
                if len(line) > LONGEST:
                    raise RargError(f"{where}: longer than {LONGEST >> 20} MB, which no record may be.")
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield where, _record(where, line)
                if number % _REPORT_EVERY == 0:
                    report(raw.tell(), total)
            report(total, total)
    except (OSError, EOFError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RargError(f"{file} cannot be read after line {number}: {why}.") from None


def field(where: str, row: Mapping[str, Any], *names: str) -> str:
    """The text or number that the first of ``names`` in ``row`` holds. Raises ``RargError`` when it has
    none of them."""
    for name in names:
        if isinstance(row.get(name), str | int | float):
            return str(row[name])
    raise RargError(f"{where}: there is no {names[0]!r}; each record needs one.")


def listed(where: str, row: Mapping[str, Any], name: str) -> list[str]:
    """The ids in the list ``name``, none where it is missing. Raises ``RargError`` for what is no list."""
    found = row.get(name, [])
    if not isinstance(found, list):
        raise RargError(f"{where}: {name!r} must be a list.")
    return [str(one) for one in found]


def _record(where: str, line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RargError(f"{where}: not JSON ({error}).") from None
    if not isinstance(found, dict):
        raise RargError(f"{where}: not a JSON object.")
    return found
