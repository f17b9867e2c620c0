"""How good a split would be: information gain of the features of a leaf.

Merits are first estimated (`rough.py`), and only those computed exactly that could be among the best two. The
outcome is the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from banditboost.compiled.compile import inlined, loop
from banditboost.rows.features import NUMERIC
from banditboost.trees.approximate_merit import (
    GROUP,
    THRESHOLDS,
    Rough,
    class_spread,
    is_wide,
    make_rough,
    rough_merit,
    rough_merits,
    rough_size,
)
from banditboost.trees.columns import column_in, n_slots
from banditboost.trees.layout import SEVERAL, Forest
from banditboost.trees.special_functions import FAR, cut, xlogx, xlogx_lane
from banditboost.types import Array

LANES = 12  # thresholds are tried four at a time; the last two are not looked at
_LN2 = 0.6931471805599453
_QUANTUM = 16777216.0  # 2^24


class Work(NamedTuple):
    """Scratch space of an attempt."""

    own: Array  # the weight of each class of the leaf in its statistics, and then that of all
    own_logs: Array  # x ln x of these
    lanes: Array  # two numbers for each threshold
    values: Array  # or for each value
    low: Array  # by slot of the leaf: the merit of its feature is not less,
    high: Array  # nor more
    columns: Array  # by slot: the feature,
    offsets: Array  # and where in a row its statistics begin
    group: Array  # slots of numeric features that are about to be looked at
    rough: Rough


class Split(NamedTuple):
    """The slot of the best feature, -1 if that is not to split; its threshold; its merit; and that of the
    second best.
    """

    slot: int
    threshold: int
    best: float
    second: float


@inlined
def most_values(forest: Forest) -> int:
    most = 4
    for f in range(forest.features.size):
        most = max(most, forest.features[f]["capacity"])
    return most


@inlined
def work_size(forest: Forest) -> int:
    """Of the scratch space, in 64-bit numbers."""
    n_classes = forest.head[0]["most_classes"] + 1
    fixed = 2 * (LANES + most_values(forest)) + 4 * n_slots(forest) + GROUP
    return fixed + 2 * (n_classes + 1) + rough_size(n_classes)


@inlined
def make_work(forest: Forest, numbers: Array) -> Work:
    """Divide up `numbers`.

    It is made elsewhere, since where arrays are made, references to all these parts would be counted.
    """
    most = most_values(forest)
    slots, n_classes = n_slots(forest), forest.head[0]["most_classes"] + 1
    values, low = 2 * LANES, 2 * (LANES + most)
    high, columns, offsets, group = low + slots, low + 2 * slots, low + 3 * slots, low + 4 * slots
    own = group + GROUP
    own_logs = own + n_classes + 1
    rough = own_logs + n_classes + 1
    return Work(
        numbers[own:own_logs],
        numbers[own_logs:rough],
        numbers[:values],
        numbers[values:low],
        numbers[low:high],
        numbers[high:columns],
        numbers[columns:offsets].view(np.int64),
        numbers[offsets:group].view(np.int64),
        numbers[group:own].view(np.int64),
        make_rough(numbers[rough:], n_classes),
    )


@inlined
def rounded(merit: float) -> float:
    return math.floor(merit * _QUANTUM + 0.5) / _QUANTUM


@inlined
def list_classes(forest: Forest, leaf: int, work: Work) -> None:
    """The classes that the leaf itself has seen: where their statistics begin, and their weights."""
    entries, size = forest.entries, forest.head[0]["row_size"]
    n_classes = 0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            work.rough.rows[n_classes] = entries[entry]["row"] * size
            work.own[n_classes] = entries[entry]["own"]
            n_classes += 1
        entry = entries[entry]["next"]
    work.own[n_classes] = forest.nodes[leaf]["own"]
    for c in range(n_classes + 1):
        work.own_logs[c] = xlogx(work.own[c])


@inlined
def list_columns(forest: Forest, leaf: int, work: Work) -> None:
    """The features that the leaf keeps statistics of, and where these begin."""
    at, offset = forest.nodes[leaf]["summary"] * forest.head[0]["row_size"], 0
    for slot in range(n_slots(forest)):
        f = column_in(forest, slot, at + offset)
        work.columns[slot], work.offsets[slot] = f, offset
        offset += forest.features[f]["capacity"]


@inlined
def class_entropy(n_classes: int, work: Work) -> float:
    """Entropy in bits of the classes listed: no split can gain more."""
    total = work.own_logs[n_classes]
    for c in range(n_classes):
        total -= work.own_logs[c]
    return total / (work.own[n_classes] * _LN2)


@inlined
def is_point(start: float, step: float) -> bool:
    """Whether a class is so narrow that no threshold comes within nine deviations of its mean."""
    nearest = start + step * math.floor(0.5 - start / step)
    return step >= 2.0 * FAR and abs(nearest) >= FAR


@loop
def add_class(weight: float, start: float, step: float, work: Array) -> None:
    """Add one class to every threshold: its mass on the left, and the entropy that is left of it."""
    # A length known only at run time keeps LLVM from unrolling the loop, after which it would no longer
    # vectorise it.
    lanes = work.size // 2
    if is_point(start, step):
        for b in range(lanes):
            work[b] += weight if start + step * (b + 1) > 0.0 else 0.0
        return
    for b in range(lanes):
        below, entropy = cut(start + step * (b + 1))
        work[b] += weight * below
        work[lanes + b] += weight * entropy


@loop
def lane_merits(total: float, least: float, scale: float, work: Array) -> None:
    """Turn the masses on the left into rounded merits, -1 where a side is too light."""
    before = xlogx(total)
    for b in range(LANES):
        left = work[b]
        right = total - left
        merit = rounded((before - xlogx_lane(left) - xlogx_lane(right) - work[LANES + b]) * scale)
        work[b] = -1.0 if left < least or right < least else merit


@inlined
def numeric_merit(forest: Forest, leaf: int, offset: int, work: Array) -> tuple[float, int]:
    """Best rounded merit over the thresholds and which one it is; -1 if none counts.

    The gain is what the class tells about the branch, [g(W) - g(L) - g(W - L)] - sum_c w_c h_c: the same as
    the other way round.
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
    lane_merits(
        total, forest.head[0]["min_branch_fraction"] * total, 1.0 / (forest.nodes[leaf]["own"] * _LN2), work
    )
    best, which = -1.0, -1
    for b in range(THRESHOLDS):
        if work[b] > best:
            best, which = work[b], b
    return best, which


