"""The linear stages of all chains: a row becomes a short list of slots and values, a label's score is a sum over it. See docs/gapboost.md.

Weights are stored as [block of 8 labels, slot, lane]: a decision scores eight labels in one vectorised pass, each sum still in the order of
the list, and a lesson touches one cache line for each item of it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from banditboost.kernels.compile import allocating, inlined, njit
from banditboost.kernels.layout import NUMERIC, Array
from banditboost.kernels.rng import PAIR_OF_COLUMNS, mix, round_key, to_u64, uniform

STAGES = 3  # columns, products of pairs, pairs of bins
LANES = 8
LINEAR_STEP = 0.35  # smaller ones lost labels in single passes (Isolet at 0.25), larger ones are a little worse at the end
FARTHEST = 4.0  # standard deviations; bounds a product at 16
BIN_WIDTH = 0.5  # standard deviations; 1 joins neighbouring values of Balance
BINS = 11  # the outer ones are open

COLUMN = np.dtype([("slot", "i8"), ("count", "f8"), ("mean", "f8"), ("squares", "f8")], align=True)
PAIR = np.dtype([("first", "i8"), ("second", "i8"), ("slot", "i8")], align=True)
# Where a stage's slots are: the first one, how many it needs, and how many there are. Fewer than needed are shared by a hash.
SPAN = np.dtype([("start", "i8"), ("needed", "i8"), ("room", "i8")], align=True)
# From where to where the weights of one pair (of a column, in stage 1) move when slots are handed out anew.
MOVE = np.dtype([("stage", "i8"), ("before", "i8"), ("after", "i8"), ("rows", "i8"), ("width", "i8"), ("new_width", "i8")], align=True)


class Chains(NamedTuple):
    """The linear stages of all labels, and the row that they have been shown last."""

    groups: Array  # of each label, the number of its chain: group = 8 block + lane; -1 before its first verdict
    weights: Array  # [2, blocks, slots, lanes]: weights, and sums of squared gradients
    norms: Array  # by stage: sum of the squared values of all rows learned
    columns: Array  # COLUMN[d]: first slot in stage 1, and statistics of numeric columns
    products: Array  # PAIR: the pairs of columns of stage 2; slots count from the stage's first
    bins: Array  # PAIR: those of stage 3
    spans: Array  # SPAN[3]
    slots: Array  # the row as a list: slots and values of what is not zero. Slots are unsigned: no index is looked at for a minus sign
    values: Array
    roots: Array  # [2, length of the list]: scratch space of a step
    scores: Array  # [3, 8 blocks]: what each stage has added to the scores of the row,
    scored: Array  # [1] of the first so many stages
    bounds: Array  # [4]: where each stage's part of the list begins and ends
    codes: Array  # by column: the nominal value or the bin; -1 if missing
    numbers: Array  # by column: the standardised value, or 1
    row: Array  # of which the list was made,
    verdicts: Array  # [1] and when: the statistics are those after so many verdicts
    probabilities: Array  # by label, of the last decision
    inverse: Array  # [groups, slots, slots] of the narrow regressions beside the chains, on the slots of stage 1
    ridge: Array  # [groups, slots]: their weights
    product: Array  # [slots], of the last inverse with a row; empty if rows are too wide for them
    wide_inverse: Array  # the same of the wide regressions, on the slots of stages 1 and 2
    wide_ridge: Array
    wide_product: Array


@inlined
def place(span: Any, slot: int) -> int:
    """Where a stage's slot is."""
    if span["needed"] > span["room"]:
        slot = int(np.int64(mix(to_u64(slot + 1)) & to_u64(span["room"] - 1)))  # shared room is a power of two
    return int(span["start"] + slot)


@inlined
def standardise(column: Any, value: float) -> float:
    if not column["squares"] > 0.0:
        return 0.0
    z: float = (value - column["mean"]) / math.sqrt(column["squares"] / column["count"])
    return min(max(z, -FARTHEST), FARTHEST)


