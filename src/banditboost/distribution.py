"""The distribution that a decision was drawn from, and whether a stored memo could have been drawn from one.

`allowed` holds the indices of the labels that could be shown, in increasing order; None stands for all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from banditboost.memo import (
    ALLOWED,
    GREEDY,
    LEARNERS,
    MOST_PROBABILITIES,
    POLICY,
    POLICY_BY_VOTES,
    POLICY_INVERSE_GAPS,
    POLICY_UNIFORM,
    PROBABILITY,
    RATE,
    SHOWN,
    UNIFORM_SHARE,
    VOTES,
)
from banditboost.types import Array


def distribution(memo: Array, n_labels: int, allowed: Array | None) -> list[float] | None:
    """The probability of every label; None if the memo does not hold it (inverse gaps among more than 32
    labels).
    """
    if memo[POLICY] == POLICY_INVERSE_GAPS:
        held: list[float] = memo[VOTES : VOTES + n_labels].tolist()
        return held if n_labels <= MOST_PROBABILITIES else None
    shares = (
        _by_votes(memo, n_labels, allowed)
        if memo[POLICY] == POLICY_BY_VOTES
        else _uniform(memo, n_labels, allowed)
    )
    probabilities: list[float] = shares.tolist()
    return probabilities


def is_possible(memo: Array, n_labels: int, allowed: Array | None) -> bool:
    """Whether shown and greedy label could be shown, and the probability is that of the shown one.

    Nothing is made for each label: nobody may have so many.
    """
    head = memo[:VOTES].tolist()
    shown, greedy, n_allowed = int(head[SHOWN]), int(head[GREEDY]), 0 if allowed is None else len(allowed)
    if (
        head[ALLOWED] != n_allowed
        or n_allowed == n_labels
        or (allowed is not None and allowed[-1] >= n_labels)
    ):
        return False
    if allowed is not None and not (shown in allowed and greedy in allowed):
        return False
    if head[POLICY] == POLICY_INVERSE_GAPS:
        return _is_by_gaps(memo, n_labels, allowed)
    if head[POLICY] == POLICY_BY_VOTES:
        return _has_votes(memo) and bool(
            head[PROBABILITY] == _votes(memo, n_labels, allowed).share(shown) > 0.0
        )
    expected = _probability(shown != greedy, head[RATE], n_allowed or n_labels)
    return bool(head[POLICY] == POLICY_UNIFORM and head[PROBABILITY] == expected > 0.0)


def _probability(explored: bool, rate: float, n_allowed: int) -> float:
    """Equation (2) over the labels that were allowed."""
    if n_allowed == 1:
        return 0.0 if explored else 1.0
    return rate / (n_allowed - 1) if explored else 1.0 - rate


def _uniform(memo: Array, n_labels: int, allowed: Array | None) -> Array:
    n_allowed = n_labels if allowed is None else len(allowed)
    best, other = (_probability(explored, float(memo[RATE]), n_allowed) for explored in (False, True))
    shares = _spread(other, n_labels, allowed)
    shares[int(memo[GREEDY])] = best
    return shares


def _spread(share: float, n_labels: int, allowed: Array | None) -> Array:
    """The same share for each label that is allowed."""
    if allowed is None:
        return np.full(n_labels, share)
    shares = np.zeros(n_labels)
    shares[allowed] = share
    return shares


def _has_votes(memo: Array) -> bool:
    n = memo[LEARNERS]
    return bool(
        n >= 1
        and n == np.floor(n)
        and len(memo) >= VOTES + 2 * n
        and np.all(np.isfinite(memo[VOTES : VOTES + 2 * int(n)]))
    )


class _Votes(NamedTuple):
    """How the votes of a memo are divided (boosting/divided.py), sums in the same order."""

    by_label: dict[int, float]  # only labels that are allowed
    others: float  # votes for others than the greedy label
    greedy: int
    rate: float
    n_allowed: int

    def share(self, label: int) -> float:
        """The probability of a label that is allowed."""
        if label == self.greedy:
            return 1.0 - self.rate if self.n_allowed > 1 else 1.0
        uniform_share = UNIFORM_SHARE if self.others > 0.0 else 1.0
        share = uniform_share / max(self.n_allowed - 1, 1)
        if self.others > 0.0:
            share += (1.0 - uniform_share) * self.by_label.get(label, 0.0) / self.others
        return share * self.rate


def _votes(memo: Array, n_labels: int, allowed: Array | None) -> _Votes:
    n, greedy = int(memo[LEARNERS]), int(memo[GREEDY])
    may_show = range(n_labels) if allowed is None else set(allowed.tolist())
    voted = [int(label) for label in memo[VOTES : VOTES + n].tolist()]
    weights = [max(weight, 0.0) for weight in memo[VOTES + n : VOTES + 2 * n].tolist()]
    counted = [i for i in range(n) if voted[i] in may_show]
    if not any(weights[i] > 0.0 for i in counted):
        weights = [1.0] * n
    by_label: dict[int, float] = {}
    others = 0.0
    for i in counted:
        by_label[voted[i]] = by_label.get(voted[i], 0.0) + weights[i]
        if voted[i] != greedy:
            others += weights[i]
    return _Votes(by_label, others, greedy, float(memo[RATE]), len(may_show))


def _by_votes(memo: Array, n_labels: int, allowed: Array | None) -> Array:
    """The distribution of exploration by votes: labels that nobody voted for share alike."""
    votes = _votes(memo, n_labels, allowed)
    shares = _spread(votes.share(-1), n_labels, allowed)
    for label in {*votes.by_label, votes.greedy}:
        shares[label] = votes.share(label)
    return shares


def _is_by_gaps(memo: Array, n_labels: int, allowed: Array | None) -> bool:
    """Whether the probabilities of a memo could come from inverse gaps: all positive, but for labels that
    were not allowed.
    """
    if not 0.0 < memo[PROBABILITY] <= 1.0:
        return False
    if n_labels > MOST_PROBABILITIES:
        return True
    kept = memo[VOTES : VOTES + n_labels]
    if (
        len(kept) != n_labels
        or not np.all((kept >= 0.0) & (kept <= 1.0))
        or not abs(math.fsum(kept) - 1.0) < 1e-9
    ):
        return False
    may_show = np.arange(n_labels) if allowed is None else allowed
    return bool(
        np.array_equal(np.flatnonzero(kept), may_show) and kept[int(memo[SHOWN])] == memo[PROBABILITY]
    )
