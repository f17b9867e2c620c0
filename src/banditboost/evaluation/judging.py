"""Judge several policies by one log, block by block: what they earn, and whether they beat who logged."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import LogError, ParameterError
from banditboost.evaluation import doors
from banditboost.evaluation.difference import PolicyDifference
from banditboost.evaluation.policies import policy_of
from banditboost.evaluation.predictions import baseline
from banditboost.evaluation.value import PolicyValue
from banditboost.rewards import UNIT, Range, check_range
from banditboost.rows.many import rows_of
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_count, check_labels, check_number, is_hashable

BLOCK = 1_000
"""Rows that are judged at a time: policies that learn by blocks learn after as many."""
_MOST_CELLS = 1_000_000
"""Probabilities of a policy that are held at a time: with more than 1,000 labels these are fewer rows."""
_FIRST_LOOK, _NEXT_LOOK = 10, 1.2
_PRIOR = 1.0  # rows with the mean reward that each label's mean begins with


@dataclass(frozen=True)
class LoggedRows:
    """Rows of a log, in their order.

    >>> len(LoggedRows([{"hour": 21}], ["news"], [1.0], [0.5]).rows)
    1
    """

    rows: Any
    """What was known: as a model takes it."""
    actions: Any
    """The labels that were shown."""
    rewards: Any
    probabilities: Any
    """With which they were chosen."""


class Look(NamedTuple):
    """What was known after some rows.

    >>> Look(rows=100, estimate=0.5, low=0.4, high=0.6, ahead_low=0.1, ahead_high=0.3).rows
    100
    """

    rows: int
    estimate: float
    low: float
    high: float
    ahead_low: float
    """Bounds on how much more the policy earns than the one that it is held against."""
    ahead_high: float
    time: Any = None
    """Of the last of these rows, if the log tells it."""


@dataclass
class Evaluation:
    """What is known of each policy: running sums, and how that came to be known.

    >>> rows = LoggedRows([{}] * 1000, ["a", "b"] * 500, [1, 0] * 500, [0.5] * 1000)
    >>> found = evaluate({"always a": "a"}, rows, ["a", "b"])
    >>> found.values["always a"].estimate()
    1.0
    >>> found.better_since("always a")
    33
    """

    estimators: dict[str, str]
    """Whose estimates the looks of each policy have."""
    against: str | None
    """The policy from which the others differ; None is the one that logged."""
    level: float
    values: dict[str, PolicyValue]
    differences: dict[str, PolicyDifference]
    """From the one that they are held against."""
    looks: dict[str, list[Look]] = field(default_factory=dict)
    rows: int = 0

    def better_since(self, name: str) -> int | None:
        """After how many rows it was first known that the policy is better than the one that it is held
        against; None if it is not known.

        At any look the sequence holds, so the first one will do.
        """
        look = self.first_better(name)
        return None if look is None else look.rows

    def first_better(self, name: str) -> Look | None:
        """The look at which it was first known that the policy is better: its `time` says since when."""
        return next((look for look in self.looks[name] if look.ahead_low > 0.0), None)


class _LabelMeans:
    """Predicts for each label what it has earned on average in the blocks before: it needs no rows."""

    def __init__(self, n_labels: int) -> None:
        self._sums, self._counts = np.zeros(n_labels), np.zeros(n_labels)

    def predicted(self) -> Array:
        shown = self._counts.sum()
        mean = self._sums.sum() / shown if shown else 0.5
        found: Array = (self._sums + _PRIOR * mean) / (self._counts + _PRIOR)
        return np.clip(found, 0.0, 1.0)

    def learn(self, shown: Array, rewards: Array) -> None:
        np.add.at(self._sums, shown, rewards)
        np.add.at(self._counts, shown, 1.0)


def evaluate(
    policies: Mapping[str, Any],
    log: Any,
    labels: Sequence[Hashable],
    *,
    rewards: tuple[float, float] = UNIT,
    least: float | None = None,
    rows: int | None = None,
    level: float = 0.95,
    against: str | None = None,
) -> Evaluation:
    """Judge policies by a log of another one.

    Args:
        policies: by a name for each: a model as it is, `Learner(model)` that learns along the log, a function
            of a row that tells probabilities, a label that is always chosen, "uniform", "best label so far",
            or "logged".
        log: rows, or blocks of rows, which are gone through once: `LoggedRows`, blocks of `banditboost.logs`,
            or anything with rows, actions, rewards and probabilities.
        labels: all that could be shown.
        rewards: the least and the largest reward.
        least: the least probability that the logging policy gives to any label in any row; if it is known,
            doubly robust bounds are told, which are narrower.
        rows: how many rows there will be, if intervals of the kind "bernstein" are wanted.
        level: how sure the bounds of the looks are to hold.
        against: the name of the policy that the others are held against; None is the one that logged.
    """
    judge = _Judge(policies, labels, check_range(rewards), least, rows, doors.check_level(level), against)
    for block in [log] if hasattr(log, "actions") else log:
        try:
            judge.hear(block)
        except Exception as error:
            error.add_note(f"evaluate stopped after {judge.found.rows} rows")
            raise
    judge.look()
    return judge.found


class _Judge:
    def __init__(
        self,
        policies: Mapping[str, Any],
        labels: Sequence[Hashable],
        rewards: Range,
        least: float | None,
        rows: int | None,
        level: float,
        against: str | None,
    ) -> None:
        self._labels, self._rewards = check_labels(labels), rewards
        self._least = None if least is None else check_number("least", least, 0.0, 1.0, open_low=True)
        if rows is not None:
            check_count("rows", rows, 1)
        if not isinstance(policies, Mapping) or not policies:
            raise ParameterError(
                f"policies is {quoted(policies)}; give a dict with at least one policy by its name"
            )
        self._places = {label: place for place, label in enumerate(self._labels)}
        self._policies = {
            name: policy_of(str(name), given, self._labels, rewards) for name, given in policies.items()
        }
        if against is not None and against not in self._policies:
            raise ParameterError(
                f"against is {quoted(against)}; give the name of one of the policies, "
                f"{quoted(list(self._policies)[:10])}, or None for the one that logged"
            )
        self._means = _LabelMeans(len(self._labels))
        estimators = {
            name: "ips" if self._least is None or policy is None else "doubly_robust"
            for name, policy in self._policies.items()
        }
        values = {name: PolicyValue(rewards, rows=rows) for name in policies}
        differences = {name: PolicyDifference(rewards, rows=rows) for name in policies}
        self.found = Evaluation(
            estimators, against, level, values, differences, {name: [] for name in policies}
        )
        self._next_look, self._time = _FIRST_LOOK, None
        self._size = max(1, min(BLOCK, _MOST_CELLS // len(self._labels)))

    def hear(self, block: Any) -> None:
        """Judge the rows of a block. All of it is checked before anybody hears of any of it."""
        given, shown = rows_of(block.rows), self._shown(block.actions)
        u = doors.reward_shares(block.rewards, self._rewards)
        if block.probabilities is None:
            raise LogError(
                "the log has no probabilities; note with which probability each label was shown, or estimate "
                "them and know that the values are wrong by as much as these are"
            )
        p = doors.logged_probabilities(block.probabilities, len(u))
        if self._least is not None and len(p) and p.min() < self._least * (1.0 - 1e-9):
            raise LogError(
                f"the logged probability is {p.min():g} in row {int(np.argmin(p))}, and least is "
                f"{self._least:g}; give the least probability of any label in any row"
            )
        times = getattr(block, "times", None)
        told = [("rows", given), ("actions", shown), *([] if times is None else [("times", times)])]
        for name, cells in told:
            if len(cells) != len(u):
                raise LogError(
                    f"there are {len(cells)} {name} and {len(u)} rewards; give one of each for each row"
                )
        for part in self._parts(len(u), times):
            self._judge(given[part], shown[part], u[part], p[part])

    def _shown(self, actions: Any) -> Array:
        told = actions.tolist() if hasattr(actions, "tolist") else list(actions)
        places = [self._places.get(label, -1) if is_hashable(label) else -1 for label in told]
        if -1 in places:
            row = places.index(-1)
            raise LogError(
                f"the action is {quoted(told[row])} in row {row}, which is none of the labels, "
                f"{quoted(list(self._labels)[:10])}; give labels=[...] with all that could be shown"
            )
        return np.array(places, np.int64)

    def _parts(self, n: int, times: Any) -> Iterator[slice]:
        """Blocks that end at looks."""
        start = 0
        while start < n:
            stop = min(n, start + self._size, start + self._next_look - self.found.rows)
            yield slice(start, stop)
            self.found.rows += stop - start
            self._time = None if times is None else times[stop - 1]
            start = stop
            if self.found.rows == self._next_look:
                self.look()
                self._next_look = math.ceil(self.found.rows * _NEXT_LOOK)

    def _judge(self, rows: Sequence[Any], shown: Array, u: Array, p: Array) -> None:
        low, high = self._rewards
        earned = np.minimum(low + (high - low) * u, high)
        at, shape = np.arange(len(u)), (len(u), len(self._labels))
        predicted = np.broadcast_to(low + (high - low) * self._means.predicted(), shape)
        shares = {
            name: None if policy is None else policy.judged(rows, shown, u, p)
            for name, policy in self._policies.items()
        }
        against = None if self.found.against is None else shares[self.found.against]
        other = None if against is None else against[at, shown]
        for name, own in shares.items():
            value, difference = self.found.values[name], self.found.differences[name]
            if own is None:  # its weights are 1, and there is nothing to predict
                value.add_many(earned, p, p)
                difference.add_many(earned, p, p, other)
                continue
            model = baseline(shown, own, predicted, least=self._least, rewards=self._rewards)
            value.add_many(earned, p, own[at, shown], model)
            is_robust = self._least is not None and other is None
            difference.add_many(earned, p, own[at, shown], other, model if is_robust else None)
        self._means.learn(shown, u)

    def look(self) -> None:
        """Note what is known now."""
        for name, value in self.found.values.items():
            looks = self.found.looks[name]
            if not self.found.rows or (looks and looks[-1].rows == self.found.rows):
                continue
            estimator = self.found.estimators[name]
            bounds = value.interval(estimator, "sequence", level=self.found.level)
            ahead = self.found.differences[name].interval(level=self.found.level)
            estimate = value.estimate(estimator)
            ends = bounds.low, bounds.high, ahead.low, ahead.high
            looks.append(Look(self.found.rows, estimate, *ends, self._time))
