"""The round of Adaboost.OLM++: how mixtures choose a label, and what a verdict teaches them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.adaptive import update_hedge
from banditboost.boosting.booster import CostScratch
from banditboost.boosting.costs import Ballot, label_and_weight, list_active, open_ballot, suffer
from banditboost.boosting.divided import show_by_schedule
from banditboost.boosting.estimate import Estimate, estimate
from banditboost.boosting.experts import add_votes, draw_expert, slot_of
from banditboost.boosting.exploration import SCHEDULE_BY_VOTES, allowed_labels, count_verdict
from banditboost.boosting.mixture.chain import add_vote, likeliest, no_votes, note_edges
from banditboost.boosting.mixture.density import (
    POINTS,
    Densities,
    Rule,
    add_losses,
    follow,
    mean_weight,
    mixed_weight,
)
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPERT, uniform
from banditboost.inspection.changes import Watch
from banditboost.memo import CHOSEN_EXPERT, RATE, VOTES
from banditboost.trees.forest import vote_forest
from banditboost.trees.layout import Forest
from banditboost.types import Array, Record


class MixtureLearned(NamedTuple):
    """What a mixture booster has learned, besides its trees."""

    counts: Record
    tally: Array
    weights: Array  # the mean of each learner's alpha, then ln v^1 .. ln v^N
    densities: Densities


class MixtureState(NamedTuple):
    """A mixture booster as its round reads it."""

    settings: Record
    features: Array
    ledger: Array
    learned: MixtureLearned
    watch: Watch
    forest: Forest
    learn_trees: Any
    scratch: CostScratch
    rule: Rule  # of integration: computed, not learned


@allocating
def choose(model: Any, memo: Array, key: int) -> None:
    """Lines 5 to 10: the trees vote, an expert is drawn, its label may give way to another one."""
    choose_within(model, memo, key, np.empty(3 * model.settings.n_learners + 1))


@inlined
def choose_within(model: Any, memo: Array, key: int, numbers: Array) -> None:
    """Lines 5 to 10, with numbers to work with. What a vote counts goes into the memo."""
    settings, learned, allowed = model.settings, model.learned, allowed_labels(model.scratch)
    n, densities = settings.n_learners, learned.densities
    votes = memo[VOTES : VOTES + n]
    vote_forest(model.forest, memo[settings.row_start :], key, votes)
    whole = numbers[: 2 * n].view(np.int64)
    labels, active = whole[:n], whole[n:]
    n_active = add_votes(votes, active, 0)
    probabilities = numbers[2 * n : 2 * n + n_active + 1]
    no_votes(settings.n_labels, probabilities)
    for i in range(n):
        mine = slot_of(active, n_active, int(votes[i]))
        memo[VOTES + n + i] = mixed_weight(densities.places[i], densities.masses[i], probabilities[mine])
        add_vote(probabilities, mine, memo[VOTES + n + i], memo, settings.n_labels)
        labels[i] = likeliest(active, n_active, probabilities, settings.n_labels, allowed, key, i)
    expert = draw_expert(learned.weights[n:], uniform(key, EXPERT, 0))
    memo[CHOSEN_EXPERT] = expert
    show_by_schedule(settings, learned.counts, memo, labels[expert], allowed, key)


@inlined
def step_size(settings: Record, counts: Record, memo: Array) -> float:
    """eta_t in exp(-eta_t loss): 1 with full information; else sqrt(rho / (k^3 t)), t counts the verdicts.

    An estimated loss has a mean square of about k^3 / rho, by the rare exploration that hits. The rate that
    follows from the votes is not taken, as in adaptive.py.
    """
    if settings.full_information != 0:
        return 1.0
    rate = settings.least_rate if settings.schedule == SCHEDULE_BY_VOTES else memo[RATE]
    eta: float = settings.step * math.sqrt(rate / (counts.verdicts - counts.began))
    return eta


@inlined
def estimated_right(of: Estimate, ballot: Ballot, slot: int) -> float:
    """1 - lhat of a slot's label."""
    right = of.base
    if slot == ballot.first:
        right += of.first_extra
    if slot == ballot.second:
        right += of.second_extra
    return right


@inlined
def mixture_costs(
    probabilities: Array, ballot: Ballot, of: Estimate, all_: float, n_labels: int, vector: Array
) -> None:
    """The vector chat = C (1 - lhat) with C[l, r] = softmax(s)_l - 1{l = r}, times k / 2: then a first
    example weighs as much as with AdaBandit.
    """
    for slot in range(probabilities.size):
        right = estimated_right(of, ballot, slot)
        vector[slot] = 0.5 * n_labels * (all_ * probabilities[slot] - right)


@inlined
def teach_within(
    model: Any,
    memo: Array,
    of: Estimate,
    active: Array,
    experts: Array,
    numbers: Array,
    work: Array,
    key: int,
) -> None:
    settings, learned, scratch = model.settings, model.learned, model.scratch
    n, k, n_slots = settings.n_learners, settings.n_labels, active.size + 1
    allowed, densities = allowed_labels(scratch), learned.densities
    ballot = open_ballot(active, active.size, of.first, of.second)
    probabilities, vector = numbers[:n_slots], numbers[n_slots : 2 * n_slots]
    eta, all_ = step_size(settings, learned.counts, memo), k * of.base + of.first_extra + of.second_extra
    no_votes(k, probabilities)
    for i in range(n):
        mixture_costs(probabilities, ballot, of, all_, k, vector)
        mine = slot_of(active, active.size, int(memo[VOTES + i]))
        suffer(scratch.suffered, scratch.costs, vector, ballot, i, mine)
        scratch.labels[i], scratch.importance[i] = label_and_weight(
            vector, ballot, settings, of.right, key, i
        )
        add_losses(
            densities.losses[i],
            model.rule,
            probabilities[mine],
            eta * estimated_right(of, ballot, mine),
            eta * all_,
        )
        follow(densities, i, model.rule, work)
        learned.weights[i] = mean_weight(densities.masses[i], model.rule.points, densities.windows[i])
        add_vote(probabilities, mine, memo[VOTES + n + i], memo, k)
        experts[i] = likeliest(active, active.size, probabilities, k, allowed, key, i)


@allocating
def teach(model: Any, memo: Array, feedback: int, key: int) -> None:
    """Lines 12 to 15 and 17, with the votes and weights of the moment of the decision."""
    settings, counts = model.settings, model.learned.counts
    n = settings.n_learners
    of = estimate(settings, memo, feedback)
    count_verdict(settings, counts, memo, feedback)
    whole = np.empty(2 * n + 2, np.int64)
    experts, active = whole[:n], whole[n:]
    n_active = list_active(memo[VOTES : VOTES + n], of.first, of.second, active)
    numbers, work = np.empty(2 * (n_active + 1)), np.empty((4, POINTS))
    teach_within(model, memo, of, active[:n_active], experts, numbers, work, key)
    update_hedge(model.learned.weights[n:], experts, of)


@kernel
def witness(model: Any, memo: Array, right: int, sums: Array) -> None:
    """What `play` notes of a round, from which the learners' empirical edges follow."""
    note_edges(model.settings, memo, right, sums)
