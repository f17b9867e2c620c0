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
    """Six labels drawn with softmax probabilities of linear scores of twelve columns: the best policy shows
    the likeliest.
    """
    weights = 1.5 * _random(_RULE_SEED).normal(size=(12, 6))
    random = _random(seed)
    X = random.normal(size=(ROUNDS, 12))
    noise = random.gumbel(size=(ROUNDS, 6))
    scores = X @ weights
    return _stream("preferences", X, (scores + noise).argmax(1), 6), scores.argmax(1)


def lookup(seed: int) -> tuple[Stream, IntArray]:
    """Eight nominal columns of four values: if the first two agree the third is the label, else the fourth,
    out of another four.
    """
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


def gaussians(seed: int) -> tuple[Stream, IntArray]:
    """Fifteen labels, each a normal cloud of its own shape in eight columns: the best policy shows the
    likeliest.
    """
    rule = _random(_RULE_SEED)
    centres, shapes = 1.5 * rule.normal(size=(15, 8)), np.eye(8) + 0.35 * rule.normal(size=(15, 8, 8))
    random = _random(seed)
    y = random.integers(0, 15, ROUNDS)
    X = centres[y] + np.einsum("tij,tj->ti", shapes[y], random.normal(size=(ROUNDS, 8)))
    likelihood = np.empty((ROUNDS, 15))
    for label in range(15):
        standard = np.linalg.solve(shapes[label], (X - centres[label]).T)
        likelihood[:, label] = -0.5 * (standard**2).sum(0) - np.linalg.slogdet(shapes[label])[1]
    return _stream("gaussians", X, y, 15), likelihood.argmax(1)


def largest(seed: int) -> tuple[Stream, IntArray]:
    """Which of the first six columns is largest, read with noise; four more say nothing."""
    random = _random(seed)
    X = random.gamma(2.0, size=(ROUNDS, 10))
    return _stream("largest", X, (X[:, :6] + random.normal(0.0, 0.3, (ROUNDS, 6))).argmax(1), 6), X[
        :, :6
    ].argmax(1)


def sectors(seed: int) -> tuple[Stream, IntArray]:
    """Twelve sectors around a centre in the first two of six columns."""
    X = _random(seed).normal(size=(ROUNDS, 6))
    best = np.floor((np.arctan2(X[:, 1] - 0.3, X[:, 0] + 0.2) / (2 * np.pi) + 0.5) * 12).astype(np.int64) % 12
    return _noisy("sectors", X, best, 12, seed)


KNOWN: dict[str, Callable[[int], tuple[Stream, IntArray]]] = {
    "prototypes": prototypes,
    "preferences": preferences,
    "lookup": lookup,
    "change": change,
    "gaussians": gaussians,
    "largest": largest,
    "sectors": sectors,
}


def _noisy(
    name: str, X: NDArray[np.float64], best: IntArray, k: int, seed: int, nominal: int = 0
) -> tuple[Stream, IntArray]:
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
