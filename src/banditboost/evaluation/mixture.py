"""The boundary of the empirical Bernstein confidence sequence, by a gamma-exponential mixture.

Let scores xi_i be at least 0, and let a guess of each, made before it was seen, be at most 1. Then for every
lambda in [0, 1) the wealth

    exp(lambda s - psi(lambda) v),    psi(lambda) = -log(1 - lambda) - lambda,
    s = sum_i (xi_i - mean),          v = sum_i (xi_i - guess_i)^2,

is not expected to grow (Fan, Grama and Liu 2015), whatever the scores depend on. So it hardly ever comes to
1 / alpha: with a probability of at most alpha, however often one looks. Mixed over lambda with a gamma
density (Howard, Ramdas, McAuliffe and Sekhon 2021, proposition 9) it is G(v + rho, s + v + rho) / G(rho, rho)
with

    G(a, x) = sum_n x^n / (a (a + 1) ... (a + n)).
"""

from __future__ import annotations

import numpy as np

from banditboost.types import Array

RHO = 1.0
_TERMS = 256  # of the series that are added at a time
_MOST = 1e250
_STEPS = 100
_PRECISION = 1e-15


def log_series(a: Array, x: Array) -> Array:
    """log G(a, x), for arrays of positive numbers; infinite beyond what floats can hold.

    >>> float(log_series(np.array(1.0), np.array(1.0)))  # G(1, 1) = e - 1
    0.541324854612918
    """
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    total = last = 1.0 / a
    n = 0
    while True:
        ratios = x[..., None] / (a[..., None] + np.arange(n + 1, n + 1 + _TERMS))
        with np.errstate(over="ignore"):
            terms = last[..., None] * np.cumprod(ratios, axis=-1)
            total = total + terms.sum(axis=-1)
        last, n = np.minimum(terms[..., -1], _MOST), n + _TERMS
        if np.all((last <= _PRECISION * 1e-3 * total) | (total >= _MOST)):
            return np.where(total >= _MOST, np.inf, np.log(total))


def log_wealth(s: Array, v: Array) -> Array:
    """The logarithm of the mixed wealth."""
    return log_series(v + RHO, s + v + RHO) - _LOG_AT_REST


_LOG_AT_REST = log_series(np.array(RHO), np.array(RHO))


def boundary(v: Array, log_limit: float) -> Array:
    """The s at which the logarithm of the wealth comes to a limit above 0.

    In terms of log x the logarithm of G is convex, and Newton's steps come down to the root from above.
    """
    a = np.asarray(v, np.float64) + RHO
    limit = log_limit + _LOG_AT_REST
    room = limit - log_series(a, a)
    x = a + np.sqrt(2.0 * a * room) + room
    for _ in range(_STEPS):
        found = log_series(a, x)
        step = (found - limit) / (x - a + np.exp(-found))
        x, before = np.maximum(x * np.exp(-step), a), x
        if np.all(np.abs(x - before) <= _PRECISION * 4.0 * x):
            break
    return x - a
