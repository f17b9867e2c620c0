"""Regressions for each label, beside the chains: the inverse of each one's matrix is kept, so that a row tells how unsure its answer is.

See docs/gapboost.md. A narrow one has the features of stage 1, a wide one those of stages 1 and 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from banditboost.kernels.compile import inlined, njit
from banditboost.kernels.layout import Array
from banditboost.kernels.linear import Chains


class Regression(NamedTuple):
    """One for each label, and how much of the listed row it reads."""

    inverse: Array  # [groups, slots, slots]
    weights: Array  # [groups, slots]
    product: Array  # [slots], of the last inverse with a row; empty if there are no such regressions
    end: int


@inlined
def narrow(chains: Chains) -> Regression:
    return Regression(chains.inverse, chains.ridge, chains.product, chains.bounds[1])


@inlined
def wide(chains: Chains) -> Regression:
    return Regression(chains.wide_inverse, chains.wide_ridge, chains.wide_product, chains.bounds[2])


@njit
def multiply_row(chains: Chains, regression: Regression, group: int) -> float:
    """The inverse times the row, in regression.product; returns the row times that."""
    product, inverse = regression.product, regression.inverse[group]
    product[:] = 0.0
    for i in range(regression.end):
        value, line = chains.values[i], inverse[chains.slots[i]]
        for slot in range(product.size):
            product[slot] += value * line[slot]
    total = 0.0
    for i in range(regression.end):
        total += chains.values[i] * product[chains.slots[i]]
    return max(0.0, total)


@inlined
def multiply_below(slots: Array, values: Array, inverse: Array, product: Array) -> None:
    """What is below the diagonal of the inverse, its transpose times the row: whole lines up to the diagonal."""
    product[:] = 0.0
    for i in range(slots.size):
        value, line = values[i], inverse[slots[i]]
        for slot in range(slots[i]):
            product[slot] += value * line[slot]


@inlined
def gather_below(slots: Array, values: Array, inverse: Array, product: Array) -> None:
    """The same, not transposed, where the row has few features in many slots: only their own numbers are read."""
    for i in range(slots.size):
        line, part = inverse[slots[i]], 0.0
        for j in range(i):
            part += values[j] * line[slots[j]]
        product[slots[i]] = part


@njit
def squared_width(chains: Chains, regression: Regression, group: int) -> float:
    """The row times the inverse times the row. The inverse is symmetric: what is below its diagonal counts twice."""
    end, product, inverse = regression.end, regression.product, regression.inverse[group]
    slots, values = chains.slots[:end], chains.values[:end]
    if 3 * end > product.size:
        multiply_below(slots, values, inverse, product)
    else:
        gather_below(slots, values, inverse, product)
    total = 0.0
    for i in range(end):
        slot = slots[i]
        total += values[i] * (values[i] * inverse[slot, slot] + 2.0 * product[slot])
    return max(0.0, total)


@njit
def ridge_answer(chains: Chains, regression: Regression, group: int) -> float:
    total = 0.0
    for i in range(regression.end):
        total += chains.values[i] * regression.weights[group, chains.slots[i]]
    return total


@njit
def step_ridge(chains: Chains, regression: Regression, group: int, error: float) -> None:
    """The row joins the regression: Sherman and Morrison's formula."""
    share = 1.0 / (1.0 + multiply_row(chains, regression, group))
    product, inverse = regression.product, regression.inverse[group]
    for i in range(product.size):
        regression.weights[group, i] += share * error * product[i]
        line, scaled = inverse[i], share * product[i]
        if scaled != 0.0:  # it is 0 for nominal values that the label has not been taught with
            for j in range(product.size):
                line[j] -= scaled * product[j]


@njit
def add_widths(chains: Chains, factor: float, scores: Array) -> None:
    """Optimism: to each label's score a multiple of its answer's standard deviation; of labels not heard of that is the row's length."""
    regression = narrow(chains)
    squares = 0.0
    for i in range(regression.end):
        squares += chains.values[i] * chains.values[i]
    for label in range(scores.size):
        group = chains.groups[label]
        scores[label] += factor * math.sqrt(squared_width(chains, regression, group) if group >= 0 else squares)
