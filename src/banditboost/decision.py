"""A decision: what was shown, with what probability, and everything that learning from its verdict needs, however late it comes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from banditboost.errors import DecisionError

Array = np.ndarray[Any, Any]
_FORMAT = 1
# Slots of the memo, shared with the kernels (banditboost.kernels.layout, which a test compares).
_ROUND, _SHOWN, _GREEDY, _EXPERT, _PROBABILITY, _RATE, _VOTES = 0, 1, 2, 3, 4, 5, 8


def _json_safe(label: Hashable) -> str | int | float | bool | None:
    """A label as JSON can carry it: itself where possible, else what it looks like."""
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if plain is None or isinstance(plain, (str, int, float, bool)) else repr(plain)


def _memo_from(numbers: Any, n_labels: int) -> Array:
    """A memo from plain data, after a look at what every memo begins with."""
    try:
        memo = np.array([math.nan if value is None else value for value in numbers], dtype=np.float64)
    except (TypeError, ValueError):
        raise DecisionError(f"the stored decision's memo is {numbers!r}; give the list of numbers that to_dict returned") from None
    if len(memo) < _VOTES or not np.all(np.isfinite(memo[:_VOTES])):
        raise DecisionError("the stored decision's memo is cut short or has a gap; give the list that to_dict returned")
    whole = memo[[_ROUND, _SHOWN, _GREEDY, _EXPERT]]
    labels = memo[[_SHOWN, _GREEDY]]
    rate = memo[_RATE]
    probability = 1.0 - rate if memo[_SHOWN] == memo[_GREEDY] else rate / (n_labels - 1)
    possible = 0.0 <= rate < 1.0 and memo[_PROBABILITY] == probability > 0.0
    if np.any(whole != np.floor(whole)) or np.any(labels < 0) or np.any(labels >= n_labels) or not possible:
        raise DecisionError("the stored decision's memo names no possible round, label or probability; it was changed since to_dict")
    return memo


class Decision:
    """The answer of `decide`; keep it until the verdict comes, then `learn(decision, correct)`. It cannot be changed."""

    __slots__ = ("_labels", "_memo", "_model_id", "_stored")

    def __init__(self, model_id: str, labels: tuple[Hashable, ...], memo: Array, *, stored: bool = False) -> None:
        self._model_id = model_id
        self._labels = labels
        self._memo = memo
        self._stored = stored  # whether it comes from outside, so that `learn` must look at it more closely

    @property
    def model_id(self) -> str:
        """Which model decided."""
        return self._model_id

    @property
    def round(self) -> int:
        """The model's rounds are counted from 0; with the model's seed it determines every random draw of the decision."""
        return int(self._memo[_ROUND])

    @property
    def label(self) -> Hashable:
        """The label to show."""
        return self._labels[int(self._memo[_SHOWN])]

    @property
    def probability(self) -> float:
        """The probability with which this label was chosen: log it."""
        return float(self._memo[_PROBABILITY])

    @property
    def greedy(self) -> Hashable:
        """The label that the model thinks best."""
        return self._labels[int(self._memo[_GREEDY])]

    @property
    def explored(self) -> bool:
        """Whether another label than the greedy one is shown."""
        return bool(self._memo[_SHOWN] != self._memo[_GREEDY])

    def distribution(self) -> dict[Hashable, float]:
        """The probability of every label, eq. (2): 1 - rho for the greedy one, rho / (k - 1) for the others."""
        rate, greedy = float(self._memo[_RATE]), int(self._memo[_GREEDY])
        other = rate / (len(self._labels) - 1)
        return {label: 1.0 - rate if i == greedy else other for i, label in enumerate(self._labels)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can carry; `Decision.from_dict` makes the decision again, in any process."""
        memo = [None if math.isnan(value) else value for value in self._memo.tolist()]
        return {"format": _FORMAT, "model": self._model_id, "memo": memo, "labels": len(self._labels), "label": _json_safe(self.label)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: tuple[Hashable, ...]) -> Decision:
        """The decision that `to_dict` described; `labels` are those of the model (`model.labels`)."""
        for key in ("format", "model", "memo", "labels"):
            if key not in data:
                raise DecisionError(f"the stored decision has no {key!r}; give the whole dict that to_dict returned")
        if data["format"] != _FORMAT:
            raise DecisionError(f"format {data['format']!r} of a decision is unknown to this version; it reads format {_FORMAT}")
        if data["labels"] != len(labels):
            raise DecisionError(f"the decision was made among {data['labels']} labels, but {len(labels)} were given; give model.labels")
        return cls(data["model"], labels, _memo_from(data["memo"], len(labels)), stored=True)

    def __repr__(self) -> str:
        return f"Decision(round={self.round}, label={self.label!r}, probability={self.probability:.6g}, explored={self.explored})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        return self._model_id == other._model_id and np.array_equal(self._memo, other._memo, equal_nan=True)

    def __hash__(self) -> int:
        return hash((self._model_id, self.round))
