"""A decision: what was shown, with what probability, and everything that learning from its verdict needs, however late it comes."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from banditboost.errors import DecisionError
from banditboost.io.values import UnreadableError, UnstorableError, decode_hashable, encode

Array = np.ndarray[Any, Any]
_FORMAT, _FORMAT_AMONG = 1, 2  # the second for decisions among some of the labels, which older versions must not learn as if among all
_SHOWN_ONLY = "$repr"
_WHOLE = 1e15
_MOST_LABELS = 1 << 31  # trees keep labels as 32-bit numbers
# Slots of the memo, shared with the kernels (banditboost.kernels.layout, which a test compares).
_ROUND, _SHOWN, _GREEDY, _EXPERT, _PROBABILITY, _RATE, _ALLOWED, _POLICY, _LEARNERS, _VOTES = range(10)
_HEXADECIMAL = re.compile("[1-9a-f][0-9a-f]*")
_UNIFORM, _INVERSE_GAPS, _BY_VOTES = 0, 1, 2
_UNIFORM_SHARE = 0.2
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


def _mask_of(indices: Array, n_labels: int) -> int:
    """A set of labels as the bits of a number, which takes little room and cannot be changed."""
    bits = np.zeros(n_labels, np.uint8)
    bits[indices] = 1
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def _indices_in(mask: int) -> Array:
    size = (mask.bit_length() + 7) // 8
    return np.flatnonzero(np.unpackbits(np.frombuffer(mask.to_bytes(size, "little"), np.uint8), bitorder="little"))


def _mask_from(data: Mapping[str, Any], n_labels: int) -> int:
    """The allowed labels of a stored decision; 0 if all were."""
    if data["format"] == _FORMAT:
        return 0
    stored = data.get("allowed")
    if not isinstance(stored, str) or len(stored) > n_labels or not _HEXADECIMAL.fullmatch(stored):
        raise DecisionError(f"the stored decision's allowed labels are {stored!r}; give the whole dict that to_dict returned")
    return int(stored, 16)


def _probability(explored: bool, rate: float, n_allowed: int) -> float:
    """Equation (2) over the labels that were allowed."""
    if n_allowed == 1:
        return 0.0 if explored else 1.0
    return rate / (n_allowed - 1) if explored else 1.0 - rate


def _is_possible_choice(memo: Array, mask: int, n_labels: int) -> bool:
    """Whether shown and greedy label were allowed, and the probability is that of the shown one."""
    shown, greedy, n_allowed = int(memo[_SHOWN]), int(memo[_GREEDY]), mask.bit_count()
    if memo[_ALLOWED] != n_allowed or mask.bit_length() > n_labels or n_allowed == n_labels:
        return False
    if mask and not (mask >> shown & 1 and mask >> greedy & 1):
        return False
    if memo[_POLICY] == _INVERSE_GAPS:
        return _is_by_gaps(memo, n_labels, mask)
    if memo[_POLICY] == _BY_VOTES:
        return _has_votes(memo) and bool(memo[_PROBABILITY] == _divided(memo, mask, n_labels)[shown] > 0.0)
    return bool(
        memo[_POLICY] == _UNIFORM and memo[_PROBABILITY] == _probability(shown != greedy, float(memo[_RATE]), n_allowed or n_labels) > 0.0
    )


def _has_votes(memo: Array) -> bool:
    n = memo[_LEARNERS]
    return bool(n >= 1 and n == np.floor(n) and len(memo) >= _VOTES + 2 * n and np.all(np.isfinite(memo[_VOTES : _VOTES + 2 * int(n)])))


def _divided(memo: Array, mask: int, n_labels: int) -> Array:
    """The distribution of exploration by votes (boosting/divided.py), sums in the same order."""
    n, greedy, rate = int(memo[_LEARNERS]), int(memo[_GREEDY]), float(memo[_RATE])
    may_show = np.ones(n_labels, bool)
    if mask:
        may_show[:] = False
        may_show[_indices_in(mask)] = True
    voted = [int(label) for label in memo[_VOTES : _VOTES + n].tolist()]
    weights = [max(weight, 0.0) for weight in memo[_VOTES + n : _VOTES + 2 * n].tolist()]
    counted = [i for i in range(n) if 0 <= voted[i] < n_labels and may_show[voted[i]]]
    if not any(weights[i] > 0.0 for i in counted):
        weights = [1.0] * n
    votes, others = np.zeros(n_labels), 0.0
    for i in counted:
        votes[voted[i]] += weights[i]
        if voted[i] != greedy:
            others += weights[i]
    uniform_share = _UNIFORM_SHARE if others > 0.0 else 1.0
    shares = np.full(n_labels, uniform_share / max(int(may_show.sum()) - 1, 1))
    if others > 0.0:
        shares += (1.0 - uniform_share) * votes / others
    shares *= rate
    shares[~may_show] = 0.0
    shares[greedy] = 1.0 - rate if may_show.sum() > 1 else 1.0
    return shares


def _memo_from(numbers: Any, n_labels: int, mask: int) -> Array:
    """A memo from plain data, after a look at what every memo begins with."""
    try:
        memo = np.array([math.nan if value is None else value for value in numbers], dtype=np.float64)
    except (TypeError, ValueError):
        raise DecisionError(f"the stored decision's memo is {numbers!r}; give the list of numbers that to_dict returned") from None
    if len(memo) < _VOTES or not np.all(np.isfinite(memo[:_VOTES])):
        raise DecisionError("the stored decision's memo is cut short or has a gap; give the list that to_dict returned")
    whole = memo[[_ROUND, _SHOWN, _GREEDY, _EXPERT]]
    labels = memo[[_SHOWN, _GREEDY]]
    possible = np.all(whole == np.floor(whole)) and np.all(labels >= 0) and np.all(labels < n_labels) and 0.0 <= memo[_RATE] < 1.0
    if not possible or not _is_possible_choice(memo, mask, n_labels):
        raise DecisionError("the stored decision's memo names no possible round, label or probability; it was changed since to_dict")
    return memo


def _is_by_gaps(memo: Array, n_labels: int, mask: int) -> bool:
    """Whether the probabilities of a memo could come from inverse gaps: all positive, but for labels that were not allowed."""
    if not 0.0 < memo[_PROBABILITY] <= 1.0:
        return False
    if n_labels > _MOST_KEPT:
        return True
    kept = memo[_VOTES : _VOTES + n_labels]
    if len(kept) != n_labels or not np.all((kept >= 0.0) & (kept <= 1.0)) or not abs(math.fsum(kept) - 1.0) < 1e-9:
        return False
    may_show = np.arange(n_labels) if not mask else _indices_in(mask)
    return bool(np.array_equal(np.flatnonzero(kept), may_show) and kept[int(memo[_SHOWN])] == memo[_PROBABILITY])


class Decision:
    """The answer of `decide`; keep it until the verdict comes, then `learn(decision, correct)`. It cannot be changed.

    >>> from banditboost import AdaBandit
    >>> decision = AdaBandit(["sports", "politics"], exploration=0.1, n_learners=5, seed=7).decide({"hour": 21})
    >>> decision.explored, decision.label == decision.greedy
    (False, True)
    >>> decision.probability
    0.9
    """

    __slots__ = ("_labels", "_mask", "_memo", "_model_id", "_round", "_shown", "_stored")

    def __init__(
        self, model_id: str, labels: Sequence[Hashable], memo: Array, round_: int, shown: int, mask: int = 0, stored: bool = False
    ) -> None:
        self._model_id = model_id
        self._labels = labels
        self._memo = memo
        # Two numbers of the memo that every round asks for: to read one there costs as much as the vote of a few trees.
        self._round = round_
        self._shown = shown
        self._mask = mask  # of the allowed labels, 0 for all
        self._stored = stored  # whether it comes from outside, so that `learn` must look at it more closely

    @classmethod
    def _of(cls, model_id: str, labels: Sequence[Hashable], memo: Array, allowed: Array | None = None) -> Decision:
        """The decision that a memo tells."""
        mask = 0 if allowed is None else _mask_of(allowed, len(labels))
        return cls(model_id, labels, memo, int(memo[_ROUND]), int(memo[_SHOWN]), mask)

    @property
    def model_id(self) -> str:
        """Which model decided."""
        return self._model_id

    @property
    def round(self) -> int:
        """The model's rounds are counted from 0; with the model's seed it determines every random draw of the decision."""
        return self._round

    @property
    def label(self) -> Hashable:
        """The label to show."""
        return self._labels[self._shown]

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

    @property
    def allowed(self) -> tuple[Hashable, ...]:
        """The labels that were chosen from."""
        return tuple(self._labels) if not self._mask else tuple(self._labels[i] for i in _indices_in(self._mask).tolist())

    def distribution(self) -> dict[Hashable, float]:
        """The probability of every label, eq. (2): 1 - rho for the greedy one, rho / (k - 1) for the others.

        Among k' allowed labels these are 1 - rho and rho / (k' - 1), and 0 for all others; 1 for a label that was allowed alone.
        With exploration by votes (`schedules.Divided`) what is not the greedy label's is divided by these. Decisions of GapBoost among more
        than 32 labels do not hold it: ask `model.distribution(x)`.
        """
        if self._memo[_POLICY] == _INVERSE_GAPS:
            return dict(zip(self._labels, self._kept_probabilities(), strict=True))
        if self._memo[_POLICY] == _BY_VOTES:
            return dict(zip(self._labels, _divided(self._memo, self._mask, len(self._labels)).tolist(), strict=True))
        n_allowed = self._mask.bit_count() or len(self._labels)
        best, other = (_probability(explored, float(self._memo[_RATE]), n_allowed) for explored in (False, True))
        shares = np.full(len(self._labels), 0.0 if self._mask else other)
        if self._mask:
            shares[_indices_in(self._mask)] = other
        shares[int(self._memo[_GREEDY])] = best
        return dict(zip(self._labels, shares.tolist(), strict=True))

    def _among(self, n_labels: int) -> Array | None:
        """The indices of the labels that could be shown, None if these are all that the model has now."""
        if self._mask:
            return _indices_in(self._mask)
        return np.arange(len(self._labels)) if len(self._labels) < n_labels else None

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
            "format": _FORMAT_AMONG if self._mask else _FORMAT,
            **({"allowed": f"{self._mask:x}"} if self._mask else {}),
            "model": self._model_id,
            "labels": len(self._labels),
            "label": _stored_label(self._labels, self._shown),
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
        if data["format"] not in (_FORMAT, _FORMAT_AMONG):
            raise DecisionError(
                f"format {data['format']!r} of a decision is unknown to this version; it reads formats {_FORMAT} and {_FORMAT_AMONG}"
            )
        n_labels = data["labels"]
        if type(n_labels) is not int or not 2 <= n_labels < _MOST_LABELS:
            raise DecisionError(f"the decision was made among {n_labels!r} labels; give the whole dict that to_dict returned")
        if labels is not None and n_labels > len(labels):
            raise DecisionError(f"the decision was made among {n_labels} labels, but {len(labels)} were given; give model.labels")
        mask = _mask_from(data, n_labels)
        memo = _memo_from(data["memo"], n_labels, mask)
        known = _TwoLabels(n_labels, {int(memo[_SHOWN]): data["label"], int(memo[_GREEDY]): data["greedy"]})
        # Labels may have joined the model since: always after those of the decision.
        names = known if labels is None else labels[:n_labels]
        return cls(data["model"], names, memo, int(memo[_ROUND]), int(memo[_SHOWN]), mask, stored=True)

    def __repr__(self) -> str:
        stored = _stored_label(self._labels, self._shown)
        label = stored[_SHOWN_ONLY] if isinstance(stored, dict) and _SHOWN_ONLY in stored else repr(self.label)
        return f"Decision(round={self.round}, label={label}, probability={self.probability:.6g}, explored={self.explored})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        same = self._model_id == other._model_id and self._mask == other._mask
        return same and np.array_equal(self._memo, other._memo, equal_nan=True)

    def __hash__(self) -> int:
        return hash((self._model_id, self._round))
