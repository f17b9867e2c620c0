"""The boundary of the empirical Bernstein confidence sequence, by a gamma-exponential mixture.

Let scores xi_i be at least 0, and let a guess of each, made before it was seen, be at most 1. Then for every
lambda in [0, 1) the wealth

    exp(lambda s - psi(lambda) v),    psi(lambda) = -log(1 - lambda) - lambda,
    s = sum_i (xi_i - mean),          v = sum_i (xi_i - guess_i)^2,

is not expected to grow (Fan, Grama and Liu 2015), whatever the scores depend on. So it hardly ever comes to
1 / alpha: with a probability of at most alpha, however often one looks. Mixed over lambda with a gamma
density (Howard, Ramdas, McAuliffe and Sekhon 2021, proposition 9) it is G(v + rho, s + v + rho) / G(rho, rho)
with

    G(a, x) = sum_n x^n / (a (a + 1) ... (a + n)) = exp(x) x^-a Gamma(a) P(a, x).

Where a is large the series has about sqrt(a) terms. So from `_LARGE` on the uniform expansion of the
incomplete gamma function P takes its place (Temme 1979), with Stirling's formula for Gamma.
"""

from __future__ import annotations

import math

import numpy as np

from banditboost.types import Array

RHO = 1.0
_TERMS = 256  # of the series that are added at a time
_MOST = 1e250
_STEPS = 100
_PRECISION = 1e-15
_LARGE = 1e6


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


def _log_expansion(a: Array, s: Array) -> Array:
    """log G(a, a + s) for large a and s of at least 0."""
    exponent = a * _minus_log1p(s / a)
    eta = np.sqrt(2.0 * exponent / a)
    # Its terms are those of small eta: where eta is not small, exp(-exponent) is nothing.
    small = -1.0 / 3.0 + eta / 12.0 - 2.0 / 135.0 * eta**2
    below = 0.5 * _erfc(-np.sqrt(exponent)) - np.exp(-exponent) / np.sqrt(2.0 * np.pi * a) * small
    found: Array = exponent + 0.5 * np.log(2.0 * np.pi / a) + 1.0 / (12.0 * a) + np.log(below)
    return found


def _minus_log1p(d: Array) -> Array:
    """d - log(1 + d), also where d is small."""
    series = d * d * (1 / 2 - d * (1 / 3 - d * (1 / 4 - d * (1 / 5 - d * (1 / 6 - d * (1 / 7 - d / 8))))))
    found: Array = np.where(d < 1e-2, series, d - np.log1p(d))
    return found


_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _log_g(a: Array, s: Array) -> Array:
    """log G(a, a + s) for s of at least 0."""
    a, s = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(s, np.float64))
    is_large = a >= _LARGE
    if not is_large.any():
        return log_series(a, a + s)
    found = _log_expansion(np.where(is_large, a, _LARGE), np.where(is_large, s, 0.0))
    if is_large.all():
        return found
    return np.where(is_large, found, log_series(np.where(is_large, 1.0, a), np.where(is_large, 1.0, a + s)))


def log_wealth(s: Array, v: Array) -> Array:
    """The logarithm of the mixed wealth, for s of at least 0."""
    return _log_g(v + RHO, s) - _LOG_AT_REST


_LOG_AT_REST = log_series(np.array(RHO), np.array(RHO))


def boundary(v: Array, log_limit: float) -> Array:
    """The s at which the logarithm of the wealth comes to a limit above 0.

    In terms of log x the logarithm of G is convex, and Newton's steps come down to the root from above.
    """
    a = np.asarray(v, np.float64) + RHO
    limit = log_limit + _LOG_AT_REST
    room = limit - _log_g(a, np.zeros_like(a))
    s = np.sqrt(2.0 * a * room) + room
    for _ in range(_STEPS):
        found = _log_g(a, s)
        step = (found - limit) / (s + np.exp(-found))
        s, before = np.maximum(s + (a + s) * np.expm1(-step), 0.0), s
        if np.all(np.abs(s - before) <= _PRECISION * 4.0 * (s + np.minimum(a, _LARGE))):
            break
    return s
