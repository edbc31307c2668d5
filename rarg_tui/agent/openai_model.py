"""A model behind an OpenAI-compatible server: one request a turn, asked again where that may help."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from queue import Empty, Queue
from threading import Event as Cancel
from threading import Thread
from typing import TYPE_CHECKING, Any

from rarg_tui import consent
from rarg_tui.agent import openai_errors as errors
from rarg_tui.agent.model import ModelError, OnText, Reply, Request
from rarg_tui.agent.openai_chat import ChatApi
from rarg_tui.agent.openai_reply import ODD, Api, Counts, Cut, EmptyReply, Reader, Reading
from rarg_tui.agent.openai_responses import ResponsesApi
from rarg_tui.config import Price
from rarg_tui.corpus.decoding import clean
from rarg_tui.trace.events import ToolCall, Usage
from rarg_tui.trace.shape import misfit

if TYPE_CHECKING:
    from openai import OpenAI

#: A local server needs no key, but the client insists on one.
NO_KEY = "none"

_APIS: Mapping[str, Callable[[], Api]] = {"chat": ChatApi, "responses": ResponsesApi}

_POLL_S = 0.05

#: Characters a token, where no server counted: a usual estimate for English text.
_CHARACTERS_PER_TOKEN = 4

#: A shorter key is a word that local servers are content with, and may stand in any text.
_SECRET = 16

#: ``wait(seconds, cancel)``: True as soon as ``cancel`` is set.
Wait = Callable[[float, Cancel | None], bool]


def _wait(seconds: float, cancel: Cancel | None) -> bool:
    return (cancel or Cancel()).wait(seconds)


class OpenAIModel:
    """Asks ``model`` at ``base_url`` by ``api``, ``chat`` or ``responses``. Without
    ``price`` costs are not known. ``reasoning_effort`` empty: the server's own."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str = "",
        price: Price | None = None,
        api: str = "chat",
        reasoning_effort: str = "",
        wait: Wait = _wait,
    ) -> None:
        self.label = model
        self.server = base_url
        self._api_key = api_key
        self._price = price
        self._api_name = api
        self._api = _APIS[api]()
        self._effort = reasoning_effort
        self._wait = wait
        self._refused: set[str] = set()
        self._connected: OpenAI | None = None

    def reply(self, request: Request, cancel: Cancel | None = None, on_text: OnText | None = None) -> Reply:
        """The model's next turn. What a server does not take is left out from then on; a busy or broken
        server is asked again, a few times and after a while."""
        tries, cut, wasted = 0, False, Usage(cost_usd=0.0)
        while True:
            # A stream without an end may be this server's way: the whole reply then comes at once.
            without = self._refused | ({"stream"} if cut else set())
            body = self._api.body(self.label, self._effort, request, without)
            try:
                reading = self._asked(body, cancel, on_text)
                usage = self._usage(reading, body).plus(wasted)
                if reading.text.strip() or reading.calls:
                    return self._reply(reading, usage)
                wasted = usage
                raise self._empty(reading)
            except Exception as error:
                part = self._refused_part(error)
                if part and part not in without:
                    self._refused.add(part)
                    continue
                tries += 1
                cut = cut or isinstance(error, Cut)
                pause = errors.pause(error, tries)
                if pause is None:
                    raise self._explained(error) from None
            if self._wait(pause, cancel):
                raise _not_waited_for()

    def _asked(self, body: Mapping[str, Any], cancel: Cancel | None, on_text: OnText | None) -> Reading:
        """One request, in a thread of its own, so that ``cancel`` is heard at once whatever the server
        does; a reply that comes later is dropped."""
        news: Queue[Any] = Queue()
        left = Cancel()

        def ask() -> None:
            try:
                news.put(self._exchange(body, lambda *parts: news.put(parts), left))
            except Exception as error:  # handed over to the waiting thread, which sorts it out
                news.put(error)

        Thread(target=ask, daemon=True, name="model").start()
        try:
            while True:
                if cancel is not None and cancel.is_set():
                    raise _not_waited_for()
                try:
                    item = news.get(timeout=_POLL_S)
                except Empty:
                    continue
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, Reading):
                    return item
                if on_text is not None:
                    on_text(*item)
        finally:
            left.set()

    def _exchange(self, body: Mapping[str, Any], tell: OnText, left: Cancel) -> Reading:
        raw = self._api.send(self._client(), body)
        reader = self._api.reader()
        # A server that does not stream ignores that it was asked to.
        if body.get("stream") and "json" not in raw.headers.get("content-type", ""):
            self._follow(raw, reader, tell, left)
        else:
            try:
                whole = raw.http_response.read()
            except Exception:  # what this is made of depends on what the client is made of
                raise Cut from None
            try:
                reader.take(json.loads(whole))
            except ODD:
                raise self._odd() from None
        try:
            return self._sound(reader.reading())
        except ODD:
            raise self._odd() from None

    def _follow(self, raw: Any, reader: Reader, tell: OnText, left: Cancel) -> None:
        import openai

        said = 0
        with raw.parse(to=openai.Stream[object]) as events:
            try:
                for event in events:
                    if left.is_set():
                        return
                    reader.take(event)
                    text, reasoning = reader.text, reader.reasoning
                    if len(text) + len(reasoning) > said:
                        said = len(text) + len(reasoning)
                        tell(self._unkeyed(clean(text)), self._unkeyed(clean(reasoning)))
            except openai.APIConnectionError:
                raise Cut from None
            except ODD:
                raise self._odd() from None
        if not reader.complete:
            raise Cut

    def _client(self) -> OpenAI:
        if self._connected is None:
            self._connected = connect(self.server, self._api_key, max_retries=0)
        return self._connected

    def _reply(self, reading: Reading, usage: Usage) -> Reply:
        return Reply(reading.text, reading.reasoning, reading.calls, usage, reading.kept)

    def _sound(self, reading: Reading) -> Reading:
        """``reading`` with text that can be written anywhere, and without the key; ``ValueError`` when a
        part is of a wrong type."""
        if misfit(reading):
            raise ValueError(f"odd {misfit(reading)}")
        return replace(
            reading,
            text=self._unkeyed(clean(reading.text)),
            reasoning=self._unkeyed(clean(reading.reasoning)),
            calls=tuple(self._without_key(call) for call in reading.calls),
        )

    def _usage(self, reading: Reading, body: Mapping[str, Any]) -> Usage:
        counts = reading.counts or _estimated(reading, body)
        return Usage(
            input_tokens=counts.input,
            output_tokens=counts.output,
            cached_tokens=counts.cached,
            reasoning_tokens=counts.reasoning,
            cost_usd=None if self._price is None else _cost(counts, self._price),
            estimated=reading.counts is None,
        )

    def _empty(self, reading: Reading) -> ModelError:
        match reading.finish:
            case "length":
                why = "reached its limit of output before it answered: let the server write more"
            case "content_filter":
                why = "was stopped by the server's content filter: ask in other words"
            case "model_context_window_exceeded":
                return self._explained(ValueError(reading.finish))
            case _ if reading.reasoning.strip():
                why = "sent reasoning alone, no answer and no call: step again to ask once more"
            case _:
                why = "sent an empty reply: step again to ask once more"
        return EmptyReply(f"{self.label} {why}.")

    def _refused_part(self, error: Exception) -> str:
        """The part of the request that the server did not take, if it was one that it can do without."""
        if getattr(error, "status_code", 0) not in (400, 404, 422) or errors.overflows(error):
            return ""
        said = errors.all_said(error)
        return next((part for part, words in self._api.optional.items() if words.search(said)), "")

    def _odd(self) -> ModelError:
        return ModelError(
            f"{self.server} sent a reply of another form than an OpenAI server's; step again to ask "
            "once more, or choose another server."
        )

    def _explained(self, error: Exception) -> ModelError:
        return errors.explained(
            error, where=self.server, model=self.label, api=self._api_name, key=self._api_key
        )

    def _without_key(self, call: ToolCall) -> ToolCall:
        if self._unkeyed(call.raw) == call.raw:
            return call
        return replace(call, arguments=None, raw=self._unkeyed(call.raw), error="The arguments hold the key.")

    def _unkeyed(self, text: str) -> str:
        return text.replace(self._api_key, "[key]") if len(self._api_key) >= _SECRET else text


