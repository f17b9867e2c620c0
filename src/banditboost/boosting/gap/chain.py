"""The linear stages of all chains: a row becomes a short list of slots and values, a label's score is a sum
over it. See docs/gapboost.md.

Weights are stored as [block of 8 labels, slot, lane]: a decision scores eight labels in one vectorised pass,
each sum still in the order of the list, and a lesson touches one cache line for each item of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.boosting.gap.state import LANES
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import PAIR_OF_COLUMNS, mix, round_key, to_u64, uniform
from banditboost.rows.features import NUMERIC
from banditboost.types import Array

# smaller ones lost labels in single passes (Isolet at 0.25), larger ones are a little worse at the end
LINEAR_STEP = 0.35
LEAST_VARIANCE = 1e-300  # a column that varies less counts as constant
LEAST_NORM = 1e-20  # of rows, squared: products of values next to the mean would ask for steps without bound
FARTHEST = 4.0  # standard deviations; bounds a product at 16
BIN_WIDTH = 0.5  # standard deviations; 1 joins neighbouring values of Balance
BINS = 11  # the outer ones are open

# From where to where the weights of one pair (of a column, in stage 1) move when slots are handed out anew.
MOVE = np.dtype(
    [
        ("stage", "i8"),
        ("before", "i8"),
        ("after", "i8"),
        ("rows", "i8"),
        ("width", "i8"),
        ("new_width", "i8"),
    ],
    align=True,
)


@inlined
def place(span: Any, slot: int) -> int:
    """Where a stage's slot is."""
    if span["needed"] > span["room"]:
        slot = int(
            np.int64(mix(to_u64(slot + 1)) & to_u64(span["room"] - 1))
        )  # shared room is a power of two
    return int(span["start"] + slot)


@inlined
def standardise(column: Any, value: float, verdicts: int) -> float:
    """The value in standard deviations, as far as the column's statistics tell.

    It is counted from the mean; but from 0 in a column that is mostly 0, which so stays sparse, and in one
    that most rows lack, which tells something by being there: its unit is the root mean square. So does one
    that was always the same, unless all rows had it.
    """
    count, mean, zero = column["count"], column["mean"], 0.0
    if column["squares"] > count * LEAST_VARIANCE:
        unit = math.sqrt(column["squares"] / count)
        if column["missing"] > count:
            unit = math.sqrt(unit * unit + mean * mean)
        elif 2.0 * column["zeros"] <= count:
            zero = mean
    elif mean != 0.0 and count < verdicts:
        unit = abs(mean)
    else:
        return 0.0
    z: float = (value - zero) / unit
    return min(max(z, -FARTHEST), FARTHEST)


@inlined
def list_columns(model: Any, x: Array) -> int:
    """Stage 1: the constant, then every column that is present and not zero."""
    features, columns, statistics = model.features, model.layout.columns, model.learned.statistics
    slots, values, codes, numbers = (
        model.scratch.slots,
        model.scratch.values,
        model.scratch.codes,
        model.scratch.numbers,
    )
    verdicts = model.learned.counts.verdicts
    slots[0], values[0] = 0, 1.0
    n = 1
    for c in range(features.size):
        codes[c] = -1
        if x[c] != x[c]:
            continue
        slot = columns[c]
        if features[c]["kind"] == NUMERIC:
            z = standardise(statistics[c], x[c], verdicts)
            half = BINS // 2
            codes[c] = int(min(max(math.floor(z / BIN_WIDTH + 0.5), -half), half)) + half
            numbers[c] = z
        else:
            codes[c] = int(x[c])
            numbers[c] = 1.0
            slot += int(x[c])
        if numbers[c] != 0.0:
            slots[n], values[n] = slot, numbers[c]
            n += 1
    return n


@inlined
def list_drawn_products(model: Any, n: int) -> int:
    """Stage 2 where its pairs are too many and some were drawn: one after the other."""
    features, products, span, scratch = (
        model.features,
        model.layout.products,
        model.layout.spans[1],
        model.scratch,
    )
    for p in range(products.size):
        i, j = products[p]["first"], products[p]["second"]
        if scratch.codes[i] < 0 or scratch.codes[j] < 0:
            continue
        value = scratch.numbers[i] * scratch.numbers[j]
        if value == 0.0:
            continue
        slot = products[p]["slot"]
        width = 1
        if features[j]["kind"] != NUMERIC:
            slot += scratch.codes[j]
            width = features[j]["n_values"]
        if features[i]["kind"] != NUMERIC:
            slot += scratch.codes[i] * width
        scratch.slots[n], scratch.values[n] = place(span, slot), value
        n += 1
    return n


