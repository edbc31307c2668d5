"""Whether text of a corpus may go to a server that is not on this machine: asked once, then remembered."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from rarg_tui import paths
from rarg_tui.errors import RargError

_given: set[Path] = set()


class ConsentNeeded(RargError):
    """Text of ``corpus`` would go to ``server``, and nobody has agreed to that yet. ``embeds``: not to a
    model that answers, but to one that makes vectors. ``what`` would happen, in a sentence."""

    def __init__(self, corpus: Path, base_url: str, embeds: bool = False) -> None:
        self.server = server(base_url)
        text, other = (
            f"The question, and what the agent finds and reads in {corpus},",
            "--model 'offline planner'",
        )
        if embeds:
            text, other = f"The text of the documents in {corpus}", "no --embeddings-url"
        self.what = f"{text} would be sent to {self.server}, which is not this machine"
        super().__init__(
            f"{self.what}: agree with --yes, once for this corpus and this server, or use {other}."
        )


def server(base_url: str) -> str:
    """The host that ``base_url`` names."""
    return (urlsplit(base_url).hostname or base_url).lower().rstrip(".")


def is_local(base_url: str) -> bool:
    """Whether the server is this machine by its very address. No name is looked up: it may lead elsewhere
    the next time."""
    if urlsplit(base_url).scheme == "unix":
        return True
    host = server(base_url)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def needed(corpus: Path, base_url: str) -> bool:
    """Whether somebody must agree before text of the directory ``corpus`` goes to the server."""
    if is_local(base_url):
        return False
    file = _file(corpus, base_url)
    return file not in _given and not file.is_file()


def give(corpus: Path, base_url: str) -> None:
    """Remember that text of ``corpus`` may go to the server; where nothing can be written, for as long as
    this process lives."""
    file = _file(corpus, base_url)
    _given.add(file)
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(json.dumps({"corpus": str(corpus), "server": server(base_url)}) + "\n", "utf-8")


def _file(corpus: Path, base_url: str) -> Path:
    agreed = f"{corpus.resolve()}\0{server(base_url)}".encode("utf-8", "surrogateescape")
    return paths.data_dir() / "consent" / f"{hashlib.sha256(agreed).hexdigest()[:32]}.json"