@loop
def add_cells(stats: Array, at: int, capacity: int, work: Array) -> float:
    """Add one class to every value of a nominal feature: its weight, and g of it. Returns its weight."""
    for v in range(capacity):
        cell = stats[at + v]
        work[v] += cell
        work[capacity + v] += xlogx_lane(cell)
    weight = 0.0
    for v in range(capacity):
        weight += stats[at + v]
    return weight


@inlined
def own_xlogx(weight: float, c: int, work: Work) -> float:
    """x ln x of the weight of class c in a feature: that of the class itself, unless values are missing."""
    return work.own_logs[c] if weight == work.own[c] else xlogx(weight)


@inlined
def nominal_merit(forest: Forest, leaf: int, slot: int, work: Work) -> float:
    """Rounded merit of a branch for each value; -1 if fewer than two branches would get a fair share."""
    offset, capacity = work.offsets[slot], forest.features[work.columns[slot]]["capacity"]
    n_classes, values = forest.nodes[leaf]["n_classes"], work.values
    for v in range(2 * capacity):
        values[v] = 0.0
    total, gain = 0.0, 0.0
    for c in range(n_classes):
        weight = add_cells(forest.stats, work.rough.rows[c] + offset, capacity, values)
        total += weight
        gain -= own_xlogx(weight, c, work)
    for v in range(capacity):
        values[capacity + v] -= xlogx_lane(values[v])
    gain += own_xlogx(total, n_classes, work)
    least = forest.head[0]["min_branch_fraction"] * total
    fair = 0
    for v in range(capacity):
        gain += values[capacity + v]
        if values[v] > 0.0 and values[v] >= least:
            fair += 1
    return rounded(gain / (forest.nodes[leaf]["own"] * _LN2)) if fair >= 2 else -1.0


