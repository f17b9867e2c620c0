"""Rough merits: what a split on a numeric feature would gain, to a few parts in ten thousand, for half of the price.

Most attempts to split fail, and most features are not among the best two. A rough merit says between which two numbers the merit lies;
`merit.py` computes only those exactly that could still matter. The arithmetic is that of 32-bit floats, eight thresholds at a time, and of
polynomials raised to the power -16, which need no exponential.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from banditboost.kernels.compile import allocating, inlined, lane
from banditboost.kernels.layout import Array, Forest

THRESHOLDS = 10
ROUGH_LANES = 16  # thresholds are tried eight at a time; the last six are not looked at
SPREAD_FLOOR = 1e-6  # a class is at least this share of the leaf's range wide
_NARROWEST = 1e-100
_SLACK, _SLACK_OF_CLASS = 5e-4, 2e-7  # more than a rough merit can be wrong, in bits; tested against exact merits
_STEEP = 50.0  # deviations between two thresholds, from which on a 32-bit float cannot tell where between them a class lies
_FARTHEST = 5.5  # deviations; what lies beyond weighs less than 2e-8
_SHARE_SLACK = 1e-4  # of the smallest share that a branch may have
_LN2 = 0.6931471805599453
_f32: Any = np.float32
_ZERO, _HALF, _ONE, _FAR, _LOG_TWO, _TINY = _f32(0.0), _f32(0.5), _f32(1.0), _f32(_FARTHEST), _f32(_LN2), _f32(1e-9)
# Phi(-x) = P(x)^-16 / 2 and h(x) = ln 2 Q(x)^-16 on [0, 5.5], to 1e-6 and 6e-6; h as in normal.py.
_P1, _P2, _P3 = _f32(0.049872023481313664), _f32(0.021104278033772756), _f32(0.0033651827634431017)
_P4, _P5 = _f32(-4.7757803364243887e-05), _f32(8.500265867700078e-05)
_Q1, _Q2, _Q3 = _f32(1.0981391147778027e-05), _f32(0.028634382397881783), _f32(0.0001292888866415813)
_Q4, _Q5 = _f32(0.0003741997609818977), _f32(3.966141177653634e-05)
# ln(1 + u) = u L(u) for -1/3 <= u <= 1/3, to 2e-6.
_L0, _L1, _L2 = _f32(1.000022785705037), _f32(-0.500064596593669), _f32(0.3316100710221532)
_L3, _L4, _L5 = _f32(-0.24722145971990223), _f32(0.23071369214620208), _f32(-0.20169193790020232)
_i32: Any = np.int32
_TWO_THIRDS, _MANTISSA, _SHIFT = _i32(0x3F2AAAAB), _i32(0x007FFFFF), _i32(23)


class Rough(NamedTuple):
    """Scratch space."""

    rows: Array  # where the statistics of each class of the leaf begin
    classes: Array  # weight, place and step of each; from here on in 32 bits
    ticks: Array  # the number of each threshold
    left: Array  # the share to the left of each
    gains: Array


@allocating
def make_rough(rows: Array) -> Rough:
    n = ROUGH_LANES
    numbers = np.empty(3 * (n + rows.size), np.float32)
    for b in range(n):
        numbers[b] = b + 1
    return Rough(rows, numbers[3 * n :], numbers[:n], numbers[n : 2 * n], numbers[2 * n : 3 * n])


@inlined
def list_rows(forest: Forest, leaf: int, rows: Array) -> None:
    """Where the statistics of the leaf's classes begin, so that the chain of entries is followed once and not for every feature."""
    n_rows = 0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if forest.entries[entry]["row"] >= 0:
            rows[n_rows] = forest.entries[entry]["row"] * forest.head[0]["row_size"]
            n_rows += 1
        entry = forest.entries[entry]["next"]


@inlined
def is_wide(spread: float) -> bool:
    """Whether a leaf has seen different values; closer than this they are not told apart, so that no square underflows."""
    return spread >= _NARROWEST


@inlined
def class_spread(weight: float, sum_of_squares: float, spread: float) -> float:
    # Rounding may leave a sum of squares a hair below zero.
    return max(math.sqrt(max(sum_of_squares, 0.0) / weight), SPREAD_FLOOR * spread)


@lane
def to_the_16th(x: float) -> float:
    x = x * x
    x = x * x
    x = x * x
    return x * x


@lane
def rough_cut(z: float) -> tuple[float, float]:
    """Phi(z) and h(z), as `normal.cut`."""
    x = abs(z)
    x = x if x < _FAR else _FAR
    p = to_the_16th(_ONE + x * (_P1 + x * (_P2 + x * (_P3 + x * (_P4 + x * _P5)))))
    q = to_the_16th(_ONE + x * (_Q1 + x * (_Q2 + x * (_Q3 + x * (_Q4 + x * _Q5)))))
    inverse = _ONE / (p * q)
    tail = _HALF * inverse * q
    return (tail if z <= _ZERO else _ONE - tail), _LOG_TWO * inverse * p


