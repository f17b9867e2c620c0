"""The context of a decision, folded once into what the columns of options are multiplied with.

A score is linear in an option's columns once the context is known. So each option costs what its own columns
cost, however many the context has. docs/optionboost.md has the sums that are rearranged here.
"""

from __future__ import annotations

from typing import Any

from banditboost.boosting.gap.chain import BINS, place
from banditboost.boosting.gap.options.state import CHAIN
from banditboost.boosting.gap.options.wide import context_code
from banditboost.boosting.gap.regression import add_line, add_lines, four_lines, four_of, n_late
from banditboost.boosting.gap.state import LANES
from banditboost.compiled.compile import inlined, kernel
from banditboost.rows.features import NUMERIC
from banditboost.types import Array


@inlined
def add_to_bundle(folds: Any, bundle: int, slot: int, value: float) -> None:
    n = folds.sizes[bundle]
    folds.slots[bundle, n], folds.values[bundle, n] = slot, value
    folds.sizes[bundle] = n + 1


@inlined
def begin_folds(model: Any) -> None:
    """Without products: the answers of single columns, and bundles of one slot. Stage 1 is listed."""
    folds, scratch = model.offered.folds, model.scratch
    folds.products[:] = 0.0
    folds.answers[:] = 0.0
    if scratch.narrow.size == 0:
        return
    for slot in range(folds.answers.size):
        folds.answers[slot] = model.learned.narrow.weights[CHAIN, slot]
        if model.wide_row.product.size > 0:
            folds.wide_answers[slot] = model.learned.wide.weights[CHAIN, slot]
    folds.sizes[:] = 0
    for i in range(scratch.bounds[0], scratch.bounds[1]):
        if folds.bundles[scratch.slots[i]] == 0:
            add_to_bundle(folds, 0, scratch.slots[i], scratch.values[i])
    for slot in range(folds.bundles.size):
        if folds.bundles[slot] > 0:
            add_to_bundle(folds, folds.bundles[slot], slot, 1.0)


@inlined
def fold_pair(model: Any, pair: Any, of_context: int, of_option: int) -> None:
    """Fold the context's value into the slots that a pair has for each value of the option's column."""
    layout, scratch, folds = model.layout, model.scratch, model.offered.folds
    span, value = layout.spans[1], scratch.numbers[of_context]
    code = 0 if model.features[of_context]["kind"] == NUMERIC else scratch.codes[of_context]
    first, step = pair["slot"] + code * layout.widths[of_option], 1
    if of_option < of_context:
        first, step = pair["slot"] + code, layout.widths[of_context]
    is_read = scratch.narrow.size > 0 and layout.reads[0] > 1
    for option_code in range(layout.widths[of_option]):
        slot, at = layout.columns[of_option] + option_code, place(span, first + option_code * step)
        folds.products[slot] += value * weight_at(model, at)
        if model.wide_row.product.size > 0:
            folds.wide_answers[slot] += value * model.learned.wide.weights[CHAIN, at]
        if is_read:
            folds.answers[slot] += value * model.learned.narrow.weights[CHAIN, at]
            add_to_bundle(folds, folds.bundles[slot], at, value)


@inlined
def multiply_bundle(model: Any, slots: Array, values: Array, line: Array) -> None:
    """The regression's inverse times a bundle."""
    narrow = model.learned.narrow
    line[:] = 0.0
    n_together = slots.size // 4 * 4
    for i in range(0, n_together, 4):
        add_lines(four_of(values, i), four_lines(narrow.inverse[CHAIN], slots, i), line)
    for i in range(n_together, slots.size):
        add_line(values[i], narrow.inverse[CHAIN, slots[i]], line)
    for late in range(n_late(narrow.shares[CHAIN])):
        lesson, along = narrow.late[CHAIN, late], 0.0
        for i in range(slots.size):
            along += values[i] * lesson[slots[i]]
        add_line(-narrow.shares[CHAIN, late] * along, lesson, line)


@kernel
def fold_widths(model: Any) -> None:
    """Products of two bundles with the inverse between them."""
    folds = model.offered.folds
    for k in range(folds.sizes.size):
        n = folds.sizes[k]
        multiply_bundle(model, folds.slots[k, :n], folds.values[k, :n], folds.line)
        for other in range(k + 1):
            total = 0.0
            for i in range(folds.sizes[other]):
                total += folds.values[other, i] * folds.line[folds.slots[other, i]]
            folds.widths[k, other] = total


