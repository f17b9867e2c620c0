"""GapBoost: for each label a chain of stages that asks "was it right?", shown by inverse gaps. docs/gapboost.md is its specification.

A chain is three linear stages and N Hoeffding trees. Each stage learns what the sum of those before it gets wrong; the prefixes of the
chain are experts, weighed by how well they have answered lately. Where rows are narrow, two regressions for each label are experts, too,
on the columns and on their products; the first knows which labels have not been tried enough on rows like this one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from banditboost.boosting.base import MEBIBYTE, VerdictBooster
from banditboost.errors import ParameterError
from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.kernels.answer import leaf_score
from banditboost.kernels.compile import allocating, entry, inlined, njit
from banditboost.kernels.layout import ALLOWED, GREEDY, INVERSE_GAPS, MOST_KEPT, POLICY, PROBABILITY, ROUND, SHOWN, VOTES, Array, Forest
from banditboost.kernels.linear import STAGES, Chains, list_row, note_norm, note_values, score_group, score_stages, step_stage
from banditboost.kernels.ridge import add_widths, narrow, ridge_answer, step_ridge, wide
from banditboost.kernels.rng import EXPLORE, round_key, uniform
from banditboost.kernels.route import find_leaves
from banditboost.schema import Schema
from banditboost.weak_learners.forest import TreeCommittee
from banditboost.weak_learners.hoeffding import HoeffdingTree
from banditboost.weak_learners.linear import LinearStages

TREE_SHARE = 0.2  # of a tree's answer in a chain's score: ten trees can turn any score around
HEDGE_RATE = 1.0  # of the prefixes of a chain; squared error on [0, 1] is mixable up to 2
FAMILY_RATE = 0.3  # of chain and regressions: learners so different are better together than the best one alone
MEMORY = 500.0  # verdicts that the prefixes are judged by
N_REGRESSIONS = 2  # narrow and wide, after the prefixes
LEAST_WEIGHT = 1e-3  # of a prefix that counts; trees after the last of these need not be asked
FIRST_LOSS = 1.0  # of prefixes with trees and of wide regressions: others learn sooner
OPTIMISM = 0.2  # standard deviations of the narrow regression, in units of the recent error
GAMMA, GAMMA_WITH_HOPE = 1.0, 10.0  # how little is left to chance: less of it where hopes explore
LEAST_DOUBT = 0.01  # keeps every probability positive
LEAST_LESSON = 1e-3  # a tree that is asked for less is left alone
_ALL = np.zeros(0, np.int64)  # labels are allowed
_LEAST_TREE_SHARE = 0.25  # of the memory ceiling, whatever the linear stages take


@inlined
def clip(score: float) -> float:
    return min(max(score, -1.0), 1.0)


@njit
def answer_leaves(forest: Forest, leaves: Array, x: Array, answers: Array) -> None:
    for i in range(leaves.size):
        answers[i] = TREE_SHARE * (2.0 * leaf_score(forest, leaves[i], x) - 1.0)


@allocating
def ask_trees(forest: Forest, first: int, distance: int, n_asked: int, x: Array, answers: Array) -> None:
    """What the first n_asked of every `distance` trees add to their chains' scores."""
    nodes = np.empty((2, answers.size), np.int64)
    find_leaves(forest, first, distance, n_asked, x, nodes[0], nodes[1])
    answer_leaves(forest, nodes[0], x, answers)


@inlined
def share_out(weights: Array) -> None:
    total = 0.0
    for j in range(weights.size):
        total += weights[j]
    for j in range(weights.size):
        weights[j] /= total


@njit
def weigh_experts(chains: Chains, losses: Array, weights: Array) -> float:
    """v_j, exponential in the recent squared error of expert j; 0 if it is next to nothing. Returns the least loss."""
    n_prefixes = losses.size - N_REGRESSIONS
    best_prefix = losses[0]
    for j in range(1, n_prefixes):
        best_prefix = min(best_prefix, losses[j])
    least = best_prefix
    if chains.product.size > 0:
        least = min(least, losses[n_prefixes])
    if chains.wide_product.size > 0:
        least = min(least, losses[n_prefixes + 1])
    for j in range(n_prefixes):
        weights[j] = math.exp(-HEDGE_RATE * (losses[j] - best_prefix))
    share_out(weights[:n_prefixes])
    for j in range(n_prefixes):
        weights[j] *= math.exp(-FAMILY_RATE * (best_prefix - least))
    weights[n_prefixes] = math.exp(-FAMILY_RATE * (losses[n_prefixes] - least)) if chains.product.size > 0 else 0.0
    weights[n_prefixes + 1] = math.exp(-FAMILY_RATE * (losses[n_prefixes + 1] - least)) if chains.wide_product.size > 0 else 0.0
    share_out(weights)
    for j in range(losses.size):
        if weights[j] < LEAST_WEIGHT:
            weights[j] = 0.0
    share_out(weights)
    return least


