"""Settings of simulated logs: 1,000 rows of contexts 0 and 1, by seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
N_ROWS = 1000


@dataclass(frozen=True)
class Log:
    """Rows, and what is known beside them: probabilities of all labels, and what a model predicts."""

    action: Array
    reward: Array
    logging: Array  # of all labels, a row for each row
    policy: Array
    predicted: Array
    value: Array  # of the policy in each row: its mean over contexts, given what came before
    logging_value: Array


def draw(shares: Array, u: Array) -> Array:
    """Labels with these probabilities, from uniform numbers."""
    return np.minimum(np.searchsorted(np.cumsum(shares), u, side="right"), len(shares) - 1)


def _each(means: Array) -> Array:
    """Of each row, without a copy."""
    return np.broadcast_to(means, (N_ROWS, *means.shape[1:]))


@dataclass(frozen=True)
class World:
    """Probabilities and means of rewards by context, and how rewards come about."""

    name: str
    words: str
    logging: Array  # contexts x labels
    policy: Array
    means: Array
    reward: Callable[[Array, np.random.Generator], Array]
    scale: float = 1.0  # the mean reward / the mean
    drift: float = 0.0  # how far the means go up and down
    learns: bool = False  # whether the logging policy does

    def log(self, seed: int) -> Log:
        rng = np.random.default_rng([20221019, seed])
        x = rng.integers(0, 2, N_ROWS)
        wave = self.drift * np.sin(2.0 * np.pi * np.arange(N_ROWS) / N_ROWS)[:, None, None]
        means = np.clip(self.means[None] * (1.0 + wave), 0.0, 1.0) if self.drift else self.means[None]
        u = rng.random(N_ROWS)
        if self.learns:
            return self._learned(x, means, u, rng)
        action = np.where(x, draw(self.logging[1], u), draw(self.logging[0], u))
        reward = self.reward(_each(means)[np.arange(N_ROWS), x, action], rng)
        return self._with_truths(x, self.logging[x], self.logging[None], action, reward, means)

    def _learned(self, x: Array, means: Array, u: Array, rng: np.random.Generator) -> Log:
        """Greedy by the mean so far, with a share of exploration that falls."""
        k = self.means.shape[1]
        h, action = np.empty((N_ROWS, 2, k)), np.empty(N_ROWS, np.int64)
        sums, counts = np.zeros((2, k)), np.ones((2, k))
        earned = rng.random(N_ROWS)
        for t in range(N_ROWS):
            explored = max(0.02, 1.0 / np.sqrt(t + 1.0))
            h[t] = explored / k
            h[t, np.arange(2), np.argmax(sums / counts, axis=1)] += 1.0 - explored
            action[t] = draw(h[t, x[t]], u[t])
            sums[x[t], action[t]] += earned[t] < self.means[x[t], action[t]]
            counts[x[t], action[t]] += 1.0
        at = np.arange(N_ROWS)
        reward = (earned < self.means[x, action]).astype(float)
        return self._with_truths(x, h[at, x], h, action, reward, means)

    def _with_truths(
        self, x: Array, shown: Array, logging: Array, action: Array, reward: Array, means: Array
    ) -> Log:
        means = means * self.scale
        value = (self.policy[None] * means).sum(axis=2).mean(axis=1)
        logged = (logging * means).sum(axis=2).mean(axis=1)
        predicted = np.clip(self.scale * (0.8 * self.means[x] + 0.05), 0.0, 1.0)
        rows = (np.broadcast_to(values, N_ROWS) for values in (value, logged))
        return Log(action, reward, shown, self.policy[x], predicted, *rows)


def verdict(means: Array, rng: np.random.Generator) -> Array:
    return (rng.random(len(means)) < means).astype(float)


def skewed(means: Array, rng: np.random.Generator) -> Array:
    """Mostly nothing, else a size that is mostly small and seldom near 1, a tenth of 1 in the mean."""
    return np.where(rng.random(len(means)) < means, rng.beta(0.1, 0.9, len(means)), 0.0)


def _uniform(k: int) -> Array:
    return np.full((2, k), 1.0 / k)


def _likes(means: Array, shares: tuple[float, float]) -> Array:
    """The best label of each context with this probability, the others alike."""
    k = means.shape[1]
    shown = np.array(shares)[:, None]
    return np.where(np.arange(k) == np.argmax(means, axis=1)[:, None], shown, (1.0 - shown) / (k - 1))


def _means(k: int, low: float, high: float) -> Array:
    """From low to high, in another order in each context."""
    rates = np.linspace(low, high, k)
    return np.stack([rates, np.roll(rates[::-1], k // 3)])


def worlds() -> list[World]:
    five, clicks, three = _means(5, 0.1, 0.6), _means(10, 0.005, 0.05), _means(3, 0.2, 0.7)
    two, many = _means(2, 0.2, 0.6), _means(1000, 0.0, 0.3)
    good = _likes(five, (0.9, 0.9))
    few, tiny = _likes(five, (0.01, 0.01)), _likes(two, (0.0005, 0.1))
    return [
        World("verdicts", "5 labels, logged uniformly", _uniform(5), good, five, verdict),
        World(
            "clicks",
            "10 labels, clicks in 0.5 % to 5 %",
            _uniform(10),
            _likes(clicks, (0.9, 0.9)),
            clicks,
            verdict,
        ),
        World("rare", "the policy's label was logged in 1 % of rows", few, good, five, verdict),
        World("tiny", "in half of the rows, in 0.05 %", tiny, _likes(two, (0.9, 0.9)), two, verdict),
        World(
            "learning",
            "the logging policy learns",
            _uniform(3),
            _likes(three, (0.9, 0.9)),
            three,
            verdict,
            learns=True,
        ),
        World("drift", "rewards go up and down by half", _uniform(5), good, five, verdict, drift=0.5),
        World("skewed", "rewards mostly 0, seldom large", _uniform(5), good, five, skewed, scale=0.1),
        World(
            "many", "1,000 labels, logged uniformly", _uniform(1000), _likes(many, (0.5, 0.5)), many, verdict
        ),
    ]
