"""Majority: the best single label, whatever the features say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost.baselines.base import Baseline, BaselineState
from banditboost.boosting.experts import largest_label
from banditboost.boosting.exploration import allowed_labels, count_verdict, show
from banditboost.boosting.round import Round, teach_nobody
from banditboost.compiled.compile import allocating, kernel
from banditboost.compiled.rng import LABEL_TIE
from banditboost.inspection.tally import by_label_of, logged_of
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.memo import SHOWN
from banditboost.types import Array, Record

EARNED, HEARD = 0, 1
_ROUNDING = 1e-6  # sums of the same rewards in another order


class MajorityLearned(NamedTuple):
    """What Majority has learned."""

    counts: Record
    tally: Array
    shares: Array  # [2, k]: the sum of the rewards of each label, and how many these were


@allocating
def choose(model: Any, memo: Array, key: int) -> None:
    """The largest mean reward, (earned + 1) / (heard + 1), is greedy."""
    n_labels, heard = model.settings.n_labels, model.learned.shares
    shares = np.empty(n_labels)
    for label in range(n_labels):
        shares[label] = (heard[EARNED, label] + 1.0) / (heard[HEARD, label] + 1.0)
    greedy = largest_label(np.arange(n_labels), n_labels, shares, n_labels, key, LABEL_TIE, 0)
    show(model.settings, model.learned.counts, memo, greedy, allowed_labels(model.scratch), key)


@kernel
def teach(model: Any, memo: Array, reward: float, key: int) -> None:  # noqa: ARG001 (nothing is drawn)
    """Count what the shown label has earned."""
    count_verdict(model.settings, model.learned.counts, memo, reward)
    model.learned.shares[EARNED, int(memo[SHOWN])] += reward
    model.learned.shares[HEARD, int(memo[SHOWN])] += 1.0


class Majority(Baseline):
    """Epsilon-greedy without features: shows the label with the largest mean reward so far.

    That of label a is (earned_a + 1) / (heard_a + 1), so that every label begins at 1 and is tried before it
    is given up; a right label earns 1. As it is of the label's own rewards, no weight 1 / p is needed.

    Args:
        labels, schema, rewards, seed: as for the boosters.
        exploration: share of rounds in which another label is tried.

    >>> model = Majority(["a", "b"], exploration=0.1, seed=1)
    >>> for _ in range(20):
    ...     decision = model.decide({"age": 31})
    ...     model.learn(decision, correct=decision.label == "b")
    >>> model.decide({"age": 64}).distribution()["b"]
    0.9
    """

    compiled_round = Round(choose, teach, teach_learners=teach_nobody, graded=True)
    weighs_by_probability = False

    def _start(self) -> None:
        super()._start()
        self._shares = np.zeros((2, len(self.labels)))

    def _state(self) -> BaselineState:
        return BaselineState(
            learned=MajorityLearned(self._counts, self._tally, self._shares), **self._common()
        )

    def _scores_of(self, memo: Array) -> Array:  # noqa: ARG002 (the row says nothing)
        """The mean reward of every label, as `choose` has it."""
        return np.asarray((self._shares[EARNED] + 1.0) / (self._shares[HEARD] + 1.0))

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "weights": self._shares}

    def _restore(self, arrays: dict[str, Array]) -> None:
        shares = take_array(arrays, "weights", np.float64, self._shares.shape)
        super()._restore(arrays)
        heard, logged = by_label_of(self._tally), logged_of(self._tally)  # which are looked at there
        counted = np.array([heard[:, 1] + logged[:, 1], heard[:, 0] + logged[:, 0]])
        off = np.abs(shares - counted) > [[_ROUNDING if self.logged else 0.0], [0.0]] * counted
        possible = not off.any() and shares[HEARD].sum() == self._counted.verdicts
        demand(possible, "the counts of verdicts are not possible")
        self._shares = shares

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._shares.nbytes