@inlined
def recent_error(least: float, verdicts: int) -> float:
    """Of the best expert: the root of its mean squared error, on the scale of scores."""
    return 2.0 * math.sqrt(least / min(max(verdicts, 1), MEMORY))


@njit
def mix_experts(chains: Chains, n_linear: int, n_asked: int, answers: Array, weights: Array, scores: Array) -> None:
    """Of every label, from what the stages and trees that count have answered."""
    n_prefixes = weights.size - N_REGRESSIONS
    for label in range(scores.size):
        group = chains.groups[label]
        prefix, total = 0.0, 0.0
        if group >= 0:
            if chains.product.size > 0:
                total += weights[n_prefixes] * clip(ridge_answer(chains, narrow(chains), group))
            if chains.wide_product.size > 0:
                total += weights[n_prefixes + 1] * clip(ridge_answer(chains, wide(chains), group))
            for stage in range(n_linear):
                prefix += chains.scores[stage, group]
                total += weights[stage] * clip(prefix)
            for i in range(n_asked):
                prefix += answers[group * n_asked + i]
                total += weights[STAGES + i] * clip(prefix)
        scores[label] = total


@allocating
def score_labels(forest: Forest, chains: Chains, x: Array, weights: Array, scores: Array) -> None:
    """Each label's score in [-1, 1]: its experts' mean with weights v. Labels not heard of have 0."""
    n_stages = weights.size - N_REGRESSIONS
    n_trees = n_stages - STAGES
    while n_stages > 0 and weights[n_stages - 1] == 0.0:  # those after the last one that counts need not be asked
        n_stages -= 1
    n_linear, n_asked = min(n_stages, STAGES), max(n_stages - STAGES, 0)
    score_stages(chains, n_linear)
    answers = np.empty(forest.trees.size // n_trees * n_asked)
    ask_trees(forest, 0, n_trees, n_asked, x, answers)
    mix_experts(chains, n_linear, n_asked, answers, weights, scores)


@inlined
def label_at(allowed: Array, place: int) -> int:
    """The label at a place among the allowed ones; an empty array stands for all labels."""
    return place if allowed.size == 0 else int(allowed[place])


@inlined
def best_label(scores: Array, allowed: Array) -> int:
    """The first of those with the largest score."""
    best = label_at(allowed, 0)
    for place in range(1, scores.size if allowed.size == 0 else allowed.size):
        if scores[label_at(allowed, place)] > scores[best]:
            best = label_at(allowed, place)
    return best


@njit
def weigh_labels(scores: Array, allowed: Array, factor: float, probabilities: Array) -> int:
    """Inverse gap weighting in units of the doubt about the best label, which is returned; 0 for labels that are not allowed."""
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
def choose_gap(forest: Forest, chains: Chains, settings: Array, losses: Array, memo: Array, allowed: Array) -> None:
    """From a row to a label to show."""
    k, verdicts = settings[0]["n_labels"], settings[0]["verdicts"]
    x = memo[settings[0]["row_start"] :]
    weights, scores = np.empty(losses.size), np.empty(k)
    list_row(forest.features, chains, x, verdicts)
    least = weigh_experts(chains, losses, weights)
    score_labels(forest, chains, x, weights, scores)
    greedy = best_label(scores, allowed)
    if chains.product.size > 0:
        add_widths(chains, OPTIMISM * recent_error(least, verdicts), scores)
    factor = math.sqrt(verdicts + 1.0) * (GAMMA_WITH_HOPE if chains.product.size > 0 else GAMMA)
    best = weigh_labels(scores, allowed, factor, chains.probabilities)
    shown = draw_other(chains.probabilities, best, uniform(round_key(settings[0]["seed"], int(memo[ROUND])), EXPLORE, 0))
    memo[SHOWN], memo[GREEDY], memo[PROBABILITY] = shown, greedy, chains.probabilities[shown]
    memo[POLICY], memo[ALLOWED] = INVERSE_GAPS, allowed.size
    if k <= MOST_KEPT:
        for label in range(k):  # assigning to a slice takes Numba two seconds more to compile
            memo[VOTES + label] = chains.probabilities[label]


@inlined
def judge(losses: Array, j: int, answer: float, y: float) -> None:
    error = 0.5 * (y - clip(answer))
    losses[j] = (1.0 - 1.0 / MEMORY) * losses[j] + error * error


@njit
def teach_regressions(chains: Chains, losses: Array, group: int, y: float) -> None:
    """Both are judged before they learn; the wide one, like the stages, learns only what is short of y."""
    if chains.product.size > 0:
        answer = ridge_answer(chains, narrow(chains), group)
        judge(losses, losses.size - 2, answer, y)
        step_ridge(chains, narrow(chains), group, y - answer)
    if chains.wide_product.size > 0:
        answer = ridge_answer(chains, wide(chains), group)
        judge(losses, losses.size - 1, answer, y)
        if y * answer < 1.0:
            step_ridge(chains, wide(chains), group, y - answer)


@njit
def teach_gap(
    forest: Forest, chains: Chains, settings: Array, losses: Array, x: Array, outcome: int, group: int, labels: Array, importance: Array
) -> None:
    """Teach the linear stages of the shown label's chain, and write down what its trees are to learn."""
    y = 1.0 if outcome != 0 else -1.0
    list_row(forest.features, chains, x, settings[0]["verdicts"])
    settings[0]["verdicts"] += 1
    teach_regressions(chains, losses, group, y)
    prefix = 0.0
    for stage in range(STAGES):
        prefix += score_group(chains, stage, group)
        judge(losses, stage, prefix, y)
        if y * prefix < 1.0 and chains.bounds[stage] < chains.bounds[stage + 1]:
            step_stage(chains, stage, group, y - prefix, settings[0]["verdicts"])
        else:
            note_norm(chains, stage)
    ask_trees(forest, group * labels.size, labels.size, labels.size, x, importance)
    for i in range(labels.size):
        weight, answer = max(0.0, 1.0 - y * prefix), importance[i]
        labels[i], importance[i] = outcome, weight if weight > LEAST_LESSON else 0.0
        prefix += answer
        judge(losses, STAGES + i, prefix, y)
    note_values(forest.features, chains.columns, x)


@entry
def choose_once(forest: Forest, chains: Chains, settings: Array, losses: Array, memo: Array, allowed: Array) -> None:
    choose_gap(forest, chains, settings, losses, memo, allowed)


@entry
def teach_once(
    forest: Forest, chains: Chains, settings: Array, losses: Array, x: Array, outcome: int, group: int, labels: Array, importance: Array
) -> None:
    teach_gap(forest, chains, settings, losses, x, outcome, group, labels, importance)


class GapBoost(VerdictBooster):
    """Chains of linear learners and trees, one for each label; explores where labels are close and the best one is in doubt.

    Args:
        labels: what can be shown.
        n_learners: trees of each label's chain, after its three linear stages.
        weak_learner: a HoeffdingTree; by default one that splits early, since later stages repair what it overlooks.
        schema: features, if they are to be declared.
        max_memory: bytes.
        seed: of all random numbers; None takes one from the system.

    >>> model = GapBoost(["yes", "no"], seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.n_groups
    1
    """

    _policy = INVERSE_GAPS
    has_groups = True
    default_tree = HoeffdingTree(grace_period=(5.0, 10.0), split_confidence=0.1, tie_threshold=0.6)
    _committee: TreeCommittee

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 10,
        weak_learner: HoeffdingTree | None = None,
        schema: Schema | None = None,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        if not (weak_learner is None or isinstance(weak_learner, HoeffdingTree)):
            raise ParameterError(f"weak_learner is {weak_learner!r}; GapBoost's chains are of trees: give a HoeffdingTree")
        super().__init__(labels, n_learners=n_learners, weak_learner=weak_learner, schema=schema, max_memory=max_memory, seed=seed)

    def _start(self) -> None:
        self._weights = np.zeros(STAGES + self.n_learners + N_REGRESSIONS)  # losses of the prefixes, then of the regressions
        self._weights[STAGES:-2] = self._weights[-1] = FIRST_LOSS
        self._linear = LinearStages(len(self.labels), self.schema, self.seed, self.max_memory)
        self._committee = TreeCommittee(self.weak_learner, 2, self.schema, self.seed, self._memory_for_trees())

    def _memory_for_trees(self) -> int:
        """What the linear stages of all labels leave."""
        return max(self.max_memory - self._linear.largest_size, int(_LEAST_TREE_SHARE * self.max_memory))

    def _n_kept(self) -> int:
        """As many for any number of labels, so that labels can join while decisions are open."""
        return MOST_KEPT

    def _n_votes(self) -> int:
        return 0

    def _follow_schema(self) -> None:
        self._linear.follow_schema()
        self._committee.set_ceiling(self._memory_for_trees())
        super()._follow_schema()

    def _vote(self, memo: Array) -> None:
        """The trees are asked while scores are summed up."""

    def _choose(self, memo: Array) -> None:
        self._choose_among(memo, _ALL)

    def _choose_among(self, memo: Array, allowed: Array) -> None:
        choose_once(self._committee.forest, self._linear.chains, self._settings, self._weights, memo, allowed)

    def _follow_labels(self) -> None:
        """The new label's chain is made when its first verdict is learned."""
        self._linear.set_labels(len(self.labels))
        self._committee.set_ceiling(self._memory_for_trees())

    def _end_round(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:  # noqa: ARG002 (a label's verdict is its own)
        group = self.group_of(int(memo[SHOWN]))
        x = self._row_of(memo)
        teach_once(self._committee.forest, self._linear.chains, self._settings, self._weights, x, outcome, group, *self._lesson)
        self._committee.learn(x, *self._lesson, group * self.n_learners)

    def _made_group(self, label: int) -> int:
        return int(self._linear.chains.groups[label])

    def group_of(self, label: int) -> int:
        """The number of the label's chain, which is made when its first verdict is learned."""
        group = self._made_group(label)
        if group >= 0:
            return group
        self._committee.add(self.n_learners)
        return self._linear.add_group(label)

    # What can be seen

    @property
    def chains(self) -> Chains:
        """The linear stages as the kernels read them."""
        return self._linear.chains

    @property
    def n_groups(self) -> int:
        """Labels that have been heard of, each with its own chain."""
        return self._linear.n_groups

    @property
    def expert_weights(self) -> Array:
        """The weights v of the prefixes (after columns, products, pairs of bins, each tree), then of narrow and of wide regressions."""
        weights = np.empty_like(self._weights)
        with self._lock:
            weigh_experts(self._linear.chains, self._weights, weights)
        return weights

    def distribution(self, x: Mapping[Any, Any] | Array, allowed: Iterable[Hashable] | None = None) -> dict[Hashable, float]:
        """The probability with which each label would be shown for x; the model does not change."""
        with self._lock:
            self._begin_round(x, None if allowed is None else self._indices_of(allowed), looking=True)
            return dict(zip(self.labels, self._linear.chains.probabilities.tolist(), strict=True))

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._linear.memory_usage

    # Files and copies

    @property
    def parameters(self) -> dict[str, Any]:
        return {"n_learners": self.n_learners, "weak_learner": self.weak_learner, "max_memory": self.max_memory, "seed": self.seed}

    def _records(self) -> list[Array]:
        return [*super()._records(), *(array for array in self._linear.chains if array.dtype.names)]

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), **self._linear.arrays(), "losses": self._weights}

    def _restore(self, arrays: dict[str, Array]) -> None:
        losses = take_array(arrays, "losses", np.float64, self._weights.shape)
        if not np.all((losses >= 0.0) & (losses <= 2.0 * MEMORY)):
            raise UnreadableError("a loss of an expert is out of range; load an intact copy")
        self._weights = losses
        self._linear.restore(arrays)
        super()._restore(arrays)

    def _n_learners_made(self) -> int:
        return self.n_groups * self.n_learners
