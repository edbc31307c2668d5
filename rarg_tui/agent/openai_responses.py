"""The Responses API. Nothing is stored at the server: each request holds the whole conversation, with the
reasoning items of earlier turns, which only the server can read, in their places."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rarg_tui.agent import context
from rarg_tui.agent.model import Request
from rarg_tui.agent.openai_reply import Reading, ServerSaid, call, counts, raise_error, sendable, string

if TYPE_CHECKING:
    from openai import OpenAI

_COUNTS = ("input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details")

_TEXT = ("response.output_text.delta", "response.refusal.delta")
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")

_FINISH = {"max_output_tokens": "length"}


class ResponsesApi:
    optional: ClassVar[Mapping[str, re.Pattern[str]]] = {
        # Also what is said when another account, or another model, made the items.
        "reasoning": re.compile(r"encrypted|reasoning item|items are not persisted", re.IGNORECASE),
        "summary": re.compile(r"summar", re.IGNORECASE),
        "stream": re.compile(r"\bstream(ing)?\b", re.IGNORECASE),
    }

    def body(
        self, model: str, effort: str, request: Request, without: Collection[str] = ()
    ) -> dict[str, Any]:
        messages = context.messages(
            request.state,
            request.strategy,
            request.profile,
            force_answer=request.force_answer,
            best=request.best,
        )
        kept = [turn.kept if "reasoning" not in without else () for turn in request.state.turns]
        body: dict[str, Any] = {
            "model": model,
            "instructions": messages[0]["content"],
            "input": list(_items(messages[1:], iter(kept))),
            "store": False,
        }
        if "reasoning" not in without:
            body["include"] = ["reasoning.encrypted_content"]
        if request.tools:
            body["tools"] = [
                {"type": "function", "strict": False, **tool["function"]} for tool in request.tools
            ]
        if effort:
            body["reasoning"] = {"effort": effort} | ({} if "summary" in without else {"summary": "auto"})
        if "stream" not in without:
            body["stream"] = True
        sent: dict[str, Any] = sendable(body)
        return sent

    def send(self, client: OpenAI, body: Mapping[str, Any]) -> Any:
        return client.responses.with_raw_response.create(**body)

    def reader(self) -> ResponsesReader:
        return ResponsesReader()


def _items(
    messages: Sequence[Mapping[str, Any]], kept: Iterator[Sequence[Mapping[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """The messages of Chat Completions as the items of this API."""
    for message in messages:
        match message["role"]:
            case "tool":
                yield {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": message["content"],
                }
            case "assistant":
                yield from _turn(message, next(kept))
            case role:
                yield {"role": role, "content": message["content"]}


def _turn(message: Mapping[str, Any], kept: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Reasoning belongs before what it led to; ``kept`` marks the places of text and calls."""
    texts = [{"role": "assistant", "content": message["content"]}] if message["content"] else []
    calls = [
        {"type": "function_call", "call_id": one["id"], **one["function"]}
        for one in message.get("tool_calls", ())
    ]
    for item in kept:
        match item.get("type"):
            case "message" if texts:
                yield texts.pop(0)
            case "function_call" if calls:
                yield calls.pop(0)
            case "reasoning":
                yield dict(item)
    yield from texts
    yield from calls


class ResponsesReader:
    """Takes the events of a stream, or one whole response."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._done: list[Any] = []
        self._response: Any = None

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    @property
    def complete(self) -> bool:
        return self._response is not None

    def take(self, event: Any) -> None:
        kind = event.get("type")
        if kind == "error" and "message" in event:
            raise ServerSaid(f"{event['message']} ({event.get('code') or kind})")
        raise_error(event)
        if kind in _TEXT:
            self._text.append(string(event["delta"]))
        elif kind in _REASONING:
            self._reasoning.append(string(event["delta"]))
        elif kind == "response.output_item.done":
            self._done.append(event["item"])
        elif kind in ("response.completed", "response.incomplete", "response.failed") or "output" in event:
            response = event.get("response") or event
            raise_error(response)
            self._response = response

    def reading(self) -> Reading:
        # Some servers name the items only as they come, others only at the end.
        items = self._response.get("output") or self._done
        texts: list[str] = []
        thought: list[str] = []
        calls = []
        for item in items:
            match item["type"]:
                case "message":
                    texts += [string(part.get("text") or part.get("refusal")) for part in item["content"]]
                case "reasoning":
                    parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
                    thought += [string(part["text"]) for part in parts]
                case "function_call":
                    calls.append(call(item.get("call_id"), item["name"], item.get("arguments")))
        why = string((self._response.get("incomplete_details") or {}).get("reason"))
        return Reading(
            text="".join(texts),
            reasoning="\n\n".join(thought),
            calls=tuple(calls),
            kept=_kept(items),
            counts=counts(self._response.get("usage"), _COUNTS),
            finish=_FINISH.get(why, why) or "stop",
        )


def _kept(items: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """The reasoning items that the server can read again, and the places of what stands between them."""
    kept: list[Mapping[str, Any]] = []
    for item in items:
        if item["type"] in ("message", "function_call"):
            kept.append({"type": item["type"]})
        elif item["type"] == "reasoning" and (item.get("encrypted_content") or item.get("content")):
            kept.append(
                {name: value for name, value in item.items() if name != "status" and value is not None}
            )
    return tuple(kept) if any(item["type"] == "reasoning" for item in kept) else ()