@inlined
def nominal_merit_if_any(forest: Forest, leaf: int, slot: int, work: Work) -> float:
    """-1 at once if the leaf has seen one value only."""
    at = forest.nodes[leaf]["summary"] * forest.head[0]["row_size"] + work.offsets[slot]
    return nominal_merit(forest, leaf, slot, work) if forest.stats[at] == SEVERAL else -1.0


@inlined
def joins_group(forest: Forest, leaf: int, slot: int, place: int, work: Work) -> bool:
    """Put a numeric feature into the group, unless the leaf has seen one value only; places that stay free
    look at it again.
    """
    offset = work.offsets[slot]
    at = forest.nodes[leaf]["summary"] * forest.head[0]["row_size"] + offset
    low = forest.stats[at]
    spread = forest.stats[at + 1] - low
    if not is_wide(spread):
        return False
    work.group[place] = slot
    for j in range(place, GROUP):
        work.rough.offsets[j] = offset
        work.rough.ends[j] = low
        work.rough.ends[GROUP + j] = spread
        work.rough.ends[2 * GROUP + j] = (THRESHOLDS + 1) / spread
    return True


class Leaders(NamedTuple):
    """What the features looked at so far allow: the best two merits are at least `first` and `second`; no
    merit is more than `high`.
    """

    first: float
    second: float
    high: float


@inlined
def with_range(leaders: Leaders, slot: int, low: float, high: float, work: Work) -> Leaders:
    """Note between which two numbers the merit of a feature lies, -1 where there is none to be had."""
    work.low[slot], work.high[slot] = low, high
    return Leaders(
        max(leaders.first, low), max(leaders.second, min(leaders.first, low)), max(leaders.high, high)
    )


@inlined
def look_at_features(forest: Forest, leaf: int, entropy: float, tolerance: float, work: Work) -> Leaders:
    """Rough merits of all features of the leaf, or until it is certain that the best two are not more than
    `tolerance` apart.

    They are not if the largest that any merit can be is not that much above the second best: the best may be
    that one, or one not yet looked at, which gains no more than the entropy.
    """
    leaders = Leaders(0.0, 0.0, 0.0)  # not to split gains nothing
    list_columns(forest, leaf, work)
    slots, waiting = n_slots(forest), 0
    for slot in range(slots):
        work.low[slot], work.high[slot] = -1.0, -1.0
        if forest.features[work.columns[slot]]["kind"] != NUMERIC:
            merit = nominal_merit_if_any(forest, leaf, slot, work)
            leaders = with_range(leaders, slot, merit, merit, work)
        elif joins_group(forest, leaf, slot, waiting, work):
            waiting += 1
        if waiting == GROUP or (waiting > 0 and slot == slots - 1):
            rough_merits(forest, leaf, work.rough)
            for j in range(waiting):
                low, high = rough_merit(forest, leaf, j, entropy, work.rough)
                leaders = with_range(leaders, work.group[j], low, high, work)
            waiting = 0
        if leaders.high - leaders.second <= tolerance and entropy - leaders.first <= tolerance:
            break
    return leaders


@inlined
def with_feature(found: Split, slot: int, forest: Forest, leaf: int, work: Work) -> Split:
    """Compute one feature's merit and put it in its place among the best two."""
    merit, which = work.low[slot], -1  # exact if the feature is nominal
    if forest.features[work.columns[slot]]["kind"] == NUMERIC:
        merit, which = numeric_merit(forest, leaf, work.offsets[slot], work.lanes)
    if merit > found.best:
        return Split(slot, which, merit, found.best)
    return Split(found.slot, found.threshold, found.best, max(found.second, merit))


@inlined
def best_split(forest: Forest, leaf: int, entropy: float, tolerance: float, work: Work) -> Split:
    """The best feature and the merit of the second best, as far as needed to tell whether they are more than
    `tolerance` apart.

    A negative tolerance asks for the best alone. The null split, slot -1, has merit 0.
    """
    found = Split(-1, -1, 0.0, 0.0)
    leaders = look_at_features(forest, leaf, entropy, tolerance, work)
    if leaders.high - leaders.second <= tolerance:
        return found
    least = leaders.first if tolerance < 0.0 else leaders.second
    for slot in range(n_slots(forest)):
        if work.high[slot] > 0.0 and work.high[slot] >= least:
            found = with_feature(found, slot, forest, leaf, work)
    return found
