"""A decision: what was shown, with what probability, and everything that learning from its verdict needs, however late it comes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from banditboost.errors import DecisionError
from banditboost.io.values import UnreadableError, UnstorableError, decode_hashable, encode

Array = np.ndarray[Any, Any]
_FORMAT = 1
_SHOWN_ONLY = "$repr"
_WHOLE = 1e15
# Slots of the memo, shared with the kernels (banditboost.kernels.layout, which a test compares).
_ROUND, _SHOWN, _GREEDY, _EXPERT, _PROBABILITY, _RATE, _POLICY, _VOTES = 0, 1, 2, 3, 4, 5, 6, 8
_UNIFORM, _INVERSE_GAPS = 0, 1
_MOST_KEPT = 32


def _stored_label(labels: Sequence[Hashable], index: int) -> Any:
    """A label as JSON can carry it with its type; what cannot be carried is shown, and model.labels must tell it."""
    if isinstance(labels, _TwoLabels):
        return labels.known[index]
    try:
        return encode(labels[index])
    except UnstorableError:
        return {_SHOWN_ONLY: repr(labels[index])}


def _short(value: float) -> float | None:
    """A number of a memo in few characters that give it back to the last bit, also minus zero."""
    if value != value:
        return None
    exact = value.is_integer() and abs(value) < _WHOLE and (value != 0.0 or math.copysign(1.0, value) > 0.0)
    return int(value) if exact else value


class _TwoLabels(Sequence[Hashable]):
    """All that a stored decision knows of the k labels: the one that was shown, and the greedy one."""

    def __init__(self, n_labels: int, known: dict[int, Any]) -> None:
        self._n_labels = n_labels
        self.known = known

    def __len__(self) -> int:
        return self._n_labels

    def __getitem__(self, index: Any) -> Any:
        stored = self.known.get(index)
        if index not in self.known or (isinstance(stored, dict) and _SHOWN_ONLY in stored):
            raise DecisionError("the stored decision does not tell this label; give Decision.from_dict(data, model.labels)")
        try:
            return decode_hashable(stored)
        except UnreadableError as error:
            raise DecisionError(f"the stored decision's label is no value: {error}; it was changed since to_dict") from None


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
    possible = _is_uniform(memo, n_labels) if memo[_POLICY] == _UNIFORM else _is_by_gaps(memo, n_labels)
    if np.any(whole != np.floor(whole)) or np.any(labels < 0) or np.any(labels >= n_labels) or not possible:
        raise DecisionError("the stored decision's memo names no possible round, label or probability; it was changed since to_dict")
    return memo


def _is_uniform(memo: Array, n_labels: int) -> bool:
    """Whether rate and probability of a memo are those of eq. (2)."""
    rate = memo[_RATE]
    probability = 1.0 - rate if memo[_SHOWN] == memo[_GREEDY] else rate / (n_labels - 1)
    return bool(0.0 <= rate < 1.0 and memo[_PROBABILITY] == probability > 0.0)


def _is_by_gaps(memo: Array, n_labels: int) -> bool:
    """Whether the probabilities of a memo could come from inverse gaps."""
    if memo[_POLICY] != _INVERSE_GAPS or not 0.0 < memo[_PROBABILITY] <= 1.0:
        return False
    if n_labels > _MOST_KEPT:
        return True
    kept = memo[_VOTES : _VOTES + n_labels]
    possible = len(kept) == n_labels and np.all((kept > 0.0) & (kept <= 1.0)) and abs(math.fsum(kept) - 1.0) < 1e-9
    shown = int(memo[_SHOWN])
    return bool(possible and 0 <= shown < n_labels and kept[shown] == memo[_PROBABILITY])


class Decision:
    """The answer of `decide`; keep it until the verdict comes, then `learn(decision, correct)`. It cannot be changed."""

    __slots__ = ("_labels", "_memo", "_model_id", "_stored")

    def __init__(self, model_id: str, labels: Sequence[Hashable], memo: Array, *, stored: bool = False) -> None:
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
        """The probability of every label. Decisions of GapBoost among more than 32 labels do not hold it: ask `model.distribution(x)`."""
        if self._memo[_POLICY] == _INVERSE_GAPS:
            return dict(zip(self._labels, self._kept_probabilities(), strict=True))
        rate, greedy = float(self._memo[_RATE]), int(self._memo[_GREEDY])
        other = rate / (len(self._labels) - 1)
        return {label: 1.0 - rate if i == greedy else other for i, label in enumerate(self._labels)}

    def _kept_probabilities(self) -> list[float]:
        n_labels = len(self._labels)
        if n_labels > _MOST_KEPT:
            raise DecisionError(
                f"the decision was made among {n_labels} labels, and the probabilities of more than {_MOST_KEPT} are not kept with it; "
                "ask model.distribution(x) before the model learns more"
            )
        kept: list[float] = self._memo[_VOTES : _VOTES + n_labels].tolist()
        return kept

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can carry; `Decision.from_dict` makes the decision again, in any process."""
        return {
            "format": _FORMAT,
            "model": self._model_id,
            "labels": len(self._labels),
            "label": _stored_label(self._labels, int(self._memo[_SHOWN])),
            "greedy": _stored_label(self._labels, int(self._memo[_GREEDY])),
            "memo": [_short(value) for value in self._memo.tolist()],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: Sequence[Hashable] | None = None) -> Decision:
        """The decision that `to_dict` described.

        Without `labels` (those of the model, `model.labels`) it can be learned and knows its own label and the greedy one; `distribution()`
        needs them all. Labels other than None, bool, int, float, str, bytes, NumPy's numbers and tuples of these need them, too.
        """
        for key in ("format", "model", "memo", "labels", "label", "greedy"):
            if not isinstance(data, Mapping) or key not in data:
                raise DecisionError(f"the stored decision has no {key!r}; give the whole dict that to_dict returned")
        if data["format"] != _FORMAT:
            raise DecisionError(f"format {data['format']!r} of a decision is unknown to this version; it reads format {_FORMAT}")
        n_labels = data["labels"]
        if type(n_labels) is not int or n_labels < 2:
            raise DecisionError(f"the decision was made among {n_labels!r} labels; give the whole dict that to_dict returned")
        if labels is not None and n_labels != len(labels):
            raise DecisionError(f"the decision was made among {n_labels} labels, but {len(labels)} were given; give model.labels")
        memo = _memo_from(data["memo"], n_labels)
        if labels is None:
            labels = _TwoLabels(n_labels, {int(memo[_SHOWN]): data["label"], int(memo[_GREEDY]): data["greedy"]})
        return cls(data["model"], labels, memo, stored=True)

    def __repr__(self) -> str:
        stored = _stored_label(self._labels, int(self._memo[_SHOWN]))
        label = stored[_SHOWN_ONLY] if isinstance(stored, dict) and _SHOWN_ONLY in stored else repr(self.label)
        return f"Decision(round={self.round}, label={label}, probability={self.probability:.6g}, explored={self.explored})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        return self._model_id == other._model_id and np.array_equal(self._memo, other._memo, equal_nan=True)

    def __hash__(self) -> int:
        return hash((self._model_id, self.round))
