"""What a played stream has shown."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from banditboost.theory import WeakLearningCondition
from banditboost.types import Array


def _share(right: Array) -> float:
    return float(np.mean(right)) if len(right) else math.nan


@dataclass(frozen=True)
class Result:
    """The record of a stream: right, shown and greedy label of every round, as indices into `labels`.

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
    y: Array
    shown: Array
    greedy: Array
    learned: int
    edges: Array | None
    suffered: Array | None = None
    condition: WeakLearningCondition | None = None

    @property
    def correct(self) -> Array:
        """Whether the shown label was right, round by round."""
        return np.asarray(self.shown == self.y)

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
        return _share(self.correct[-max(1, int(0.2 * len(self.y))) :])

    @property
    def greedy_accuracy(self) -> float:
        """Share of rounds in which the greedy label was right."""
        return _share(self.greedy == self.y)

    def curve(self, window: float = 0.2) -> Array:
        """Moving average of accuracy over the last `window` share of the stream; begins when the first window
        is full.
        """
        width = max(1, int(window * len(self.y)))
        sums = np.concatenate([[0], np.cumsum(self.correct)])
        return np.asarray((sums[width:] - sums[:-width]) / width)

    def __repr__(self) -> str:
        accuracy = f"accuracy={self.accuracy:.4f}, last_accuracy={self.last_accuracy:.4f}"
        return f"Result({len(self.y)} rounds, {accuracy})"
