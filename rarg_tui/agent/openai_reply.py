"""What the two APIs of OpenAI-compatible servers share: the form of a request and of a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Never, Protocol

from rarg_tui.agent.model import ModelError, Request
from rarg_tui.corpus.decoding import clean
from rarg_tui.trace.events import ToolCall
from rarg_tui.trace.shape import misfit

if TYPE_CHECKING:
    from openai import OpenAI

#: What :meth:`Reader.take` and :meth:`Reader.reading` raise for a reply of another form. The client takes
#: any JSON for a reply: what is missing or odd shows when it is read.
ODD = (AttributeError, TypeError, ValueError, LookupError, RecursionError)


class EmptyReply(ModelError):
    """A reply with neither text nor calls."""


class ServerSaid(Exception):
    """An error that a server put into a reply of status 200, in its own words."""


class Cut(Exception):
    """A reply that came in pieces ended before it was complete."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens as a server counted them; ``cached`` is part of ``input``, ``reasoning`` of ``output``."""

    input: int
    output: int
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """A reply in full. ``finish`` is why it ended, in Chat Completions' words, as far as it was told."""

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    kept: tuple[Mapping[str, Any], ...]
    counts: Counts | None
    finish: str


class Reader(Protocol):
    """Puts a reply together from what a server sends: many pieces of a stream, or all at once."""

    def take(self, event: Any) -> None:
        """The next piece. Raises :class:`ServerSaid`, or one of :data:`ODD`."""
        ...

    @property
    def text(self) -> str: ...
    @property
    def reasoning(self) -> str: ...

    @property
    def complete(self) -> bool:
        """Whether the end has come, as far as one can tell."""
        ...

    def reading(self) -> Reading:
        """The reply, once it is complete. Raises one of :data:`ODD`."""
        ...


class Api(Protocol):
    """One way of asking. ``optional`` are the parts of a request that not every server takes, each with the
    words by which a refusal is known; a request can be made ``without`` them."""

    optional: ClassVar[Mapping[str, re.Pattern[str]]]

    def body(
        self, model: str, effort: str, request: Request, without: Collection[str] = ()
    ) -> dict[str, Any]: ...
    def send(self, client: OpenAI, body: Mapping[str, Any]) -> Any: ...
    def reader(self) -> Reader: ...


def sendable(value: Any) -> Any:
    """``value`` with text that can travel: a path may hold bytes that are not UTF-8."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: sendable(item) for key, item in value.items()}
    return [sendable(item) for item in value] if isinstance(value, list | tuple) else value


def string(value: Any) -> str:
    """``value``, which must be a string or nothing; ``ValueError`` else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{type(value).__name__} is no text")
    return value


def thoughts(text: str, reasoning: str) -> tuple[str, str]:
    """Text and reasoning apart, where a server leaves a model's <think> marks in the text."""
    begun = text.lstrip()
    if begun.startswith("<think>") and "</think>" in begun:
        inner, _, text = begun.removeprefix("<think>").partition("</think>")
        return text.lstrip(), "\n".join(part for part in (reasoning, inner.strip()) if part)
    return text, reasoning


def counts(usage: Any, names: Iterable[str]) -> Counts | None:
    """The counts of a server's ``usage``; ``names`` are those of input, output and of their details."""
    if not isinstance(usage, Mapping):
        return None
    came, went, came_details, went_details = (usage.get(name) for name in names)
    if not (isinstance(came, int) and isinstance(went, int)):
        return None
    return Counts(came, went, _count(came_details, "cached_tokens"), _count(went_details, "reasoning_tokens"))


def _count(details: Any, name: str) -> int:
    value = details.get(name) if isinstance(details, Mapping) else None
    return value if isinstance(value, int) else 0


def raise_error(event: Any) -> None:
    """Some servers answer with status 200 and an error."""
    error = event.get("error")
    if error:
        said = error.get("message") if isinstance(error, Mapping) else error
        code = error.get("code") or error.get("type") if isinstance(error, Mapping) else ""
        raise ServerSaid(f"{said or error}{f' ({code})' if code else ''}")


def call(given_id: Any, name: Any, arguments: Any) -> ToolCall:
    """A call as a model made it. Arguments that cannot be read are kept, with what is wrong with them."""
    call_id = given_id if isinstance(given_id, str) else ""
    if not isinstance(name, str) or not name:
        raise ValueError("a call without a name")
    name = clean(name)
    # Some servers send the object itself instead of its text.
    raw = json.dumps(arguments) if isinstance(arguments, Mapping) else clean(string(arguments)) or "{}"
    try:
        read = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return ToolCall(
            call_id, name, None, raw, f"The arguments are not valid JSON ({error}); send them again."
        )
    if not isinstance(read, Mapping):
        return ToolCall(call_id, name, None, raw, "The arguments are no JSON object; send them again.")
    found = ToolCall(call_id, name, dict(read), raw)
    if misfit(found) == "arguments":
        return replace(found, arguments=None, error="The arguments are nested too deeply; send them again.")
    return found


def _no_number(constant: str) -> Never:
    raise ValueError(f"{constant} is no JSON")
