"""The context of a decision, folded once into what the columns of options are multiplied with.

A score is linear in an option's columns once the context is known. So each option costs what its own columns
cost, however many the context has. docs/optionboost.md has the sums that are rearranged here.
"""

from __future__ import annotations

from typing import Any

from banditboost.boosting.gap.chain import BINS, place, scale_of
from banditboost.boosting.gap.options.state import CHAIN, COLUMNS, NARROW, WIDE
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
            folds.widths[k, other] = folds.widths[other, k] = total


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


@inlined
def sum_context(model: Any) -> None:
    """What the constant and the context's columns add to the answers for every option."""
    folds, scratch = model.offered.folds, model.scratch
    folds.sums[:] = 0.0
    for i in range(scratch.bounds[0], scratch.bounds[1]):
        slot, value = scratch.slots[i], scratch.values[i]
        if folds.bundles[slot] == 0:
            folds.sums[COLUMNS] += value * weight_at(model, slot)
            folds.sums[NARROW] += value * folds.answers[slot]
            folds.sums[WIDE] += value * folds.wide_answers[slot]


@inlined
def note_scales(model: Any) -> None:
    """How the columns of options are standardised now."""
    folds, statistics = model.offered.folds, model.learned.statistics
    for i in range(folds.own.size):
        c = folds.own[i]
        folds.zeros[c], folds.units[c] = scale_of(statistics[c], model.learned.counts.verdicts)


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
    sum_context(model)
    note_scales(model)
    if scratch.narrow.size > 0:
        fold_widths(model)
