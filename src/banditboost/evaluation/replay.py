"""Replay by rejection: rows are kept with the probability that makes them rows of the policy itself.

Li, Chu, Langford and Wang 2011 for logs of a uniform policy; with weights as in Vowpal Wabbit's explore_eval.
A learner that learns from the kept rows only sees what it would have seen.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.errors import LogError
from banditboost.evaluation import doors
from banditboost.evaluation.value import Interval, PolicyValue
from banditboost.rewards import UNIT, Range, check_range
from banditboost.types import Array
from banditboost.validation import check_count, check_number


class Replay:
    """The value of a policy, from those rows of a log that could be its own.

    A row is kept with the probability weight / `most_weight`, where its weight is the policy's probability of
    the logged action / the logged one. The kept rows are as the policy would have made them; their number is
    about n / `most_weight`.

    Args:
        most_weight: the largest weight that there is; with a uniform log of k labels, k.
        rewards: the least and the largest reward.
        seed: of the draws.

    >>> replay = Replay(most_weight=2, seed=1)
    >>> kept = replay.add_many([1, 0] * 500, probability=[0.5] * 1000, policy=[1.0, 0.0] * 500)
    >>> kept[:4].tolist(), replay.kept
    ([True, False, True, False], 500)
    >>> replay.estimate()
    1.0
    """

    def __init__(self, most_weight: float, rewards: tuple[float, float] = UNIT, *, seed: int = 1) -> None:
        self._most = check_number("most_weight", most_weight, 1.0, math.inf)
        self._rewards: Range = check_range(rewards)
        self._random = np.random.Generator(np.random.PCG64(check_count("seed", seed, 0)))
        self._value = PolicyValue(rewards)
        self.n = 0
        """How many rows were seen."""

    @property
    def kept(self) -> int:
        """How many rows were kept."""
        return self._value.n

    def add_many(self, reward: Any, probability: Any, policy: Any) -> Array:
        """Rows in their order, as in `PolicyValue.add_many`; tells which were kept.

        If one is refused, none was added.
        """
        numbers = doors.column("reward", reward)
        doors.reward_shares(numbers, self._rewards)
        p = doors.logged_probabilities(probability, len(numbers))
        w = doors.weights("policy", policy, p)
        if len(w) and w.max() > self._most * (1.0 + 1e-9):
            raise LogError(
                f"the weight is {w.max():g} in row {int(np.argmax(w))}, and most_weight {self._most:g}; give "
                f"most_weight={w.max():g} or more: rows above it would count too little"
            )
        kept = self._random.random(len(w)) * self._most < w
        ones = np.ones(int(kept.sum()))
        self._value.add_many(numbers[kept], ones, ones)
        self.n += len(w)
        return kept

    def estimate(self) -> float:
        """The mean reward of the kept rows; NaN if none was."""
        return self._value.estimate("ips")

    def interval(self, kind: str = "sequence", *, level: float = 0.95) -> Interval:
        """Bounds on the value, as in `PolicyValue.interval`."""
        return self._value.interval("ips", kind, level=level)
