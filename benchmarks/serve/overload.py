"""More than the service can do: what those wait who are answered, and how many are sent away."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.serve.arrivals import arrive
from benchmarks.serve.load import Pairs
from benchmarks.serve.serving import WARM_UP, Server, rate, run, served

LABELS = 200
TIMES = (0.5, 1.0, 1.5, 2.0, 3.0)


def measure(seconds: float) -> dict[str, Any]:
    """Requests that come by the clock, at several times the highest rate.

    With so many labels a request costs enough that one core can send three times what another one answers.
    """
    with served("--labels", str(LABELS)) as server:
        rate(server, Pairs, WARM_UP)
        highest = rate(server, Pairs, seconds / 4).requests
        steps = [_step(server, highest, times, seconds / 2) for times in TIMES]
    return {"labels": LABELS, "highest": round(highest), "steps": steps}


def _step(server: Server, highest: float, times: float, seconds: float) -> dict[str, Any]:
    before = server.memory
    seen = run(arrive(server.port, times * highest, seconds))
    cuts = statistics.quantiles(seen.accepted, n=100) if len(seen.accepted) > 1 else [0.0] * 99
    return {
        "times": times,
        "asked": round(times * highest),
        "sent": round(seen.sent / seen.seconds),
        "accepted": round(len(seen.accepted) / seen.seconds),
        "refused": round(seen.refused / max(seen.refused + len(seen.accepted), 1), 3),
        "p50": round(1000 * cuts[49], 1),
        "p99": round(1000 * cuts[98], 1),
        "left_out": round(seen.left_out / seen.seconds),
        "connections": seen.connections,
        "memory": server.memory,
        "memory_before": before,
    }
