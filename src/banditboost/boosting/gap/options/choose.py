"""Lines 5 to 10 for OptionBoost: every option that is offered gets a score, and one is shown by inverse gaps.

docs/optionboost.md is the specification.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.boosting.exploration import label_at, note_choice
from banditboost.boosting.gap.chain import score_shared_of
from banditboost.boosting.gap.choose import best_label, draw_other, weigh_labels
from banditboost.boosting.gap.experts import N_REGRESSIONS, clip, recent_error, weigh_experts
from banditboost.boosting.gap.options.columns import list_joint, list_option, sum_bins, sum_columns
from banditboost.boosting.gap.options.fold import fold_context
from banditboost.boosting.gap.options.lines import line_answer, line_square, list_line, trust_in_lines
from banditboost.boosting.gap.options.own import mean_missed
from banditboost.boosting.gap.options.state import CHAIN, ID, SCORE
from banditboost.boosting.gap.options.walk import ask_walking, begin_walk
from banditboost.boosting.gap.options.widths import begin_block, measure_block, note_block
from banditboost.boosting.gap.state import LANES, STAGES
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPLORE, uniform
from banditboost.memo import MOST_PROBABILITIES, POLICY, POLICY_INVERSE_GAPS, VOTES
from banditboost.types import Array

GAMMA_AMONG = 30.0  # how little is left to chance
HOPE = 1.0  # standard deviations of an answer, in units of the recent error


@kernel
def score_chain(model: Any, weights: Array, answers: Array) -> float:
    """The score of the listed option: its experts' mean with weights v. The trees have answered."""
    n_prefixes, shared, total = weights.size - N_REGRESSIONS, score_shared_of(model, CHAIN), 0.0
    columns, products, narrow, wide = sum_columns(model)
    if weights[n_prefixes] > 0.0:
        total += weights[n_prefixes] * clip(shared + narrow)
    if weights[n_prefixes + 1] > 0.0:
        total += weights[n_prefixes + 1] * clip(shared + wide)
    prefix = shared + columns
    total += weights[0] * clip(prefix)
    prefix += products
    total += weights[1] * clip(prefix)
    prefix += sum_bins(model)
    total += weights[2] * clip(prefix)
    for i in range(answers.size):
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


@inlined
def own_part(model: Any, number: float, trust: float) -> float:
    """What is special to an id: the mean of what its scores have missed, and its line."""
    mean = mean_missed(model.learned.own, number)
    return mean + trust * (line_answer(model, number) - mean) if trust > 0.0 else mean


@inlined
def own_square(model: Any, number: float, trust: float) -> float:
    """How unsure that is, squared."""
    return trust * line_square(model, number) if trust > 0.0 else 0.0


@allocating
def score_options(model: Any, allowed: Array, weights: Array, factor: float) -> None:
    """Score and hope of every option that may be shown, eight after eight."""
    offered, n_asked = model.offered, n_trees_asked(weights)
    walk = begin_walk(model, n_asked, offered.rows[label_at(allowed, 0)])
    list_joint(model, offered.rows[label_at(allowed, 0)])
    list_line(model)
    fold_context(model)
    trust = trust_in_lines(model.learned.lines)
    n = offered.number[0] if allowed.size == 0 else allowed.size
    for first in range(0, n, LANES):
        end = min(n, first + LANES)
        begin_block(offered.folds)
        for place in range(first, end):
            option = label_at(allowed, place)
            list_option(model, offered.rows[option])
            ask_walking(model, walk, offered.rows[option])
            offered.alone[option] = score_chain(model, weights, walk.answers)
            offered.scores[option] = offered.alone[option] + own_part(model, offered.ids[option], trust)
            note_block(model, place - first, own_square(model, offered.ids[option], trust))
        measure_block(offered.folds)
        for place in range(first, end):
            option, width = label_at(allowed, place), offered.folds.squares[place - first]
            offered.hopes[option] = offered.scores[option] + factor * math.sqrt(width)


@allocating
def choose_option(model: Any, memo: Array, key: int) -> None:
    """From a context and options to one of them, which goes into the memo with its context."""
    learned, offered, k = model.learned, model.offered, model.offered.number[0]
    verdicts, scratch = learned.counts.verdicts, model.scratch
    allowed = offered.allowed[1 : 1 + scratch.allowed[0]]
    weights, probabilities = np.empty(learned.losses.size), offered.probabilities[:k]
    least = weigh_experts(learned.losses, scratch.narrow.size > 0, model.wide_row.product.size > 0, weights)
    least = min(least, min(learned.lines.losses[0], learned.lines.losses[1]))
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
