"""The linear stages of all chains: a row becomes a short list of slots and values, a label's score is a sum
over it. See docs/gapboost.md.

Weights are stored as [block of 8 labels, slot, lane]: a decision scores eight labels in one vectorised pass,
each sum still in the order of the list, and a lesson touches one cache line for each item of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.boosting.gap.state import FARTHEST, LANES, LEAST_VARIANCE
from banditboost.boosting.gap.telling import weigh_columns
from banditboost.boosting.gap.words import list_shared
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import PAIR_OF_COLUMNS, mix, round_key, to_u64, uniform
from banditboost.rows.features import NOMINAL, NUMERIC
from banditboost.rows.sharing import SHARED
from banditboost.types import Array

# smaller ones lost labels in single passes (Isolet at 0.25), larger ones are a little worse at the end
LINEAR_STEP = 0.35
LEAST_NORM = 1e-20  # of rows, squared: products of values next to the mean would ask for steps without bound
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
def scale_of(column: Any, verdicts: int) -> tuple[float, float]:
    """Where a column's standardised values begin, and their unit; 0 if the column has told nothing yet.

    They are counted from the mean; but from 0 in a column that is mostly 0, which so stays sparse, and in one
    that most rows lack, which tells something by being there: its unit is the root mean square. So does one
    that was always the same, unless all rows had it.
    """
    count, mean, zero, unit = column["count"], column["mean"], 0.0, 0.0
    if column["squares"] > count * LEAST_VARIANCE:
        unit = math.sqrt(column["squares"] / count)
        if column["missing"] > count:
            unit = math.sqrt(unit * unit + mean * mean)
        elif 2.0 * column["zeros"] <= count:
            zero = mean
    elif mean != 0.0 and count < verdicts:
        unit = abs(mean)
    return zero, unit


@inlined
def is_nothing(column: Any, value: float) -> bool:
    """Whether a value is 0 in a column that is counted from 0: whatever the unit is, which takes a root."""
    return value == 0.0 and (2.0 * column["zeros"] > column["count"] or column["missing"] > column["count"])


@inlined
def standardise(value: float, zero: float, unit: float) -> float:
    """The value in units of its column."""
    return min(max((value - zero) / unit, -FARTHEST), FARTHEST) if unit > 0.0 else 0.0


@inlined
def bin_of(z: float) -> int:
    """Which bin a standardised value is in."""
    half = BINS // 2
    return int(min(max(math.floor(z / BIN_WIDTH + 0.5), -half), half)) + half


@inlined
def has_place(kind: int, value: float) -> bool:
    """Whether a value of a row has slots of its own: not one that is missing, shares a place or is a word."""
    return value == value and (kind == NUMERIC or (kind == NOMINAL and value < SHARED))


@inlined
def list_columns(model: Any, x: Array, n: int) -> int:
    """Stage 1, what follows: the constant, then every column that is present and not zero."""
    features, columns, statistics = model.features, model.layout.columns, model.learned.statistics
    slots, values, codes, numbers = (
        model.scratch.slots,
        model.scratch.values,
        model.scratch.codes,
        model.scratch.numbers,
    )
    verdicts = model.learned.counts.verdicts
    slots[n], values[n] = 0, 1.0
    n += 1
    for i in range(model.layout.real.size):
        c = model.layout.real[i]
        codes[c] = -1
        if not has_place(features[c]["kind"], x[c]):
            continue
        slot = columns[c]
        if features[c]["kind"] == NUMERIC:
            zero, unit = 0.0, 0.0
            if not is_nothing(statistics[c], x[c]):
                zero, unit = scale_of(statistics[c], verdicts)
            numbers[c] = standardise(x[c], zero, unit)
            codes[c] = bin_of(numbers[c])
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
    widths = model.layout.widths
    p, following = 0, 0
    while following < products.size:
        p, j = following, products[following]["second"]
        if scratch.codes[j] < 0 or scratch.numbers[j] == 0.0:
            following = products[p]["end"]  # none of this column's
            continue
        following, i = p + 1, products[p]["first"]
        value = scratch.numbers[i] * scratch.numbers[j] if scratch.codes[i] >= 0 else 0.0
        if value == 0.0:
            continue
        slot = products[p]["slot"]
        width = 1
        if features[j]["kind"] != NUMERIC:
            slot += scratch.codes[j]
            width = widths[j]
        if features[i]["kind"] != NUMERIC:
            slot += scratch.codes[i] * width
        scratch.slots[n], scratch.values[n] = place(span, slot), value
        n += 1
    return n


@inlined
def list_bins(model: Any, n: int) -> int:
    """Stage 3: 1 at the place of the two columns' bins or nominal values."""
    features, bins, span, scratch = model.features, model.layout.bins, model.layout.spans[2], model.scratch
    widths = model.layout.widths
    for p in range(bins.size):
        i, j = bins[p]["first"], bins[p]["second"]
        if scratch.codes[i] < 0 or scratch.codes[j] < 0:
            continue
        slot = bins[p]["slot"] + scratch.codes[j]
        if i != j:
            slot += scratch.codes[i] * (BINS if features[j]["kind"] == NUMERIC else widths[j])
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
    constant, widths = scratch.bounds[0], model.layout.widths
    listed, listed_values = scratch.slots[constant:], scratch.values[constant:]
    n -= constant
    first, end, begin, rank = 0, 1, n, 0
    for j in range(features.size):
        if features[j]["kind"] <= NOMINAL:
            first += rank + 1 if features[j]["kind"] == NUMERIC else rank  # a number has a pair with itself
            rank += 1
    if products.size < first:
        return list_drawn_products(model, n + constant)
    first, rank = 0, -1
    for j in range(features.size):
        if features[j]["kind"] > NOMINAL:
            continue
        rank += 1
        numeric = features[j]["kind"] == NUMERIC
        n_pairs = rank + 1 if numeric else rank
        if scratch.codes[j] >= 0 and scratch.numbers[j] != 0.0:
            end += 1
            if n_pairs > 0:
                width = widths[j]
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
    return n + constant