def connect(base_url: str, api_key: str, **options: Any) -> OpenAI:
    """A client of the server; a proxy of the environment stands between us and other machines only."""
    import openai

    direct = _direct() if consent.is_local(base_url) else None
    return openai.OpenAI(api_key=api_key or NO_KEY, base_url=base_url, http_client=direct, **options)


@cache
def _direct() -> Any:
    import openai

    return openai.DefaultHttpxClient(trust_env=False)


def first_model(base_url: str, api_key: str = "") -> str:
    """The first model that a server lists: what to use when none was named."""
    import openai

    try:
        client = connect(base_url, api_key, timeout=10, max_retries=0)
        return str(client.models.list().data[0].id)
    except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        raise ModelError(
            f"{base_url} lists no models: check --base-url and the server, or name a model with --model."
        ) from None


def _not_waited_for() -> ModelError:
    return ModelError("The model's reply was not waited for.")


def _estimated(reading: Reading, body: Mapping[str, Any]) -> Counts:
    sent = body.get("messages") or body.get("input")
    came = len(reading.text) + len(reading.reasoning) + sum(len(call.raw) for call in reading.calls)
    size = len(json.dumps([sent, body.get("instructions"), body.get("tools")], ensure_ascii=False))
    return Counts(size // _CHARACTERS_PER_TOKEN, came // _CHARACTERS_PER_TOKEN)


def _cost(counts: Counts, price: Price) -> float:
    cached = price.input if price.cached is None else price.cached
    fresh = counts.input - counts.cached
    return (fresh * price.input + counts.cached * cached + counts.output * price.output) / 1e6
