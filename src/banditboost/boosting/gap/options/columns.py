"""What an option costs once the context is folded: sums over its own columns, and over pairs of them."""

from __future__ import annotations

from typing import Any

from banditboost.boosting.gap.chain import bin_of, has_place, list_columns, standardise
from banditboost.boosting.gap.options.fold import slot_of_bins, weight_at
from banditboost.boosting.gap.options.state import COLUMNS, NARROW, PRODUCTS, WIDE
from banditboost.boosting.gap.words import list_shared
from banditboost.compiled.compile import inlined, kernel
from banditboost.rows.features import NUMERIC
from banditboost.types import Array


@inlined
def list_joint(model: Any, x: Array) -> None:
    """List all columns of a joint row, before its context is folded."""
    scratch = model.scratch
    scratch.verdicts[0] = -1  # what is listed from here on is not the list that `list_row` makes
    scratch.scored[0] = 0
    scratch.bounds[0] = list_shared(model, x)
    scratch.bounds[1] = list_columns(model, x, scratch.bounds[0])


@kernel
def list_option(model: Any, x: Array) -> None:
    """List what a row has at shared places, then the option's own columns that are not zero."""
    scratch, folds, features = model.scratch, model.offered.folds, model.features
    slots, values, codes, numbers = scratch.slots, scratch.values, scratch.codes, scratch.numbers
    n = list_shared(model, x)
    scratch.bounds[0] = n
    for i in range(folds.own.size):
        c = folds.own[i]
        codes[c] = -1
        if not has_place(features[c]["kind"], x[c]):
            continue
        slot = model.layout.columns[c]
        if features[c]["kind"] == NUMERIC:
            numbers[c] = standardise(x[c], folds.zeros[c], folds.units[c])
            codes[c] = bin_of(numbers[c])
        else:
            codes[c], numbers[c] = int(x[c]), 1.0
            slot += codes[c]
        if numbers[c] != 0.0:
            slots[n], values[n] = slot, numbers[c]
            n += 1
    scratch.bounds[1] = n


@kernel
def sum_columns(model: Any) -> tuple[float, float, float, float]:
    """What the columns of the context and of the listed option add to stages 1 and 2, and to the answers of
    the narrow and the wide regression.
    """
    scratch, folds = model.scratch, model.offered.folds
    columns, products = folds.sums[COLUMNS], folds.sums[PRODUCTS]
    narrow, wide = folds.sums[NARROW], folds.sums[WIDE]
    for i in range(scratch.bounds[0], scratch.bounds[1]):
        slot, value = scratch.slots[i], scratch.values[i]
        columns += value * weight_at(model, slot)
        products += value * folds.products[slot]
        narrow += value * folds.answers[slot]
        wide += value * folds.wide_answers[slot]
    return columns, products, narrow, wide


@kernel
def sum_bins(model: Any) -> float:
    """What stage 3 adds to the score of the listed option."""
    folds, codes, total = model.offered.folds, model.scratch.codes, 0.0
    if model.layout.bins.size == 0:
        return total
    for i in range(folds.own.size):
        c = folds.own[i]
        if codes[c] >= 0:
            total += folds.bins[folds.first_bins[c] + codes[c]]
    for p in range(folds.own_bins.size):
        first, second = folds.own_bins[p]["first"], folds.own_bins[p]["second"]
        if codes[first] >= 0 and codes[second] >= 0:
            total += weight_at(model, slot_of_bins(model, folds.own_bins[p], codes[first], codes[second]))
    return total
