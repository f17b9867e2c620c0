"""Rounds, the CPU seconds they took, and how often they were right."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """One measurement."""

    rounds: int
    seconds: float
    accuracy: float
    note: str = ""

    @property
    def per_second(self) -> float:
        return self.rounds / self.seconds


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """CPU seconds of `work`, and the accuracy it returns."""
    start = time.process_time()
    accuracy = work()
    return max(time.process_time() - start, 1e-9), accuracy


def repeated(prepare: Callable[[], Callable[[], float]], rounds: int, seconds: float, at_least: int = 3) -> Rate:
    """The median of several runs, each on a fresh model made outside the clock, until they fill `seconds`."""
    runs: list[tuple[float, float]] = []
    while len(runs) < at_least or sum(spent for spent, _ in runs) < seconds:
        runs.append(timed(prepare()))
        if runs[-1][0] > seconds:
            break
    return Rate(rounds, statistics.median(spent for spent, _ in runs), runs[-1][1], f"median of {len(runs)}")
