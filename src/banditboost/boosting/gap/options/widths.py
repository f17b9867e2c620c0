"""How unsure the regression is of options: eight of them side by side, so that they are multiplied at once.

A squared width is the row times the inverse times the row. The context is folded into `widths`, so that a row
is the bundles of the option's columns.
"""

from __future__ import annotations

from typing import Any

from banditboost.boosting.gap.options.state import CHAIN
from banditboost.boosting.gap.regression import add_shared_squares
from banditboost.boosting.gap.state import LANES
from banditboost.compiled.compile import inlined, kernel, lane
from banditboost.types import Array


@inlined
def begin_block(folds: Any) -> None:
    """No bundles, and no widths."""
    for i in range(folds.n_used[0]):
        folds.place_of[folds.used[i]] = -1
    folds.n_used[0] = 0
    folds.squares[:] = 0.0


@kernel
def note_block(model: Any, number: int, square: float) -> None:
    """Keep the bundles of the listed option, what is known of its values at shared places, and the squared
    width of what is special to its id.
    """
    folds, scratch, answers = model.offered.folds, model.scratch, model.offered.folds.shared_squares
    answers[:] = 0.0
    add_shared_squares(model, answers)
    folds.squares[number] = answers[CHAIN] + square
    if scratch.narrow.size == 0:
        return
    for i in range(scratch.bounds[0], scratch.bounds[1]):
        bundle = folds.bundles[scratch.slots[i]]
        place = folds.place_of[bundle]
        if place < 0:
            place = folds.n_used[0]
            folds.place_of[bundle], folds.used[place] = place, bundle
            folds.block[place, :] = 0.0
            folds.n_used[0] = place + 1
        folds.block[place, number] = scratch.values[i]


@lane
def add_multiple(factor: float, values: Array, sums: Array) -> None:
    for i in range(LANES):
        sums[i] += factor * values[i]


@lane
def add_products(own: float, below: Array, values: Array, squares: Array) -> None:
    for i in range(LANES):
        squares[i] += values[i] * (own * values[i] + 2.0 * below[i])


@kernel
def measure_block(folds: Any) -> None:
    """Complete the squared widths of the options that were noted."""
    if folds.widths.size == 0:
        return
    squares, block, sums = folds.squares, folds.block, folds.below
    for i in range(folds.n_used[0]):
        line = folds.widths[folds.used[i]]
        sums[:] = line[0]
        for j in range(i):
            add_multiple(line[folds.used[j]], block[j], sums)
        add_products(line[folds.used[i]], sums, block[i], squares)
    for i in range(LANES):
        squares[i] = max(0.0, folds.widths[0, 0] + squares[i])
