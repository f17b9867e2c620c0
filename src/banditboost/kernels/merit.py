"""How good a split would be: information gain of each feature of a leaf."""

from __future__ import annotations

import math

from banditboost.kernels.compile import njit
from banditboost.kernels.layout import NUMERIC, Array, Forest
from banditboost.kernels.normal import cut, xlogx, xlogx_lane

THRESHOLDS = 10
LANES = 12  # thresholds are tried four at a time; the last two are not looked at
WORK = 2 * LANES
_LN2 = 0.6931471805599453
SPREAD_FLOOR = 1e-6  # a class is at least this share of the leaf's range wide
_QUANTUM = 16777216.0  # 2^24


@njit
def rounded(merit: float) -> float:
    return math.floor(merit * _QUANTUM + 0.5) / _QUANTUM


@njit
def is_wide(spread: float) -> bool:
    """Whether a leaf has seen different values, far enough apart to be told apart in float64."""
    return SPREAD_FLOOR * spread > 0.0


@njit
def class_spread(weight: float, sum_of_squares: float, spread: float) -> float:
    # Rounding may leave a sum of squares a hair below zero.
    return max(math.sqrt(max(sum_of_squares, 0.0) / weight), SPREAD_FLOOR * spread)


@njit
def add_class(weight: float, start: float, step: float, work: Array) -> None:
    """Add one class to every threshold: its mass on the left, and the entropy that is left of it."""
    # A length known only at run time keeps LLVM from unrolling the loop, after which it would no longer vectorise it.
    lanes = work.size // 2
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
    if not is_wide(spread):
        return -1.0, -1
    for b in range(WORK):
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
def nominal_merit(forest: Forest, leaf: int, offset: int, n_values: int) -> float:
    """Rounded merit of a branch for each value; -1 if fewer than two branches would get a fair share."""
    stats, entries, size = forest.stats, forest.entries, forest.head[0]["row_size"]
    total, classes, after = 0.0, 0.0, 0.0
    first = forest.nodes[leaf]["first_entry"]
    entry = first
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            weight = 0.0
            for v in range(n_values):
                cell = stats[entries[entry]["row"] * size + offset + v]
                weight += cell
                after -= xlogx(cell)
            total += weight
            classes += xlogx(weight)
        entry = entries[entry]["next"]
    least = forest.head[0]["min_branch_fraction"] * total
    fair = 0
    for v in range(n_values):
        branch = 0.0
        entry = first
        while entry >= 0:
            if entries[entry]["row"] >= 0:
                branch += stats[entries[entry]["row"] * size + offset + v]
            entry = entries[entry]["next"]
        after += xlogx(branch)
        if branch > 0.0 and branch >= least:
            fair += 1
    if fair < 2:
        return -1.0
    return rounded((xlogx(total) - classes - after) / (forest.nodes[leaf]["own"] * _LN2))


@njit
def best_split(forest: Forest, leaf: int, work: Array) -> tuple[int, int, float, float]:
    """The best feature, its threshold, its merit, and the merit of the second best; the null split has feature -1 and merit 0."""
    feature, threshold, best, second = -1, -1, 0.0, 0.0
    for f in range(forest.features.size):
        offset = forest.features[f]["offset"]
        which = -1
        if forest.features[f]["kind"] == NUMERIC:
            merit, which = numeric_merit(forest, leaf, offset, work)
        else:
            merit = nominal_merit(forest, leaf, offset, forest.features[f]["n_values"])
        if merit > best:
            feature, threshold, second, best = f, which, best, merit
        elif merit > second:
            second = merit
    return feature, threshold, best, second
