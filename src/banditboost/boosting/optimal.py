"""OptBandit, the paper's BanditBBM (Algorithm 2): a plain majority of learners with a known edge, costs from
the potential.

OptFull shares its round.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.booster import BanditBooster, CostBooster, CostScratch
from banditboost.boosting.costs import Ballot, label_and_weight, list_active, open_ballot, suffer
from banditboost.boosting.divided import show_by_schedule
from banditboost.boosting.edges import note_potentials
from banditboost.boosting.estimate import estimate
from banditboost.boosting.experts import add_label, expert_labels_among, largest_label, slot_of
from banditboost.boosting.exploration import allowed_labels, count_verdict
from banditboost.boosting.potential import PotentialTable, make_table, vote_costs
from banditboost.boosting.rated import Rated
from banditboost.boosting.round import Round
from banditboost.boosting.vote_states import MOST_VOTES
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPERT_TIE
from banditboost.inspection.changes import Watch
from banditboost.memo import CHOSEN_EXPERT, VOTES
from banditboost.models.model import MEBIBYTE, Witnessed
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.schedules import Schedule
from banditboost.theory import WeakLearningCondition, optimal_exploration
from banditboost.trees.forest import vote_forest
from banditboost.trees.layout import Forest
from banditboost.types import Array, Record
from banditboost.validation import check_count, check_number


class OptimalLearned(NamedTuple):
    """What an optimal booster has learned, besides its trees."""

    counts: Record
    tally: Array


class OptimalState(NamedTuple):
    """An optimal booster as its round reads it."""

    settings: Record
    features: Array
    ledger: Array
    learned: OptimalLearned
    watch: Watch
    forest: Forest
    learn_trees: Any
    scratch: CostScratch
    table: PotentialTable  # of costs: computed, not learned


@allocating
def majority_label(settings: Record, memo: Array, key: int) -> int:
    """The label with most votes."""
    n = settings.n_learners
    active = np.empty(n, np.int64)
    n_active = 0
    for i in range(n):
        n_active = add_label(active, n_active, int(memo[VOTES + i]))
    sums = np.zeros(n_active)
    for i in range(n):
        sums[slot_of(active, n_active, int(memo[VOTES + i]))] += 1.0
    return largest_label(active, n_active, sums, settings.n_labels, key, EXPERT_TIE, n - 1)


@allocating
def majority_label_among(settings: Record, memo: Array, allowed: Array, key: int) -> int:
    """The allowed label with most votes."""
    n = settings.n_learners
    labels = np.empty(n, np.int64)
    expert_labels_among(memo[VOTES : VOTES + n], memo[VOTES + n : VOTES + 2 * n], allowed, key, labels)
    return labels[n - 1]


@kernel
def choose(model: Any, memo: Array, key: int) -> None:
    """Lines 5 to 10 with alpha = 1 and i_t = N."""
    settings, allowed = model.settings, allowed_labels(model.scratch)
    n = settings.n_learners
    vote_forest(model.forest, memo[settings.row_start :], key, memo[VOTES : VOTES + n])
    for i in range(n):
        memo[VOTES + n + i] = 1.0
    memo[CHOSEN_EXPERT] = n - 1
    if allowed.size == 0:
        greedy = majority_label(settings, memo, key)
    else:
        greedy = majority_label_among(settings, memo, allowed, key)
    show_by_schedule(settings, model.learned.counts, memo, greedy, allowed, key)


class Count(NamedTuple):
    """The votes of a round so far and what they cost: by slot, and by how many labels have how many."""

    counts: Array
    histogram: Array
    by_count: Array
    vector: Array


@inlined
def no_counts(n_active: int, n_labels: int, whole: Array, numbers: Array, n_learners: int) -> Count:
    """Nothing is voted yet. `whole` are zeros; not for kernels that make arrays, as `costs.open_ballot`."""
    histogram = whole[: n_learners + 2]
    histogram[0] = n_labels
    return Count(
        whole[n_learners + 2 : n_learners + 3 + n_active],
        histogram,
        numbers[: n_learners + 2],
        numbers[n_learners + 2 : n_learners + 3 + n_active],
    )


@kernel
def count_vote(votes: Count, slot: int) -> None:
    votes.histogram[votes.counts[slot]] -= 1
    votes.counts[slot] += 1
    votes.histogram[votes.counts[slot]] += 1


@kernel
def potential_costs(table: PotentialTable, votes: Count, ballot: Ballot, n_votes: int, mix: Array) -> None:
    """Learner i's cost vector chat = C (1 - lhat) with C[l, r] = phi^r_{N-i}(s^{i-1} + e_l), equation (9)."""
    two = ballot.second != ballot.first
    second = votes.counts[ballot.second] if two else -1
    first_cost, second_cost = vote_costs(
        table, votes.histogram, n_votes, votes.counts[ballot.first], second, mix, votes.by_count
    )
    for slot in range(votes.counts.size):
        votes.vector[slot] = votes.by_count[votes.counts[slot]]
    votes.vector[ballot.first] = first_cost
    if two:
        votes.vector[ballot.second] = second_cost


@allocating
def teach(model: Any, memo: Array, feedback: int, key: int) -> None:
    """Lines 12 to 15."""
    n = model.settings.n_learners
    teach_within(model, memo, feedback, key, np.zeros(3 * n + 7, np.int64), np.empty(2 * n + 8))


