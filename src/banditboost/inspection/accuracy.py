"""Shares of right verdicts, with intervals, from the tally of a model."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from banditboost.inspection.tally import (
    BY_LABEL,
    EXPLORED,
    HEARD,
    INVERSE,
    RECENT,
    RIGHT_INVERSE,
    SQUARES,
    WINDOW,
)
from banditboost.types import Array

_Z = 1.959963984540054  # of 95 %


@dataclass(frozen=True)
class Accuracy:
    """A share of right verdicts and Wilson's 95 % interval around it; all NaN before the first verdict.

    >>> found = Accuracy.of(right=90, verdicts=100)
    >>> found.share, round(found.low, 3), round(found.high, 3)
    (0.9, 0.826, 0.945)
    """

    verdicts: float
    """How many were heard; for an estimate from weighted ones, how many unweighted ones would be as good."""
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, right: float, verdicts: float) -> Accuracy:
        if not verdicts > 0:
            return cls(0, math.nan, math.nan, math.nan)
        share, spread = right / verdicts, _Z * _Z / verdicts
        centre = (share + spread / 2) / (1 + spread)
        half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
        # Rounding must not push the interval away from the share, nor beyond what a share can be.
        return cls(verdicts, share, max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share)))


@dataclass(frozen=True)
class Account:
    """How a model has done over some of its verdicts."""

    shown: Accuracy
    """Of the labels that were shown: exploration included."""
    by_label: dict[Hashable, Accuracy]
    """Share of right verdicts on each label that was ever shown and heard of."""
    greedy: Accuracy
    """Of the labels that the model thought best, had they always been shown: verdicts on them, weighted by 1
    / probability.
    """
    explored: float
    """Share of the verdicts that are on another label than the one the model thought best."""

    @property
    def cost(self) -> float:
        """What exploring cost: the accuracy of the greedy labels minus that of the shown ones.

        An estimate: it may fall below 0.
        """
        return self.greedy.share - self.shown.share


def since_the_start(tally: Array, labels: Sequence[Hashable]) -> Account:
    return _account(tally[BY_LABEL:].reshape(-1, 2), tally[:RECENT], labels)


def lately(tally: Array, labels: Sequence[Hashable]) -> Account:
    """Over the last `WINDOW` verdicts."""
    window = tally[RECENT:BY_LABEL].reshape(WINDOW, 2)[: int(tally[HEARD])]
    codes, inverse = window[:, 0].astype(np.int64), 1.0 / window[:, 1]
    shown, explored, right = codes // 4, codes // 2 % 2 == 1, codes % 2 == 1
    by_label = np.column_stack([np.bincount(shown, weights, len(labels)) for weights in (None, right)])
    sums = np.zeros(RECENT)
    sums[EXPLORED] = explored.sum()
    inverse = inverse[~explored]
    sums[INVERSE], sums[RIGHT_INVERSE], sums[SQUARES] = (
        inverse.sum(),
        inverse[right[~explored]].sum(),
        (inverse * inverse).sum(),
    )
    return _account(by_label, sums, labels)


def _account(by_label: Array, sums: Array, labels: Sequence[Hashable]) -> Account:
    heard, right = by_label.sum(axis=0).tolist()
    known = {
        labels[i]: Accuracy.of(int(by_label[i, 1]), int(by_label[i, 0]))
        for i in np.flatnonzero(by_label[:, 0]).tolist()
    }
    explored = float(sums[EXPLORED]) / heard if heard else math.nan
    return Account(
        Accuracy.of(int(right), int(heard)),
        known,
        _weighted(*sums[[INVERSE, RIGHT_INVERSE, SQUARES]].tolist()),
        explored,
    )


def _weighted(inverse: float, right: float, squares: float) -> Accuracy:
    """A weighted mean; the weights are as good as (sum w)^2 / sum w^2 equal ones."""
    if not squares > 0.0:
        return Accuracy.of(0, 0)
    effective = inverse * inverse / squares
    return Accuracy.of(right / inverse * effective, effective)