@lane
def rough_xlogx(x: float) -> float:
    """x ln x, for 0 <= x <= 1."""
    bits = _f32(x if x > _TINY else _TINY).view(np.int32) - _TWO_THIRDS
    u = _i32((bits & _MANTISSA) + _TWO_THIRDS).view(np.float32) - _ONE
    series = _L0 + u * (_L1 + u * (_L2 + u * (_L3 + u * (_L4 + u * _L5))))
    return x * (_f32(bits >> _SHIFT) * _LOG_TWO + u * series)


@inlined
def add_rough_classes(n_classes: int, classes: Array, ticks: Array, left: Array, gains: Array) -> None:
    """Add up for every threshold, over all classes, the mass on the left and the entropy that is left of it."""
    # Lengths known only at run time keep LLVM from unrolling the loop, after which it would no longer vectorise it.
    for b in range(left.size):
        left[b] = _ZERO
        gains[b] = _ZERO
    for c in range(n_classes):
        weight, place, step = classes[3 * c], classes[3 * c + 1], classes[3 * c + 2]
        for b in range(left.size):
            below, coin = rough_cut((ticks[b] - place) * step)
            left[b] += weight * below
            gains[b] += weight * coin


@inlined
def rough_gains(left: Array, gains: Array) -> None:
    """Turn shares and entropies into gains in nats, and the shares into those of the lighter side."""
    for b in range(left.size):
        share = left[b]
        rest = _ONE - share
        gains[b] = -rough_xlogx(share) - rough_xlogx(rest) - gains[b]
        left[b] = share if share < rest else rest


@inlined
def rough_range(least: float, factor: float, slack: float, left: Array, gains: Array) -> tuple[float, float]:
    """The least and the most that the best merit can be; -1 where no threshold gives both sides a fair share."""
    low, high = -_ONE, -_ONE
    for b in range(THRESHOLDS):
        high = max(high, gains[b] if left[b] >= least - _SHARE_SLACK else -_ONE)
        low = max(low, gains[b] if left[b] >= least + _SHARE_SLACK else -_ONE)
    return (low * factor - slack, high * factor + slack) if high > -_HALF else (-1.0, -1.0)


@inlined
def to_threshold(place: float) -> float:
    """How far it is to the nearest threshold."""
    return abs(place - min(max(math.floor(place + 0.5), 1.0), float(THRESHOLDS)))


@inlined
def gather_classes(forest: Forest, rows: Array, n_rows: int, offset: int, low: float, spread: float, classes: Array) -> tuple[int, float]:
    """Weight, place and steepness of all classes that have seen the feature: how many, and their weight; -1 if one is too steep.

    The place of a class is measured in thresholds from the low end, steepness in deviations from one threshold to the next.
    """
    stats = forest.stats
    n_classes, total, unit = 0, 0.0, (THRESHOLDS + 1) / spread
    for i in range(n_rows):
        at = int(rows[i]) + offset
        weight = stats[at]
        if weight > 0.0:
            place = (stats[at + 1] - low) * unit
            step = 1.0 / (class_spread(weight, stats[at + 2], spread) * unit)
            if step > _STEEP and to_threshold(place) * step < _FARTHEST + 1.0:
                return -1, 0.0
            classes[3 * n_classes], classes[3 * n_classes + 1], classes[3 * n_classes + 2] = weight, place, step
            n_classes += 1
            total += weight
    return n_classes, total


@inlined
def rough_merit(forest: Forest, leaf: int, offset: int, entropy: float, work: Rough) -> tuple[float, float]:
    """Between which two numbers the merit of a numeric feature lies; (-1, -1) if there is nothing to split."""
    stats, summary = forest.stats, forest.nodes[leaf]["summary"] * forest.head[0]["row_size"] + offset
    spread = stats[summary + 1] - stats[summary]
    if not is_wide(spread):
        return -1.0, -1.0
    n_classes, total = gather_classes(forest, work.rows, forest.nodes[leaf]["n_classes"], offset, stats[summary], spread, work.classes)
    if n_classes < 0:
        return -1.0, entropy + _SLACK
    if n_classes == 0:
        return -1.0, -1.0
    share = 1.0 / total
    for c in range(n_classes):
        work.classes[3 * c] *= share
    add_rough_classes(n_classes, work.classes, work.ticks, work.left, work.gains)
    rough_gains(work.left, work.gains)
    slack = _SLACK + _SLACK_OF_CLASS * n_classes
    factor = total / (forest.nodes[leaf]["own"] * _LN2)
    return rough_range(forest.head[0]["min_branch_fraction"], factor, slack, work.left, work.gains)
