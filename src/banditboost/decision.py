"""A decision: what was shown, with what probability, and everything that learning from its verdict needs,
however late it comes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from banditboost.distribution import distribution, is_possible
from banditboost.errors import DecisionError, FeatureError
from banditboost.io.values import UnreadableError, UnstorableError, decode, decode_hashable, encode
from banditboost.memo import CHOSEN_EXPERT, GREEDY, MOST_PROBABILITIES, PROBABILITY, RATE, ROUND, SHOWN, VOTES
from banditboost.rows.vocabulary import (
    ToldRow,
    Vocabulary,
    labels_digest,
    short_number,
    short_row,
    what_is_told,
)
from banditboost.types import Array

_FORMAT = 3
# 1 and 2 do not tell branch and run; in 2 and 3 some labels may have been allowed, in 1 all were.
_READABLE = (1, 2, 3)
_SHOWN_ONLY = "$repr"
_MOST_LABELS = 1 << 31  # trees keep labels as 32-bit numbers
_HEXADECIMAL = re.compile("[1-9a-f][0-9a-f]*")
_RUN = re.compile("[0-9a-f]{16}")


def _stored_label(labels: Sequence[Hashable], index: int) -> Any:
    """A label as JSON can carry it with its type; what cannot be carried is shown, and model.labels must tell
    it.
    """
    if isinstance(labels, _TwoLabels):
        return labels.known[index]
    try:
        return encode(labels[index])
    except UnstorableError:
        return {_SHOWN_ONLY: repr(labels[index])}


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made a decision; with its round it is the decision's identity. All decisions of a run share one."""

    model: str
    branch: str  # empty: the model itself
    run: str  # empty: a version that did not tell runs apart
    vocabulary: Vocabulary | None = field(default=None, compare=False, repr=False)  # of a branch


class _TwoLabels(Sequence[Hashable]):
    """All that a stored decision knows of the k labels: two of them, and of a branch's labels the digest."""

    def __init__(self, n_labels: int, known: dict[int, Any], digest: str) -> None:
        self._n_labels = n_labels
        self.known = known
        self.digest = digest

    def __len__(self) -> int:
        return self._n_labels

    def __getitem__(self, index: Any) -> Any:
        stored = self.known.get(index)
        if index not in self.known or (isinstance(stored, dict) and _SHOWN_ONLY in stored):
            raise DecisionError(
                "the stored decision does not tell this label; give Decision.from_dict(data, model.labels)"
            )
        try:
            return decode_hashable(stored)
        except UnreadableError as error:
            raise DecisionError(
                f"the stored decision's label is no value: {error}; it was changed since to_dict"
            ) from None


def _mask_of(indices: Array, n_labels: int) -> int:
    """A set of labels as the bits of a number, which takes little room and cannot be changed."""
    bits = np.zeros(n_labels, np.uint8)
    bits[indices] = 1
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def _indices_in(mask: int) -> Array | None:
    """The labels of a set, in increasing order; None if it is empty, which stands for all."""
    if not mask:
        return None
    size = (mask.bit_length() + 7) // 8
    return np.flatnonzero(
        np.unpackbits(np.frombuffer(mask.to_bytes(size, "little"), np.uint8), bitorder="little")
    )


def _mask_from(data: Mapping[str, Any], n_labels: int) -> int:
    """The allowed labels of a stored decision; 0 if all were."""
    stored = data.get("allowed")
    if data["format"] == 1 or (data["format"] == _FORMAT and stored is None):
        return 0
    if not isinstance(stored, str) or len(stored) > n_labels or not _HEXADECIMAL.fullmatch(stored):
        raise DecisionError(
            f"the stored decision's allowed labels are {stored!r}; give the whole dict that to_dict returned"
        )
    return int(stored, 16)


