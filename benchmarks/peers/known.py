"""Synthetic streams whose best policy is known. The rule is fixed; a seed draws the rows and the noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from banditboost.datasets import Stream

ROUNDS = 20_000
NOISE = 0.1
"""Share of the labels that are drawn anew, among all."""
_RULE_SEED = 2026

Random = np.random.Generator
IntArray = NDArray[np.int64]


def prototypes(seed: int) -> tuple[Stream, IntArray]:
    """The label of the nearest of 24 points, three for each of 8 labels, in six columns."""
    points = _random(_RULE_SEED).random((24, 6))
    X = _random(seed).random((ROUNDS, 6))
    best = ((X[:, None] - points) ** 2).sum(2).argmin(1) % 8
    return _noisy("prototypes", X, best, 8, seed)


def preferences(seed: int) -> tuple[Stream, IntArray]:
    """Six labels drawn with softmax probabilities of linear scores of twelve columns: the best policy shows the likeliest."""
    weights = 1.5 * _random(_RULE_SEED).normal(size=(12, 6))
    random = _random(seed)
    X = random.normal(size=(ROUNDS, 12))
    noise = random.gumbel(size=(ROUNDS, 6))
    scores = X @ weights
    return _stream("preferences", X, (scores + noise).argmax(1), 6), scores.argmax(1)


def lookup(seed: int) -> tuple[Stream, IntArray]:
    """Eight nominal columns of four values: if the first two agree the third is the label, else the fourth, out of another four."""
    X = _random(seed).integers(0, 4, (ROUNDS, 8))
    best = np.where(X[:, 0] == X[:, 1], X[:, 2], 4 + X[:, 3])
    return _noisy("lookup", X.astype(float), best, 8, seed, nominal=4)


def change(seed: int) -> tuple[Stream, IntArray]:
    """The largest of five linear scores of eight columns; half-way the scores are others."""
    weights = _random(_RULE_SEED).normal(size=(2, 8, 5))
    X = _random(seed).normal(size=(ROUNDS, 8))
    half = ROUNDS // 2
    best = np.concatenate([(X[:half] @ weights[0]).argmax(1), (X[half:] @ weights[1]).argmax(1)])
    return _noisy("change", X, best, 5, seed)


KNOWN: dict[str, Callable[[int], tuple[Stream, IntArray]]] = {
    "prototypes": prototypes,
    "preferences": preferences,
    "lookup": lookup,
    "change": change,
}


def _noisy(name: str, X: NDArray[np.float64], best: IntArray, k: int, seed: int, nominal: int = 0) -> tuple[Stream, IntArray]:
    random = _random(seed + 1_000_000)
    y = np.where(random.random(len(best)) < NOISE, random.integers(0, k, len(best)), best)
    return _stream(name, X, y, k, nominal), best


def _stream(name: str, X: NDArray[np.float64], y: IntArray, k: int, nominal: int = 0) -> Stream:
    values = tuple(f"v{i}" for i in range(nominal)) if nominal else None
    columns = X.shape[1]
    return Stream(
        name,
        tuple(f"x{i}" for i in range(columns)),
        ("nominal" if nominal else "numeric",) * columns,
        (values,) * columns,
        X,
        y.astype(np.int64),
        tuple(f"label{i}" for i in range(k)),
        np.arange(len(y)),
    )


def _random(seed: int) -> Random:
    return np.random.Generator(np.random.PCG64(seed))
