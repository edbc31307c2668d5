"""A model behind an OpenAI-compatible server: one Chat Completions request a turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from queue import Empty, Queue
from threading import Event as Cancel
from threading import Thread
from typing import TYPE_CHECKING, Any, Never

from rarg_tui.agent import context
from rarg_tui.agent.model import ModelError, Reply, Request
from rarg_tui.corpus.decoding import clean
from rarg_tui.trace.events import ToolCall, Usage
from rarg_tui.trace.shape import misfit

if TYPE_CHECKING:
    from openai import OpenAI

#: A local server needs no key, but the client insists on one.
NO_KEY = "none"

_POLL_S = 0.05


class OpenAIModel:
    """Asks ``model`` at ``base_url`` (empty: OpenAI). ``prices`` are dollars for a million input and
    output tokens, ``None`` when they are not known."""

    def __init__(
        self, model: str, *, base_url: str = "", api_key: str = "", prices: tuple[float, float] | None = None
    ) -> None:
        self.label = model
        self._base_url = base_url
        self._api_key = api_key
        self._prices = prices
        self._connected: OpenAI | None = None

    def reply(self, request: Request, cancel: Cancel | None = None) -> Reply:
        """The model's next turn. The request goes on in a thread of its own, so that ``cancel`` is heard
        at once whatever the server does; a reply that comes later is dropped."""
        conversation = context.messages(
            request.state,
            request.strategy,
            request.profile,
            force_answer=request.force_answer,
            best=request.best,
        )
        body: dict[str, Any] = {"model": self.label, "messages": [_sendable(each) for each in conversation]}
        if request.tools:
            body["tools"] = list(request.tools)
        outcome: Queue[Any] = Queue()

        def ask() -> None:
            try:
                outcome.put(self._client().chat.completions.create(**body))
            except Exception as error:  # handed over to the waiting thread, which sorts it out
                outcome.put(error)

        Thread(target=ask, daemon=True, name="model").start()
        while True:
            try:
                answer = outcome.get(timeout=_POLL_S)
            except Empty:
                if cancel is not None and cancel.is_set():
                    raise ModelError("The model's reply was not waited for.") from None
                continue
            if isinstance(answer, Exception):
                raise ModelError(self._explained(answer)) from None
            try:
                return _sound(self._read(answer))
            except (AttributeError, TypeError, ValueError, LookupError):
                # The client takes any JSON for a reply: what is missing or odd shows when it is read.
                raise ModelError(
                    f"{self._where} sent a reply of another form than an OpenAI server's; step again to ask "
                    "once more, or choose another server."
                ) from None

    def _client(self) -> OpenAI:
        if self._connected is None:
            from openai import OpenAI

            self._connected = OpenAI(api_key=self._api_key or NO_KEY, base_url=self._base_url or None)
        return self._connected

    def _read(self, completion: Any) -> Reply:
        if not getattr(completion, "choices", None):
            raise ModelError(f"{self._where} sent a reply without choices; step again to ask once more.")
        message = completion.choices[0].message
        wanted = [item for item in message.tool_calls or () if item.type == "function"]
        calls = tuple(_call(item.id, item.function) for item in wanted)
        text = message.content or ""
        if not text.strip() and not calls:
            raise ModelError(f"{self.label} sent an empty reply; step again to ask once more.")
        reasoning = getattr(message, "reasoning_content", None) or ""
        return Reply(text=text, reasoning=reasoning, calls=calls, usage=self._usage(completion.usage))

    def _usage(self, usage: Any) -> Usage:
        counts = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        if not all(isinstance(count, int) for count in counts):
            return Usage(estimated=True)
        cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None)
        reasoning = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
        cost = None
        if self._prices is not None:
            cost = (usage.prompt_tokens * self._prices[0] + usage.completion_tokens * self._prices[1]) / 1e6
        return Usage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cached_tokens=cached or 0,
            reasoning_tokens=reasoning or 0,
            cost_usd=cost,
        )

    @property
    def _where(self) -> str:
        return self._base_url or "OpenAI"

    def _explained(self, error: Exception) -> str:
        """One sentence that says what happened and what to do; never the key."""
        import openai

        match error:
            case openai.AuthenticationError():
                return f"{self._where} refused the key: set OPENAI_API_KEY to a valid one."
            case openai.NotFoundError():
                return f"{self._where} has no model {self.label!r}: choose another with --model."
            case openai.RateLimitError():
                return f"{self._where} asks to wait (rate limit or quota): step again later."
            case openai.APITimeoutError():
                return f"{self._where} did not answer in time: step again to ask once more."
            case openai.APIConnectionError():
                return f"{self._where} cannot be reached: check --base-url and that the server runs."
            case openai.APIStatusError():
                detail = self._masked(str(error.message))
                return f"{self._where} answered with status {error.status_code}: {detail[:300]}"
            case _:
                return f"The model's reply could not be read: {self._masked(str(error))[:300]}"

    def _masked(self, text: str) -> str:
        return text.replace(self._api_key, "[key]") if self._api_key else text


def _sendable(message: dict[str, Any]) -> dict[str, Any]:
    """A path that is not UTF-8 cannot travel; its bad bytes are replaced."""
    return {key: clean(value) if isinstance(value, str) else value for key, value in message.items()}


def _sound(reply: Reply) -> Reply:
    """``reply`` with text that can be written anywhere; ``ValueError`` when a part is of a wrong type."""
    if misfit(reply):
        raise ValueError(f"odd {misfit(reply)}")
    return replace(reply, text=clean(reply.text), reasoning=clean(reply.reasoning))


def _call(given_id: Any, function: Any) -> ToolCall:
    call_id = given_id if isinstance(given_id, str) else ""
    name, raw = clean(function.name), clean(function.arguments or "{}")
    try:
        arguments = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return ToolCall(
            call_id, name, None, raw, f"The arguments are not valid JSON ({error}); send them again."
        )
    if not isinstance(arguments, Mapping):
        return ToolCall(call_id, name, None, raw, "The arguments are no JSON object; send them again.")
    call = ToolCall(call_id, name, dict(arguments), raw)
    if misfit(call) == "arguments":
        return replace(call, arguments=None, error="The arguments are nested too deeply; send them again.")
    return call


def _no_number(constant: str) -> Never:
    raise ValueError(f"{constant} is no JSON")


def first_model(base_url: str, api_key: str = "") -> str:
    """The first model that a server lists: what to use when none was named."""
    import openai

    try:
        client = openai.OpenAI(api_key=api_key or NO_KEY, base_url=base_url, timeout=10, max_retries=0)
        return str(client.models.list().data[0].id)
    except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        raise ModelError(
            f"{base_url} lists no models: check --base-url and the server, or name a model with --model."
        ) from None