@inlined
def list_columns(features: Array, chains: Chains, x: Array) -> int:
    """Stage 1: the constant, then every column that is present and not zero."""
    slots, values = chains.slots, chains.values
    slots[0], values[0] = 0, 1.0
    n = 1
    for c in range(features.size):
        chains.codes[c] = -1
        if x[c] != x[c]:
            continue
        slot = chains.columns[c]["slot"]
        if features[c]["kind"] == NUMERIC:
            z = standardise(chains.columns[c], x[c])
            half = BINS // 2
            chains.codes[c] = int(min(max(math.floor(z / BIN_WIDTH + 0.5), -half), half)) + half
            chains.numbers[c] = z
        else:
            chains.codes[c] = int(x[c])
            chains.numbers[c] = 1.0
            slot += int(x[c])
        if chains.numbers[c] != 0.0:
            slots[n], values[n] = slot, chains.numbers[c]
            n += 1
    return n


@inlined
def list_drawn_products(features: Array, chains: Chains, n: int) -> int:
    """Stage 2 where its pairs are too many and some were drawn: one after the other."""
    for p in range(chains.products.size):
        i, j = chains.products[p]["first"], chains.products[p]["second"]
        if chains.codes[i] < 0 or chains.codes[j] < 0:
            continue
        value = chains.numbers[i] * chains.numbers[j]
        if value == 0.0:
            continue
        slot = chains.products[p]["slot"]
        width = 1
        if features[j]["kind"] != NUMERIC:
            slot += chains.codes[j]
            width = features[j]["n_values"]
        if features[i]["kind"] != NUMERIC:
            slot += chains.codes[i] * width
        chains.slots[n], chains.values[n] = place(chains.spans[1], slot), value
        n += 1
    return n


@inlined
def list_bins(features: Array, chains: Chains, n: int) -> int:
    """Stage 3: 1 at the place of the two columns' bins or nominal values."""
    for p in range(chains.bins.size):
        i, j = chains.bins[p]["first"], chains.bins[p]["second"]
        if chains.codes[i] < 0 or chains.codes[j] < 0:
            continue
        slot = chains.bins[p]["slot"] + chains.codes[j]
        if i != j:
            slot += chains.codes[i] * (BINS if features[j]["kind"] == NUMERIC else features[j]["n_values"])
        chains.slots[n], chains.values[n] = place(chains.spans[2], slot), 1.0
        n += 1
    return n


@inlined
def list_products(features: Array, chains: Chains, n: int) -> int:
    """Stage 2: products of the values of two columns, at the place of their nominal values.

    A pair (i, j) has width_i width_j slots, ordered by i, its value and that of j: the slot is that of i in stage 1, times width_j.
    So the products of a column are the list of stage 1 up to this column, after the constant, times its value.
    """
    span, first, end, begin = chains.spans[1], 0, 1, n
    for j in range(features.size):
        first += j + 1 if features[j]["kind"] == NUMERIC else j  # a numeric column has a pair with itself
    if chains.products.size < first:
        return list_drawn_products(features, chains, n)
    first = 0
    for j in range(features.size):
        numeric = features[j]["kind"] == NUMERIC
        n_pairs = j + 1 if numeric else j
        if chains.codes[j] >= 0 and chains.numbers[j] != 0.0:
            end += 1
            if n_pairs > 0:
                width = 1 if numeric else features[j]["n_values"]
                start = chains.products[first]["slot"] + (0 if numeric else chains.codes[j]) - width + span["start"]
                value, slots, values = chains.numbers[j], chains.slots[n:], chains.values[n:]
                n_products = end - 1 if numeric else end - 2
                for i in range(n_products):
                    values[i] = chains.values[1 + i] * value
                    slots[i] = start + chains.slots[1 + i] * width
                n += n_products
        first += n_pairs
    if span["needed"] > span["room"]:
        for i in range(begin, n):
            chains.slots[i] = place(span, chains.slots[i] - span["start"])
    return n


@njit
def list_row(features: Array, chains: Chains, x: Array, verdicts: int) -> None:
    """Make the list of a row, with the statistics of now; unless it is the one that is there."""
    same = chains.verdicts[0] == verdicts
    for c in range(x.size):
        same = same and (x[c] == chains.row[c] or (x[c] != x[c] and chains.row[c] != chains.row[c]))
        chains.row[c] = x[c]
    if same:
        return
    chains.verdicts[0] = verdicts
    chains.scored[0] = 0
    chains.bounds[1] = list_columns(features, chains, x)
    chains.bounds[2] = list_products(features, chains, chains.bounds[1])
    chains.bounds[3] = list_bins(features, chains, chains.bounds[2])


