"""The model against chance, against each constant label, and against its control group.

What is compared are rewards u as they are learned, as shares of their range. The model's own decisions tell,
by the probabilities that were logged, what chance and a constant label would have earned. Who is in the
control group is drawn at random, with a probability c that is known, too: with a guess g of u, made of the
rewards before,

    (u - g) / (1 - c) for a decision of the model,    -(u - g) / c for one of the control group

is, on average, by how much the model earns more.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Rows
from copy import copy
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from banditboost.evaluation.difference import difference_scores
from banditboost.evaluation.sequence import TOTAL, VARIANCE, Sequence, running
from banditboost.evaluation.value import restore
from banditboost.rewards import Range, shares_of
from banditboost.serve.messages import Label
from banditboost.serve.statistics.points import Standing
from banditboost.types import Array

MOST_CONSTANTS = 32
"""Labels that are compared with the model, the first ones; each costs a running sum."""
_FIRST_GUESS = 0.5


class Rewarded(NamedTuple):
    """A decision whose reward was learned."""

    reward: float
    label: Label
    probability: float
    choices: int  # how many labels could have been shown
    assigned: float  # with what probability this arm was to decide
    by_model: bool


class Comparisons:
    """Running sums of all comparisons."""

    def __init__(self, labels: Rows[Label], rewards: Range, control: float) -> None:
        self.rewards = rewards
        self.value = Sequence()
        self.baseline_n, self.baseline = 0, 0.0
        self.set_labels(labels)
        self.set_control(control)

    def set_labels(self, labels: Rows[Label]) -> None:
        """Chance and the constants begin anew: other labels are other constants."""
        self.n_labels = len(labels)
        self.constants = list(labels[:MOST_CONSTANTS])
        self._places = {label: place for place, label in enumerate(self.constants, start=1)}
        self.others = Sequence(scale=2.0, offset=1.0, shape=(1 + len(self.constants),))
        self.others_earned = 0.0  # by the model, with the same decisions

    def set_control(self, share: float) -> None:
        """The control group begins anew: with another share it is another experiment."""
        self.share = share
        self.control = control_sequence(share)
        self.groups = np.zeros(4)  # rewards of the model, their sum, the same of the control group

    def add(self, rows: Rows[Rewarded], marks: Rows[int]) -> list[Standing]:
        """Rows in their order; how all stood after so many of them, for each mark."""
        if not rows:
            return [self.standing()] * len(marks)
        u = shares_of(np.array([row.reward for row in rows]), self.rewards)
        mine = np.array([row.by_model for row in rows])
        own = [row for row in rows if row.by_model]
        parts = (
            self._add_value(u[mine], _kept(mine, marks)),
            self._add_others(u[mine], own, _kept(mine, marks)),
            self._add_control(u, mine, self._drawn(rows), marks),
            self._add_baseline(u, mine, marks),
        )
        return [_standing(part) for part in zip(*parts, strict=True)]

    def _add_value(self, u: Array, marks: list[int]) -> list[tuple[Any, ...]]:
        before = self.value.n
        sides = self.value.add(u, 1.0 - u, marks)
        return [(before + mark, _flat(side)) for mark, side in zip(marks, sides, strict=True)]

    def _add_others(self, u: Array, rows: Rows[Rewarded], marks: list[int]) -> list[tuple[Any, ...]]:
        low, high = difference_scores(u[:, None], self._weights(rows), np.ones((len(u), 1)))
        before, earned = self.others.n, np.cumsum([self.others_earned, *u]).tolist()
        sides = self.others.add(low, high, marks)
        self.others_earned = earned[-1]
        return [
            (before + mark, earned[mark], *_ahead(side[0, 0]))
            for mark, side in zip(marks, sides, strict=True)
        ]

    def _weights(self, rows: Rows[Rewarded]) -> Array:
        """Of chance and of the constants: their probability of the shown label / that which was logged.

        Where not all labels could be shown a constant is what the model did.
        """
        weights = np.zeros((len(rows), 1 + len(self.constants)))
        for weight, row in zip(weights, rows, strict=True):
            weight[0] = 1.0 / (row.choices * row.probability)
            if row.choices != self.n_labels:
                weight[1:] = 1.0
            elif row.label in self._places:
                weight[self._places[row.label]] = 1.0 / row.probability
        return weights

    def _drawn(self, rows: Rows[Rewarded]) -> Array:
        """Whether each was decided while the control group had its present share."""
        assigned = {True: 1.0 - self.share, False: self.share}
        there_is_one = 0.0 < self.share < 1.0
        return np.array([there_is_one and row.assigned == assigned[row.by_model] for row in rows])

    def _add_control(self, u: Array, mine: Array, drawn: Array, marks: Rows[int]) -> list[tuple[Any, ...]]:
        u, model, kept, before = u[drawn], mine[drawn], _kept(drawn, marks), self.control.n
        sums, self.groups = running(self.groups, np.column_stack([model, model * u, ~model, ~model * u]))
        guesses = (sums[:, 1] + sums[:, 3] + _FIRST_GUESS) / (before + np.arange(len(u)) + 1.0)
        weights = np.where(model, 1.0 - self.share, -self.share)
        ahead = (u - guesses) / weights
        sides = self.control.add(1.0 + ahead, 1.0 - ahead, kept)
        return [(before + mark, _flat(side)) for mark, side in zip(kept, sides, strict=True)]

    def _add_baseline(self, u: Array, mine: Array, marks: Rows[int]) -> list[tuple[Any, ...]]:
        counts = np.cumsum([self.baseline_n, *~mine]).tolist()
        sums = np.cumsum([self.baseline, *np.where(mine, 0.0, u)]).tolist()
        self.baseline_n, self.baseline = counts[-1], sums[-1]
        return [(counts[mark], sums[mark]) for mark in marks]

    def standing(self) -> Standing:
        """How all stand now."""
        parts = (
            (self.value.n, _flat(_sums(self.value))),
            (self.others.n, self.others_earned, *_ahead(self.others.sides[0, TOTAL])),
            (self.control.n, _flat(_sums(self.control))),
            (self.baseline_n, self.baseline),
        )
        return _standing(parts)

    def copy(self) -> Comparisons:
        """The same, which goes on by itself."""
        made = copy(self)
        made.value, made.others, made.control = self.value.copy(), self.others.copy(), self.control.copy()
        return made

    def to_plain(self) -> dict[str, Any]:
        return {
            "value": self.value.to_plain(),
            "others": self.others.to_plain(),
            "others_earned": self.others_earned,
            "control": self.control.to_plain(),
            "groups": self.groups.tolist(),
            "baseline": [self.baseline_n, self.baseline],
        }

    def restore(self, plain: dict[str, Any]) -> None:
        for name in ("value", "others", "control"):
            restore(getattr(self, name), plain[name], 2**53)
        self.others_earned, self.groups = plain["others_earned"], np.array(plain["groups"])
        self.baseline_n, self.baseline = plain["baseline"]


def control_sequence(share: float) -> Sequence:
    """By how much the model is ahead of a control group with this share."""
    weight = max(1.0 / share, 1.0 / (1.0 - share)) if 0.0 < share < 1.0 else 1.0
    return Sequence(scale=1.0 + weight, offset=1.0)


def _standing(parts: Iterable[tuple[Any, ...]]) -> Standing:
    return Standing(*chain.from_iterable(parts))


def _kept(chosen: Array, marks: Rows[int]) -> list[int]:
    """How many of the first rows, up to each mark, are among the chosen ones."""
    counts = np.concatenate([[0], np.cumsum(chosen)])
    found: list[int] = counts[list(marks)].tolist()
    return found


def _sums(sequence: Sequence) -> Array:
    """Total and variance of both sides."""
    return sequence.sides[:, [TOTAL, VARIANCE]]


def _flat(sides: Array) -> tuple[float, ...]:
    return tuple(sides.ravel().tolist())


def _ahead(totals: Array) -> tuple[float, float]:
    """Of chance, and of the best constant."""
    return float(totals[0]), float(totals[1:].max(initial=0.0))