@inlined
def list_bins(model: Any, n: int) -> int:
    """Stage 3: 1 at the place of the two columns' bins or nominal values."""
    features, bins, span, scratch = model.features, model.layout.bins, model.layout.spans[2], model.scratch
    for p in range(bins.size):
        i, j = bins[p]["first"], bins[p]["second"]
        if scratch.codes[i] < 0 or scratch.codes[j] < 0:
            continue
        slot = bins[p]["slot"] + scratch.codes[j]
        if i != j:
            slot += scratch.codes[i] * (BINS if features[j]["kind"] == NUMERIC else features[j]["n_values"])
        scratch.slots[n], scratch.values[n] = place(span, slot), 1.0
        n += 1
    return n


@inlined
def list_products(model: Any, n: int) -> int:
    """Stage 2: products of the values of two columns, at the place of their nominal values.

    A pair (i, j) has width_i width_j slots, ordered by i, its value and that of j: the slot is that of i in
    stage 1, times width_j. So the products of a column are the list of stage 1 up to this column, after the
    constant, times its value.
    """
    features, products, span, scratch = (
        model.features,
        model.layout.products,
        model.layout.spans[1],
        model.scratch,
    )
    listed, listed_values = scratch.slots, scratch.values
    first, end, begin = 0, 1, n
    for j in range(features.size):
        first += j + 1 if features[j]["kind"] == NUMERIC else j  # a numeric column has a pair with itself
    if products.size < first:
        return list_drawn_products(model, n)
    first = 0
    for j in range(features.size):
        numeric = features[j]["kind"] == NUMERIC
        n_pairs = j + 1 if numeric else j
        if scratch.codes[j] >= 0 and scratch.numbers[j] != 0.0:
            end += 1
            if n_pairs > 0:
                width = 1 if numeric else features[j]["n_values"]
                start = products[first]["slot"] + (0 if numeric else scratch.codes[j]) - width + span["start"]
                value, slots, values = scratch.numbers[j], listed[n:], listed_values[n:]
                n_products = end - 1 if numeric else end - 2
                for i in range(n_products):
                    values[i] = listed_values[1 + i] * value
                    slots[i] = start + listed[1 + i] * width
                n += n_products
        first += n_pairs
    if span["needed"] > span["room"]:
        for i in range(begin, n):
            listed[i] = place(span, listed[i] - span["start"])
    return n


@kernel
def list_row(model: Any, x: Array) -> None:
    """Make the list of a row, with the statistics of now; unless it is the one that is there."""
    scratch, verdicts = model.scratch, model.learned.counts.verdicts
    row = scratch.row
    same = scratch.verdicts[0] == verdicts
    for c in range(x.size):
        same = same and (x[c] == row[c] or (x[c] != x[c] and row[c] != row[c]))
        row[c] = x[c]
    if same:
        return
    scratch.verdicts[0] = verdicts
    scratch.scored[0] = 0
    scratch.bounds[1] = list_columns(model, x)
    scratch.bounds[2] = list_products(model, scratch.bounds[1])
    scratch.bounds[3] = list_bins(model, scratch.bounds[2])


@kernel
def score_stages(model: Any, n_stages: int) -> None:
    """What the first stages add to every label's score. Eight sums at a time, each in the order of the list.

    Stages that have scored this row need not do so again: weights change with a verdict only, and then the
    list is made anew.
    """
    scratch, all_weights = model.scratch, model.learned.weights
    slots, values = scratch.slots, scratch.values
    n_blocks, first = all_weights.shape[1], scratch.scored[0]
    for step in range(n_blocks * max(0, n_stages - first)):
        stage, block = first + step // n_blocks, step % n_blocks
        start, end, scores, weights = (
            scratch.bounds[stage],
            scratch.bounds[stage + 1],
            scratch.scores[stage],
            all_weights[0, block],
        )
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(start, end):
            w = weights[slots[i]]
            v = values[i]
            s0 += v * w[0]
            s1 += v * w[1]
            s2 += v * w[2]
            s3 += v * w[3]
            s4 += v * w[4]
            s5 += v * w[5]
            s6 += v * w[6]
            s7 += v * w[7]
        at = block * LANES
        scores[at], scores[at + 1], scores[at + 2], scores[at + 3] = s0, s1, s2, s3
        scores[at + 4], scores[at + 5], scores[at + 6], scores[at + 7] = s4, s5, s6, s7
    scratch.scored[0] = max(first, n_stages)


@kernel
def score_group(model: Any, stage: int, group: int) -> float:
    """What a stage adds to one label's score, as `score_stages` has it."""
    scratch, weights = model.scratch, model.learned.weights
    if stage < scratch.scored[0]:
        return scratch.scores[stage, group]
    block, lane = group // LANES, group % LANES
    total = 0.0
    for i in range(scratch.bounds[stage], scratch.bounds[stage + 1]):
        total += scratch.values[i] * weights[0, block, scratch.slots[i], lane]
    return total


