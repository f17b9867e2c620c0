"""See the package."""

from __future__ import annotations

import argparse
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

import benchmarks.serve
from benchmarks import machine, records
from benchmarks.serve.load import Batches, Echoes, Next, Pairs, at_once, by_the_clock, play
from benchmarks.tables import number, render

CONNECTIONS = 64
MANY = 256
BATCH = 100
_TURNS = 5  # of echo and service, one after the other
_WARM_UP = 2.0  # seconds
PACKAGES = ("uvicorn", "granian", "starlette", "msgspec", "uvloop", "httptools")
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


@contextmanager
def served(*options: str) -> Iterator[Server]:
    """A server with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.serve.server", folder, *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            _wait_for(port)
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
    requests, waited = _run(play(server.port, make, at_once, connections, seconds))
    return Rate(requests, (server.cpu - before) / len(waited) * 1e6)


def waits(server: Server, make: Callable[[], Next], requests: float, seconds: float) -> Numbers:
    """Milliseconds until the answer, at so many requests a second."""
    due = by_the_clock(requests, CONNECTIONS)
    reached, found = _run(play(server.port, make, due, CONNECTIONS, seconds))
    thousandths = statistics.quantiles(found, n=1000)
    places = {"p50": 500, "p99": 990, "p99.9": 999}
    told = {name: round(1000 * thousandths[place - 1], 2) for name, place in places.items()}
    return {"asked": round(requests), "rate": round(reached), **told}


def in_turn(server: Server, seconds: float) -> Numbers:
    """Pairs and echoes in turn; the ratio of each two, and the middle one."""
    rate(server, Pairs, _WARM_UP)
    rate(server, Echoes, _WARM_UP)
    turns = [
        (rate(server, Echoes, seconds / _TURNS), rate(server, Pairs, seconds / _TURNS)) for _ in range(_TURNS)
    ]
    ratios = [pairs.requests / echoes.requests for echoes, pairs in turns]
    cpu = {
        "cpu_echo": statistics.median(echoes.cpu for echoes, _ in turns),
        "cpu_request": statistics.median(pairs.cpu for _, pairs in turns),
    }
    return {
        "requests": round(statistics.median(pairs.requests for _, pairs in turns)),
        "echoes": round(statistics.median(echoes.requests for echoes, _ in turns)),
        "ratio": round(statistics.median(ratios), 3),
        "least": round(min(ratios), 3),
        "most": round(max(ratios), 3),
        **{name: round(value, 1) for name, value in cpu.items()},
        "cpu_ratio": round(cpu["cpu_echo"] / cpu["cpu_request"], 3),
    }


def highest(sync: str, seconds: float) -> dict[str, Any]:
    """The highest rate and the waits at half of it."""
    with served("--sync", sync) as server:
        found = in_turn(server, seconds)
        return {**found, "half": waits(server, Pairs, found["requests"] / 2, seconds)}


def full(seconds: float) -> dict[str, Any]:
    """Everything on disk before the answer."""
    return highest("full", seconds)


def normal(seconds: float) -> dict[str, Any]:
    """What a crash of the process survives."""
    return highest("normal", seconds)


def batches(seconds: float) -> dict[str, Any]:
    """Decisions a second, 100 in each request."""
    with served() as server:
        rate(server, lambda: Batches(BATCH), _WARM_UP, 4)
        found = [rate(server, lambda: Batches(BATCH), seconds / 3, 4) for _ in range(3)]
    return {
        "decisions": round(BATCH * statistics.median(one.requests for one in found)),
        "cpu_decision": round(statistics.median(one.cpu for one in found) / BATCH, 1),
    }


def servers(seconds: float) -> dict[str, Any]:
    """Echoes and pairs behind two servers."""
    with served("--sync", "normal") as ours, served("--sync", "normal", "--server", "granian") as other:
        both = (ours, other)
        for server in both:
            rate(server, Pairs, _WARM_UP)
        turns = [
            [rate(server, make, seconds / 10) for server in both for make in (Echoes, Pairs)]
            for _ in range(5)
        ]
    names = ("uvicorn_echo", "uvicorn_request", "granian_echo", "granian_request")
    told = {}
    for name, rates in zip(names, zip(*turns, strict=True), strict=True):
        told[name] = round(statistics.median(one.requests for one in rates))
        told[f"cpu_{name}"] = round(statistics.median(one.cpu for one in rates), 1)
    return told


PARTS: dict[str, Callable[[float], dict[str, Any]]] = {
    "full": full,
    "normal": normal,
    "batches": batches,
    "servers": servers,
}


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


def _run(work: Any) -> Any:
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.run(work)
    return uvloop.run(work)


def _told(found: dict[str, dict[str, Any]]) -> str:
    rows = []
    for part, numbers in found.items():
        flat = {name: value for name, value in numbers.items() if not isinstance(value, dict)}
        flat |= {f"half: {name}": value for name, value in numbers.get("half", {}).items()}
        rows += [[part, name, number(value)] for name, value in flat.items()]
    return render(["part", "number", "value"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=benchmarks.serve.__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    records.add_option(parser, "serve")
    options = parser.parse_args()
    machine.pin(1)
    found = {part: PARTS[part](options.seconds) for part in options.only}
    print(_told(found))
    if options.record:
        told = records.about(machine.describe(None, PACKAGES), records.typed("benchmarks.serve", None))
        lines = [
            {"part": part, "seconds": options.seconds, **numbers, **told} for part, numbers in found.items()
        ]
        records.update(options.record, lines, ["part"])


if __name__ == "__main__":
    main()