@inlined
def fold_triples(model: Any) -> None:
    """Fold pairs of the context's columns into what the wide regression says of options' columns."""
    layout, scratch, answers = model.layout, model.scratch, model.offered.folds.wide_answers
    triples, start = model.wide_row.triples, layout.spans[0]["room"] + layout.spans[1]["room"]
    for t in range(triples.size):
        first, second, own = triples[t]["first"], triples[t]["second"], triples[t]["third"]
        if scratch.codes[first] >= 0 and scratch.codes[second] >= 0:
            value = scratch.numbers[first] * scratch.numbers[second]
            slot = start + triples[t]["slot"] + context_code(model, first, second) * layout.widths[own]
            for code in range(layout.widths[own]):
                answers[layout.columns[own] + code] += value * model.learned.wide.weights[CHAIN, slot + code]


@inlined
def slot_of_bins(model: Any, pair: Any, first_code: int, second_code: int) -> int:
    """The place of two bins or values, as `list_bins` has it."""
    second = pair["second"]
    slot = pair["slot"] + second_code
    if pair["first"] != second:
        numeric = model.features[second]["kind"] == NUMERIC
        slot += first_code * (BINS if numeric else model.layout.widths[second])
    return int(place(model.layout.spans[2], slot))


@inlined
def fold_bins(model: Any) -> None:
    """Fold the bins of the context's columns into those of options' columns."""
    folds, codes, bins = model.offered.folds, model.scratch.codes, model.layout.bins
    folds.bins[:] = 0.0
    for p in range(bins.size):
        first, second = bins[p]["first"], bins[p]["second"]
        if model.of_options[first] == model.of_options[second]:
            continue
        own = first if model.of_options[first] != 0 else second
        if codes[first + second - own] < 0:
            continue
        numeric = model.features[own]["kind"] == NUMERIC
        for code in range(BINS if numeric else model.layout.widths[own]):
            first_code = code if own == first else codes[first]
            at = slot_of_bins(model, bins[p], first_code, codes[second] if own == first else code)
            folds.bins[folds.first_bins[own] + code] += weight_at(model, at)


@inlined
def weight_at(model: Any, at: int) -> float:
    weight: float = model.learned.weights[0, CHAIN // LANES, at, CHAIN % LANES]
    return weight


@kernel
def folded_bins(model: Any) -> float:
    """What stage 3 adds to the score of the row whose columns are listed."""
    folds, codes, total = model.offered.folds, model.scratch.codes, 0.0
    if model.layout.bins.size == 0:
        return total
    for c in range(model.features.size):
        if model.of_options[c] != 0 and codes[c] >= 0:
            total += folds.bins[folds.first_bins[c] + codes[c]]
    for p in range(folds.own_bins.size):
        first, second = folds.own_bins[p]["first"], folds.own_bins[p]["second"]
        if codes[first] >= 0 and codes[second] >= 0:
            total += weight_at(model, slot_of_bins(model, folds.own_bins[p], codes[first], codes[second]))
    return total


@kernel
def fold_context(model: Any) -> None:
    """Fold the context of the row whose stage 1 is listed."""
    scratch, products = model.scratch, model.layout.products
    begin_folds(model)
    for p in range(products.size):
        pair = products[p]
        of_context, of_option = pair["first"], pair["second"]
        if model.of_options[of_context] != 0:
            of_context, of_option = of_option, of_context
        if scratch.codes[of_context] >= 0 and scratch.numbers[of_context] != 0.0:
            fold_pair(model, pair, of_context, of_option)
    fold_triples(model)
    fold_bins(model)
    if scratch.narrow.size > 0:
        fold_widths(model)


@kernel
def folded_width(model: Any) -> float:
    """The listed row times the inverse times the row."""
    folds, scratch = model.offered.folds, model.scratch
    total = folds.widths[0, 0]
    start, end = scratch.bounds[0], scratch.bounds[1]
    for i in range(start, end):
        bundle, below = folds.bundles[scratch.slots[i]], 0.0
        if bundle == 0:
            continue
        line = folds.widths[bundle]
        below = line[0]
        for j in range(start, i):
            other = folds.bundles[scratch.slots[j]]
            if other > 0:
                below += scratch.values[j] * line[other]
        total += scratch.values[i] * (scratch.values[i] * line[bundle] + 2.0 * below)
    return max(0.0, total)


@inlined
def folded(scratch: Any, weights: Array) -> float:
    """The sum of a row's columns, each times what the context was folded into."""
    total = 0.0
    for i in range(scratch.bounds[0], scratch.bounds[1]):
        total += scratch.values[i] * weights[scratch.slots[i]]
    return total
