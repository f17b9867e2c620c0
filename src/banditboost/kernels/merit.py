"""How good a split would be: information gain of the features of a leaf.

Most attempts to split fail, and most features are not among the best two. So before a merit is computed, it is bounded from above: a split
cannot tell more about the class than the feature itself does, and of all distributions with the same variance the normal one has most
entropy. Features are looked at in the order of their bounds, until those that are left cannot matter. The outcome is the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from banditboost.kernels.compile import allocating, njit
from banditboost.kernels.layout import NUMERIC, SEVERAL, Array, Forest
from banditboost.kernels.normal import FAR, cut, xlogx, xlogx_lane

THRESHOLDS = 10
LANES = 12  # thresholds are tried four at a time; the last two are not looked at
_NARROWEST = 1e-100
SPREAD_FLOOR = 1e-6  # a class is at least this share of the leaf's range wide
_LN2 = 0.6931471805599453
_QUANTUM = 16777216.0  # 2^24
_SORTED = 4  # so many features are taken in the order of their bounds, the rest as they come
_SLACK = 2.0**-22  # more than rounding can lift a merit above its bound


class Work(NamedTuple):
    """Scratch space of an attempt: by threshold or value, two numbers; by feature, its bound."""

    lanes: Array
    values: Array
    bounds: Array


class Split(NamedTuple):
    """The best feature, -1 if that is not to split; its threshold; its merit; and that of the second best."""

    feature: int
    threshold: int
    best: float
    second: float


@allocating
def make_work(forest: Forest) -> Work:
    most = 4
    for f in range(forest.features.size):
        most = max(most, forest.features[f]["capacity"])
    return Work(np.empty(2 * LANES), np.empty(2 * most), np.empty(forest.features.size))


@njit
def rounded(merit: float) -> float:
    return math.floor(merit * _QUANTUM + 0.5) / _QUANTUM


@njit
def is_wide(spread: float) -> bool:
    """Whether a leaf has seen different values; closer than this they are not told apart, so that no square underflows."""
    return spread >= _NARROWEST


@njit
def class_spread(weight: float, sum_of_squares: float, spread: float) -> float:
    # Rounding may leave a sum of squares a hair below zero.
    return max(math.sqrt(max(sum_of_squares, 0.0) / weight), SPREAD_FLOOR * spread)


@njit
def class_entropy(forest: Forest, leaf: int) -> float:
    """Entropy in bits of the classes that the leaf itself has seen: no split can gain more."""
    entries, own = forest.entries, forest.nodes[leaf]["own"]
    total = xlogx(own)
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        total -= xlogx(entries[entry]["own"])
        entry = entries[entry]["next"]
    return total / (own * _LN2)


@njit
def numeric_bound(forest: Forest, leaf: int, offset: int) -> float:
    """No threshold gains more than [ln var(all) - mean ln var(class)] / 2; -1 if there is nothing to split."""
    stats, entries, size = forest.stats, forest.entries, forest.head[0]["row_size"]
    summary = forest.nodes[leaf]["summary"] * size + offset
    spread = stats[summary + 1] - stats[summary]
    if not is_wide(spread):
        return -1.0
    total, mean, squares, logs = 0.0, 0.0, 0.0, 0.0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            at = entries[entry]["row"] * size + offset
            weight = stats[at]
            if weight > 0.0:
                # Classes are joined one by one, which does not cancel where values are far from zero.
                variance = class_spread(weight, stats[at + 2], spread) ** 2
                total += weight
                delta = stats[at + 1] - mean
                mean += delta * (weight / total)
                squares += weight * (variance + delta * (stats[at + 1] - mean))
                logs += weight * math.log(variance)
        entry = entries[entry]["next"]
    if not total > 0.0:
        return -1.0
    return 0.5 * (total * math.log(squares / total) - logs) / (forest.nodes[leaf]["own"] * _LN2)


@njit
def is_point(start: float, step: float) -> bool:
    """Whether a class is so narrow that no threshold comes within nine deviations of its mean."""
    nearest = start + step * math.floor(0.5 - start / step)
    return step >= 2.0 * FAR and abs(nearest) >= FAR


@njit
def add_class(weight: float, start: float, step: float, work: Array) -> None:
    """Add one class to every threshold: its mass on the left, and the entropy that is left of it."""
    # A length known only at run time keeps LLVM from unrolling the loop, after which it would no longer vectorise it.
    lanes = work.size // 2
    if is_point(start, step):
        for b in range(lanes):
            work[b] += weight if start + step * (b + 1) > 0.0 else 0.0
        return
    for b in range(lanes):
        below, entropy = cut(start + step * (b + 1))
        work[b] += weight * below
        work[lanes + b] += weight * entropy


@njit
def lane_merits(total: float, least: float, scale: float, work: Array) -> None:
    """Turn the masses on the left into rounded merits, -1 where a side is too light."""
    before = xlogx(total)
    for b in range(LANES):
        left = work[b]
        right = total - left
        merit = rounded((before - xlogx_lane(left) - xlogx_lane(right) - work[LANES + b]) * scale)
        work[b] = -1.0 if left < least or right < least else merit


@njit
def numeric_merit(forest: Forest, leaf: int, offset: int, work: Array) -> tuple[float, int]:
    """Best rounded merit over the thresholds and which one it is; -1 if none counts.

    The gain is what the class tells about the branch, [g(W) - g(L) - g(W - L)] - sum_c w_c h_c: the same as the other way round.
    """
    stats, entries, size = forest.stats, forest.entries, forest.head[0]["row_size"]
    summary = forest.nodes[leaf]["summary"] * size + offset
    low, spread = stats[summary], stats[summary + 1] - stats[summary]
    for b in range(work.size):
        work[b] = 0.0
    total = 0.0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            at = entries[entry]["row"] * size + offset
            weight = stats[at]
            if weight > 0.0:
                total += weight
                scale = 1.0 / class_spread(weight, stats[at + 2], spread)
                add_class(weight, (low - stats[at + 1]) * scale, spread * scale / (THRESHOLDS + 1), work)
        entry = entries[entry]["next"]
    lane_merits(total, forest.head[0]["min_branch_fraction"] * total, 1.0 / (forest.nodes[leaf]["own"] * _LN2), work)
    best, which = -1.0, -1
    for b in range(THRESHOLDS):
        if work[b] > best:
            best, which = work[b], b
    return best, which


@njit
def add_cells(stats: Array, at: int, capacity: int, work: Array) -> float:
    """Add one class to every value of a nominal feature: its weight, and g of it; returns the class's weight."""
    for v in range(capacity):
        cell = stats[at + v]
        work[v] += cell
        work[capacity + v] += xlogx_lane(cell)
    weight = 0.0
    for v in range(capacity):
        weight += stats[at + v]
    return weight


