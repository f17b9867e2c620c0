"""The load: connections that send one request after the other, and note how long each answer took."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.serve.bodies import LABELS, Body, bodies, request

Next = Callable[[bytes], bytes]
"""The next request, from the last answer."""
_WRONG = b'{"correct":false}'
_RIGHT = b'{"correct":true}'


class Connection(asyncio.Protocol):
    """Sends what `following` makes, when it is due."""

    def __init__(self, following: Next, due: Iterator[float], waits: list[float], stop_at: float) -> None:
        self._following, self._due, self._waits, self._stop_at = following, due, waits, stop_at
        self._buffer, self._since = b"", 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._schedule(b"")

    def _schedule(self, answer: bytes) -> None:
        content, now = self._following(answer), time.perf_counter()
        self._since = max(next(self._due), 0.0) or now
        if self._since > now:
            asyncio.get_running_loop().call_later(self._since - now, self._transport.write, content)
        else:
            self._transport.write(content)

    def data_received(self, data: bytes) -> None:
        data = self._buffer + data
        end = data.find(b"\r\n\r\n")
        start = data.find(b"content-length: ", 0, end)
        if end < 0 or len(data) < end + 4 + int(data[start + 16 : data.find(b"\r\n", start)]):
            self._buffer = data
            return
        self._buffer = b""
        now = time.perf_counter()
        if data[9:12] != b"200":
            self.done.set_exception(RuntimeError(data.decode()))
            return
        self._waits.append(now - self._since)
        if now < self._stop_at:
            self._schedule(data)
        else:
            self._transport.close()
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or RuntimeError("the server closed the connection"))


class Pairs:
    """A decision and its verdict, over and over."""

    numbers = itertools.count()
    rows: list[Body] = bodies()

    def __init__(self, model: str = "default") -> None:
        self._at = f"/v1/models/{model}/decisions"
        self._id: str | None = None

    def __call__(self, answer: bytes) -> bytes:
        if self._id is None:
            number = next(self.numbers)
            self._body = self.rows[number % len(self.rows)]
            self._id = f"{time.time_ns():x}-{number:08x}"
            told = b'{"id":"%b","features":%b}' % (self._id.encode(), self._body.features)
            return request(self._at, told)
        path, self._id = f"{self._at}/{self._id}/verdict", None
        return request(path, _RIGHT if self._body.right in answer else _WRONG)


class Echoes(Pairs):
    """The same bodies, to an endpoint that sends them back."""

    def __call__(self, answer: bytes) -> bytes:
        sent = super().__call__(answer)
        return b"POST /echo " + sent.split(b" ", 2)[2]


class Batches:
    """Arrays of decisions."""

    def __init__(self, size: int, model: str = "default") -> None:
        self._size, self._path = size, f"/v1/models/{model}/decisions"

    def __call__(self, _: bytes) -> bytes:
        numbers = [next(Pairs.numbers) for _ in range(self._size)]
        rows = (Pairs.rows[number % len(Pairs.rows)].features for number in numbers)
        return request(self._path, b"[%b]" % b",".join(b'{"features":%b}' % row for row in rows))


def at_once() -> Iterator[float]:
    """As soon as the answer is there."""
    return itertools.repeat(0.0)


def by_the_clock(rate: float, connections: int) -> Callable[[], Iterator[float]]:
    """Moments for one connection after the other, so that all together send so many in a second."""
    places, start = itertools.count(), time.perf_counter() + 0.1

    def due() -> Iterator[float]:
        place = next(places)
        return (start + (place + n * connections) / rate for n in itertools.count())

    return due


async def play(
    port: int, make: Callable[[], Next], due: Callable[[], Iterator[float]], connections: int, seconds: float
) -> tuple[float, list[float]]:
    """Requests a second, and the seconds that each one took."""
    loop, waits = asyncio.get_running_loop(), []
    start = time.perf_counter()

    def connection() -> Connection:
        return Connection(make(), due(), waits, start + seconds)

    made = [await loop.create_connection(connection, "127.0.0.1", port) for _ in range(connections)]
    await asyncio.gather(*(protocol.done for _, protocol in made))
    return len(waits) / (time.perf_counter() - start), waits


__all__ = ["LABELS", "Batches", "Echoes", "Pairs", "at_once", "by_the_clock", "play"]
