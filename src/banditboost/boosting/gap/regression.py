"""Regressions for each label, beside the chains: the inverse of each one's matrix is kept, so that a row
tells how unsure its answer is.

See docs/gapboost.md. A narrow one has the features of stage 1, a wide one those of stages 1 and 2.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.gap.state import LANES
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.inspection.tally import BY_LABEL, PER_LABEL
from banditboost.types import Array


class Reading(NamedTuple):
    """One kind of regressions, and how much of the listed row it reads."""

    inverse: Array  # [groups, slots, slots]
    weights: Array  # [groups, slots]
    product: Array  # [slots], of the last inverse with a row; empty if there are no such regressions
    slots: Array  # the row
    values: Array


@inlined
def has_columns(scratch: Any) -> bool:
    """Whether regressions have something to read in the listed row: not where all is at shared places."""
    return scratch.bounds[0] == 0 or scratch.bounds[1] > scratch.bounds[0] + 1


@inlined
def counts_narrow(scratch: Any) -> bool:
    """Whether there are narrow regressions that count in the listed row."""
    return scratch.narrow.size > 0 and has_columns(scratch)


@inlined
def counts_wide(scratch: Any) -> bool:
    """Whether there are wide regressions that count in the listed row."""
    return scratch.wide.size > 0 and has_columns(scratch)


@inlined
def narrow(model: Any) -> Reading:
    """The narrow regressions, and stage 1 of the row."""
    return reading_of(model.learned.narrow, model.scratch.narrow, model.scratch, 1)


@inlined
def wide(model: Any) -> Reading:
    """The wide regressions, and stages 1 and 2 of the row."""
    return reading_of(model.learned.wide, model.scratch.wide, model.scratch, 2)


@inlined
def reading_of(regressions: Any, product: Array, scratch: Any, n_stages: int) -> Reading:
    """Regressions that read the first stages of the listed row, without what is shared."""
    start, end = scratch.bounds[0], scratch.bounds[n_stages]
    return Reading(
        regressions.inverse, regressions.weights, product, scratch.slots[start:end], scratch.values[start:end]
    )


@kernel
def multiply_row(reading: Reading, group: int) -> float:
    """The inverse times the row, in reading.product; returns the row times that."""
    product, inverse, slots, values = reading.product, reading.inverse[group], reading.slots, reading.values
    product[:] = 0.0
    for i in range(slots.size):
        value, line = values[i], inverse[slots[i]]
        for slot in range(product.size):
            product[slot] += value * line[slot]
    total = 0.0
    for i in range(slots.size):
        total += values[i] * product[slots[i]]
    return max(0.0, total)


@inlined
def multiply_below(slots: Array, values: Array, inverse: Array, product: Array) -> None:
    """What is below the diagonal of the inverse, transposed, times the row: lines up to the diagonal."""
    product[:] = 0.0
    for i in range(slots.size):
        value, line = values[i], inverse[slots[i]]
        for slot in range(slots[i]):
            product[slot] += value * line[slot]


@inlined
def gather_below(slots: Array, values: Array, inverse: Array, product: Array) -> None:
    """What is below the diagonal times the row, where it has few features in many slots: only their own
    numbers are read.
    """
    for i in range(slots.size):
        line, part = inverse[slots[i]], 0.0
        for j in range(i):
            part += values[j] * line[slots[j]]
        product[slots[i]] = part


@kernel
def squared_width(reading: Reading, group: int) -> float:
    """The row times the inverse times the row.

    The inverse is symmetric: what is below its diagonal counts twice.
    """
    product, inverse, slots, values = reading.product, reading.inverse[group], reading.slots, reading.values
    if 3 * slots.size > product.size:
        multiply_below(slots, values, inverse, product)
    else:
        gather_below(slots, values, inverse, product)
    total = 0.0
    for i in range(slots.size):
        slot = slots[i]
        total += values[i] * (values[i] * inverse[slot, slot] + 2.0 * product[slot])
    return max(0.0, total)


@kernel
def ridge_answer(reading: Reading, group: int) -> float:
    """What the label's regression says about the row."""
    total = 0.0
    for i in range(reading.slots.size):
        total += reading.values[i] * reading.weights[group, reading.slots[i]]
    return total


@kernel
def step_ridge(reading: Reading, group: int, error: float) -> None:
    """The row joins the regression: Sherman and Morrison's formula."""
    share = 1.0 / (1.0 + multiply_row(reading, group))
    product, inverse = reading.product, reading.inverse[group]
    for i in range(product.size):
        reading.weights[group, i] += share * error * product[i]
        line, scaled = inverse[i], share * product[i]
        if scaled != 0.0:  # it is 0 for nominal values that the label has not been taught with
            for j in range(product.size):
                line[j] -= scaled * product[j]


@kernel
def add_shared_squares(model: Any, widths: Array) -> None:
    """Add what is at shared places to each chain's squared width: the less was learned there, the more."""
    scratch, squares = model.scratch, model.learned.shared[1]
    for block in range(squares.shape[0]):
        lanes = widths[block * LANES : (block + 1) * LANES]
        for i in range(scratch.bounds[0]):
            line, square = squares[block, scratch.slots[i]], scratch.values[i] * scratch.values[i]
            for lane in range(LANES):
                lanes[lane] += square / (1.0 + line[lane])


@allocating
def add_widths(model: Any, factor: float, scores: Array) -> None:
    """Optimism: to each label's score a multiple of its answer's standard deviation; of a label without a
    chain that is the row's length, over the root of one more than its verdicts.

    Narrow regressions tell it of columns. At shared places the sums of squared gradients do.
    """
    reading, groups, tally, scratch = narrow(model), model.learned.groups, model.learned.tally, model.scratch
    has_narrow = scratch.narrow.size > 0
    widths, squares = np.zeros(scratch.shared_scores.size), 0.0
    add_shared_squares(model, widths)
    for i in range(scratch.bounds[1] if has_narrow else scratch.bounds[0]):
        squares += scratch.values[i] * scratch.values[i]
    for label in range(scores.size):
        group, n_wrong = groups[label], tally[BY_LABEL + PER_LABEL * label]
        width = squares / (1.0 + n_wrong)
        if group >= 0:
            width = widths[group]
            if has_narrow:
                width += squared_width(reading, group)
        scores[label] += factor * math.sqrt(width)
