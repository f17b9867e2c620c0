"""The wide regression of OptionBoost, which reads triples, too: pairs of columns of the context times one of
options.
"""

from __future__ import annotations

from typing import Any

from banditboost.boosting.gap.chain import score_shared_of
from banditboost.boosting.gap.experts import judge
from banditboost.boosting.gap.options.state import CHAIN
from banditboost.boosting.gap.regression import Reading, ridge_answer, step_ridge
from banditboost.compiled.compile import inlined, kernel
from banditboost.rows.features import NUMERIC


@inlined
def code_of(model: Any, column: int) -> int:
    """Of a nominal column its value; a number has but one slot."""
    return 0 if model.features[column]["kind"] == NUMERIC else model.scratch.codes[column]


@inlined
def context_code(model: Any, first: int, second: int) -> int:
    """Where the values of two columns stand among all pairs of their values."""
    return code_of(model, first) * model.layout.widths[second] + code_of(model, second)


@inlined
def list_wide(model: Any) -> int:
    """The listed row, and its triples after stage 2: how many features that are."""
    scratch, layout, row = model.scratch, model.layout, model.wide_row
    n, start = 0, layout.spans[0]["room"] + layout.spans[1]["room"]
    for i in range(scratch.bounds[0], scratch.bounds[2]):
        row.slots[n], row.values[n] = scratch.slots[i], scratch.values[i]
        n += 1
    for t in range(row.triples.size):
        first, second, own = row.triples[t]["first"], row.triples[t]["second"], row.triples[t]["third"]
        if scratch.codes[first] >= 0 and scratch.codes[second] >= 0 and scratch.codes[own] >= 0:
            value = scratch.numbers[first] * scratch.numbers[second] * scratch.numbers[own]
            if value != 0.0:
                code = context_code(model, first, second) * layout.widths[own] + code_of(model, own)
                row.slots[n], row.values[n] = start + row.triples[t]["slot"] + code, value
                n += 1
    return n


@kernel
def teach_wide(model: Any, y: float) -> None:
    """Judge it, and let it learn every verdict."""
    n, row, wide, losses = list_wide(model), model.wide_row, model.learned.wide, model.learned.losses
    reading = Reading(
        wide.inverse, wide.weights, wide.late, wide.shares, row.product, row.slots[:n], row.values[:n]
    )
    answer = score_shared_of(model, CHAIN) + ridge_answer(reading, CHAIN)
    judge(losses, losses.size - 1, answer, y)
    step_ridge(reading, CHAIN, y - answer)