@kernel
def list_row(model: Any, x: Array) -> None:
    """Make stage 1 of the list of a row, with the statistics of now; unless it is the row that is there."""
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
    scratch.bounds[0] = list_shared(model, x)
    scratch.bounds[1] = list_columns(model, x, scratch.bounds[0])
    if scratch.telling.size > 0:
        weigh_columns(model, scratch.bounds[0])
    scratch.listed[0] = 1


@kernel
def list_stages(model: Any, n_stages: int) -> None:
    """Go on with the list of the row, up to this stage."""
    scratch = model.scratch
    if scratch.listed[0] < 2 <= n_stages:
        scratch.bounds[2] = list_products(model, scratch.bounds[1])
    if scratch.listed[0] < 3 <= n_stages:
        scratch.bounds[3] = list_bins(model, scratch.bounds[2])
    scratch.listed[0] = max(scratch.listed[0], n_stages)


@inlined
def first_of(scratch: Any, stage: int) -> int:
    """Where a stage's part of the list begins, what is shared included."""
    return 0 if stage == 0 else scratch.bounds[stage]


@inlined
def add_lanes(weights: Array, slots: Array, values: Array, scores: Array) -> None:
    """Add a list's part to the scores of a block of labels: eight sums at a time, each in the order of the
    list.
    """
    s0, s1, s2, s3 = scores[0], scores[1], scores[2], scores[3]
    s4, s5, s6, s7 = scores[4], scores[5], scores[6], scores[7]
    for i in range(slots.size):
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
    scores[0], scores[1], scores[2], scores[3] = s0, s1, s2, s3
    scores[4], scores[5], scores[6], scores[7] = s4, s5, s6, s7


@kernel
def score_shared(model: Any) -> None:
    """What names and words at shared places add to every label's score."""
    scratch, shared = model.scratch, model.learned.shared
    n = scratch.bounds[0]
    for block in range(shared.shape[1]):
        scores = scratch.shared_scores[block * LANES : (block + 1) * LANES]
        scores[:] = 0.0
        if n > 0:
            add_lanes(shared[0, block], scratch.slots[:n], scratch.values[:n], scores)


@kernel
def score_stages(model: Any, n_stages: int) -> None:
    """What the first stages add to every label's score.

    Stages that have scored this row need not do so again: weights change with a verdict only, and then the
    list is made anew.
    """
    scratch, weights = model.scratch, model.learned.weights
    first = scratch.scored[0]
    if first == 0:
        score_shared(model)
    for stage in range(first, n_stages):
        start, end = scratch.bounds[stage], scratch.bounds[stage + 1]
        slots, values = scratch.slots[start:end], scratch.values[start:end]
        for block in range(weights.shape[1]):
            scores = scratch.scores[stage, block * LANES : (block + 1) * LANES]
            for lane in range(LANES):
                scores[lane] = scratch.shared_scores[block * LANES + lane] if stage == 0 else 0.0
            add_lanes(weights[0, block], slots, values, scores)
    scratch.scored[0] = max(first, n_stages)


