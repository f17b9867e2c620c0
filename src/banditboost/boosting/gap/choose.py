"""Lines 5 to 10 for GapBoost: every label gets a score, and is shown by inverse gaps.

docs/gapboost.md is the specification.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.boosting.exploration import allowed_labels, label_at, note_choice
from banditboost.boosting.gap.chain import list_row, list_stages, score_stages
from banditboost.boosting.gap.experts import N_REGRESSIONS, clip, recent_error, weigh_experts
from banditboost.boosting.gap.regression import (
    add_widths,
    counts_narrow,
    counts_wide,
    narrow,
    ridge_answer,
    wide,
)
from banditboost.boosting.gap.state import STAGES
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPLORE, uniform
from banditboost.inspection.changes import RISE
from banditboost.inspection.tally import times_learned
from banditboost.memo import MOST_PROBABILITIES, POLICY, POLICY_INVERSE_GAPS, VOTES
from banditboost.trees.layout import Forest
from banditboost.trees.leaf_prediction import leaf_score
from banditboost.trees.route import find_leaves
from banditboost.types import Array

TREE_SHARE = 0.2  # of a tree's answer in a chain's score: ten trees can turn any score around
GAMMA, GAMMA_WITH_HOPE = 1.0, 10.0  # how little is left to chance: less of it where hopes explore
MOST_GAMMA = 700.0  # of them: changes are looked for at a cost of about a 700th of the doubt
LEAST_DOUBT = 0.01  # keeps every probability positive
PATIENCE = 2.0  # wrong verdicts after which a label without a chain scores -0.5: Laplace's rule


@inlined
def leaf_answer(forest: Forest, leaf: int, x: Array) -> float:
    """What a leaf adds to scores."""
    return TREE_SHARE * (2.0 * leaf_score(forest, leaf, x) - 1.0)


@kernel
def answer_leaves(
    forest: Forest, first: int, distance: int, n_asked: int, leaves: Array, x: Array, answers: Array
) -> None:
    """What these leaves of the first n_asked of every `distance` trees add to scores. A tree that has not
    split adds nothing: stage 1 has a constant, which learns sooner what a root knows.
    """
    tree, end = first, first + n_asked
    for i in range(leaves.size):
        if tree == end:
            tree, end = end - n_asked + distance, end + distance
        answers[i] = 0.0
        if leaves[i] != forest.trees[tree]["root"]:
            answers[i] = leaf_answer(forest, leaves[i], x)
        tree += 1


@allocating
def ask_trees(forest: Forest, first: int, distance: int, n_asked: int, x: Array, answers: Array) -> None:
    """What the first n_asked of every `distance` trees add to their chains' scores."""
    nodes = np.empty((2, answers.size), np.int64)
    find_leaves(forest, first, distance, n_asked, x, nodes[0], nodes[1])
    answer_leaves(forest, first, distance, n_asked, nodes[0], x, answers)


@kernel
def leave_words_out(model: Any, x: Array) -> None:
    """The row as trees read it, who know nothing of words."""
    real, columns = model.layout.real, model.scratch.columns
    for i in range(real.size):
        columns[i] = x[real[i]]


@allocating
def ask_chains(model: Any, first: int, distance: int, n_asked: int, x: Array, answers: Array) -> None:
    """As `ask_trees`, for a row that may have words."""
    if model.scratch.columns.size > 0:
        leave_words_out(model, x)
        ask_trees(model.forest, first, distance, n_asked, model.scratch.columns, answers)
    else:
        ask_trees(model.forest, first, distance, n_asked, x, answers)


@kernel
def mix_experts(
    model: Any, n_linear: int, n_asked: int, answers: Array, weights: Array, scores: Array
) -> None:
    """The score of every label, from what the stages and trees that count have answered.

    A label without a chain was wrong whenever it was shown, and scores the lower the more often that was.
    """
    groups, tally, stage_scores = model.learned.groups, model.learned.tally, model.scratch.scores
    n_prefixes, shared = weights.size - N_REGRESSIONS, model.scratch.shared_scores
    for_narrow, for_wide = weights[n_prefixes], weights[n_prefixes + 1]  # 0 if they do not count
    for label in range(scores.size):
        group, n_wrong = groups[label], times_learned(tally, label)
        prefix, total = 0.0, -n_wrong / (n_wrong + PATIENCE)
        if group >= 0:
            total = 0.0
            if for_narrow > 0.0:
                total += for_narrow * clip(shared[group] + ridge_answer(narrow(model), group))
            if for_wide > 0.0:
                total += for_wide * clip(shared[group] + ridge_answer(wide(model), group))
            for stage in range(n_linear):
                prefix += stage_scores[stage, group]
                total += weights[stage] * clip(prefix)
            for i in range(n_asked):
                prefix += answers[group * n_asked + i]
                total += weights[STAGES + i] * clip(prefix)
        scores[label] = total


