"""What is sent again, and when: all calls can be, since decisions and verdicts have names."""

from __future__ import annotations

import random
from typing import NamedTuple, TypeVar

import httpx
import msgspec

from banditboost.client.calls import Call
from banditboost.client.refusals import ServiceRefusal, UnreachableError, refusal

T = TypeVar("T")
_AGAIN = frozenset({429, 502, 503, 504})
_LONGEST = 30.0
Answer = httpx.Response | httpx.TransportError
"""What came of a request: an answer, or none."""


class Retries(NamedTuple):
    """How often, and how long to wait before the second attempt; each further one waits twice as long."""

    attempts: int = 6
    wait: float = 0.1

    def pause(self, attempt: int, answer: Answer) -> float:
        """Seconds before the next attempt: what the service says, or longer each time, and never alike for
        all clients.
        """
        told = answer.headers.get("retry-after", "") if isinstance(answer, httpx.Response) else ""
        least = min(float(told), _LONGEST) if told.isdigit() else 0.0
        return max(least, min(self.wait * 2.0**attempt, _LONGEST) * random.uniform(0.5, 1.0))


def is_final(answer: Answer) -> bool:
    """Whether the same request would get no better answer."""
    return isinstance(answer, httpx.Response) and answer.status_code not in _AGAIN


def read(call: Call[T], answer: Answer, attempt: int) -> T:
    """What the answer to attempt 0, 1, ... means; the refusal it tells is raised."""
    if isinstance(answer, httpx.TransportError):
        raise _unreachable(answer, attempt + 1)
    if answer.is_success:
        return call.read(answer.content)
    if call.method == "DELETE" and answer.status_code == 404 and attempt:
        return call.read(b"")  # the first attempt has done it, and its answer was lost
    raise _refused(answer)


def _refused(answer: httpx.Response) -> ServiceRefusal:
    """The refusal that an answer tells, also if a proxy wrote it."""
    try:
        problem = msgspec.json.decode(answer.content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": f"{answer.url} answered {answer.status_code} {answer.reason_phrase}"}
    return refusal({"status": answer.status_code, **problem})


def _unreachable(error: httpx.TransportError, attempts: int) -> UnreachableError:
    return UnreachableError(
        f"{error.request.url.copy_with(path='/', query=None)} did not answer in {attempts} attempts "
        f"({type(error).__name__}: {error}); check the address, and that the service runs: banditboost serve"
    )


def headers_for(key: str | None) -> dict[str, str]:
    """What each request says."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}