@kernel
def score_shared_of(model: Any, group: int) -> float:
    """What names and words at shared places add to one label's score, as `score_shared` has it."""
    scratch, total = model.scratch, 0.0
    if scratch.scored[0] > 0:
        return scratch.shared_scores[group]
    for i in range(scratch.bounds[0]):
        total += scratch.values[i] * model.learned.shared[0, group // LANES, scratch.slots[i], group % LANES]
    return total


@kernel
def score_group(model: Any, stage: int, group: int) -> float:
    """What a stage adds to one label's score, as `score_stages` has it."""
    scratch, weights = model.scratch, model.learned.weights
    if stage < scratch.scored[0]:
        return scratch.scores[stage, group]
    block, lane = group // LANES, group % LANES
    total = score_shared_of(model, group) if stage == 0 else 0.0
    for i in range(scratch.bounds[stage], scratch.bounds[stage + 1]):
        total += scratch.values[i] * weights[0, block, scratch.slots[i], lane]
    return total


@kernel
def note_norm(model: Any, stage: int) -> None:
    """Add the squared values of the row's part in a stage to the norm of all rows."""
    scratch, norms = model.scratch, model.learned.norms
    for i in range(first_of(scratch, stage), scratch.bounds[stage + 1]):
        norms[stage] += scratch.values[i] * scratch.values[i]


@inlined
def keep_norm(model: Any, stage: int) -> None:
    """Let the mean of the rows' norms in a stage at rest be what it was."""
    verdicts = model.learned.counts.verdicts
    model.learned.norms[stage] *= verdicts / (verdicts - 1.0)


@inlined
def add_squares(
    values: Array, slots: Array, squares: Array, error: float, roots: Array, hashed: bool
) -> None:
    """Add the squared gradients, and take the roots of the sums; infinite where there was no gradient: no
    step there.
    """
    for i in range(roots.size):
        square = squares[slots[i]] + (error * values[i]) ** 2
        squares[slots[i]] = square
        roots[i] = square
    if hashed:  # two may share a slot
        for i in range(roots.size):
            roots[i] = squares[slots[i]]
    for i in range(roots.size):
        root = math.sqrt(roots[i])
        roots[i] = root if root > 0.0 else math.inf


@kernel
def step_stage(model: Any, stage: int, group: int, error: float) -> None:
    """A step that takes the score towards its goal, in the closed form of the flow: never past it.

    The row's norm is noted on the way.
    """
    scratch, learned, block, lane = model.scratch, model.learned, group // LANES, group % LANES
    first, start, end = first_of(scratch, stage), scratch.bounds[stage], scratch.bounds[stage + 1]
    slots, values = scratch.slots[first:end], scratch.values[first:end]
    roots, parts, n = scratch.roots[0, : end - first], scratch.roots[1, : end - first], start - first
    hashed = model.layout.spans[stage]["needed"] > model.layout.spans[stage]["room"]
    note_norm(model, stage)
    if n > 0:
        add_squares(values[:n], slots[:n], learned.shared[1, block, :, lane], error, roots[:n], True)
    add_squares(values[n:], slots[n:], learned.weights[1, block, :, lane], error, roots[n:], hashed)
    norm = max(learned.norms[stage] / learned.counts.verdicts, LEAST_NORM)
    rate = model.settings.step / math.sqrt(norm)
    # Quotients apart from sums and from weights: they are vectorised then.
    for i in range(slots.size):
        parts[i] = values[i] / roots[i]
    flow = 0.0
    for i in range(slots.size):
        flow += values[i] * parts[i]
    flow *= rate
    if not flow > 0.0:
        return
    rate *= (1.0 - math.exp(-flow)) / flow
    rate *= error
    for i in range(n):
        learned.shared[0, block, slots[i], lane] += rate * parts[i]
    for i in range(n, slots.size):
        learned.weights[0, block, slots[i], lane] += rate * parts[i]


@kernel
def note_values(features: Array, real: Array, statistics: Array, x: Array) -> None:
    """Welford's update of the statistics of numeric columns, and counts of zeros and of missing values. These
    begin with a column's first value: whether it was declared or joined then makes no difference.
    """
    for i in range(real.size):
        c = real[i]
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
