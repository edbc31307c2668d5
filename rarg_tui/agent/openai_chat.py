"""Chat Completions, as OpenAI, vLLM, llama.cpp, Ollama and many others serve it.

Their streams differ: calls come in fragments or whole, with or without index and id; reasoning is called
``reasoning_content`` or ``reasoning``; the counts come with the last piece, after it, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rarg_tui.agent import context
from rarg_tui.agent.model import Request
from rarg_tui.agent.openai_reply import Reading, call, counts, raise_error, sendable, string, thoughts

if TYPE_CHECKING:
    from openai import OpenAI

#: Reasoning is sent back under the name that it came with: some servers insist on it between calls.
_REASONING = ("reasoning_content", "reasoning")

_COUNTS = ("prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details")


class ChatApi:
    optional: ClassVar[Mapping[str, re.Pattern[str]]] = {
        "stream_options": re.compile(r"stream_options|include_usage", re.IGNORECASE),
        "reasoning": re.compile(r"reasoning_content|\breasoning['\"]? (field|is|property)", re.IGNORECASE),
        "stream": re.compile(r"\bstream(ing)?\b", re.IGNORECASE),
    }

    def body(
        self, model: str, effort: str, request: Request, without: Collection[str] = ()
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "messages": sendable(_messages(request, without))}
        if request.tools:
            body["tools"] = list(request.tools)
        if effort:
            body["reasoning_effort"] = effort
        if "stream" not in without:
            body["stream"] = True
            if "stream_options" not in without:
                body["stream_options"] = {"include_usage": True}
        return body

    def send(self, client: OpenAI, body: Mapping[str, Any]) -> Any:
        return client.chat.completions.with_raw_response.create(**body)

    def reader(self) -> ChatReader:
        return ChatReader()


def _messages(request: Request, without: Collection[str]) -> list[dict[str, Any]]:
    messages = context.messages(
        request.state,
        request.strategy,
        request.profile,
        force_answer=request.force_answer,
        best=request.best,
    )
    if "reasoning" not in without:
        assistants = (message for message in messages if message["role"] == "assistant")
        for message, turn in zip(assistants, request.state.turns, strict=True):
            name = turn.kept[0].get("reasoning_as") if turn.kept else None
            if name in _REASONING:
                message[name] = turn.reasoning
    return messages


@dataclass(slots=True)
class _Call:
    index: Any
    id: str
    name: str
    arguments: Any


class ChatReader:
    """Takes the chunks of a stream, or one whole completion."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._usage: Any = None
        self._named = ""
        self._finish = ""
        self._begun = False
        self._counted_last = False

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    @property
    def complete(self) -> bool:
        return bool(self._finish) or self._counted_last

    def take(self, event: Any) -> None:
        raise_error(event)
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        if not choices:
            self._counted_last = self._begun and self._usage is not None
            return
        choice = choices[0]
        whole = "delta" not in choice
        message = choice["message" if whole else "delta"] or {}
        self._begun = True
        self._finish = string(choice.get("finish_reason")) or self._finish
        self._text.append(string(message.get("content")) or string(message.get("refusal")))
        for name in _REASONING:
            if isinstance(message.get(name), str) and message[name]:
                self._named = name
                self._reasoning.append(message[name])
                break
        for item in message.get("tool_calls") or ():
            if item.get("type") in (None, "", "function"):
                self._take_call(item, item["function"], whole)

    def _take_call(self, item: Any, function: Any, whole: bool) -> None:
        index, given = item.get("index"), item.get("id") or ""
        name, arguments = function.get("name") or "", function.get("arguments")
        same = [one for one in self._calls if index is None or one.index == index]
        last = same[-1] if same else None
        # Two calls may share an index; then the second one has a name and an id of its own.
        begins = name and (index is None or (last is not None and given not in ("", last.id)))
        if whole or last is None or begins:
            self._calls.append(_Call(index, given, name, arguments))
            return
        last.name = last.name or name
        if arguments:
            last.arguments = string(last.arguments) + string(arguments)

    def reading(self) -> Reading:
        if not self._begun:
            raise ValueError("a reply without choices")
        text, reasoning = thoughts(self.text, self.reasoning)
        calls = tuple(call(one.id, one.name, one.arguments) for one in self._calls)
        return Reading(
            text=text,
            reasoning=reasoning,
            calls=calls,
            kept=({"reasoning_as": self._named},) if self._named and calls else (),
            counts=counts(self._usage, _COUNTS),
            finish=self._finish,
        )
