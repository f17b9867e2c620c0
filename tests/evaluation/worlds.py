"""Logs for tests: made by seeds, and small worlds whose every row can be enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

CONTEXTS = (0.3, 0.7)  # how likely each is
LOGGING = ((0.2, 0.5, 0.3), (0.6, 0.1, 0.3))
POLICY = ((0.7, 0.0, 0.3), (0.1, 0.8, 0.1))
OTHER = ((0.1, 0.1, 0.8), (0.25, 0.5, 0.25))
REWARDS = ((0.9, 0.2, 0.4), (0.1, 0.6, 0.3))  # the probability of a reward of 1
MODEL = ((0.5, 0.9, 0.1), (1.0, 0.4, 0.0))  # what a wrong model predicts


def rows() -> Iterator[tuple[float, int, int, float]]:
    """(how likely, context, action, reward) of every row that there can be."""
    for x, a, u in itertools.product(range(2), range(3), (0.0, 1.0)):
        share = CONTEXTS[x] * LOGGING[x][a] * (REWARDS[x][a] if u else 1.0 - REWARDS[x][a])
        yield share, x, a, u


def value_of(policy: tuple[tuple[float, ...], ...]) -> float:
    return sum(CONTEXTS[x] * policy[x][a] * REWARDS[x][a] for x in range(2) for a in range(3))


def made(n: int, seed: int, least: float = 0.1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rewards, logged probabilities and the policy's, of contexts of two labels; weights are 1 in the mean."""
    rng = np.random.default_rng(seed)
    h = rng.uniform(least, 1.0 - least, n)
    pi = rng.uniform(0.0, 1.0, n)
    first = rng.random(n) < h
    p = np.where(first, h, 1.0 - h)
    shown = np.where(first, pi, 1.0 - pi)
    return (rng.random(n) < np.where(first, 0.3, 0.6)).astype(float), p, shown