def _origin_from(data: Mapping[str, Any]) -> Origin:
    """Who made a stored decision; versions before format 3 did not tell branch and run."""
    new = data["format"] == _FORMAT
    names = (data["model"], data.get("branch", ""), data.get("run")) if new else (data["model"], "", "")
    origin = Origin(*names)
    if not all(isinstance(name, str) for name in names) or not (
        _RUN.fullmatch(origin.run) or (not origin.run and not origin.branch)
    ):
        raise DecisionError(
            "the stored decision does not tell who made it; give the whole dict that to_dict returned"
        )
    return origin


def _row_from(data: Mapping[str, Any]) -> ToldRow:
    """The row that a branch's decision tells by names and values."""
    try:
        row = decode(data["row"])
    except (KeyError, UnreadableError):
        row = None
    if not isinstance(row, (dict, list)):
        raise DecisionError("the stored decision has no 'row'; give the whole dict that to_dict returned")
    return row


def _digest_from(data: Mapping[str, Any]) -> str:
    digest = data.get("labels_digest")
    if not isinstance(digest, str) or not _RUN.fullmatch(digest):
        raise DecisionError(
            "the stored decision has no 'labels_digest'; give the whole dict that to_dict returned"
        )
    return digest


def _memo_from(numbers: Any, n_labels: int, mask: int) -> Array:
    """A memo from plain data, after a look at what every memo begins with."""
    try:
        memo = np.array([math.nan if value is None else value for value in numbers], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DecisionError(
            f"the stored decision's memo is {numbers!r}; give the list of numbers that to_dict returned"
        ) from None
    if len(memo) < VOTES or not np.all(np.isfinite(memo[:VOTES])):
        raise DecisionError(
            "the stored decision's memo is cut short or has a gap; give the list that to_dict returned"
        )
    whole = memo[[ROUND, SHOWN, GREEDY, CHOSEN_EXPERT]]
    labels = memo[[SHOWN, GREEDY]]
    possible = (
        np.all(whole == np.floor(whole))
        and np.all(labels >= 0)
        and np.all(labels < n_labels)
        and 0.0 <= memo[RATE] < 1.0
    )
    if not possible or not is_possible(memo, n_labels, _indices_in(mask)):
        raise DecisionError(
            "the stored decision's memo names no possible round, label or probability; it was changed since "
            "to_dict"
        )
    return memo


class Decision:
    """The answer of `decide`; keep it until the verdict comes, then `learn(decision, correct)`.

    It cannot be changed.

    >>> from banditboost import AdaBandit
    >>> model = AdaBandit(["sports", "politics"], exploration=0.1, n_learners=5, seed=7)
    >>> decision = model.decide({"hour": 21})
    >>> decision.explored, decision.label == decision.greedy
    (False, True)
    >>> decision.probability
    0.9
    """

    __slots__ = ("_labels", "_mask", "_memo", "_origin", "_round", "_shown", "_stored")

    def __init__(
        self,
        origin: Origin,
        labels: Sequence[Hashable],
        memo: Array,
        round_: int,
        shown: int,
        mask: int = 0,
        stored: bool = False,
    ) -> None:
        self._origin = origin
        self._labels = labels
        self._memo = memo
        # Two numbers of the memo that every round asks for: to read one there costs as much as the vote of a
        # few trees.
        self._round = round_
        self._shown = shown
        self._mask = mask  # of the allowed labels, 0 for all
        self._stored = stored  # whether it comes from outside, so that `learn` must look at it more closely

    @classmethod
    def _of(
        cls, origin: Origin, labels: Sequence[Hashable], memo: Array, allowed: Array | None = None
    ) -> Decision:
        """The decision that a memo tells."""
        mask = 0 if allowed is None else _mask_of(allowed, len(labels))
        return cls(origin, labels, memo, int(memo[ROUND]), int(memo[SHOWN]), mask)

    @classmethod
    def _telling(
        cls, origin: Origin, labels: Sequence[Hashable], head: Array, row: ToldRow, mask: int, stored: bool
    ) -> Decision:
        """The decision of a branch, which tells its row by names and values; `head` is the memo up to it."""
        try:
            vocabulary, coded = Vocabulary.of_row(row, len(head))
        except (FeatureError, OverflowError) as error:
            raise DecisionError(
                f"the stored decision's row is no row ({error}); it was changed since to_dict"
            ) from None
        told = Origin(origin.model, origin.branch, origin.run, vocabulary)
        memo = np.concatenate([head, coded])
        return cls(told, labels, memo, int(memo[ROUND]), int(memo[SHOWN]), mask, stored)

    @property
    def model_id(self) -> str:
        """Which model decided. Files, copies and branches of a model keep its id."""
        return self._origin.model

    @property
    def branch(self) -> str:
        """Which branch of the model decided (`model.branch()`); empty for the model itself."""
        return self._origin.branch

    @property
    def run(self) -> str:
        """Which run decided. Whenever a model was loaded or copied a new run begins with its next decision.

        Two models that were loaded from one file decide for the same rounds; their runs tell them apart.
        """
        return self._origin.run

    @property
    def round(self) -> int:
        """Which of its branch's rounds it is, counted from 0; a branch goes on counting where it was made.

        Together with the model's seed and the branch it determines every random draw of the decision.
        """
        return self._round

    @property
    def label(self) -> Hashable:
        """The label to show."""
        return self._labels[self._shown]

    @property
    def probability(self) -> float:
        """The probability with which this label was chosen: log it."""
        return float(self._memo[PROBABILITY])

    @property
    def greedy(self) -> Hashable:
        """The label that the model thinks best."""
        return self._labels[int(self._memo[GREEDY])]

    @property
    def explored(self) -> bool:
        """Whether another label than the greedy one is shown."""
        return bool(self._memo[SHOWN] != self._memo[GREEDY])

    @property
    def allowed(self) -> tuple[Hashable, ...]:
        """The labels that were chosen from."""
        indices = _indices_in(self._mask)
        return tuple(self._labels) if indices is None else tuple(self._labels[i] for i in indices.tolist())

    def distribution(self) -> dict[Hashable, float]:
        """The probability of every label, eq. (2): 1 - rho for the greedy one, rho / (k - 1) for the others.

        Among k' allowed labels these are 1 - rho and rho / (k' - 1), and 0 for all others; 1 for a label that
        was allowed alone. With exploration by votes (`schedules.Divided`) what is not the greedy label's is
        divided by these. Decisions of GapBoost among more
        than 32 labels do not hold it: ask `model.distribution(x)`.
        """
        n_labels = len(self._labels)
        shares = distribution(self._memo, n_labels, _indices_in(self._mask))
        if shares is None:
            raise DecisionError(
                f"the decision was made among {n_labels} labels, and the probabilities of more than "
                f"{MOST_PROBABILITIES} are not kept with it; "
                "ask model.distribution(x) before the model learns more"
            )
        return dict(zip(self._labels, shares, strict=True))

    def _among(self, n_labels: int) -> Array | None:
        """The indices of the labels that could be shown, None if these are all that the model has now."""
        if self._mask:
            return _indices_in(self._mask)
        return np.arange(len(self._labels)) if len(self._labels) < n_labels else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can carry; `Decision.from_dict` makes the decision again, in any process."""
        vocabulary = self._origin.vocabulary
        return {
            "format": _FORMAT,
            **({"allowed": f"{self._mask:x}"} if self._mask else {}),
            "model": self._origin.model,
            **({"branch": self._origin.branch} if self._origin.branch else {}),
            "run": self._origin.run,
            "labels": len(self._labels),
            "label": _stored_label(self._labels, self._shown),
            "greedy": _stored_label(self._labels, int(self._memo[GREEDY])),
            **({"labels_digest": self._labels_digest()} if vocabulary else {}),
            "memo": [None if value != value else short_number(value) for value in self._head().tolist()],
            **({"row": self._stored_row(vocabulary)} if vocabulary else {}),
        }

    def _head(self) -> Array:
        """The memo; of a branch's decision, whose row is told by names and values, what is before the row."""
        vocabulary = self._origin.vocabulary
        return self._memo if vocabulary is None else self._memo[: vocabulary.row_start]

    def _stored_row(self, vocabulary: Vocabulary) -> Any:
        try:
            return encode(short_row(vocabulary.row_of(self._memo)))
        except UnstorableError as error:
            raise DecisionError(
                f"the name of a feature cannot be stored: {error}; pickle the decision"
            ) from None

    def _labels_digest(self) -> str:
        """Of a branch's decision."""
        if isinstance(self._labels, _TwoLabels):
            return self._labels.digest
        vocabulary = self._origin.vocabulary
        return vocabulary.digests.of(self._labels) if vocabulary else labels_digest(self._labels)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: Sequence[Hashable] | None = None) -> Decision:
        """The decision that `to_dict` described.

        Without `labels` (those of the model, `model.labels`) it can be learned and knows its own label and
        the greedy one; `distribution()` needs them all. Labels other than None, bool, int, float, str, bytes,
        NumPy's numbers and tuples of these need them, too.
        """
        for key in ("format", "model", "memo", "labels", "label", "greedy"):
            if not isinstance(data, Mapping) or key not in data:
                raise DecisionError(
                    f"the stored decision has no {key!r}; give the whole dict that to_dict returned"
                )
        if data["format"] not in _READABLE:
            readable = ", ".join(map(str, _READABLE))
            raise DecisionError(
                f"format {data['format']!r} of a decision is unknown to this version; it reads formats "
                f"{readable}"
            )
        n_labels = data["labels"]
        if type(n_labels) is not int or not 2 <= n_labels < _MOST_LABELS:
            raise DecisionError(
                f"the decision was made among {n_labels!r} labels; give the whole dict that to_dict returned"
            )
        if labels is not None and n_labels > len(labels):
            raise DecisionError(
                f"the decision was made among {n_labels} labels, but {len(labels)} were given; give "
                "model.labels"
            )
        mask = _mask_from(data, n_labels)
        memo = _memo_from(data["memo"], n_labels, mask)
        origin = _origin_from(data)
        digest = _digest_from(data) if origin.branch else ""
        two = {int(memo[SHOWN]): data["label"], int(memo[GREEDY]): data["greedy"]}
        # Labels may have joined the model since: always after those of the decision.
        names = _TwoLabels(n_labels, two, digest) if labels is None else labels[:n_labels]
        if not origin.branch:
            return cls(origin, names, memo, int(memo[ROUND]), int(memo[SHOWN]), mask, stored=True)
        if labels is not None and labels_digest(names) != digest:
            raise DecisionError(
                f"the decision was made by branch {origin.branch!r} among labels other than the first"
                f" {n_labels} of those given; give the labels of the branch"
            )
        return cls._telling(origin, names, memo, _row_from(data), mask, stored=True)

    def __repr__(self) -> str:
        stored = _stored_label(self._labels, self._shown)
        label = (
            stored[_SHOWN_ONLY] if isinstance(stored, dict) and _SHOWN_ONLY in stored else repr(self.label)
        )
        drawn = f"probability={self.probability:.6g}, explored={self.explored}"
        return f"Decision(round={self.round}, label={label}, {drawn})"

    def __reduce__(self) -> Any:
        origin, labels, vocabulary = self._origin, self._labels, self._origin.vocabulary
        if vocabulary is None:
            return Decision, (origin, labels, self._memo, self._round, self._shown, self._mask, self._stored)
        # Not the whole vocabulary of the branch: that belongs to a model.
        names = Origin(origin.model, origin.branch, origin.run)
        row = vocabulary.row_of(self._memo)
        return Decision._telling, (names, labels, self._head(), row, self._mask, self._stored)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        same = self._origin == other._origin and self._mask == other._mask
        return (
            same
            and np.array_equal(self._head(), other._head(), equal_nan=True)
            and self._told() == other._told()
        )

    def _told(self) -> dict[Hashable, Any]:
        """The row of a branch's decision."""
        vocabulary = self._origin.vocabulary
        return {} if vocabulary is None else what_is_told(vocabulary.row_of(self._memo))

    def __hash__(self) -> int:
        return hash((self._origin, self._round))
