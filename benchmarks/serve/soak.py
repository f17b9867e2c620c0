"""Hours of load on more models than fit below the ceiling: what is in memory over time."""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.serve.bodies import LABELS
from benchmarks.serve.load import Next, Pairs
from benchmarks.serve.serving import Server, by_the_clock, play, run, served

CEILING = 128
"""MiB of all models."""
MODELS = 200
RATE = 400.0  # requests a second, so that the machine has time for others
_PART = 10.0  # seconds between two looks
_CONNECTIONS = 16


class Somewhere(Pairs):
    """Pairs of a decision and its verdict, each of another model."""

    def __call__(self, answer: bytes) -> bytes:
        if self._id is None:
            self._at = f"/v1/models/soaked {random.randrange(MODELS)}/decisions".replace(" ", "%20")
        return super().__call__(answer)


def measure(folder: Path, minutes: float) -> dict[str, Any]:
    """All minutes together; those that this folder tells of are over."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "soak.jsonl"
    seen = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    with served("--memory", str(CEILING << 20), store=folder / "soaked") as server:
        _make(server)
        while sum(one["seconds"] for one in seen) < 60 * minutes:
            seen.append(_part(server))
            with path.open("a") as file:
                file.write(json.dumps(seen[-1]) + "\n")
            print(seen[-1], file=sys.stderr, flush=True)
    return _told(seen)


def _make(server: Server) -> None:
    for number in range(MODELS):
        body = json.dumps({"labels": LABELS, "seed": number, "window": 60.0}).encode()
        url = f"http://127.0.0.1:{server.port}/v1/models/soaked%20{number}"
        try:
            urllib.request.urlopen(urllib.request.Request(url, body, method="PUT")).read()
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise


def _part(server: Server) -> dict[str, Any]:
    """Some seconds of it."""
    begun, make = time.perf_counter(), _somewhere()
    rate, waits = run(play(server.port, make, by_the_clock(RATE, _CONNECTIONS), _CONNECTIONS, _PART))
    health = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{server.port}/health/ready").read())
    return {
        "seconds": round(time.perf_counter() - begun, 2),
        "requests": len(waits),
        "rate": round(rate),
        "p50": round(1000 * statistics.median(waits), 1),
        "p99": round(1000 * statistics.quantiles(waits, n=100)[98], 1),
        "resident": server.memory,
        "weighed": health["numbers"]["memory"],
    }


def _somewhere() -> Any:
    def make() -> Next:
        return Somewhere()

    return make


def _told(seen: list[dict[str, Any]]) -> dict[str, Any]:
    resident = [one["resident"] for one in seen]
    tenth = max(1, len(resident) // 10)
    return {
        "minutes": round(sum(one["seconds"] for one in seen) / 60, 1),
        "requests": sum(one["requests"] for one in seen),
        "models": MODELS,
        "ceiling": CEILING,
        "resident_first": resident[0],
        "resident_early": round(statistics.mean(resident[tenth : 2 * tenth] or resident), 1),
        "resident_late": round(statistics.mean(resident[-tenth:]), 1),
        "resident_most": max(resident),
        "rate": round(statistics.median(one["rate"] for one in seen)),
    }