@inlined
def teach_within(model: Any, memo: Array, feedback: int, key: int, whole: Array, numbers: Array) -> None:
    """Lines 12 to 15, with room to work in: zeros, and numbers of any value."""
    settings, scratch = model.settings, model.scratch
    suffered, vectors = scratch.suffered, scratch.costs
    n = settings.n_learners
    of = estimate(settings, memo, feedback)
    count_verdict(settings, model.learned.counts, memo, feedback)
    active, mix = whole[: n + 2], numbers[:3]
    n_active = list_active(memo[VOTES : VOTES + n], of.first, of.second, active)
    ballot = open_ballot(active, n_active, of.first, of.second if of.second >= 0 else of.first)
    votes = no_counts(n_active, settings.n_labels, whole[n + 2 :], numbers[3:], n)
    mix[0], mix[1], mix[2] = of.base, of.first_extra, of.second_extra
    if ballot.second == ballot.first:
        mix[1] += of.second_extra
    for i in range(n):
        potential_costs(model.table, votes, ballot, i, mix)
        mine = slot_of(ballot.active, ballot.n_active, int(memo[VOTES + i]))
        suffer(suffered, vectors, votes.vector, ballot, i, mine)
        scratch.labels[i], scratch.importance[i] = label_and_weight(
            votes.vector, ballot, settings, of.right, key, i
        )
        count_vote(votes, mine)


@kernel
def witness(model: Any, memo: Array, right: int, sums: Array) -> None:
    """What `play` notes of a round if it is asked to: the sums of the weak learning condition."""
    note_potentials(model.settings, model.table, memo, right, sums)


class OptimalBooster(CostBooster):
    """A plain majority of learners whose edge over guessing is known."""

    compiled_round = Round(choose, teach, witness=witness, on_request=True)

    def __init__(
        self, labels: Iterable[Hashable], *, edge: float, n_learners: int, **parameters: Any
    ) -> None:
        self.edge = check_number("edge", edge, 0.0, 1.0)
        check_count("n_learners", n_learners, 1, MOST_VOTES)
        super().__init__(labels, n_learners=n_learners, **parameters)

    def _start(self) -> None:
        super()._start()
        self._settings.edge = self.edge
        self._make_table()

    def _make_table(self) -> None:
        self.table = make_table(self.n_learners, len(self.labels), self.edge)

    def learned(self) -> OptimalLearned:
        """Counts and tally: the vote is plain."""
        return OptimalLearned(*self.counted())

    def _witnessed(self, sums: Array) -> Witnessed:
        return Witnessed(None, WeakLearningCondition(len(self.labels), *sums))

    def _state(self) -> OptimalState:
        return OptimalState(**super()._state()._asdict(), table=self.table)

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "edge": self.edge}

    def _kept(self) -> dict[str, Any]:
        """Without the table: it is large, and made again with the same values."""
        return {name: value for name, value in super()._kept().items() if name != "table"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_table()
        super().__setstate__(state)

    def _follow_labels(self) -> None:
        super()._follow_labels()
        self._make_table()

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + sum(array.nbytes for array in self.table)


class OptBandit(OptimalBooster, Rated, BanditBooster):
    """Boost-by-majority with bandit feedback: optimal if every learner has the edge `edge`.

    Algorithm 2 (BanditBBM) of Zhang, Jung and Tewari, *Online Multiclass Boosting with Bandit Feedback*,
    AISTATS 2019.

    Args:
        labels: what can be shown.
        edge: gamma, the learners' edge over guessing.
        n_learners: N, how many weak learners vote; at most 200.
        exploration: rho, the share of rounds in which another label than the greedy one is tried, or a
            schedule (`banditboost.schedules`).
        estimator: 3 or 4, the equation of the paper that estimates the loss.
        weak_learner: a HoeffdingTree, or what makes objects with `predict` and `learn` or
            `learn_costs`; None is the default tree.
        schema: features, if they are to be declared.
        rewards: the least and the largest reward; a verdict counts as one of the two.
        restart_on_change: begin anew when verdicts have become worse than before (docs/guide-change.md).
        clip: the largest difference between two costs that counts; with lesson "text", the largest cost. None
            is no limit.
        lesson: how a cost vector becomes the label and weight that a tree is taught. "text" is the paper's
            appendix to the letter, "ours" learns more from an exploration that hits, "differences" is between
            the two (docs/deviations.md).
        importance_scale: what the weights of examples are multiplied by.
        tie_tolerance: how far apart costs may be that count as equal.
        max_memory: bytes; leaves that have least to win fall asleep at this ceiling.
        seed: of all random numbers; None takes one from the system.

    >>> model = OptBandit(["yes", "no", "later"], n_learners=5, edge=0.1, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.verdicts
    1
    """

    learners_vote = True

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        edge: float = 0.1,
        n_learners: int = 20,
        exploration: float | Schedule | str = 0.05,
        estimator: int = 4,
        weak_learner: Any = None,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        restart_on_change: bool = False,
        clip: float | None = 100.0,
        lesson: str = "ours",
        importance_scale: float = 1.0,
        tie_tolerance: float = 1e-9,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            labels,
            edge=edge,
            n_learners=n_learners,
            exploration=exploration,
            estimator=estimator,
            weak_learner=weak_learner,
            schema=schema,
            rewards=rewards,
            restart_on_change=restart_on_change,
            clip=clip,
            lesson=lesson,
            importance_scale=importance_scale,
            tie_tolerance=tie_tolerance,
            max_memory=max_memory,
            seed=seed,
        )

    def _suggested_rate(self, edge: float) -> tuple[float, float]:  # noqa: ARG002 (Theorem 3.2's rate does not hang on it)
        return optimal_exploration(len(self.labels), self.n_learners, rounds=1).rate, 0.5