@kernel
def note_norm(model: Any, stage: int) -> None:
    """Add the squared values of the row's part in a stage to the norm of all rows."""
    scratch, norms = model.scratch, model.learned.norms
    for i in range(scratch.bounds[stage], scratch.bounds[stage + 1]):
        norms[stage] += scratch.values[i] * scratch.values[i]


@inlined
def add_squares(model: Any, stage: int, group: int, error: float, roots: Array) -> None:
    """Note the norm, add the squared gradients, and take the roots of the sums; infinite where there was no
    gradient: no step there.
    """
    scratch, norms = model.scratch, model.learned.norms
    start, span, lane = scratch.bounds[stage], model.layout.spans[stage], group % LANES
    slots, values = scratch.slots[start : start + roots.size], scratch.values[start : start + roots.size]
    squares, norm = model.learned.weights[1, group // LANES], norms[stage]
    for i in range(roots.size):
        norm += values[i] * values[i]
        square = squares[slots[i], lane] + (error * values[i]) ** 2
        squares[slots[i], lane] = square
        roots[i] = square
    norms[stage] = norm
    if span["needed"] > span["room"]:  # two may share a slot
        for i in range(roots.size):
            roots[i] = squares[slots[i], lane]
    for i in range(roots.size):
        root = math.sqrt(roots[i])
        roots[i] = root if root > 0.0 else math.inf


@kernel
def step_stage(model: Any, stage: int, group: int, error: float) -> None:
    """A step that takes the score towards its goal, in the closed form of the flow: never past it.

    The row's norm is noted on the way.
    """
    scratch, lane = model.scratch, group % LANES
    start, end = scratch.bounds[stage], scratch.bounds[stage + 1]
    slots, values, weights = (
        scratch.slots[start:end],
        scratch.values[start:end],
        model.learned.weights[0, group // LANES],
    )
    roots, parts = scratch.roots[0, : end - start], scratch.roots[1, : end - start]
    add_squares(model, stage, group, error, roots)
    norm = max(model.learned.norms[stage] / model.learned.counts.verdicts, LEAST_NORM)
    rate = LINEAR_STEP / math.sqrt(norm)
    # Quotients apart from sums and from weights: they are vectorised then.
    for i in range(slots.size):
        parts[i] = values[i] * values[i] / roots[i]
    flow = 0.0
    for i in range(slots.size):
        flow += parts[i]
    flow *= rate
    if not flow > 0.0:
        return
    rate *= (1.0 - math.exp(-flow)) / flow
    for i in range(slots.size):
        parts[i] = rate * error * values[i] / roots[i]
    for i in range(slots.size):
        weights[slots[i], lane] += parts[i]


@kernel
def note_values(features: Array, statistics: Array, x: Array) -> None:
    """Welford's update of the statistics of numeric columns, and counts of zeros and of missing values. These
    begin with a column's first value: whether it was declared or joined then makes no difference.
    """
    for c in range(features.size):
        if features[c]["kind"] != NUMERIC:
            continue
        if x[c] != x[c]:
            if statistics[c]["count"] > 0.0:
                statistics[c]["missing"] += 1.0
            continue
        statistics[c]["count"] += 1.0
        delta = x[c] - statistics[c]["mean"]
        statistics[c]["mean"] += delta / statistics[c]["count"]
        statistics[c]["squares"] += delta * (x[c] - statistics[c]["mean"])
        if x[c] == 0.0:
            statistics[c]["zeros"] += 1.0


@allocating
def pair_draws(seed: int, first: int, end: int) -> Array:
    """The keyed numbers of pairs of columns, by which some are taken if there are too many."""
    draws = np.empty(end - first)
    for number in range(first, end):
        draws[number - first] = uniform(round_key(seed, 0), PAIR_OF_COLUMNS, number)
    return draws


@kernel
def move_weights(moves: Array, before: Array, spans: Array, after: Array, new_spans: Array) -> None:
    """Carry weights to new slots. Where several come to share one, a label keeps what has learned most."""
    for m in range(moves.size):
        span, new_span = spans[moves[m]["stage"]], new_spans[moves[m]["stage"]]
        for row in range(moves[m]["rows"]):
            for code in range(moves[m]["width"]):
                old = place(span, moves[m]["before"] + row * moves[m]["width"] + code)
                new = place(new_span, moves[m]["after"] + row * moves[m]["new_width"] + code)
                for block in range(before.shape[1]):
                    for lane in range(LANES):
                        if before[1, block, old, lane] > after[1, block, new, lane]:
                            after[0, block, new, lane] = before[0, block, old, lane]
                            after[1, block, new, lane] = before[1, block, old, lane]
