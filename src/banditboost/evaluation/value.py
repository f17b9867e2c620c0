"""The value of a policy from the log of another one: one running sum, whatever the number of rows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from banditboost.errors import LogError, ParameterError
from banditboost.evaluation import doors
from banditboost.evaluation.likelihood import Moments, likelihood_estimate, likelihood_interval
from banditboost.evaluation.predictions import (
    CUT,
    WITHOUT_BOUNDS,
    Baseline,
    check_cut,
    check_model,
    doubly_robust_scores,
    part_of,
)
from banditboost.evaluation.quantiles import normal_half_width
from banditboost.evaluation.sequence import Sequence, running
from banditboost.io.values import demand
from banditboost.rewards import UNIT, Range, check_range, in_units
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_choice, check_count, check_number

BLOCK = 65_536
"""Rows that are held at a time."""
W, WW, WU, WWU, WWUU, U, LEAST, MOST, MEAN, MEANS, DOUBLY, DOUBLES, SWITCHED, SWITCHES = range(14)
"""Sums over weights w and rewards u as shares of their range; the least and the largest weight; and sums, and
sums of squares, of the scores of the direct, the doubly robust and the switch estimate."""
_SUMS = 14
_FORMAT = 1

APPROXIMATE = "approximate: made for many rows that are alike, and for one look"
ONLY_SAMPLING = (
    "approximate: tells how the rows vary, and nothing about how wrong the model of the rewards is"
)
BIASED = "approximate: says nothing about the bias of rows whose weight is above the switch"
CROSSED = "the bounds cross: the logged probabilities can hardly be right"
KINDS = {
    "ips": ("sequence", "bernstein", "gaussian"),
    "snips": ("gaussian",),
    "likelihood": ("likelihood",),
    "clipped": ("sequence", "bernstein"),
    "doubly_robust": ("sequence", "bernstein", "gaussian"),
    "direct": ("gaussian",),
    "switch": ("gaussian",),
}
"""Estimators, and the kinds of intervals that there are for each: the first is that which is told."""
_WITH_MODEL = ("direct", "doubly_robust", "switch")


class Interval(NamedTuple):
    """Bounds on the value of a policy, or on the difference of two.

    >>> found = Interval(0.1, 0.3, 0.95, "sequence", "")
    >>> found.holds, found.low
    (True, 0.1)
    >>> found.level
    0.95
    """

    low: float
    high: float
    level: float
    kind: str
    remark: str
    """Why it is approximate, or cannot be believed; empty if it holds."""

    @property
    def holds(self) -> bool:
        """Whether it contains the truth at least as often as its level says, whatever the rewards are."""
        return not self.remark


class PolicyValue:
    """What a policy earns on average, from rows that another policy logged.

    Each row tells the reward of the logged action, the probability with which it was chosen, and the
    probability with which the policy would have chosen it. Memory does not grow. Rows one by one or in blocks
    come to the same numbers, to the last bit.

    Args:
        rewards: the least and the largest reward.
        rows: how many rows there will be, if intervals of the kind "bernstein" are wanted.
        clip: the weight above which the estimator "clipped" cuts weights.
        switch: the weight above which the estimator "switch" believes the model.
        cut: weight times prediction that is cut off for bounds of the estimator "doubly_robust".
        weights: the least and the largest weight that are possible, for the kind "likelihood".

    >>> value = PolicyValue()
    >>> value.add(reward=1, probability=0.5, policy=0.9)
    >>> value.add_many([0, 1], probability=[0.5, 0.5], policy=[0.1, 0.9])
    >>> round(value.estimate("ips"), 3), round(value.estimate("snips"), 3)
    (1.2, 0.947)
    >>> value.interval("ips").low
    0.0
    """

    def __init__(
        self,
        rewards: tuple[float, float] = UNIT,
        *,
        rows: int | None = None,
        clip: float = 10.0,
        switch: float = 10.0,
        cut: float = CUT,
        weights: tuple[float, float] = (0.0, math.inf),
    ) -> None:
        self._rewards: Range = check_range(rewards)
        self._rows = 0 if rows is None else check_count("rows", rows, 1)
        self._clip = check_number("clip", clip, 0.0, math.inf, open_low=True)
        self._switch = check_number("switch", switch, 0.0, math.inf)
        self._cut = check_cut(cut)
        self._weights = _checked_weights(weights)
        self._n = 0
        self._sums = np.zeros(_SUMS)
        self._sums[LEAST] = math.inf
        self._has_model: bool | None = None
        self._bounded = True
        self._sequences = {
            "ips": Sequence(rows=self._rows),
            "clipped": Sequence(rows=self._rows),
            "doubly_robust": Sequence(scale=self._cut + 1.0, rows=self._rows),
        }

    # What is told

    def add(self, reward: float, probability: float, policy: float) -> None:
        """One row: the reward, the probability that was logged, and the policy's probability of the same
        action.
        """
        self.add_many([reward], [probability], [policy])

    def add_many(self, reward: Any, probability: Any, policy: Any, model: Baseline | None = None) -> None:
        """Many rows, in their order; if one is refused, none was added.

        Args:
            reward: the reward of each row.
            probability: with which the logged action was chosen.
            policy: with which the policy would have chosen it.
            model: what `baseline` made of them, for estimates with a model of the rewards: with all rows, or
                with none.
        """
        u = doors.reward_shares(reward, self._rewards)
        p = doors.logged_probabilities(probability, len(u))
        w = doors.weights("policy", policy, p)
        check_model(model, len(u), self._cut, self._has_model)
        state = self._n, self._sums, self._has_model, self._bounded, self._sequences
        self._sequences = {name: found.copy() for name, found in self._sequences.items()}
        try:
            for start in range(0, len(u), BLOCK):
                part = slice(start, start + BLOCK)
                self._add(u[part], w[part], None if model is None else part_of(model, part))
        except BaseException:
            self._n, self._sums, self._has_model, self._bounded, self._sequences = state
            raise

    def _add(self, u: Array, w: Array, model: Baseline | None) -> None:
        wu = w * u
        terms = [w, w * w, wu, w * wu, wu * wu, u]
        self._sequences["ips"].add(wu, w - wu)
        cut = np.minimum(w, self._clip)
        self._sequences["clipped"].add(cut * u, cut - cut * u)
        sums = self._sums.copy()
        if model is not None:
            doubly = w * (u - model.shown) + model.mean
            switched = np.where(w <= self._switch, doubly, model.mean)
            for scores in (model.mean, doubly, switched):
                terms += [scores, scores * scores]
            self._add_bounds(u, w, model)
        places = [place for place in range(_SUMS) if place not in (LEAST, MOST)][: len(terms)]
        sums[places] = running(sums[places], np.column_stack(terms))[1]
        sums[LEAST] = min(sums[LEAST], w.min())
        sums[MOST] = max(sums[MOST], w.max())
        self._sums, self._n, self._has_model = sums, self._n + len(u), model is not None

    def _add_bounds(self, u: Array, w: Array, model: Baseline) -> None:
        if model.low is None:
            self._bounded = False
        else:
            self._sequences["doubly_robust"].add(*doubly_robust_scores(u, w, model))

    # What is known

    @property
    def rewards(self) -> Range:
        """The least and the largest reward."""
        return self._rewards

    @property
    def clip(self) -> float:
        """The weight above which the estimator "clipped" cuts weights."""
        return self._clip

    @property
    def n(self) -> int:
        """How many rows were added."""
        return self._n

    @property
    def mean_weight(self) -> float:
        """The mean of policy / probability: near 1 if the logged probabilities are right."""
        return float(self._sums[W]) / self._n if self._n else math.nan

    @property
    def largest_weight(self) -> float:
        """The largest weight that was seen; 0 without rows."""
        return float(self._sums[MOST])

    @property
    def effective_sample_size(self) -> float:
        """As good as how many rows of the policy itself: (sum of weights)^2 / sum of their squares."""
        return float(self._sums[W] ** 2 / self._sums[WW]) if self._sums[WW] > 0.0 else 0.0

    def estimate(self, estimator: str = "ips") -> float:
        """The value, in the units of the rewards; NaN if the log says nothing.

        Args:
            estimator: ips, snips, likelihood, clipped, and with a model of the rewards direct, doubly_robust
                and switch.
        """
        check_choice("estimator", estimator, KINDS)
        self._demand_model(estimator)
        return self._told(self._share(estimator))

    def _told(self, share: float) -> float:
        """A share of the range in the units of the rewards; it may be beyond the range."""
        low, high = self._rewards
        return in_units(share, self._rewards) if share <= 1.0 else low + (high - low) * share

    def _share(self, estimator: str) -> float:
        if not self._n:
            return math.nan
        sums = self._sums
        if estimator == "snips":
            return float(sums[WU] / sums[W]) if sums[W] > 0.0 else math.nan
        if estimator == "likelihood":
            return likelihood_estimate(self._moments())
        if estimator == "clipped":
            return float(self._sequences["clipped"].sides[0, 0]) / self._n
        place = {"ips": WU, "direct": MEAN, "doubly_robust": DOUBLY, "switch": SWITCHED}[estimator]
        return float(sums[place]) / self._n

    def interval(self, estimator: str = "ips", kind: str | None = None, *, level: float = 0.95) -> Interval:
        """Bounds on the value.

        Args:
            estimator: whose scores they are made of.
            kind: "sequence" holds at all times together, however often one looks, also while the logging
                policy learns and the world drifts; "bernstein" holds for the number of rows that was
                planned, and is narrower there; "likelihood" and "gaussian" are approximate. None is the
                first that the estimator has.
            level: how sure it is to hold.
        """
        check_choice("estimator", estimator, KINDS)
        kind = KINDS[estimator][0] if kind is None else check_choice("kind", kind, KINDS[estimator])
        level = doors.check_level(level)
        self._demand_model(estimator)
        remark = ""
        if kind in ("sequence", "bernstein"):
            low, high = self._bounds(estimator, kind, level)
            remark = CROSSED if low > high else ""
        elif kind == "likelihood":
            low, high = likelihood_interval(self._moments(), level)
            remark = APPROXIMATE
        else:
            low, high = self._gaussian(estimator, level)
            remark = {"direct": ONLY_SAMPLING, "switch": BIASED}.get(estimator, APPROXIMATE)
        return Interval(self._told(low), self._told(high), level, kind, remark)

    def _bounds(self, estimator: str, kind: str, level: float) -> tuple[float, float]:
        if estimator == "doubly_robust" and not self._bounded:
            raise LogError(WITHOUT_BOUNDS)
        sequence = self._sequences[estimator]
        low, high = sequence.anytime(level) if kind == "sequence" else sequence.fixed(level)
        return float(low), float(high)

    def _gaussian(self, estimator: str, level: float) -> tuple[float, float]:
        sums, n, centre = self._sums, self._n, self._share(estimator)
        if n < 2 or math.isnan(centre):
            return 0.0, 1.0
        if estimator == "snips":
            squares = sums[WWUU] - 2.0 * centre * sums[WWU] + centre**2 * sums[WW]
            error = math.sqrt(max(0.0, squares)) / sums[W]
        else:
            places = {"ips": WWUU, "direct": MEANS, "doubly_robust": DOUBLES, "switch": SWITCHES}
            variance = (sums[places[estimator]] - n * centre**2) / (n - 1)
            error = math.sqrt(max(0.0, variance) / n)
        half = normal_half_width(level) * float(error)
        return centre - half, centre + half

    def _moments(self) -> Moments:
        least, most = self._weights
        w, ww, wu, wwu, wwuu, u, smallest, largest = map(float, self._sums[:MEAN])
        return Moments(self._n, w, ww, wu, wwu, wwuu, u, min(least, smallest), max(most, largest))

    def _demand_model(self, estimator: str) -> None:
        if estimator in _WITH_MODEL and not self._has_model:
            raise ParameterError(
                f"estimator is {estimator!r}, but no model of the rewards was told; give model=... with all "
                "rows"
            )

    # Plain data

    def to_plain(self) -> dict[str, Any]:
        """All of it as dicts, lists and numbers."""
        least, most = self._weights
        return {
            "kind": "PolicyValue",
            "format": _FORMAT,
            "rewards": list(self._rewards),
            "rows": self._rows,
            "clip": self._clip,
            "switch": self._switch,
            "cut": self._cut,
            "weights": [least, None if math.isinf(most) else most],
            "n": self._n,
            "model": self._has_model,
            "bounded": self._bounded,
            "sums": [None if math.isinf(number) else number for number in self._sums.tolist()],
            "sequences": {name: found.to_plain() for name, found in self._sequences.items()},
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Go on from what `to_plain` gave."""
        told = doors.check_plain(plain, "PolicyValue", set(cls().to_plain()))
        try:
            demand(told["format"] == _FORMAT, "another version wrote it")
            least, most = told["weights"]
            made = cls(
                tuple(told["rewards"]),
                rows=told["rows"] or None,
                clip=told["clip"],
                switch=told["switch"],
                cut=told["cut"],
                weights=(least, math.inf if most is None else most),
            )
            made._restore(told)
        except (TypeError, ValueError, KeyError) as error:
            raise ParameterError(f"plain is no PolicyValue ({error}); give what to_plain returned") from None
        return made

    def _restore(self, told: dict[str, Any]) -> None:
        self._n = check_count("n", told["n"], 0)
        demand(told["model"] in (None, True, False), "model is neither true nor false")
        demand(isinstance(told["bounded"], bool), "bounded is neither true nor false")
        self._has_model, self._bounded = told["model"], told["bounded"]
        numbers = [math.inf if number is None else float(number) for number in told["sums"]]
        self._sums = np.array(numbers)
        demand(self._sums.shape == (_SUMS,), "there are not as many sums as there should be")
        demand(not np.any(np.isnan(self._sums)), "a sum is no number")
        for name, sequence in self._sequences.items():
            restore(sequence, told["sequences"][name], self._n)


def restore(sequence: Sequence, plain: Any, most: int) -> None:
    """Have a sequence go on from its plain data."""
    sides = np.array(plain["sides"], np.float64)
    demand(sides.shape == sequence.sides.shape and bool(np.all(np.isfinite(sides))), "a sequence is damaged")
    sequence.restore(check_count("n", plain["n"], 0, most), sides)


def _checked_weights(weights: Any) -> tuple[float, float]:
    try:
        least, most = (float(end) for end in weights)
    except (TypeError, ValueError):
        least = most = math.nan
    if not 0.0 <= least < 1.0 < most:
        raise ParameterError(
            f"weights is {quoted(weights)}; give the least and the largest weight that are possible, such as "
            "(0, 20): one below 1 and one above"
        )
    return least, most
