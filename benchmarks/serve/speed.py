"""How many a second, and how long each waits."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.serve.load import Batches, Echoes, Pairs
from benchmarks.serve.serving import WARM_UP, Numbers, Server, rate, served, waits

BATCH = 100
_TURNS = 5  # of echo and service, one after the other


def in_turn(server: Server, seconds: float) -> Numbers:
    """Pairs and echoes in turn; the ratio of each two, and the middle one."""
    rate(server, Pairs, WARM_UP)
    rate(server, Echoes, WARM_UP)
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
    """The highest rate, and the waits at half of it: with "full" everything is on disk before the answer."""
    with served("--sync", sync) as server:
        found = in_turn(server, seconds)
        return {**found, "half": waits(server, Pairs, found["requests"] / 2, seconds)}


def batches(seconds: float) -> dict[str, Any]:
    """Decisions a second, 100 in each request."""
    with served() as server:
        rate(server, lambda: Batches(BATCH), WARM_UP, 4)
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
            rate(server, Pairs, WARM_UP)
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
