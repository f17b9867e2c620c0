"""Rounds, the CPU seconds they took, and how often they were right."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

TURNS = 20


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


class Turn(NamedTuple):
    """What was played in one turn."""

    rounds: int
    seconds: float
    right: float


Contender = Callable[[int], Turn]
"""Plays turn number 0, 1, ... of `TURNS`; kernels are compiled by then."""


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """CPU seconds of `work`, and the accuracy it returns."""
    start = time.process_time()
    accuracy = work()
    return max(time.process_time() - start, 1e-9), accuracy


def in_turns(contenders: Mapping[str, Contender], turns: int = TURNS) -> dict[str, Rate]:
    """Their rates over all turns.

    A machine that is slow for a while is slow for all of them, so that quotients stay what they are.
    """
    played: dict[str, list[Turn]] = {name: [] for name in contenders}
    for turn in range(turns):
        for name, play in contenders.items():
            played[name].append(play(turn))
    return {name: _sum_of(parts) for name, parts in played.items()}


def _sum_of(parts: list[Turn]) -> Rate:
    rounds, seconds, right = (sum(values) for values in zip(*parts, strict=True))
    return Rate(int(rounds), seconds, right / rounds)
