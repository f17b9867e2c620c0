"""The arithmetic of split merits, written so that LLVM runs four thresholds at a time.

A class of weight w, normal with mean m and deviation s, that is cut at t sends w Phi(z) to the left, z = (t -
m) / s. What an entropy needs of it, g(left) + g(right) with g(x) = x ln x, is g(w) - w h(z), where h(z) is
the entropy of a coin with probability Phi(z). So two functions of one number are all there is to compute;
both are exp(-z^2 / 2) times a ratio of short polynomials in |z|: no logarithm. Absolute errors stay below
1e-12 (tested against erfc and log).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.compiled.compile import inlined, lane

_ROUNDING = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_LN2 = 0.6931471805599453
_u64: Any = np.uint64
_MANTISSA, _ONE, _TWO_52, _SHIFT = (
    _u64(0x000FFFFFFFFFFFFF),
    _u64(0x3FF0000000000000),
    _u64(0x4330000000000000),
    _u64(52),
)
_EXPONENT_BIAS = 4503599627371519.0  # 2^52 + 1023
_SMALLEST = 1e-300
_LARGEST_EXPONENT = 690.0
FAR = 9.0  # deviations; what lies beyond weighs less than 1e-18


@lane
def exp_negative(x: float) -> float:
    """exp(x) for -690 < x <= 0: a power of two from the bits, and the series of what is left, at most ln(2) /
    2.
    """
    k = x * _LOG2_E + _ROUNDING
    n = k - _ROUNDING
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800))
    p = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p)))
    p = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * p)))
    bits = (np.float64(k).view(np.int64) << 52) + np.float64(p).view(np.int64)
    return np.int64(bits).view(np.float64)


@lane
def cut(z: float) -> tuple[float, float]:
    """Phi(z) and h(z) = -Phi ln Phi - (1 - Phi) ln(1 - Phi).

    The polynomials are least-squares fits on [0, 9], weighted by exp(-z^2 / 2) and levelled, made with 50
    digits.
    """
    x = abs(z)
    x = x if x < FAR else FAR
    bell = exp_negative(-0.5 * x * x)
    top = 0.02265577321559036 + x * (0.0017970439827742991 + x * -2.1564687531189036e-07)
    top = 0.5000000000001755 + x * (0.34859051189966627 + x * (0.12516852480761505 + x * top))
    low = 0.3163263875944521 + x * (0.05700246364554065 + x * 0.0044891619779061036)
    low = 1.0 + x * (1.495065584660277 + x * (0.9432267954595051 + x * low))
    tail = bell * top / low
    top = 0.0017207562939277085 + x * (
        0.0002140257566284986 + x * (4.135873374342285e-05 + x * 6.3276732617695e-06)
    )
    top = 0.047806649922862277 + x * (0.030042731785152624 + x * (0.0033342696842364065 + x * top))
    top = 0.6931471805600437 + x * (0.13750562868116358 + x * top)
    low = 0.0010972483063505665 + x * (0.00019258579831904527 + x * 3.186503629021836e-05)
    low = 0.028194510377529383 + x * (0.035253436461615998 + x * (0.003923177263669915 + x * low))
    low = 1.0 + x * (0.19837868861630813 + x * low)
    return (tail if z <= 0.0 else 1.0 - tail), bell * top / low


@lane
def tanh_half(x: float) -> float:
    """tanh(x / 2) = 2 / (1 + exp(-x)) - 1."""
    size = abs(x)
    small = exp_negative(-(size if size < _LARGEST_EXPONENT else _LARGEST_EXPONENT))
    value = (1.0 - small) / (1.0 + small)
    return value if x >= 0.0 else -value


@inlined
def xlogx(x: float) -> float:
    """x ln x, with 0 ln 0 = 0."""
    return x * math.log(x) if x > 0.0 else 0.0


@lane
def xlogx_lane(x: float) -> float:
    """x ln x from the bits of x, for loops over thresholds: ln x = exponent ln 2 + 2 artanh((mantissa - 1)
    / (mantissa + 1)).
    """
    x = x if x > _SMALLEST else _SMALLEST
    bits = np.float64(x).view(np.uint64)
    exponent = _u64((bits >> _SHIFT) | _TWO_52).view(np.float64) - _EXPONENT_BIAS
    mantissa = _u64((bits & _MANTISSA) | _ONE).view(np.float64)
    large = mantissa > 1.4142135623730951
    mantissa = 0.5 * mantissa if large else mantissa
    exponent = exponent + 1.0 if large else exponent
    s = (mantissa - 1.0) / (mantissa + 1.0)
    q = s * s
    series = 1 / 9 + q * (1 / 11 + q * (1 / 13 + q * (1 / 15)))
    series = 1.0 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * series)))
    return x * (exponent * _LN2 + 2.0 * s * series)
