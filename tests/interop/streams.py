"""Small streams on which learning shows."""

from __future__ import annotations

import numpy as np

COLOURS = ["red", "blue", "green"]


def ring(n, seed=5):
    """Three labels by the sum of two numbers; a third number means nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 3))
    return X, np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])


def colours(n, seed=6):
    """The label is told by the colour alone."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    codes[:3] = 0, 1, 2
    return [{"colour": COLOURS[code], "size": float(size)} for code, size in zip(codes, rng.uniform(0, 9, n), strict=True)], codes


def majority_share(y):
    return max(np.unique(y, return_counts=True)[1]) / len(y)
