"""Small streams on which learning shows."""

from __future__ import annotations

import numpy as np

COLOURS = ["red", "blue", "green"]


def largest(n, seed=5):
    """Which of three numbers is the largest."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 3))
    return X, X.argmax(axis=1)


def colours(n, seed=6):
    """The label is told by the colour alone."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    codes[:3] = 0, 1, 2
    return [
        {"colour": COLOURS[code], "size": float(size)}
        for code, size in zip(codes, rng.uniform(0, 9, n), strict=True)
    ], codes


def majority_share(y):
    return max(np.unique(y, return_counts=True)[1]) / len(y)
