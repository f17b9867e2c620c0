"""Lines 5 to 10 for OptionBoost: every option that is offered gets a score, and one is shown by inverse gaps.

docs/optionboost.md is the specification.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.boosting.exploration import label_at, note_choice
from banditboost.boosting.gap.chain import list_row, score_group, score_shared_of
from banditboost.boosting.gap.choose import (
    GAMMA,
    GAMMA_WITH_HOPE,
    OPTIMISM,
    ask_chains,
    best_label,
    draw_other,
    weigh_labels,
)
from banditboost.boosting.gap.experts import N_REGRESSIONS, clip, recent_error, weigh_experts
from banditboost.boosting.gap.options.own import own_part
from banditboost.boosting.gap.options.state import CHAIN, ID, SCORE
from banditboost.boosting.gap.regression import add_shared_squares, narrow, ridge_answer, squared_width, wide
from banditboost.boosting.gap.state import LANES, STAGES
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPLORE, uniform
from banditboost.memo import MOST_PROBABILITIES, POLICY, POLICY_INVERSE_GAPS, VOTES
from banditboost.types import Array


@kernel
def score_chain(model: Any, weights: Array, n_asked: int, answers: Array) -> float:
    """The score of the listed row: its experts' mean with weights v. The trees have answered."""
    n_prefixes = weights.size - N_REGRESSIONS
    for_narrow, for_wide = weights[n_prefixes], weights[n_prefixes + 1]
    prefix, total = 0.0, 0.0
    shared = score_shared_of(model, CHAIN)
    if for_narrow > 0.0:
        total += for_narrow * clip(shared + ridge_answer(narrow(model), CHAIN))
    if for_wide > 0.0:
        total += for_wide * clip(shared + ridge_answer(wide(model), CHAIN))
    for stage in range(STAGES):
        prefix += score_group(model, stage, CHAIN)
        total += weights[stage] * clip(prefix)
    for i in range(n_asked):
        prefix += answers[i]
        total += weights[STAGES + i] * clip(prefix)
    return total


@inlined
def n_trees_asked(weights: Array) -> int:
    """Trees after the last one that counts need not be asked."""
    n = weights.size - N_REGRESSIONS
    while n > STAGES and weights[n - 1] == 0.0:
        n -= 1
    return n - STAGES


@kernel
def width_of(model: Any, widths: Array) -> float:
    """The squared width of what the listed row is told by."""
    widths[:] = 0.0
    add_shared_squares(model, widths)
    width: float = widths[CHAIN]
    if model.scratch.narrow.size > 0:
        width += squared_width(narrow(model), CHAIN)
    return width


@allocating
def score_options(model: Any, allowed: Array, weights: Array, factor: float) -> None:
    """Score and hope of every option that may be shown."""
    offered, n_learners = model.offered, model.settings.n_learners
    n_asked = n_trees_asked(weights)
    answers, widths = np.empty(n_asked), np.empty(LANES)
    for place in range(offered.number[0] if allowed.size == 0 else allowed.size):
        option = label_at(allowed, place)
        x = offered.rows[option]
        list_row(model, x)
        if n_asked > 0:
            ask_chains(model, 0, n_learners, n_asked, x, answers)
        offered.alone[option] = score_chain(model, weights, n_asked, answers)
        score = offered.alone[option] + own_part(model.learned.own, offered.ids[option])
        offered.scores[option] = score
        offered.hopes[option] = score + factor * math.sqrt(width_of(model, widths))


@allocating
def choose_option(model: Any, memo: Array, key: int) -> None:
    """From a context and options to one of them, which goes into the memo with its context."""
    learned, offered, k = model.learned, model.offered, model.offered.number[0]
    verdicts, scratch = learned.counts.verdicts, model.scratch
    allowed = offered.allowed[1 : 1 + scratch.allowed[0]]
    weights, probabilities = np.empty(learned.losses.size), offered.probabilities[:k]
    least = weigh_experts(learned.losses, scratch.narrow.size > 0, scratch.wide.size > 0, weights)
    score_options(model, allowed, weights, OPTIMISM * recent_error(least, verdicts))
    greedy = best_label(offered.scores[:k], allowed)
    has_hopes = scratch.narrow.size > 0 or learned.places.size > 0
    factor = math.sqrt(verdicts + 1.0) * (GAMMA_WITH_HOPE if has_hopes else GAMMA)
    best = weigh_labels(offered.hopes[:k], allowed, factor, probabilities)
    shown = draw_other(probabilities, best, uniform(key, EXPLORE, 0))
    note_choice(memo, shown, greedy, probabilities[shown], 0.0, allowed.size)
    memo[POLICY] = POLICY_INVERSE_GAPS
    memo[ID], memo[SCORE] = offered.ids[shown], offered.alone[shown]
    if k <= MOST_PROBABILITIES:
        for option in range(k):
            memo[VOTES + option] = probabilities[option]
    start = model.settings.row_start
    for c in range(memo.size - start):
        memo[start + c] = offered.rows[shown, c]
