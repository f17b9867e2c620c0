"""A service in a process of its own, and the load that is put on it from here."""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.serve.load import Next, at_once, by_the_clock, play

CONNECTIONS = 64
MANY = 128
WARM_UP = 2.0  # seconds
Numbers = dict[str, float]


class Server(NamedTuple):
    """A server in a process of its own."""

    port: int
    process: int

    @property
    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """MiB that it holds in memory."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        kib = next(line.split()[1] for line in lines if line.startswith("VmRSS"))
        return round(int(kib) / 1024, 1)


@contextmanager
def served(*options: str, store: Path | None = None) -> Iterator[Server]:
    """A server, with an empty store unless a folder is given."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.serve.server", str(store or folder), *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            wait_for(port)
            yield Server(port, process.pid)
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()


class Rate(NamedTuple):
    """Requests a second, as fast as it goes, and microseconds of the server's processor for each."""

    requests: float
    cpu: float


def rate(server: Server, make: Callable[[], Next], seconds: float, connections: int = MANY) -> Rate:
    """How fast it goes."""
    before = server.cpu
    requests, waited = run(play(server.port, make, at_once, connections, seconds))
    return Rate(requests, (server.cpu - before) / len(waited) * 1e6)


def waits(server: Server, make: Callable[[], Next], requests: float, seconds: float) -> Numbers:
    """Milliseconds until the answer, at so many requests a second."""
    due = by_the_clock(requests, CONNECTIONS)
    reached, found = run(play(server.port, make, due, CONNECTIONS, seconds))
    thousandths = statistics.quantiles(found, n=1000)
    places = {"p50": 500, "p99": 990, "p99.9": 999}
    told = {name: round(1000 * thousandths[place - 1], 2) for name, place in places.items()}
    return {"asked": round(requests), "rate": round(reached), **told}


def wait_for(port: int) -> None:
    """Until somebody listens there."""
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


def run(work: Any) -> Any:
    """In an event loop as quick as there is."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.run(work)
    return uvloop.run(work)
