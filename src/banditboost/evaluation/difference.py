"""Is a policy better than another? The difference of two values, from the log of either or of a third one."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from banditboost.errors import LogError, ParameterError
from banditboost.evaluation import doors
from banditboost.evaluation.predictions import (
    CUT,
    Baseline,
    check_cut,
    check_model,
    doubly_robust_scores,
    part_of,
)
from banditboost.evaluation.quantiles import normal_half_width
from banditboost.evaluation.sequence import Sequence, running
from banditboost.evaluation.value import APPROXIMATE, BLOCK, CROSSED, Interval, restore
from banditboost.io.values import demand
from banditboost.rewards import UNIT, Range, check_range
from banditboost.types import Array
from banditboost.validation import check_choice, check_count

_KINDS = ("sequence", "bernstein", "gaussian")
_FORMAT = 1


class PolicyDifference:
    """By how much one policy earns more than another on average, from rows that were logged.

    With weights w and v of the two policies, and a reward u as a share of its range, w u + v (1 - u) is
    never below 0, and its mean is 1 + the difference; with w and v exchanged it is 1 - the difference. So no
    bound on the weights is needed. Against the logging policy itself v is 1. With a model of the
    rewards, which makes differences from the logging policy narrower, the doubly robust scores take the place
    of w u and w (1 - u).

    Args:
        rewards: the least and the largest reward.
        rows: how many rows there will be, if intervals of the kind "bernstein" are wanted.
        cut: weight times prediction that is cut off, if a model of the rewards is told.

    >>> ahead = PolicyDifference()
    >>> ahead.add_many([1, 0] * 500, probability=[0.5] * 1000, policy=[0.9, 0.1] * 500)
    >>> round(ahead.estimate(), 3)  # more than the logging policy
    0.4
    >>> round(ahead.interval().low, 2)
    0.35
    """

    def __init__(
        self, rewards: tuple[float, float] = UNIT, *, rows: int | None = None, cut: float = CUT
    ) -> None:
        self._cut = check_cut(cut)
        self._rewards: Range = check_range(rewards)
        self._rows = 0 if rows is None else check_count("rows", rows, 1)
        self._sums = np.zeros(2)
        self._has_model: bool | None = None
        self._sequence = self._fresh(False)

    def _fresh(self, has_model: bool) -> Sequence:
        """Scores are -cut at least with a model, and 0 without one; their means are 2 at most."""
        return Sequence(scale=2.0 + self._cut * has_model, offset=1.0, rows=self._rows)

    @property
    def n(self) -> int:
        """How many rows were added."""
        return self._sequence.n

    def add(self, reward: float, probability: float, policy: float, against: float | None = None) -> None:
        """One row; see `add_many`."""
        self.add_many([reward], [probability], [policy], None if against is None else [against])

    def add_many(
        self, reward: Any, probability: Any, policy: Any, against: Any = None, model: Baseline | None = None
    ) -> None:
        """Many rows, in their order; if one is refused, none was added.

        Args:
            reward: the reward of each row.
            probability: with which the logged action was chosen.
            policy: with which the policy would have chosen it.
            against: with which the other policy would have chosen it; None is the logging policy.
            model: what `baseline` made of the rows, with `logging` or `least`: with all rows, or with none.
        """
        u = doors.reward_shares(reward, self._rewards)
        p = doors.logged_probabilities(probability, len(u))
        w = doors.weights("policy", policy, p)
        v = np.ones(len(u)) if against is None else doors.weights("against", against, p)
        check_model(model, len(u), self._cut, self._has_model)
        if model is not None and against is not None:
            raise LogError("model is told for a difference from another policy; leave out one of the two")
        sequence = self._fresh(model is not None)
        if self.n:
            sequence.restore(self._sequence.n, self._sequence.sides)
        sums = self._sums
        for start in range(0, len(u), BLOCK):
            part = slice(start, start + BLOCK)
            told = None if model is None else part_of(model, part)
            low, high, ahead = _scores(u[part], w[part], v[part], told)
            sequence.add(low, high)
            sums = running(sums, np.column_stack([ahead, ahead * ahead]))[1]
        if len(u):
            self._sequence, self._sums, self._has_model = sequence, sums, model is not None

    def estimate(self) -> float:
        """By how much the policy earns more, in the units of the rewards; NaN without rows."""
        return self._in_units(float(self._sums[0]) / self.n) if self.n else math.nan

    def interval(self, kind: str = "sequence", *, level: float = 0.95) -> Interval:
        """Bounds on the difference: if the lower one is above 0, the policy is better.

        Args:
            kind: "sequence", "bernstein" or "gaussian", as in `PolicyValue.interval`.
            level: how sure it is to hold.
        """
        check_choice("kind", kind, _KINDS)
        level = doors.check_level(level)
        if kind == "gaussian":
            low, high = self._gaussian(level)
            remark = APPROXIMATE
        else:
            sequence = self._sequence
            low, high = map(float, sequence.anytime(level) if kind == "sequence" else sequence.fixed(level))
            remark = CROSSED if low > high else ""
        return Interval(self._in_units(low), self._in_units(high), level, kind, remark)

    def _gaussian(self, level: float) -> tuple[float, float]:
        if self.n < 2:
            return -1.0, 1.0
        total, squares = self._sums.tolist()
        mean = total / self.n
        variance = max(0.0, (squares - self.n * mean * mean) / (self.n - 1))
        half = normal_half_width(level) * math.sqrt(variance / self.n)
        return mean - half, mean + half

    def _in_units(self, share: float) -> float:
        return share * (self._rewards[1] - self._rewards[0])

    def to_plain(self) -> dict[str, Any]:
        """All of it as dicts, lists and numbers."""
        return {
            "kind": "PolicyDifference",
            "format": _FORMAT,
            "rewards": list(self._rewards),
            "rows": self._rows,
            "cut": self._cut,
            "model": self._has_model,
            "sums": self._sums.tolist(),
            "sequence": self._sequence.to_plain(),
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Go on from what `to_plain` gave."""
        told = doors.check_plain(plain, "PolicyDifference", set(cls().to_plain()))
        try:
            demand(told["format"] == _FORMAT, "another version wrote it")
            made = cls(tuple(told["rewards"]), rows=told["rows"] or None, cut=told["cut"])
            demand(told["model"] in (None, True, False), "model is neither true nor false")
            made._has_model = told["model"]
            made._sequence = made._fresh(bool(made._has_model))
            made._sums = np.array(told["sums"], np.float64)
            demand(made._sums.shape == (2,) and bool(np.all(np.isfinite(made._sums))), "the sums are damaged")
            restore(made._sequence, told["sequence"], 2**53)
        except (TypeError, ValueError, KeyError) as error:
            raise ParameterError(
                f"plain is no PolicyDifference ({error}); give what to_plain returned"
            ) from None
        return made


def difference_scores(u: Array, w: Array, v: Array) -> tuple[Array, Array]:
    """Two kinds with the means 1 + the difference and 1 - the difference, for rewards u and two weights."""
    gain, other = w * u, v * u
    return gain + (v - other), other + (w - gain)


def _scores(u: Array, w: Array, v: Array, model: Baseline | None) -> tuple[Array, Array, Array]:
    """Two kinds with the means 1 + the difference and 1 - the difference, and the difference itself."""
    if model is None:
        return *difference_scores(u, w, v), w * u - v * u
    low, high = doubly_robust_scores(u, w, model)
    return low + (1.0 - u), high + u, w * (u - model.shown) + model.mean - u
