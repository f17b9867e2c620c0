"""Starts the service, kills it, reads what it has left behind, and starts it again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from banditboost.serve.store.sqlite import SQLiteStore
from benchmarks.crash.truth import Truth
from benchmarks.crash.worker import digest_of


@dataclass
class Found:
    """What the kills have shown."""

    kills: int = 0
    answers: int = 0
    events: int = 0
    lost: list[Any] = field(default_factory=list)  # answers that are not in the log
    wrong: list[str] = field(default_factory=list)  # whatever else must not be
    starts: list[float] = field(
        default_factory=list
    )  # seconds from the start of the service to its first answer

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, and nothing is wrong."""
        return not self.lost and not self.wrong


def kill_again_and_again(folder: Path, kills: int, seed: int, most_seconds: float = 0.6) -> Found:
    """So many times, each after up to so many seconds of load."""
    found, draw = Found(), random.Random(seed)
    truths: dict[str, Truth] = {}
    for kill in range(kills):
        lines = _killed(folder, seed * 1_000_003 + kill, draw.uniform(0.0, most_seconds))
        _compare_models(lines, truths, found)
        _read_logs(folder, truths)
        answers = [line for line in lines if line[0] in ("decided", "judged", "activated")]
        found.answers += len(answers)
        found.lost += [line for line in answers if truths[line[1]].lacks(line)]
        found.kills += 1
    found.events = sum(truth.n for truth in truths.values())
    found.wrong += [what for truth in truths.values() for what in truth.wrong]
    return found


def _killed(folder: Path, seed: int, seconds: float) -> list[list[Any]]:
    """What the process has told until it was killed; a line that it had not finished was not told."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.crash.worker", str(folder), str(seed)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    told = b""
    while b'["ready"' not in told:
        if not (more := os.read(process.stdout.fileno(), 1 << 16)):
            raise RuntimeError(f"the service did not start: {told[-2000:]!r}")
        told += more
    until = time.monotonic() + seconds
    os.set_blocking(process.stdout.fileno(), False)
    while time.monotonic() < until:
        told += process.stdout.read() or b""
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    os.set_blocking(process.stdout.fileno(), True)
    told += process.stdout.read() or b""
    process.stdout.close()
    process.wait()
    return [msgspec.json.decode(line) for line in told.split(b"\n")[:-1]]


def _compare_models(lines: list[list[Any]], truths: dict[str, Truth], found: Found) -> None:
    """The models that the new process has made of their logs, against those that were never killed."""
    for what, *told in lines:
        if what == "ready":
            found.starts.append(told[0])
        if what == "model" and told[0] in truths:
            name, _, n, digest = told
            truth = truths[name]
            if (n, digest) != (truth.n, digest_of(truth.file())):
                found.wrong.append(f"{name} differs after a start at event {n}; its log ends at {truth.n}")


def _read_logs(folder: Path, truths: dict[str, Truth]) -> None:
    store = SQLiteStore(folder)
    for stored in store.models():
        truth = truths.setdefault(stored.name, Truth(store, stored))
        truth.read_on(store)
    store.close()
