"""Shares of right verdicts and mean rewards, with intervals, from the tally of a model."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from banditboost.inspection.tally import (
    EXPLORED,
    INVERSE,
    RECENT,
    REWARD_INVERSE,
    REWARD_SQUARES,
    SQUARES,
    by_label_of,
    recent_of,
)
from banditboost.rewards import UNIT, Range, in_units
from banditboost.types import Array

_Z = 1.959963984540054  # of 95 %
_COINS = _Z * _Z  # rewards of 0 or 1 that a spread is estimated with, besides those that were heard


@dataclass(frozen=True)
class Accuracy:
    """A share of right verdicts, or a mean reward, and a 95 % interval around it; all NaN before the first.

    Of verdicts the interval is Wilson's. Of graded rewards it is Wilson's, too, for as many verdicts as would
    tell as much: rewards that spread half as much as verdicts with their mean count twice. It is
    approximate (docs/guide-rewards.md).

    >>> found = Accuracy.of(right=90, verdicts=100)
    >>> found.share, round(found.low, 3), round(found.high, 3)
    (0.9, 0.826, 0.945)
    """

    verdicts: float
    """How many were heard; for an estimate from weighted ones, how many unweighted ones would be as good."""
    share: float
    """Of right verdicts; the mean of graded rewards, in the model's units."""
    low: float
    high: float

    @classmethod
    def of(cls, right: float, verdicts: float) -> Accuracy:
        """That of so many right verdicts among all."""
        return cls._wilson(right, verdicts, verdicts)

    @classmethod
    def of_rewards(cls, total: float, squares: float, heard: float, rewards: Range = UNIT) -> Accuracy:
        """That of rewards in [0, 1] with this sum and sum of squares, in the units of a range.

        >>> found = Accuracy.of_rewards(total=50.0, squares=26.0, heard=100)
        >>> found.share, round(found.low, 3), round(found.high, 3)
        (0.5, 0.473, 0.527)
        """
        found = cls._wilson(total, heard, heard / _spread(total, squares, heard) if heard > 0 else 0.0)
        ends = (in_units(number, rewards) for number in (found.share, found.low, found.high))
        return cls(found.verdicts, *ends)

    @classmethod
    def _wilson(cls, right: float, verdicts: float, as_good_as: float) -> Accuracy:
        if not verdicts > 0:
            return cls(0, math.nan, math.nan, math.nan)
        share, spread = right / verdicts, _Z * _Z / as_good_as
        centre = (share + spread / 2) / (1 + spread)
        half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
        # Rounding must not push the interval away from the share, nor beyond what a share can be.
        return cls(verdicts, share, max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share)))


def _spread(total: float, squares: float, heard: float) -> float:
    """The variance of rewards in units of that of verdicts with their mean: in (0, 1], and 1 for verdicts.

    It is estimated as if `_COINS` verdicts had been heard, too: few rewards that happen to be alike do not
    make an interval of no length.
    """
    if squares == total:
        return 1.0
    mean = total / heard
    of_verdicts = mean * (1.0 - mean)
    variance = max(0.0, squares / heard - mean * mean)
    if not of_verdicts > 0.0:
        return 1.0
    return min(1.0, (heard * variance / of_verdicts + _COINS) / (heard + _COINS))


@dataclass(frozen=True)
class Account:
    """How a model has done over some of its verdicts or rewards."""

    shown: Accuracy
    """Of the labels that were shown: exploration included."""
    by_label: dict[Hashable, Accuracy]
    """Of each label that was ever shown and heard of."""
    greedy: Accuracy
    """Of the labels that the model thought best, had they always been shown: what was heard of them, weighted
    by 1 / probability.
    """
    explored: float
    """Share of what was heard that is on another label than the one the model thought best."""

    @property
    def cost(self) -> float:
        """What exploring cost: the accuracy or mean reward of the greedy labels minus that of the shown ones.

        An estimate: it may fall below 0.
        """
        return self.greedy.share - self.shown.share


def is_graded(tally: Array) -> bool:
    """Whether a reward was heard that is neither the least nor the largest."""
    by_label = by_label_of(tally)
    return bool(np.any(by_label[:, 1] != by_label[:, 2]))


def since_the_start(tally: Array, labels: Sequence[Hashable], rewards: Range = UNIT) -> Account:
    return _account(by_label_of(tally), tally[:RECENT], labels, rewards)


def lately(tally: Array, labels: Sequence[Hashable], rewards: Range = UNIT) -> Account:
    """Over the last `WINDOW` verdicts or rewards."""
    codes, probability, reward = recent_of(tally).T
    shown, explored = codes.astype(np.int64) // 2, codes % 2 == 1
    columns = (None, reward, reward * reward)
    by_label = np.column_stack([np.bincount(shown, weights, len(labels)) for weights in columns])
    inverse, reward = 1.0 / probability[~explored], reward[~explored]
    sums = np.zeros(RECENT)
    sums[EXPLORED] = explored.sum()
    sums[[INVERSE, SQUARES]] = inverse.sum(), (inverse * inverse).sum()
    sums[[REWARD_INVERSE, REWARD_SQUARES]] = (inverse * reward).sum(), (inverse * (reward * reward)).sum()
    return _account(by_label, sums, labels, rewards)


def _account(by_label: Array, sums: Array, labels: Sequence[Hashable], rewards: Range) -> Account:
    sums_of_all = by_label.sum(axis=0)
    heard = float(sums_of_all[0])
    known = {labels[i]: _mean(by_label[i], rewards) for i in np.flatnonzero(by_label[:, 0]).tolist()}
    explored = float(sums[EXPLORED]) / heard if heard else math.nan
    return Account(_mean(sums_of_all, rewards), known, _weighted(sums, rewards), explored)


def _mean(sums: Array, rewards: Range) -> Accuracy:
    heard, total, squares = sums.tolist()
    return Accuracy.of_rewards(total, squares, int(heard), rewards)


def _weighted(sums: Array, rewards: Range) -> Accuracy:
    """A weighted mean; the weights are as good as (sum w)^2 / sum w^2 equal ones."""
    inverse, squares, gained, gained_squares = sums[
        [INVERSE, SQUARES, REWARD_INVERSE, REWARD_SQUARES]
    ].tolist()
    if not squares > 0.0:
        return Accuracy.of(0, 0)
    effective = inverse * inverse / squares
    mean, mean_square = gained / inverse, gained_squares / inverse
    return Accuracy.of_rewards(mean * effective, mean_square * effective, effective, rewards)
