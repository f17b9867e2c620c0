"""Rough merits: what a split on a numeric feature would gain, to a few parts in ten thousand, for half of the
price.

Most attempts to split fail, and most features are not among the best two. A rough merit says between which
two numbers the merit lies; `merit.py` computes only those exactly that could still matter. The arithmetic is
that of 32-bit floats, and of polynomials raised to the power -16, which need no exponential. Four features
are looked at together: two thresholds of each are eight numbers, as many as a processor handles at once, and
five such pairs are all ten thresholds.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from banditboost.compiled.compile import inlined, lane, loop
from banditboost.trees.layout import Forest
from banditboost.types import Array

THRESHOLDS = 10
GROUP = 4  # features that are looked at together
_LANES = (
    2 * GROUP
)  # numbers that are handled at once: feature j is lanes j and GROUP + j, an odd and an even threshold
_PAIRS = THRESHOLDS // 2
_COINS = _PAIRS * _LANES  # where, in the sums, the entropies begin
SPREAD_FLOOR = 1e-6  # a class is at least this share of the leaf's range wide
_NARROWEST = 1e-100
_SLACK, _SLACK_OF_CLASS = (
    5e-4,
    2e-7,
)  # more than a rough merit can be wrong, in bits; tested against exact merits
# deviations between two thresholds, from which on a 32-bit float cannot tell where between them a class lies
_STEEP = 50.0
_FARTHEST = 5.5  # deviations; what lies beyond weighs less than 2e-8
_SHARE_SLACK = 1e-4  # of the smallest share that a branch may have
_LN2 = 0.6931471805599453
_f32: Any = np.float32
_ZERO, _HALF, _ONE, _FAR, _LOG_TWO, _TINY = (
    _f32(0.0),
    _f32(0.5),
    _f32(1.0),
    _f32(_FARTHEST),
    _f32(_LN2),
    _f32(1e-9),
)
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
    offsets: Array  # of the features of the group in such a row
    # of each feature of the group: the smallest value seen, how far it is from there to the largest,
    # thresholds in a unit
    ends: Array
    totals: Array  # the weight of all classes that have seen it; then that of classes that are too steep
    moments: Array  # weight, mean and sum of squares of each class for every feature of the group
    classes: Array  # weight, place and step of each class in every lane; from here on in 32 bits
    ticks: Array  # the number of the first threshold of each lane
    shares: Array  # what a weight of 1 is of all
    sums: Array  # by pair of thresholds and lane: the weight to the left; then the entropies
    ranges: Array  # by lane: the least that the best gain can be; then the most


@inlined
def rough_size(n_classes: int) -> int:
    """Of the scratch space for so many classes, in 64-bit numbers."""
    return 6 * GROUP + (2 + _PAIRS) * _LANES + (1 + 3 * GROUP + 3 * GROUP) * n_classes


@inlined
def make_rough(numbers: Array, n_classes: int) -> Rough:
    """Divide up `numbers`: one stretch of memory for all of it, since each allocation would cost as much as a
    class.
    """
    n, sums = _LANES, 4 * _LANES
    rows, totals = 6 * GROUP + n_classes, 5 * GROUP
    moments = rows + 3 * GROUP * n_classes
    whole, single = numbers[totals:rows].view(np.int64), numbers[moments:].view(np.float32)
    classes = sums + 2 * _COINS
    for j in range(GROUP):
        single[j], single[GROUP + j] = 1, 2
    return Rough(
        whole[GROUP:], whole[:GROUP], numbers[: 3 * GROUP], numbers[3 * GROUP : totals],
        numbers[rows:moments], single[classes:], single[:n], single[n : 2 * n], single[sums:classes],
        single[2 * n : sums],
    )  # fmt: skip


@inlined
def is_wide(spread: float) -> bool:
    """Whether a leaf has seen different values; closer than this they are not told apart, so that no square
    underflows.
    """
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


@lane
def add_cut(sums: Array, at: int, weight: float, z: float) -> None:
    below, coin = rough_cut(z)
    sums[at] += weight * below
    sums[_COINS + at] += weight * coin


@loop
def add_rough_classes(n_classes: int, classes: Array, ticks: Array, sums: Array) -> None:
    """Add up for every threshold, over all classes, the weight on the left and the entropy that is left of
    it.
    """
    for i in range(sums.size):
        sums[i] = _ZERO
    for c in range(n_classes):
        at = 3 * _LANES * c
        # A length known only at run time keeps LLVM from unrolling the loop, after which it would no longer
        # vectorise it.
        for j in range(ticks.size):
            weight, place, step = classes[at + j], classes[at + _LANES + j], classes[at + 2 * _LANES + j]
            first = ticks[j] - place
            add_cut(sums, j, weight, first * step)
            add_cut(sums, _LANES + j, weight, (first + _f32(2.0)) * step)
            add_cut(sums, 2 * _LANES + j, weight, (first + _f32(4.0)) * step)
            add_cut(sums, 3 * _LANES + j, weight, (first + _f32(6.0)) * step)
            add_cut(sums, 4 * _LANES + j, weight, (first + _f32(8.0)) * step)


@lane
def rough_gain(sums: Array, at: int, share: float) -> tuple[float, float]:
    """Gain in nats of one threshold, and the share of the lighter side."""
    left = sums[at] * share
    right = _ONE - left
    gain = -rough_xlogx(left) - rough_xlogx(right) - sums[_COINS + at] * share
    return gain, left if left < right else right


@lane
def larger(most: float, gain: float, lighter: float, least: float) -> float:
    gain = gain if lighter >= least else -_ONE
    return gain if gain > most else most


@loop
def rough_ranges(sums: Array, shares: Array, least: float, ranges: Array) -> None:
    """The least and the most that the best gain can be in every lane; -1 where no threshold gives both sides
    a fair share.
    """
    surely, maybe = _f32(least + _SHARE_SLACK), _f32(least - _SHARE_SLACK)
    for j in range(shares.size):
        low, high = -_ONE, -_ONE
        gain, lighter = rough_gain(sums, j, shares[j])
        low, high = larger(low, gain, lighter, surely), larger(high, gain, lighter, maybe)
        gain, lighter = rough_gain(sums, _LANES + j, shares[j])
        low, high = larger(low, gain, lighter, surely), larger(high, gain, lighter, maybe)
        gain, lighter = rough_gain(sums, 2 * _LANES + j, shares[j])
        low, high = larger(low, gain, lighter, surely), larger(high, gain, lighter, maybe)
        gain, lighter = rough_gain(sums, 3 * _LANES + j, shares[j])
        low, high = larger(low, gain, lighter, surely), larger(high, gain, lighter, maybe)
        gain, lighter = rough_gain(sums, 4 * _LANES + j, shares[j])
        ranges[j], ranges[_LANES + j] = larger(low, gain, lighter, surely), larger(high, gain, lighter, maybe)


@lane
def is_steep(place: float, step: float) -> bool:
    """Whether a class lies so close to a threshold that a 32-bit float cannot tell on which side."""
    nearest = np.floor(place + 0.5)
    nearest = nearest if nearest > 1.0 else 1.0
    nearest = nearest if nearest < THRESHOLDS else float(THRESHOLDS)
    return (step > _STEEP) & (abs(place - nearest) * step < _FARTHEST + 1.0)


@inlined
def gather_moments(stats: Array, n_classes: int, rows: Array, offsets: Array, moments: Array) -> None:
    for c in range(n_classes):
        for j in range(GROUP):
            at, to = rows[c] + offsets[j], 3 * GROUP * c + j
            moments[to], moments[to + GROUP], moments[to + 2 * GROUP] = (
                stats[at],
                stats[at + 1],
                stats[at + 2],
            )


@loop
def place_classes(n_classes: int, ends: Array, moments: Array, totals: Array, classes: Array) -> None:
    """Weight, place and steepness of all classes in every lane.

    The place of a class is measured in thresholds from the low end, steepness in deviations from one
    threshold to the next.
    """
    for i in range(totals.size):
        totals[i] = 0.0
    for c in range(n_classes):
        of, to = 3 * GROUP * c, 3 * _LANES * c
        for j in range(totals.size // 2):
            weight, unit = moments[of + j], ends[2 * GROUP + j]
            place = (moments[of + GROUP + j] - ends[j]) * unit
            known = weight if weight > 0.0 else 1.0
            step = 1.0 / (class_spread(known, moments[of + 2 * GROUP + j], ends[GROUP + j]) * unit)
            totals[j] += weight
            totals[GROUP + j] += weight if is_steep(place, step) else 0.0
            classes[to + j] = classes[to + GROUP + j] = weight
            classes[to + _LANES + j] = classes[to + _LANES + GROUP + j] = place
            classes[to + 2 * _LANES + j] = classes[to + 2 * _LANES + GROUP + j] = step


@inlined
def rough_merits(forest: Forest, leaf: int, work: Rough) -> None:
    """Look at the group: afterwards `rough_merit` knows about each of its features."""
    n_classes = forest.nodes[leaf]["n_classes"]
    gather_moments(forest.stats, n_classes, work.rows, work.offsets, work.moments)
    place_classes(n_classes, work.ends, work.moments, work.totals, work.classes)
    for j in range(work.shares.size):
        total = work.totals[j % GROUP]
        work.shares[j] = 1.0 / total if total > 0.0 else 0.0
    add_rough_classes(n_classes, work.classes, work.ticks, work.sums)
    rough_ranges(work.sums, work.shares, forest.head[0]["min_branch_fraction"], work.ranges)


@inlined
def rough_merit(forest: Forest, leaf: int, j: int, entropy: float, work: Rough) -> tuple[float, float]:
    """Between which two numbers the merit of feature j of the group lies; (-1, -1) if there is nothing to
    split.
    """
    total, ranges = work.totals[j], work.ranges
    if not total > 0.0:
        return -1.0, -1.0
    if work.totals[GROUP + j] > 0.0:
        return -1.0, entropy + _SLACK
    low, high = max(ranges[j], ranges[GROUP + j]), max(ranges[_LANES + j], ranges[_LANES + GROUP + j])
    slack = _SLACK + _SLACK_OF_CLASS * forest.nodes[leaf]["n_classes"]
    factor = total / (forest.nodes[leaf]["own"] * _LN2)
    return (low * factor - slack, high * factor + slack) if high > -_HALF else (-1.0, -1.0)
