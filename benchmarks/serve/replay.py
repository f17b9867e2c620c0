"""How long a service takes to start, and how fast it learns what its snapshots lack."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from banditboost.serve import replay
from banditboost.serve.settings import Limits
from banditboost.serve.store.sqlite import SQLiteStore
from benchmarks.serve import logged

_TURNS = 5
_READ = 50_000
"""Events a second are wanted."""


def measure(rounds: int) -> dict[str, Any]:
    """Of a log with so many decisions, each with its verdict."""
    with tempfile.TemporaryDirectory() as folder:
        short, long = Path(folder, "short"), Path(folder, "long")
        _written(short, 1_000, snapshot=True)
        _written(long, rounds, snapshot=False)
        ready, answered = zip(*(started(short) for _ in range(_TURNS)), strict=True)
        return {
            "events": 2 * rounds + 1,
            **_speed(long),
            "ready": round(statistics.median(ready), 2),
            "ready_most": round(max(ready), 2),
            "answered": round(statistics.median(answered), 2),
            "answered_most": round(max(answered), 2),
            "answered_after_replay": round(started(long)[1], 2),
        }


def _written(folder: Path, rounds: int, *, snapshot: bool) -> None:
    """In a process of its own, which ends as if it was killed unless it is to write a snapshot."""
    command = "import sys; from pathlib import Path; from benchmarks.serve.logged import write; "
    command += f"write(Path(sys.argv[1]), {rounds}, snapshot={snapshot})"
    subprocess.run([sys.executable, "-c", command, str(folder)], check=True)


def _speed(folder: Path) -> dict[str, Any]:
    """Events a second, of the clock and of the processor, in turns."""
    store = SQLiteStore(folder)
    (stored,) = store.models()
    found = []
    for _ in range(_TURNS):
        begun, used = time.perf_counter(), time.process_time()
        n = replay.load(store, stored, Limits()).n
        found.append((n / (time.perf_counter() - begun), n / (time.process_time() - used)))
    store.close()
    rates, cpu = zip(*found, strict=True)
    return {
        "rate": round(statistics.median(rates)),
        "rate_least": round(min(rates)),
        "rate_most": round(max(rates)),
        "rate_cpu": round(statistics.median(cpu)),
        "wanted": _READ,
    }


def started(folder: Path) -> tuple[float, float]:
    """Seconds from the command until `/health/ready` says yes, and until a decision is answered."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "banditboost", "serve", "--store", str(folder), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        address = _address(process.stdout.readline())
        urllib.request.urlopen(f"{address}health/ready").read()
        ready = time.perf_counter() - begun
        asked = b'{"features":%b}' % logged.ROWS[0].features
        urllib.request.urlopen(f"{address}v1/models/default/decisions", asked).read()
        return ready, time.perf_counter() - begun
    finally:
        process.kill()
        process.wait()


def _address(line: bytes) -> str:
    told: str = json.loads(line)["page"]
    return told