@allocating
def score_labels(model: Any, x: Array, weights: Array, scores: Array) -> None:
    """Each label's score in [-1, 1]: its experts' mean with weights v. Labels not heard of have 0."""
    n_stages = weights.size - N_REGRESSIONS
    n_trees = n_stages - STAGES
    while (
        n_stages > 0 and weights[n_stages - 1] == 0.0
    ):  # those after the last one that counts need not be asked
        n_stages -= 1
    n_linear, n_asked = min(n_stages, STAGES), max(n_stages - STAGES, 0)
    asks_wide = weights[weights.size - 1] > 0.0
    list_stages(model, max(n_linear, 2) if asks_wide else n_linear)
    score_stages(model, n_linear)
    answers = np.empty(model.forest.trees.size // n_trees * n_asked)
    ask_chains(model, 0, n_trees, n_asked, x, answers)
    mix_experts(model, n_linear, n_asked, answers, weights, scores)


@inlined
def best_label(scores: Array, allowed: Array) -> int:
    """The first of those with the largest score."""
    best = label_at(allowed, 0)
    for place in range(1, scores.size if allowed.size == 0 else allowed.size):
        if scores[label_at(allowed, place)] > scores[best]:
            best = label_at(allowed, place)
    return best


@kernel
def weigh_labels(scores: Array, allowed: Array, factor: float, probabilities: Array) -> int:
    """Inverse gap weighting in units of the doubt about the best label, which is returned; 0 for labels that
    are not allowed.
    """
    k = scores.size if allowed.size == 0 else allowed.size
    for label in range(scores.size):
        probabilities[label] = 0.0
    best = best_label(scores, allowed)
    doubt = max(0.5 * (1.0 - scores[best]), LEAST_DOUBT)
    gamma = factor * k / doubt
    total = 0.0
    for place in range(k):
        label = label_at(allowed, place)
        if label != best:
            probabilities[label] = 1.0 / (k + gamma * 0.5 * (scores[best] - scores[label]))
            total += probabilities[label]
    probabilities[best] = 1.0 - total
    return best


@kernel
def raise_suspects(scores: Array, allowed: Array, beliefs: Array) -> None:
    """A label whose rewards seem to have risen comes nearer to the best one: it is tried more often."""
    best = best_label(scores, allowed)
    for label in range(scores.size):
        if beliefs[label, RISE] > 0.0:
            scores[label] = scores[best] - (scores[best] - scores[label]) * math.exp(-beliefs[label, RISE])


@inlined
def draw_other(probabilities: Array, best: int, u: float) -> int:
    """The first label other than the best with which the sum of probabilities is above u; else the best."""
    total = 0.0
    for label in range(probabilities.size):
        if label != best:
            total += probabilities[label]
            if u < total:
                return label
    return best


@allocating
def choose(model: Any, memo: Array, key: int) -> None:
    """From a row to a label to show, all of which goes into the memo."""
    settings, learned, scratch, allowed = (
        model.settings,
        model.learned,
        model.scratch,
        allowed_labels(model.scratch),
    )
    k, verdicts = settings.n_labels, learned.counts.verdicts
    x, probabilities = memo[settings.row_start :], scratch.probabilities
    weights, scores = np.empty(learned.losses.size), np.empty(k)
    list_row(model, x)
    least = weigh_experts(learned.losses, counts_narrow(scratch), counts_wide(scratch), weights)
    score_labels(model, x, weights, scores)
    greedy = best_label(scores, allowed)
    has_hopes = scratch.narrow.size > 0 or scratch.bounds[0] > 0
    if has_hopes:
        add_widths(model, recent_error(least, verdicts), scores)
    factor = math.sqrt(verdicts - learned.counts.began + 1.0) * (GAMMA_WITH_HOPE if has_hopes else GAMMA)
    factor = min(factor, MOST_GAMMA)
    raise_suspects(scores, allowed, model.watch.beliefs)
    best = weigh_labels(scores, allowed, factor, probabilities)
    shown = draw_other(probabilities, best, uniform(key, EXPLORE, 0))
    note_choice(memo, shown, greedy, probabilities[shown], 0.0, allowed.size)
    memo[POLICY] = POLICY_INVERSE_GAPS
    if k <= MOST_PROBABILITIES:
        for label in range(k):  # assigning to a slice takes Numba two seconds more to compile
            memo[VOTES + label] = probabilities[label]
