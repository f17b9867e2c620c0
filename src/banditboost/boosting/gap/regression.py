"""Regressions for each label, beside the chains: the inverse of each one's matrix is kept, so that a row
tells how unsure its answer is.

See docs/gapboost.md. A narrow one has the features of stage 1, a wide one those of stages 1 and 2.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.gap.state import LANES, Regressions
from banditboost.compiled.compile import allocating, inlined, kernel, lane
from banditboost.inspection.changes import ANEW
from banditboost.inspection.tally import times_learned
from banditboost.types import Array

KNOWN_BEFORE = 4.0  # verdicts that a weight counts for which is learned anew
OPTIMISM, OPTIMISM_ANEW = 0.2, 0.5  # standard deviations of an answer, in units of the recent error


class Reading(NamedTuple):
    """One kind of regressions, and how much of the listed row it reads."""

    inverse: Array  # [groups, slots, slots]
    weights: Array  # [groups, slots]
    late: Array  # [groups, LATE, slots], products of lessons that the inverse does not hold yet,
    shares: Array  # [groups, LATE], and how much of them is to be taken away; 0 if there is none
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
    """The narrow regressions, and what they read of the row: stage 1."""
    return reading_of(model.learned.narrow, model.scratch.narrow, model.scratch, model.layout.reads[0])


@inlined
def wide(model: Any) -> Reading:
    """The wide regressions, and stages 1 and 2 of the row."""
    return reading_of(model.learned.wide, model.scratch.wide, model.scratch, model.layout.reads[1])


@inlined
def reading_of(regressions: Any, product: Array, scratch: Any, n_stages: int) -> Reading:
    """Regressions that read the first stages of the listed row, without what is shared."""
    start, end = scratch.bounds[0], scratch.bounds[n_stages]
    return Reading(
        regressions.inverse,
        regressions.weights,
        regressions.late,
        regressions.shares,
        product,
        scratch.slots[start:end],
        scratch.values[start:end],
    )


@lane
def add_lines(
    values: tuple[float, float, float, float], lines: tuple[Array, Array, Array, Array], product: Array
) -> None:
    """Add four lines of the inverse, times their values, to a product, which is read and written once."""
    (a, b, c, d), (one, two, three, four) = values, lines
    for slot in range(product.size):
        product[slot] = product[slot] + (a * one[slot] + b * two[slot] + (c * three[slot] + d * four[slot]))


@lane
def add_line(value: float, line: Array, product: Array) -> None:
    for slot in range(product.size):
        product[slot] += value * line[slot]


@inlined
def four_of(numbers: Array, i: int) -> tuple[float, float, float, float]:
    return numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]


@inlined
def four_lines(inverse: Array, slots: Array, i: int) -> tuple[Array, Array, Array, Array]:
    return inverse[slots[i]], inverse[slots[i + 1]], inverse[slots[i + 2]], inverse[slots[i + 3]]


@kernel
def multiply_row(reading: Reading, group: int) -> float:
    """The inverse times the row, in reading.product; returns the row times that."""
    product, inverse, slots, values = reading.product, reading.inverse[group], reading.slots, reading.values
    product[:] = 0.0
    n_together = slots.size // 4 * 4
    for i in range(0, n_together, 4):
        add_lines(four_of(values, i), four_lines(inverse, slots, i), product)
    for i in range(n_together, slots.size):
        add_line(values[i], inverse[slots[i]], product)
    for late in range(n_late(reading.shares[group])):
        line, along = reading.late[group, late], 0.0
        for i in range(slots.size):
            along += values[i] * line[slots[i]]
        add_line(-reading.shares[group, late] * along, line, product)
    total = 0.0
    for i in range(slots.size):
        total += values[i] * product[slots[i]]
    return max(0.0, total)


@inlined
def multiply_below(slots: Array, values: Array, inverse: Array, product: Array) -> None:
    """What is below the diagonal of the inverse, transposed, times the row: lines up to the diagonal.

    Slots increase. Of four lines, the first's length is common to all.
    """
    product[:] = 0.0
    n_together = slots.size // 4 * 4
    for i in range(0, n_together, 4):
        common = int(slots[i])
        add_lines(four_of(values, i), four_lines(inverse, slots, i), product[:common])
        for j in range(i + 1, i + 4):
            end = int(slots[j])
            add_line(values[j], inverse[end, common:end], product[common:end])
    for i in range(n_together, slots.size):
        end = int(slots[i])
        add_line(values[i], inverse[end, :end], product[:end])


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


@inlined
def n_late(shares: Array) -> int:
    """How many lessons the inverse does not hold yet."""
    n = 0
    while n < shares.size and shares[n] > 0.0:
        n += 1
    return n


Eight = tuple[float, float, float, float, float, float, float, float]


@inlined
def four_shares(shares: Array, late: Array, i: int) -> tuple[float, float, float, float]:
    return shares[0] * late[0, i], shares[1] * late[1, i], shares[2] * late[2, i], shares[3] * late[3, i]


@inlined
def eight_of(shares: Array, late: Array, i: int) -> Eight:
    """How much of each late lesson is taken away from a line of the inverse."""
    (a, b, c, d), (e, f, g, h) = four_shares(shares, late, i), four_shares(shares[4:], late[4:], i)
    return a, b, c, d, e, f, g, h


@inlined
def are_zero(eight: Eight) -> bool:
    a, b, c, d, e, f, g, h = eight
    return a == 0.0 and h == 0.0 and b == 0.0 and c == 0.0 and d == 0.0 and e == 0.0 and f == 0.0 and g == 0.0


@lane
def take_from_two(one: Eight, other: Eight, lines: tuple[Array, Array], late: Array) -> None:
    """Take eight lessons away from two lines, for which each lesson is read once."""
    (a, b, c, d, e, f, g, h), (aa, bb, cc, dd, ee, ff, gg, hh) = one, other
    q0, q1, q2, q3, q4, q5, q6, q7 = late[0], late[1], late[2], late[3], late[4], late[5], late[6], late[7]
    line, following = lines
    for j in range(line.size):
        x0, x1, x2, x3, x4, x5, x6, x7 = q0[j], q1[j], q2[j], q3[j], q4[j], q5[j], q6[j], q7[j]
        line[j] = line[j] - (a * x0 + b * x1 + c * x2 + d * x3) - (e * x4 + f * x5 + g * x6 + h * x7)
        following[j] = (
            following[j] - (aa * x0 + bb * x1 + cc * x2 + dd * x3) - (ee * x4 + ff * x5 + gg * x6 + hh * x7)
        )


@lane
def take_from_one(one: Eight, line: Array, late: Array) -> None:
    a, b, c, d, e, f, g, h = one
    q0, q1, q2, q3, q4, q5, q6, q7 = late[0], late[1], late[2], late[3], late[4], late[5], late[6], late[7]
    for j in range(line.size):
        line[j] = (
            line[j]
            - (a * q0[j] + b * q1[j] + c * q2[j] + d * q3[j])
            - (e * q4[j] + f * q5[j] + g * q6[j] + h * q7[j])
        )


@inlined
def take_away(shares: Array, late: Array, inverse: Array) -> None:
    """Let the inverse hold the late lessons, all at once: it is read and written once for eight of them."""
    n = inverse.shape[0]
    for i in range(0, n - 1, 2):
        one, other = eight_of(shares, late, i), eight_of(shares, late, i + 1)
        if not (are_zero(one) and are_zero(other)):  # as for nominal values not taught with
            take_from_two(one, other, (inverse[i], inverse[i + 1]), late)
    if n % 2 == 1:
        take_from_one(eight_of(shares, late, n - 1), inverse[n - 1], late)
    shares[:] = 0.0
    late[:, :] = 0.0


@kernel
def step_ridge(reading: Reading, group: int, error: float) -> None:
    """The row joins the regression: Sherman and Morrison's formula."""
    share = 1.0 / (1.0 + multiply_row(reading, group))
    product, inverse, shares = reading.product, reading.inverse[group], reading.shares[group]
    add_line(share * error, product, reading.weights[group])
    if shares.size == 0:
        for i in range(product.size):
            scaled = share * product[i]
            if scaled != 0.0:  # it is 0 for nominal values that the label has not been taught with
                add_line(-scaled, product, inverse[i])
        return
    n = n_late(shares)
    shares[n] = share
    for i in range(product.size):
        reading.late[group, n, i] = product[i]
    if n + 1 == shares.size:
        take_away(shares, reading.late[group], inverse)


