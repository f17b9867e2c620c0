"""A client of `banditboost serve`, synchronous and asynchronous, that retries safely.

- `blocking.py`: `Client`; `waiting.py`: `AsyncClient`, the same with await;
- `calls.py`: what is sent for each call, and what its answer means;
- `retrying.py`: what is sent again, and when;
- `refusals.py`: refusals of the service as the library's exceptions.

The guide is docs/serve/client.md.
"""

from banditboost.client.blocking import Client
from banditboost.client.calls import Wanted
from banditboost.client.refusals import ServiceRefusal, UnreachableError
from banditboost.client.waiting import AsyncClient

__all__ = ["AsyncClient", "Client", "ServiceRefusal", "UnreachableError", "Wanted"]
