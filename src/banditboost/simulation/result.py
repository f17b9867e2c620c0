"""What a played stream has shown."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from banditboost.errors import ParameterError
from banditboost.inspection.accuracy import Accuracy
from banditboost.theory import WeakLearningCondition
from banditboost.types import Array


def _share(right: Array) -> float:
    return float(np.mean(right)) if len(right) else math.nan


@dataclass(frozen=True)
class Result:
    """The record of a stream: right, shown and greedy label of every round, as indices into `labels`.

    Of a stream with rewards y is None, and there is no accuracy: `rewards` is what the shown labels earned,
    in the model's units, and `greedy_rewards` what the greedy ones would have (None if a function
    told rewards).

    `learned` is how many verdicts were learned within the stream. Of weak learners there are, one number for
    each:

    - `edges`: the empirical edges gamma_i of the paper's section 3.3 (AdaBandit and AdaFull only).
    - `suffered`: the losses of line 15 of Algorithm 1, estimated costs chat of what the learner predicted,
      summed over all verdicts that were learned (boosters with cost vectors: also OptBandit and OptFull).
    - `condition`: the sums of the weak learning condition, if `play` has watched them.

    >>> from banditboost import AdaBandit, play
    >>> X = [{"colour": colour} for colour in ("red", "blue") * 200]
    >>> play(AdaBandit(["stop", "go"], n_learners=5, seed=1), X, ["stop", "go"] * 200).last_accuracy
    0.9625
    """

    labels: tuple[Hashable, ...]
    y: Array | None
    shown: Array
    greedy: Array
    learned: int
    edges: Array | None
    suffered: Array | None = None
    condition: WeakLearningCondition | None = None
    rewards: Array | None = None
    greedy_rewards: Array | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)

    @property
    def correct(self) -> Array:
        """Whether the shown label was right, round by round."""
        return np.asarray(self.shown == self._right())

    def _right(self) -> Array:
        if self.y is None:
            raise ParameterError(
                "y is None: the stream told rewards and no right labels; look at mean_reward"
            )
        return self.y

    @property
    def explored(self) -> Array:
        """Whether another label than the greedy one was shown."""
        return np.asarray(self.shown != self.greedy)

    @property
    def accuracy(self) -> float:
        """Share of right labels among the shown: exploration included."""
        return _share(self.correct)

    @property
    def last_accuracy(self) -> float:
        """Share of right labels among those shown in the last fifth, as in the paper's Table 1."""
        return _share(self.correct[-self._fifth :])

    @property
    def greedy_accuracy(self) -> float:
        """Share of rounds in which the greedy label was right."""
        return _share(self.greedy == self._right())

    @property
    def _fifth(self) -> int:
        return max(1, int(0.2 * len(self.shown)))

    @property
    def earned(self) -> Array:
        """The reward of the shown label, round by round."""
        if self.rewards is not None:
            return self.rewards
        low, high = self.reward_range
        return np.where(self.correct, high, low)

    @property
    def mean_reward(self) -> float:
        """Mean reward of the shown labels: exploration included."""
        return _share(self.earned)

    @property
    def last_mean_reward(self) -> float:
        """Mean reward of the labels shown in the last fifth."""
        return _share(self.earned[-self._fifth :])

    @property
    def greedy_mean_reward(self) -> float:
        """Mean reward that the greedy labels would have earned; NaN if a function told the rewards."""
        if self.y is None:
            return math.nan if self.greedy_rewards is None else _share(self.greedy_rewards)
        low, high = self.reward_range
        return _share(np.where(self.greedy == self.y, high, low))

    def interval(self, *, last: bool = False) -> Accuracy:
        """The mean reward (accuracy, if the range is (0, 1) and y was given) with its 95 % interval.

        Args:
            last: of the last fifth only.

        >>> from banditboost import GapBoost, play
        >>> X = [{"colour": colour} for colour in ("red", "blue") * 200]
        >>> rewards = [[0.2, 0.9], [0.6, 0.3]] * 200
        >>> found = play(GapBoost(["stop", "go"], seed=1), X, rewards=rewards).interval(last=True)
        >>> found.low < 0.75 < found.high
        True
        """
        low, high = self.reward_range
        shares = (self.earned[-self._fifth :] if last else self.earned) - low
        shares = shares / (high - low)
        total, squares = float(shares.sum()), float((shares * shares).sum())
        return Accuracy.of_rewards(total, squares, len(shares), self.reward_range)

    def curve(self, window: float = 0.2) -> Array:
        """Moving average of accuracy, or of the reward, over the last `window` share of the stream; begins
        when the first window is full.
        """
        width = max(1, int(window * len(self.shown)))
        sums = np.concatenate([[0], np.cumsum(self.correct if self.y is not None else self.earned)])
        return np.asarray((sums[width:] - sums[:-width]) / width)

    def __repr__(self) -> str:
        if self.y is None:
            found = f"mean_reward={self.mean_reward:.4f}, last_mean_reward={self.last_mean_reward:.4f}"
        else:
            found = f"accuracy={self.accuracy:.4f}, last_accuracy={self.last_accuracy:.4f}"
        return f"Result({len(self.shown)} rounds, {found})"