@kernel
def forget_lessons(regressions: Regressions, group: int) -> None:
    """The inverse is as at the beginning, but what was learned counts for some verdicts; weights stay."""
    inverse, weights = regressions.inverse[group], regressions.weights[group]
    inverse[:, :] = 0.0
    for slot in range(inverse.shape[0]):
        inverse[slot, slot] = 1.0 if weights[slot] == 0.0 else 1.0 / KNOWN_BEFORE
    for late in range(regressions.shares.shape[1]):
        regressions.shares[group, late] = 0.0
        regressions.late[group, late, :] = 0.0


@kernel
def add_shared_squares(model: Any, widths: Array) -> None:
    """Add what is at shared places to each chain's squared width: the less was learned there, the more."""
    scratch, squares = model.scratch, model.learned.shared[1]
    for block in range(squares.shape[0]):
        lanes = widths[block * LANES : (block + 1) * LANES]
        for i in range(scratch.bounds[0]):
            line, square = squares[block, scratch.slots[i]], scratch.values[i] * scratch.values[i]
            for i_lane in range(LANES):
                lanes[i_lane] += square / (1.0 + line[i_lane])


@allocating
def add_widths(model: Any, error: float, scores: Array) -> None:
    """Optimism: to each label's score a part of its answer's standard deviation, in units of an error; of a
    label without a chain that is the row's length, over the root of one more than its verdicts. A label that
    is learned anew is hoped for more.

    Narrow regressions tell it of columns. At shared places the sums of squared gradients do.
    """
    reading, groups, tally, scratch = narrow(model), model.learned.groups, model.learned.tally, model.scratch
    has_narrow, beliefs = scratch.narrow.size > 0, model.watch.beliefs
    widths, squares = np.zeros(scratch.shared_scores.size), 0.0
    add_shared_squares(model, widths)
    for i in range(scratch.bounds[1] if has_narrow else scratch.bounds[0]):
        squares += scratch.values[i] * scratch.values[i]
    for label in range(scores.size):
        group, n_wrong = groups[label], times_learned(tally, label)
        width = squares / (1.0 + n_wrong)
        if group >= 0:
            width = widths[group]
            if has_narrow:
                width += squared_width(reading, group)
        optimism = OPTIMISM_ANEW if beliefs[label, ANEW] > 0.0 else OPTIMISM
        scores[label] += optimism * error * math.sqrt(width)
