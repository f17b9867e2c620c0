"""BinBandit: the bandit booster of Chen, Lin and Lu (2014), one group of N binary learners for each label.

Only the group of the shown label learns, for the verdict is a complete answer to its question "was it this
label?".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.booster import BanditBooster
from banditboost.boosting.costs import LEAST_IMPORTANCE
from banditboost.boosting.experts import largest_label, slot_of
from banditboost.boosting.exploration import allowed_labels, count_verdict, label_at, place_of, show
from banditboost.boosting.rated import Rated
from banditboost.boosting.rates import least_rate
from banditboost.boosting.round import Round
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import LABEL_TIE
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.memo import LEAST_PROBABILITY, PROBABILITY, SHOWN, VOTES
from banditboost.models.logged import Lesson
from banditboost.models.model import MEBIBYTE
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.schedules import Schedule
from banditboost.trees.forest import score_forest
from banditboost.types import Array, Record
from banditboost.validation import check_number

_LARGEST_STEP = 1e6
_ROUNDING = 1e-6


class BinaryLearned(NamedTuple):
    """What BinBandit has learned, besides its trees."""

    counts: Record
    tally: Array
    log_alphas: Array  # [groups, N]
    shown_labels: Array  # the labels that have a group, in increasing order,
    groups: Array  # and the numbers of these


class BinaryScratch(NamedTuple):
    """Of the call that is running. Nothing here is saved."""

    allowed: Array
    labels: Array
    importance: Array
    lesson: Array
    example: Array
    scores: Array  # [groups, N]: what each learner answers, in [0, 1]


@inlined
def group_sum(log_alphas: Array, scores: Array, group: int) -> float:
    total = 0.0
    for i in range(scores.shape[1]):
        total += math.exp(log_alphas[group, i]) * (2.0 * scores[group, i] - 1.0)
    return total


@allocating
def greedy_label(model: Any, allowed: Array, key: int) -> int:
    """f_a = sum_i alpha_a^i h_a^i with h = 2 score - 1, and 0 for labels never shown; the best is greedy."""
    learned = model.learned
    n_labels = model.settings.n_labels if allowed.size == 0 else allowed.size
    places, sums, n_active = (
        np.empty(learned.shown_labels.size, np.int64),
        np.zeros(learned.shown_labels.size),
        0,
    )
    for slot in range(learned.shown_labels.size):
        place = place_of(allowed, learned.shown_labels[slot])
        if place >= 0:
            places[n_active] = place
            sums[n_active] = group_sum(learned.log_alphas, model.scratch.scores, learned.groups[slot])
            n_active += 1
    return label_at(allowed, largest_label(places, n_active, sums, n_labels, key, LABEL_TIE, 0))


@kernel
def choose(model: Any, memo: Array, key: int) -> None:
    """Score every group, and show the label with the largest sum or another one."""
    settings, allowed = model.settings, allowed_labels(model.scratch)
    score_forest(model.forest, memo[settings.row_start :], model.scratch.scores)
    show(settings, model.learned.counts, memo, greedy_label(model, allowed, key), allowed, key)
    note_group(model, memo)


@inlined
def note_group(model: Any, memo: Array) -> None:
    """Note what the shown label's group answered; of one that is yet to be made, what it will begin with."""
    learned, scores, n = model.learned, model.scratch.scores, model.settings.n_learners
    slot = slot_of(learned.shown_labels, learned.shown_labels.size, int(memo[SHOWN]))
    for i in range(n):
        fresh = slot == learned.shown_labels.size
        memo[VOTES + i] = 0.0 if fresh else 2.0 * scores[learned.groups[slot], i] - 1.0
        memo[VOTES + n + i] = 1.0 / n if fresh else math.exp(learned.log_alphas[learned.groups[slot], i])


@inlined
def first_learner(model: Any, memo: Array, feedback: int) -> int:  # noqa: ARG001 (whatever it is)
    """Of the shown label's group; -1 if that is yet to be made."""
    learned = model.learned
    slot = slot_of(learned.shown_labels, learned.shown_labels.size, int(memo[SHOWN]))
    return -1 if slot == learned.shown_labels.size else learned.groups[slot] * model.settings.n_learners


@kernel
def update_simplex(settings: Record, log_alpha: Array, memo: Array, y: int) -> None:
    """A step against the gradient of the hinge max(0, theta - y f_a) / p, multiplicative so that alpha stays
    on the simplex.
    """
    n = log_alpha.size
    total = 0.0
    for i in range(n):
        total += memo[VOTES + n + i] * memo[VOTES + i]
    if y * total >= settings.edge / (2.0 + settings.edge):
        return
    largest = -math.inf
    for i in range(n):
        log_alpha[i] += settings.step * y * memo[VOTES + i] / memo[PROBABILITY]
        largest = max(largest, log_alpha[i])
    total = 0.0
    for i in range(n):
        total += math.exp(log_alpha[i] - largest)
    for i in range(n):
        log_alpha[i] -= largest + math.log(total)


