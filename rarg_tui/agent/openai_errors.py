"""The faults of a server: which are worth another try, after how long, and what a person is told."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from rarg_tui.agent.model import ContextOverflow, ModelError
from rarg_tui.agent.openai_reply import Cut, EmptyReply, ServerSaid

#: Seconds before the second, third and fourth try, where the server names none.
BACK_OFF_S = (0.5, 2.0, 8.0)

#: A server that asks to wait longer is not waited for.
LONGEST_WAIT_S = 60.0

#: So often is a turn asked for while its reply is empty: the model may well say something the next time.
_EMPTY_TRIES = 2

_BUSY = (408, 409, 425, 429)

#: A conversation that is too long, in the words of servers. Each is taken from a reported error message.
_OVERFLOW = re.compile(
    "|".join(
        (
            r"context_length_exceeded|model_context_window_exceeded",  # OpenAI; Z.ai
            r"exceeds? (the |your )?context window",  # OpenAI Responses; llama-cpp-python
            r"max(imum)? context length",  # OpenAI, vLLM, OpenRouter, Mistral; Ollama
            r"available context size|exceed_context_size",  # llama.cpp
            r"context size has been exceeded",  # llama.cpp, while it replies
            r"exceeds (the )?context length",  # Ollama
            r"prompt (is )?too long",  # Anthropic; Ollama
            r"(longer|greater) than the (model'?s )?context length",  # SGLang; LM Studio
            r"context length of only",  # LM Studio
            r"maximum (prompt|allowed input) length",  # xAI; Poolside
            r"input token count .*exceeds",  # Google
            r"reduce the length of the (messages|input|prompt)",  # Groq
        )
    ),
    re.IGNORECASE | re.DOTALL,
)

_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|insufficient balance", re.IGNORECASE)


def pause(error: Exception, tries: int) -> float | None:
    """Seconds to wait before the request is sent again, after ``tries`` that failed; ``None``: it is not
    worth it."""
    import openai

    if isinstance(error, EmptyReply):
        return 0.0 if tries < _EMPTY_TRIES else None
    if tries > len(BACK_OFF_S) or overflows(error):
        return None
    usual = BACK_OFF_S[tries - 1]
    match error:
        case openai.APITimeoutError():
            return None
        case Cut() | ServerSaid() | openai.APIConnectionError():
            return usual
        case openai.APIStatusError() if error.status_code in _BUSY or error.status_code >= 500:
            if _QUOTA.search(all_said(error)):
                return None
            asked = _retry_after(error.response.headers)
            wait = usual if asked is None else asked
            return wait if wait <= LONGEST_WAIT_S else None
        case openai.APIStatusError():
            return None
        case openai.APIError():
            return usual
        case _:
            return None


def overflows(error: Exception) -> bool:
    """Whether the conversation is too long for the server."""
    # A limit of tokens a minute is another thing, and 429.
    if getattr(error, "status_code", 400) in (401, 403, 404, 429):
        return False
    return bool(_OVERFLOW.search(all_said(error)))


def explained(error: Exception, *, where: str, model: str, api: str, key: str) -> ModelError:
    """What happened and what to do, in one sentence; never the key."""
    import openai

    brief = _brief(error, key)
    if overflows(error):
        return ContextOverflow(
            f"The conversation is too long for {model} at {where}: let the server take a longer context, or "
            f"keep fewer results ({brief})."
        )
    match error:
        case ModelError():
            return error
        case openai.AuthenticationError():
            sentence = f"{where} refused the key: set OPENAI_API_KEY to a valid one."
        case openai.NotFoundError():
            sentence = _not_found(error, where, model, api)
        case openai.RateLimitError():
            sentence = _rate_limited(error, where)
        case openai.APITimeoutError():
            sentence = f"{where} did not answer in time: step again to ask once more."
        case openai.APIConnectionError():
            sentence = (
                f"{where} cannot be reached or broke the connection: check --base-url and that it runs."
            )
        case openai.APIStatusError():
            sentence = f"{where} answered with status {error.status_code}: {brief}."
        case Cut():
            sentence = f"{where} stopped in the middle of a reply: step again to ask once more."
        case ServerSaid() | openai.APIError():
            sentence = f"{where} broke off with an error: {brief}."
        case _:
            sentence = f"{where} could not be asked: {brief}."
    return ModelError(sentence)


def _not_found(error: Any, where: str, model: str, api: str) -> str:
    if "model" in all_said(error).lower():
        return f"{where} has no model {model!r}: choose another with --model."
    if api == "responses":
        return f"{where} has no Responses API: use `--api chat`, or check --base-url."
    return f"{where} has nothing at that address (404): check --base-url, which usually ends in /v1."


def _rate_limited(error: Any, where: str) -> str:
    if _QUOTA.search(all_said(error)):
        return f"{where} says that the quota of this key is used up: see to the account, then step again."
    asked = _retry_after(error.response.headers)
    when = "later" if asked is None else f"in {math.ceil(asked)} seconds"
    return f"{where} asks to wait (rate limit): step again {when}."


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from either form of the header; ``None`` where there is none that makes sense."""
    given = headers.get("retry-after", "")
    try:
        seconds = float(headers.get("retry-after-ms", "")) / 1000
    except ValueError:
        try:
            seconds = float(given)
        except ValueError:
            seconds = _until(given)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float:
    try:
        return max(0.0, (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return math.nan


def all_said(error: Exception) -> str:
    """All the words of an error, for looking into; they may hold the key."""
    return f"{error} {getattr(error, 'body', '')}"


def _brief(error: Exception, key: str) -> str:
    """The server's own words, on one line and not too long."""
    said = getattr(error, "body", None)
    if isinstance(said, Mapping):
        # A page of HTML, as a proxy sends it, is no mapping and says nothing to a person.
        said = said.get("message") or said.get("detail") or said
        words = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
    else:
        words = str(error)
    # Before the cut: it might leave a part of the key.
    masked = words.replace(key, "[key]") if key else words
    return " ".join(masked.split())[:300].rstrip(".")
