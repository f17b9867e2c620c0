"""Columns as linear peers like them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from banditboost.datasets import Stream

FloatArray = NDArray[np.float64]
MOST_NAMES = 20


def standardised(stream: Stream) -> Stream:
    """Numeric columns with mean 0 and deviation 1 over the whole stream, which looks ahead: it helps those
    who get it.
    """
    X = stream.X.copy()
    for i in _numeric(stream):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a column without any value stays as it is
            mean, deviation = np.nanmean(X[:, i]), np.nanstd(X[:, i])
        X[:, i] = (X[:, i] - mean) / (deviation if deviation > 0 else 1.0)
    return replace(stream, X=X)


def named(stream: Stream) -> Stream:
    """Numeric columns of few values as nominal ones, so that a linear peer has a weight for each value."""
    X, kinds, values = stream.X.copy(), list(stream.kinds), list(stream.values)
    for i in _numeric(stream):
        present = ~np.isnan(X[:, i])
        found, codes = np.unique(X[present, i], return_inverse=True)
        if len(found) <= MOST_NAMES:
            X[present, i], kinds[i], values[i] = codes, "nominal", tuple(f"{value:g}" for value in found)
    return replace(stream, X=X, kinds=tuple(kinds), values=tuple(values))


def one_hot(stream: Stream) -> FloatArray:
    """Numeric columns as they are, 0 where missing; a column of zeros and ones for each nominal value."""
    blocks = []
    for i, values in enumerate(stream.values):
        column = stream.X[:, i]
        blocks.append(
            np.nan_to_num(column)[:, None]
            if values is None
            else (column[:, None] == np.arange(len(values))).astype(float)
        )
    return np.ascontiguousarray(np.hstack(blocks))


def _numeric(stream: Stream) -> list[int]:
    return [i for i, values in enumerate(stream.values) if values is None]