@njit
def score_stages(chains: Chains, n_stages: int) -> None:
    """What the first stages add to every label's score. Eight sums at a time, each in the order of the list.

    Stages that have scored this row need not do so again: weights change with a verdict only, and then the list is made anew.
    """
    n_blocks, first = chains.weights.shape[1], chains.scored[0]
    for step in range(n_blocks * max(0, n_stages - first)):
        stage, block = first + step // n_blocks, step % n_blocks
        start, end, scores, weights = chains.bounds[stage], chains.bounds[stage + 1], chains.scores[stage], chains.weights[0, block]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(start, end):
            w = weights[chains.slots[i]]
            v = chains.values[i]
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
    chains.scored[0] = max(first, n_stages)


@njit
def score_group(chains: Chains, stage: int, group: int) -> float:
    """What a stage adds to one label's score, as `score_stages` has it."""
    if stage < chains.scored[0]:
        return chains.scores[stage, group]
    block, lane = group // LANES, group % LANES
    total = 0.0
    for i in range(chains.bounds[stage], chains.bounds[stage + 1]):
        total += chains.values[i] * chains.weights[0, block, chains.slots[i], lane]
    return total


@njit
def note_norm(chains: Chains, stage: int) -> None:
    for i in range(chains.bounds[stage], chains.bounds[stage + 1]):
        chains.norms[stage] += chains.values[i] * chains.values[i]


@inlined
def add_squares(chains: Chains, stage: int, group: int, error: float, roots: Array) -> None:
    """Note the norm, add the squared gradients, and take the roots of the sums; infinite where there was no gradient: no step there."""
    start, span, lane = chains.bounds[stage], chains.spans[stage], group % LANES
    slots, values = chains.slots[start : start + roots.size], chains.values[start : start + roots.size]
    squares, norm = chains.weights[1, group // LANES], chains.norms[stage]
    for i in range(roots.size):
        norm += values[i] * values[i]
        square = squares[slots[i], lane] + (error * values[i]) ** 2
        squares[slots[i], lane] = square
        roots[i] = square
    chains.norms[stage] = norm
    if span["needed"] > span["room"]:  # two may share a slot
        for i in range(roots.size):
            roots[i] = squares[slots[i], lane]
    for i in range(roots.size):
        root = math.sqrt(roots[i])
        roots[i] = root if root > 0.0 else math.inf


@njit
def step_stage(chains: Chains, stage: int, group: int, error: float, verdicts: int) -> None:
    """A step that takes the score towards its goal, in the closed form of the flow: never past it. The row's norm is noted on the way."""
    start, end, lane = chains.bounds[stage], chains.bounds[stage + 1], group % LANES
    slots, values, weights = chains.slots[start:end], chains.values[start:end], chains.weights[0, group // LANES]
    roots, parts = chains.roots[0, : end - start], chains.roots[1, : end - start]
    add_squares(chains, stage, group, error, roots)
    rate = LINEAR_STEP / math.sqrt(chains.norms[stage] / verdicts)
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


@njit
def note_values(features: Array, columns: Array, x: Array) -> None:
    """Welford's update of the statistics of numeric columns."""
    for c in range(features.size):
        if features[c]["kind"] == NUMERIC and x[c] == x[c]:
            columns[c]["count"] += 1.0
            delta = x[c] - columns[c]["mean"]
            columns[c]["mean"] += delta / columns[c]["count"]
            columns[c]["squares"] += delta * (x[c] - columns[c]["mean"])


@allocating
def pair_draws(seed: int, first: int, end: int) -> Array:
    """The keyed numbers of pairs of columns, by which some are taken if there are too many."""
    draws = np.empty(end - first)
    for number in range(first, end):
        draws[number - first] = uniform(round_key(seed, 0), PAIR_OF_COLUMNS, number)
    return draws


@njit
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
