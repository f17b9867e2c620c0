"""Lines 5 to 10 for OptionBoost: every option that is offered gets a score, and one is shown by inverse gaps.

docs/optionboost.md is the specification.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.boosting.exploration import label_at, note_choice
from banditboost.boosting.gap.chain import (
    list_columns,
    score_group,
    score_shared_of,
)
from banditboost.boosting.gap.choose import (
    ask_chains,
    best_label,
    draw_other,
    weigh_labels,
)
from banditboost.boosting.gap.experts import N_REGRESSIONS, clip, recent_error, weigh_experts
from banditboost.boosting.gap.options.fold import fold_context, folded, folded_bins, folded_width
from banditboost.boosting.gap.options.own import own_part
from banditboost.boosting.gap.options.state import CHAIN, ID, SCORE
from banditboost.boosting.gap.regression import add_shared_squares
from banditboost.boosting.gap.state import LANES, STAGES
from banditboost.boosting.gap.words import list_shared
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPLORE, uniform
from banditboost.memo import MOST_PROBABILITIES, POLICY, POLICY_INVERSE_GAPS, VOTES
from banditboost.types import Array

GAMMA_AMONG = 30.0  # how little is left to chance
HOPE = 1.0  # standard deviations of an answer, in units of the recent error


@inlined
def score_stage(model: Any, stage: int) -> float:
    """What a stage adds to the score of the listed row: of columns, of products, of pairs of bins."""
    if stage == 0:
        return score_group(model, 0, CHAIN)
    return folded(model.scratch, model.offered.folds.products) if stage == 1 else folded_bins(model)


@kernel
def score_chain(model: Any, weights: Array, n_asked: int, answers: Array) -> float:
    """The score of the listed row: its experts' mean with weights v. The trees have answered."""
    scratch, folds, n_prefixes = model.scratch, model.offered.folds, weights.size - N_REGRESSIONS
    prefix, total = 0.0, 0.0
    if weights[n_prefixes] > 0.0:
        answer = score_shared_of(model, CHAIN) + folded(scratch, folds.answers)
        total += weights[n_prefixes] * clip(answer)
    if weights[n_prefixes + 1] > 0.0:
        answer = score_shared_of(model, CHAIN) + folded(scratch, folds.wide_answers)
        total += weights[n_prefixes + 1] * clip(answer)
    for stage in range(STAGES):
        prefix += score_stage(model, stage)
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
    """The squared width of what is known of the listed row."""
    widths[:] = 0.0
    add_shared_squares(model, widths)
    width: float = widths[CHAIN]
    if model.scratch.narrow.size > 0:
        width += folded_width(model)
    return width


@kernel
def list_option(model: Any, x: Array) -> None:
    """List the columns of a row; pairs of them are folded."""
    scratch = model.scratch
    scratch.scored[0] = 0
    scratch.bounds[0] = list_shared(model, x)
    scratch.bounds[1] = list_columns(model, x, scratch.bounds[0])


@allocating
def score_options(model: Any, allowed: Array, weights: Array, factor: float) -> None:
    """Score and hope of every option that may be shown."""
    offered, n_learners = model.offered, model.settings.n_learners
    n_asked = n_trees_asked(weights)
    answers, widths = np.empty(n_asked), np.empty(LANES)
    model.scratch.verdicts[0] = -1  # what is listed from here on is not the list that `list_row` makes
    list_option(model, offered.rows[label_at(allowed, 0)])
    fold_context(model)
    for place in range(offered.number[0] if allowed.size == 0 else allowed.size):
        option = label_at(allowed, place)
        x = offered.rows[option]
        list_option(model, x)
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
    least = weigh_experts(learned.losses, scratch.narrow.size > 0, model.wide_row.product.size > 0, weights)
    score_options(model, allowed, weights, HOPE * recent_error(least, verdicts))
    greedy = best_label(offered.scores[:k], allowed)
    factor = GAMMA_AMONG * math.sqrt(verdicts + 1.0)
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
