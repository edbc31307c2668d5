"""One request for embeddings: tried again while that may help, and given up at once on request."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

from rarg_tui.corpus.progress import Cancelled, check
from rarg_tui.errors import MissingPart, RargError

if TYPE_CHECKING:
    from openai import OpenAI

#: A request is made at most so often. The waits between double, unless the server names one; none is longer.
TRIES = 6
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0

_TIMEOUT_S = 120.0
_POLL_S = 0.05
#: A local server needs no key, but the client insists on one.
_NO_KEY = "none"
#: What servers answer to a request with too many or too long texts, among other things.
_TOO_LARGE = (400, 413, 422)
_PASSING = (408, 409, 425, 429)


class Refused(Exception):
    """The server takes these texts for too many, too long, or wrong. The message is its own, masked."""


class Call:
    """Asks ``model`` at ``url``. The key is sent, and never said."""

    def __init__(self, url: str, model: str, key: str, tries: int | None = None) -> None:
        self._url = url
        self._model = model
        self._key = key
        self._tries = tries or TRIES
        self._connected: OpenAI | None = None

    def answer(self, texts: list[str], cancel: threading.Event | None) -> bytes:
        """The body of the server's reply. Raises :class:`Refused`, ``Cancelled`` and ``RargError``."""
        for attempt in range(1, self._tries + 1):
            check(cancel)
            outcome = self._once(texts, cancel)
            if isinstance(outcome, bytes):
                return outcome
            wait = _wait(outcome, attempt)
            if wait is None or attempt == self._tries:
                raise self._explained(outcome)
            pause(wait, cancel)
        raise AssertionError("at least one try")

    def _once(self, texts: list[str], cancel: threading.Event | None) -> bytes | Exception:
        """The request goes on in a thread of its own: ``cancel`` is heard whatever the server does."""
        outcome: Queue[bytes | Exception] = Queue()

        def ask() -> None:
            try:
                create = self._client().embeddings.with_raw_response.create
                outcome.put(create(model=self._model, input=texts, encoding_format="float").content)
            except Exception as error:  # handed over to the waiting thread, which sorts it out
                outcome.put(error)

        threading.Thread(target=ask, daemon=True, name="embeddings").start()
        while True:
            try:
                return outcome.get(timeout=_POLL_S)
            except Empty:
                check(cancel)

    def _client(self) -> OpenAI:
        if self._connected is None:
            from openai import DefaultHttpxClient, OpenAI

            # Texts go to the server that was named, and nowhere it may point to.
            self._connected = OpenAI(
                api_key=self._key or _NO_KEY,
                base_url=self._url,
                max_retries=0,
                timeout=_TIMEOUT_S,
                http_client=DefaultHttpxClient(follow_redirects=False),
            )
        return self._connected

    def _explained(self, error: Exception) -> Exception:
        """What happened and what to do; never the key."""
        import openai

        again = "; run `rarg index` again later, and it goes on where it stopped."
        match error:
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return MissingPart(f"{self._url} refused the key: set EMBEDDINGS_API_KEY to a valid one.")
            case openai.NotFoundError():
                return MissingPart(
                    f"{self._url} has no embeddings of {self._model!r}: check embeddings_url, which mostly "
                    "ends in /v1, and embeddings_model."
                )
            case openai.RateLimitError():
                return RargError(f"{self._url} asks to wait (rate limit or quota){again}")
            case openai.APITimeoutError():
                return RargError(f"{self._url} did not answer in time{again}")
            case openai.APIConnectionError():
                return MissingPart(
                    f"{self._url} cannot be reached: check embeddings_url and that the server runs."
                )
            case openai.APIStatusError(status_code=status) if status in _TOO_LARGE:
                return Refused(f"status {status}: {self._said(error)}")
            case openai.APIStatusError():
                return RargError(
                    f"{self._url} answered with status {error.status_code} ({self._said(error)}){again}"
                )
            case _:
                return RargError(f"{self._url} gave no reply that could be read ({self._said(error)}){again}")

    def _said(self, error: Exception) -> str:
        text = " ".join(str(getattr(error, "message", error)).split())
        return (text.replace(self._key, "[key]") if self._key else text)[:300]


def pause(seconds: float, cancel: threading.Event | None) -> None:
    """Wait, unless ``cancel`` is set."""
    if cancel is None:
        time.sleep(seconds)
    elif cancel.wait(seconds):
        raise Cancelled("Stopped on request.")


def _wait(error: Exception, attempt: int) -> float | None:
    """Seconds until the next try; ``None`` when another would fail as well."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if error.code == "insufficient_quota" or not _may_pass(error.status_code):
            return None
        named = _retry_after(error.response.headers)
        if named is not None:
            return min(named, LONGEST_WAIT_S)
    elif not isinstance(error, openai.APIConnectionError):
        return None
    return min(FIRST_WAIT_S * 2.0 ** (attempt - 1), LONGEST_WAIT_S)


def _may_pass(status: int) -> bool:
    return status >= 500 or status in _PASSING


def _retry_after(headers: Any) -> float | None:
    """Seconds, which the server gives as such or as a date."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
