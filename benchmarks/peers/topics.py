"""Bags of words drawn from known topics, and wide rows of a few numbers: the best policy is known.

A language has a word for every rank, and the word of rank r is about 1/r as frequent as the first (Zipf's
law). The topics are fixed; a seed draws the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.bags import Bags

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
ROUNDS = 10_000
PRESENT = 50
"""Different words in a row, about; half of them if there are fewer than twice as many."""
_RULE_SEED = 2027


@dataclass(frozen=True)
class Language:
    """How many words and labels there are, and how the labels differ."""

    words: int
    labels: int
    telling: int = 0
    """So many words of each label tell it among noise; 0: every word is more or less frequent by label."""
    share: float = 1.0
    """Of a row's words that are drawn among those."""

    @property
    def frequencies(self) -> FloatArray:
        weights = 1.0 / (np.arange(self.words) + 10.0)
        return np.asarray(weights / weights.sum(), np.float64)

    def topics(self) -> list[FloatArray]:
        """For each label the probability of each word."""
        random, common = _random(_RULE_SEED), self.frequencies
        return [self._topic(random, common) for _ in range(self.labels)]

    def _topic(self, random: np.random.Generator, common: FloatArray) -> FloatArray:
        if not self.telling:
            weights = common * np.exp(0.5 * random.normal(size=self.words))
            return np.asarray(weights / weights.sum(), np.float64)
        own = np.zeros(self.words)
        own[random.choice(self.words, self.telling, replace=False)] = 1.0 / (np.arange(self.telling) + 10.0)
        return np.asarray((1 - self.share) * common + self.share * own / own.sum(), np.float64)


def topics(name: str, language: Language, seed: int) -> tuple[Bags, IntArray]:
    """Rows of words drawn by the topic of their label; the best policy shows the likeliest label."""
    random, chances = _random(seed), language.topics()
    y = random.integers(language.labels, size=ROUNDS)
    drawn = np.empty((ROUNDS, _draws(language)), np.int64)
    for label, chance in enumerate(chances):
        mine = np.flatnonzero(y == label)
        places = np.searchsorted(np.cumsum(chance), random.random((len(mine), drawn.shape[1])))
        drawn[mine] = np.minimum(places, language.words - 1)
    likelihood = np.stack([np.log(chance)[drawn].sum(1) for chance in chances], axis=1)
    rows = [np.unique(row) for row in drawn]
    return _bags(
        name, rows, [np.ones(len(row)) for row in rows], language.words, y, language.labels
    ), likelihood.argmax(1)


def _draws(language: Language) -> int:
    """As many as it takes to come to the words present, for some are drawn twice."""
    chance = language.frequencies
    draws = 1
    while (1 - (1 - chance) ** draws).sum() < min(PRESENT, language.words / 2):
        draws += 1
    return draws


def readings(seed: int) -> tuple[Bags, IntArray]:
    """Forty of 5,000 sensors tell a number each: linear scores of ten labels, a tenth of the labels drawn anew."""
    columns, present, labels = 5_000, 40, 10
    weights = _random(_RULE_SEED).normal(size=(columns, labels)) / (1 + np.arange(columns)[:, None] / 100)
    random = _random(seed)
    frequencies = Language(columns, labels).frequencies
    rows = [np.sort(random.choice(columns, present, replace=False, p=frequencies)) for _ in range(ROUNDS)]
    values = [random.lognormal(0.0, 0.5, present) for _ in rows]
    scores = np.stack([value @ weights[row] for row, value in zip(rows, values, strict=True)])
    best = scores.argmax(1)
    y = np.where(random.random(ROUNDS) < 0.1, random.integers(labels, size=ROUNDS), best)
    return _bags("readings", rows, values, columns, y, labels), best


TOPICS: dict[str, Callable[[int], tuple[Bags, IntArray]]] = {
    "topics": partial(topics, "topics", Language(1_000, 5)),
    "noise": partial(topics, "noise", Language(10_000, 20, telling=100, share=0.1)),
    "intents": partial(topics, "intents", Language(10_000, 77, telling=100, share=0.3)),
    "million": partial(topics, "million", Language(1_000_000, 20, telling=100, share=0.2)),
    "readings": readings,
}
"""Name -> rows drawn by a seed, and what the best policy would show."""


def _bags(
    name: str, rows: list[IntArray], values: list[FloatArray], columns: int, y: IntArray, labels: int
) -> Bags:
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *map(len, rows)])
    matrix = csr_array((np.concatenate(values), np.concatenate(rows), ends), shape=(len(rows), columns))
    names = tuple(f"w{i}" for i in range(columns))
    return Bags(name, names, matrix, y.astype(np.int64), tuple(f"label{i}" for i in range(labels)))


def _random(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))