@njit
def nominal_merit(forest: Forest, leaf: int, feature: int, work: Array) -> float:
    """Rounded merit of a branch for each value; -1 if fewer than two branches would get a fair share."""
    entries, size = forest.entries, forest.head[0]["row_size"]
    offset, capacity = forest.features[feature]["offset"], forest.features[feature]["capacity"]
    for v in range(2 * capacity):
        work[v] = 0.0
    total, gain = 0.0, 0.0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            weight = add_cells(forest.stats, entries[entry]["row"] * size + offset, capacity, work)
            total += weight
            gain -= xlogx(weight)
        entry = entries[entry]["next"]
    for v in range(capacity):
        work[capacity + v] -= xlogx_lane(work[v])
    gain += xlogx(total)
    least = forest.head[0]["min_branch_fraction"] * total
    fair = 0
    for v in range(capacity):
        gain += work[capacity + v]
        if work[v] > 0.0 and work[v] >= least:
            fair += 1
    return rounded(gain / (forest.nodes[leaf]["own"] * _LN2)) if fair >= 2 else -1.0


@njit
def bound_features(forest: Forest, leaf: int, entropy: float, bounds: Array) -> None:
    """An upper bound of every feature's merit, -1 where there is none to be had."""
    for f in range(forest.features.size):
        offset = forest.features[f]["offset"]
        if forest.features[f]["kind"] == NUMERIC:
            bounds[f] = min(entropy, numeric_bound(forest, leaf, offset)) + _SLACK
        else:
            seen = forest.stats[forest.nodes[leaf]["summary"] * forest.head[0]["row_size"] + offset]
            bounds[f] = entropy + _SLACK if seen == SEVERAL else -1.0


@njit
def most_promising(bounds: Array) -> int:
    best = 0
    for f in range(1, bounds.size):
        if bounds[f] > bounds[best]:
            best = f
    return best


@njit
def with_feature(found: Split, f: int, forest: Forest, leaf: int, work: Work) -> Split:
    """Compute one feature's merit and put it in its place among the best two."""
    which = -1
    if forest.features[f]["kind"] == NUMERIC:
        merit, which = numeric_merit(forest, leaf, forest.features[f]["offset"], work.lanes)
    else:
        merit = nominal_merit(forest, leaf, f, work.values)
    if merit > found.best or (merit == found.best and f < found.feature):
        return Split(f, which, merit, found.best)
    return Split(found.feature, found.threshold, found.best, max(found.second, merit))


@njit
def best_split(forest: Forest, leaf: int, entropy: float, tolerance: float, work: Work) -> Split:
    """The best feature and the merit of the second best, as far as needed to tell whether they are more than `tolerance` apart.

    A negative tolerance asks for the best alone. The null split, feature -1, has merit 0.
    """
    found = Split(-1, -1, 0.0, 0.0)
    bounds = work.bounds
    bound_features(forest, leaf, entropy, bounds)
    for _ in range(min(_SORTED, bounds.size)):
        f = most_promising(bounds)
        left = bounds[f]
        if left < (found.best if tolerance < 0.0 else found.second) or left <= _SLACK:
            return found
        if max(found.best - found.second, left - found.best) <= tolerance:
            return Split(-1, -1, found.best, found.second)
        bounds[f] = -1.0
        found = with_feature(found, f, forest, leaf, work)
    for f in range(bounds.size):
        if bounds[f] > _SLACK and bounds[f] >= (found.best if tolerance < 0.0 else found.second):
            found = with_feature(found, f, forest, leaf, work)
    return found