@kernel
def teach(model: Any, memo: Array, feedback: int, key: int) -> None:  # noqa: ARG001 (nothing is drawn)
    """Smooth boosting within the shown label's group: learner i hears the verdict with weight min((1 -
    gamma)^(z_i / 2), 1) / p.
    """
    settings, scratch = model.settings, model.scratch
    log_alpha = model.learned.log_alphas[first_learner(model, memo, feedback) // settings.n_learners]
    gamma = settings.edge
    theta = gamma / (2.0 + gamma)
    y = 1 if feedback != 0 else -1
    count_verdict(settings, model.learned.counts, memo, feedback)
    z = 0.0
    for i in range(log_alpha.size):
        weight = min((1.0 - gamma) ** (z / 2.0), 1.0) / memo[PROBABILITY]
        weight = settings.importance_scale * min(settings.largest_weight, weight)
        scratch.labels[i] = 1 if feedback != 0 else 0
        scratch.importance[i] = weight if weight >= LEAST_IMPORTANCE else 0.0
        z = z + y * memo[VOTES + i] - theta
    update_simplex(settings, log_alpha, memo, y)


class BinaryBooster(Rated, BanditBooster):
    """A group of binary learners for each label that was heard of; the one with the largest sum is greedy."""

    has_groups = True

    def _make_learners(self) -> None:
        """A label's learners are made when its first verdict is learned."""
        self._refuse_too_many_labels(len(self.labels))
        self._expect_learners()
        self._log_alphas = np.zeros((0, self.n_learners))
        self._shown_labels = np.zeros(0, np.int64)
        self._groups = np.zeros(0, np.int64)

    def _make_scratch(self) -> None:
        super()._make_scratch()
        self._scratch = BinaryScratch(**self._scratch._asdict(), scores=np.zeros_like(self._log_alphas))

    def learned(self) -> BinaryLearned:
        """Counts, tally, the learners' weights, and which labels have groups."""
        return BinaryLearned(*self.counted(), self._log_alphas, self._shown_labels, self._groups)

    def _ask_python(self, x: Array, memo: Array) -> None:  # noqa: ARG002 (scores are not kept in the memo)
        learners: Any = self._committee
        learners.score(x, self._scratch.scores)

    def _scores_of(self, memo: Array) -> Array:  # noqa: ARG002 (what groups answer is not kept in the memo)
        """f_a of every label, 0 for labels never shown."""
        scores = np.zeros(len(self.labels))
        answers = np.exp(self._log_alphas) * (2.0 * self._scratch.scores - 1.0)
        scores[self._shown_labels] = answers.sum(axis=1)[self._groups]
        return scores

    def _take_label(self, label: Hashable) -> None:
        """Let one more label join, if there is memory for its learners."""
        self._refuse_too_many_labels(len(self.labels) + 1)
        super()._take_label(label)

    def _follow_labels(self) -> None:
        super()._follow_labels()
        self._expect_learners()

    def _refuse_too_many_labels(self, n_labels: int) -> None:
        self._committee.refuse_too_many(n_labels * self.n_learners)

    def _expect_learners(self) -> None:
        """Of the labels that have none yet, too: splits leave room for them."""
        self._committee.expect(len(self.labels) * self.n_learners)

    def _arrays(self) -> dict[str, Array]:
        own = {"weights": self._log_alphas, "shown_labels": self._shown_labels, "groups": self._groups}
        return {**super()._arrays(), **own}

    def _restore(self, arrays: dict[str, Array]) -> None:
        shown = take_array(arrays, "shown_labels", np.int64, (None,))
        groups = take_array(arrays, "groups", np.int64, shown.shape)
        log_alphas = take_array(arrays, "weights", np.float64, (len(shown), self.n_learners))
        in_order = np.all(np.diff(shown) > 0) and np.all((shown >= 0) & (shown < len(self.labels)))
        numbered = np.array_equal(np.sort(groups), np.arange(len(groups)))
        demand(in_order and numbered, "the groups of learners do not fit the labels")
        farthest = _LARGEST_STEP * self._counted.verdicts / LEAST_PROBABILITY + math.log(self.n_learners)
        possible = (log_alphas >= -2.0 * farthest) & (log_alphas <= _ROUNDING)
        demand(possible, "a weight of a learner is out of range")
        sums = np.exp(log_alphas).sum(axis=1)
        demand(np.abs(sums - 1.0) <= _ROUNDING, "the weights of a group's learners do not sum to 1")
        self._shown_labels, self._groups, self._log_alphas = shown, groups, log_alphas
        self._make_scratch()
        super()._restore(arrays)

    def _n_learners_made(self) -> int:
        return self.n_groups * self.n_learners

    @property
    def n_groups(self) -> int:
        """Labels that have been shown and heard of, each with its own learners."""
        return len(self._groups)

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._log_alphas.nbytes

    def _n_votes(self) -> int:
        return 0

    def _group_of(self, label: int) -> int:
        place = int(np.searchsorted(self._shown_labels, label))
        return (
            int(self._groups[place]) if place < self.n_groups and self._shown_labels[place] == label else -1
        )

    def _add_learners(self, memo: Array) -> None:
        """Make the learners of a label, whose first verdict has come."""
        label = int(memo[SHOWN])
        self._committee.add(self.n_learners)
        place = int(np.searchsorted(self._shown_labels, label))
        self._shown_labels = np.insert(self._shown_labels, place, label)
        self._groups = np.insert(self._groups, place, self.n_groups)
        self._log_alphas = np.vstack(
            [self._log_alphas, np.full((1, self.n_learners), -math.log(self.n_learners))]
        )
        self._make_scratch()


class BinBandit(BinaryBooster):
    """The earlier bandit booster that the paper compares with: `n_learners` binary learners for each label
    that was ever shown.

    Args:
        labels: what can be shown.
        edge: gamma, the edge of the learners over guessing.
        n_learners: for each label.
        step: of the learner weights; None is delta^3 / k with delta = rho k / (k - 1).
        exploration: rho, the share of rounds in which another label than the greedy one is tried, or a
            schedule (`banditboost.schedules`).
        estimator: 3 or 4; kept for the other boosters' sake, this one estimates no loss.
        weak_learner: a HoeffdingTree, or what makes objects with `predict` and `learn`; None is the default
            tree.
        schema: features, if they are to be declared.
        rewards: the least and the largest reward; a verdict counts as one of the two.
        restart_on_change: begin anew when verdicts have become worse than before (docs/guide-change.md).
        clip: the largest weight of an example; None is no limit.
        importance_scale: what the weights of examples are multiplied by.
        tie_tolerance: kept for the other boosters' sake, this one compares no costs.
        max_memory: bytes; leaves that have least to win fall asleep at this ceiling.
        seed: of all random numbers; None takes one from the system.

    >>> model = BinBandit(["yes", "no"], n_learners=3, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.n_groups
    1
    """

    compiled_round = Round(choose, teach, first_learner=first_learner)

    def _memo_of(self, row: Array, lesson: Lesson) -> Array:
        """Votes are what the shown label's own group answers."""
        memo = super()._memo_of(row, lesson)
        votes = slice(VOTES, self._row_start)
        memo[votes] = self._memo_among(row, np.array([lesson.label]))[votes]
        return memo

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 10,
        edge: float = 0.1,
        step: float | None = None,
        exploration: float | Schedule | str = 0.05,
        estimator: int = 4,
        weak_learner: Any = None,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        restart_on_change: bool = False,
        clip: float | None = None,
        importance_scale: float = 1.0,
        tie_tolerance: float = 1e-9,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            labels,
            n_learners=n_learners,
            exploration=exploration,
            estimator=estimator,
            weak_learner=weak_learner,
            schema=schema,
            rewards=rewards,
            restart_on_change=restart_on_change,
            clip=clip,
            importance_scale=importance_scale,
            tie_tolerance=tie_tolerance,
            max_memory=max_memory,
            seed=seed,
        )
        self._settings.edge = check_number("edge", edge, 0.0, 1.0)
        self._settings.step = (
            self._usual_step(len(self.labels))
            if step is None
            else check_number("step", step, 0.0, _LARGEST_STEP)
        )

    def _usual_step(self, n_labels: int) -> float:
        delta = least_rate(self.exploration) * n_labels / (n_labels - 1)
        return delta**3 / n_labels

    def _change_exploration(self, changed: float | Schedule) -> None:
        """A step that is the usual one stays so."""
        is_usual = self._settings.step == self._usual_step(len(self.labels))
        super()._change_exploration(changed)
        if is_usual:
            self._settings.step = self._usual_step(len(self.labels))

    def _follow_labels(self) -> None:
        """A step that is the usual one stays so."""
        is_usual = self._settings.step == self._usual_step(len(self.labels) - 1)
        super()._follow_labels()
        if is_usual:
            self._settings.step = self._usual_step(len(self.labels))

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "edge": float(self._settings.edge), "step": float(self._settings.step)}
