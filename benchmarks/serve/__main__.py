"""See the package."""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import benchmarks.serve
from benchmarks import machine, records
from benchmarks.serve.load import Batches, Echoes, Next, Pairs, at_once, by_the_clock, play
from benchmarks.tables import number, render

CONNECTIONS = 64
BATCH = 100
_TURNS = 5  # of echo and service, one after the other
_WARM_UP = 2.0  # seconds
PACKAGES = ("uvicorn", "granian", "starlette", "msgspec", "uvloop", "httptools")
Numbers = dict[str, float]


@contextmanager
def served(*options: str) -> Iterator[int]:
    """The port of a server in a process of its own, with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.serve.server", folder, *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline()) if "--granian" not in options else int(options[-1])
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()


def rate(port: int, make: Callable[[], Next], seconds: float, connections: int = CONNECTIONS) -> float:
    """Requests a second, as fast as it goes."""
    return _run(play(port, make, at_once, connections, seconds))[0]


def waits(port: int, make: Callable[[], Next], requests: float, seconds: float) -> Numbers:
    """Milliseconds until the answer, at so many requests a second."""
    due = by_the_clock(requests, CONNECTIONS)
    reached, found = _run(play(port, make, due, CONNECTIONS, seconds))
    places = statistics.quantiles(found, n=1000)
    return {
        "asked": round(requests),
        "rate": round(reached),
        **{
            name: round(1000 * places[place - 1], 2)
            for name, place in (("p50", 500), ("p99", 990), ("p99.9", 999))
        },
    }


def in_turn(port: int, seconds: float) -> Numbers:
    """The rate of pairs and of echoes, in turn; the ratio of each two, and the middle one."""
    rate(port, Pairs, _WARM_UP)
    rate(port, Echoes, _WARM_UP)
    echoes, pairs = [], []
    for _ in range(_TURNS):
        echoes.append(rate(port, Echoes, seconds / _TURNS))
        pairs.append(rate(port, Pairs, seconds / _TURNS))
    ratios = [ours / echo for ours, echo in zip(pairs, echoes, strict=True)]
    return {
        "requests": round(statistics.median(pairs)),
        "echoes": round(statistics.median(echoes)),
        "ratio": round(statistics.median(ratios), 3),
        "least": round(min(ratios), 3),
        "most": round(max(ratios), 3),
    }


def highest(sync: str, seconds: float) -> dict[str, Any]:
    """The highest rate and the waits at half of it."""
    with served("--sync", sync) as port:
        found = in_turn(port, seconds)
        return {**found, "half": waits(port, Pairs, found["requests"] / 2, seconds)}


def full(seconds: float) -> dict[str, Any]:
    """Everything on disk before the answer."""
    return highest("full", seconds)


def normal(seconds: float) -> dict[str, Any]:
    """What a crash of the process survives."""
    return highest("normal", seconds)


def batches(seconds: float) -> dict[str, Any]:
    """Decisions a second, 100 in each request."""
    with served() as port:
        rate(port, lambda: Batches(BATCH), _WARM_UP, 4)
        found = [BATCH * rate(port, lambda: Batches(BATCH), seconds / 3, 4) for _ in range(3)]
        return {"decisions": round(statistics.median(found))}


def servers(seconds: float) -> dict[str, Any]:
    """Echoes a second behind two servers."""
    with served() as port, socket.create_server(("127.0.0.1", 0)) as free:
        other = free.getsockname()[1]
        free.close()
        with served("--granian", str(other)):
            _wait_for(other)
            rate(port, Echoes, _WARM_UP), rate(other, Echoes, _WARM_UP)
            turns = [
                (rate(port, Echoes, seconds / _TURNS), rate(other, Echoes, seconds / _TURNS))
                for _ in range(_TURNS)
            ]
    return {
        "uvicorn": round(statistics.median(one for one, _ in turns)),
        "granian": round(statistics.median(one for _, one in turns)),
        "ratio": round(statistics.median(two / one for one, two in turns), 3),
    }


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
