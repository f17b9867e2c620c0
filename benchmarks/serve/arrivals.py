"""Requests that come by the clock, whether or not those before them were answered.

Each takes a connection that is free; if there is none, one more is opened. What is refused is sent again later.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any

from benchmarks.serve.load import Pairs

MOST = 1_000
"""Connections; when all wait for answers, what is due is left out, as by somebody who gives up."""
_STEP = 0.001  # seconds between two looks at what is due
_OPENED = 4  # connections in such a step: a crowd at the door would not be let in for seconds


class Seen:
    """What became of the requests."""

    def __init__(self) -> None:
        self.accepted: list[float] = []  # seconds from sending until the answer
        self.refused = self.sent = self.left_out = self.connections = 0
        self.seconds = 0.0


class Caller(asyncio.Protocol):
    """One connection; it asks for decisions and tells their verdicts."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals, self._pairs, self._since = arrivals, Pairs(), 0.0
        self._answer, self._buffer, self._again = b"", b"", b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._arrivals.is_free(self)

    def ask(self) -> None:
        """The next request, or once more what was refused."""
        self._since, self._again = time.perf_counter(), self._again or self._pairs(self._answer)
        self.transport.write(self._again)

    def data_received(self, data: bytes) -> None:
        data = self._buffer + data
        end = data.find(b"\r\n\r\n")
        start = data.lower().find(b"content-length: ", 0, end)
        if end < 0 or len(data) < end + 4 + int(data[start + 16 : data.find(b"\r\n", start)]):
            self._buffer = data
            return
        self._buffer, self._answer = b"", data
        self._arrivals.tell(data[9:12], time.perf_counter() - self._since)
        if data[9:12] == b"200":
            self._again = b""
        self._arrivals.is_free(self)

    def connection_lost(self, _: Exception | None) -> None:
        self._arrivals.is_gone(self)


class Arrivals:
    """Sends what is due."""

    def __init__(self, port: int, rate: float, seconds: float) -> None:
        self.seen = Seen()
        self._port, self._rate, self._seconds = port, rate, seconds
        self._free: deque[Caller] = deque()
        self._all: set[Caller] = set()
        self._opening = 0

    def is_free(self, caller: Caller) -> None:
        """It can take the next request."""
        if caller not in self._all:
            self._all.add(caller)
            self._opening -= 1
        self._free.append(caller)

    def is_gone(self, caller: Caller) -> None:
        """The server has closed it."""
        self._all.discard(caller)
        if caller in self._free:
            self._free.remove(caller)

    def tell(self, status: bytes, seconds: float) -> None:
        """An answer."""
        if status == b"200":
            self.seen.accepted.append(seconds)
        elif status == b"503":
            self.seen.refused += 1
        else:
            raise RuntimeError(f"status {status.decode()}")

    def _send(self, caller: Caller) -> None:
        self.seen.sent += 1
        caller.ask()

    async def run(self) -> Seen:
        """Until the time is over; what is under way then is not waited for."""
        loop, begun, n = asyncio.get_running_loop(), time.perf_counter(), 0
        opening: set[asyncio.Task[Any]] = set()
        while (now := time.perf_counter()) < begun + self._seconds:
            due, n = int((now - begun) * self._rate) - n, int((now - begun) * self._rate)
            for _ in range(min(due, len(self._free))):
                due -= 1
                self._send(self._free.popleft())
            self.seen.left_out += due
            for _ in range(min(due, _OPENED, MOST - len(self._all) - self._opening)):
                self._opening += 1
                connection = loop.create_connection(lambda: Caller(self), "127.0.0.1", self._port)
                opening.add(task := loop.create_task(connection))
                task.add_done_callback(opening.discard)
            await asyncio.sleep(_STEP)
        self.seen.seconds = time.perf_counter() - begun
        self.seen.connections = len(self._all)
        for caller in list(self._all):
            caller.transport.abort()
        await asyncio.sleep(0.5)
        return self.seen


async def arrive(port: int, rate: float, seconds: float) -> Seen:
    """Requests at this rate."""
    return await Arrivals(port, rate, seconds).run()
