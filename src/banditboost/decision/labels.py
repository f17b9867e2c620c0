"""The labels of a decision: those that it knows when it comes from a store, and those that were allowed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from banditboost.errors import DecisionError
from banditboost.io.values import UnreadableError, UnstorableError, decode_hashable, encode
from banditboost.rows.vocabulary import labels_digest
from banditboost.text import quoted, visible
from banditboost.types import Array
from banditboost.validation import check_labels, is_hashable

_SHOWN_ONLY = "$repr"


class TwoLabels(Sequence[Hashable]):
    """All that a stored decision knows of the k labels: two of them, and of a branch's labels the digest.

    Whoever goes through them meets one that is not told after two at most: k may be anything.
    """

    def __init__(self, n_labels: int, known: dict[int, Any], digest: str) -> None:
        self._n_labels = n_labels
        self.known = known
        self.digest = digest

    def __len__(self) -> int:
        return self._n_labels

    def __getitem__(self, index: Any) -> Any:
        if index not in self.known or _is_shown_only(self.known[index]):
            raise DecisionError(
                "the stored decision does not tell this label; give Decision.from_dict(data, model.labels)"
            )
        return decode_hashable(self.known[index])

    def all(self) -> tuple[Hashable, ...]:
        """Every label, or a DecisionError. (`tuple` would make room for k of them before it asks for one.)"""
        return tuple([self[index] for index in range(self._n_labels)])

    def check(self, labels: Sequence[Hashable]) -> None:
        """Refuse a decision that names a label otherwise than these labels do."""
        for index, told in self.known.items():
            if not _is_label(told, labels[index]):
                raise DecisionError(
                    f"the stored decision calls label {index} {_shown(told)}, which is "
                    f"{quoted(labels[index])}; it was changed since to_dict"
                )

    def among(self, labels: Any) -> tuple[Hashable, ...]:
        """The labels that the decision was made among: the first of those that a user gives with it.

        Others may have joined the model since, always after these.
        """
        given = _given_labels(labels)
        names = given[: self._n_labels]
        if len(names) < self._n_labels:
            raise DecisionError(
                f"the decision was made among {self._n_labels} labels, but {len(names)} were given; give "
                "model.labels"
            )
        if self.digest and labels_digest(names) != self.digest:
            raise DecisionError(
                f"the decision was made by a branch among labels other than the first {self._n_labels} of "
                "those given; give the labels of the branch"
            )
        self.check(names)
        return names


def stored_label(labels: Sequence[Hashable], index: int) -> Any:
    """A label as JSON can carry it with its type; what cannot be carried is shown, and model.labels must tell
    it.
    """
    if isinstance(labels, TwoLabels):
        return labels.known[index]
    try:
        return encode(labels[index])
    except UnstorableError:
        return {_SHOWN_ONLY: repr(labels[index])}


def label_text(labels: Sequence[Hashable], index: int) -> str:
    """A label as people read it."""
    return _shown(labels.known[index]) if isinstance(labels, TwoLabels) else quoted(labels[index])


def check_stored_label(told: Any) -> None:
    """Refuse what `stored_label` never returns."""
    if _is_shown_only(told):
        return
    try:
        same = encode(decode_hashable(told)) == told
    except (UnreadableError, UnstorableError):
        same = False
    if not same:
        raise DecisionError(
            f"the stored decision's label is no value: {quoted(told)}; it was changed since to_dict"
        )


def _given_labels(labels: Any) -> tuple[Hashable, ...]:
    """The labels that a user gives with a stored decision; the model's own tuple is not gone through."""
    return labels if type(labels) is tuple and is_hashable(labels) else check_labels(labels)


def _is_shown_only(told: Any) -> bool:
    return isinstance(told, dict) and len(told) == 1 and isinstance(told.get(_SHOWN_ONLY), str)


def _is_label(told: Any, label: Hashable) -> bool:
    """Whether this is how a label is told. What can only be shown may look different in every process."""
    try:
        encode(label)
    except UnstorableError:
        return _is_shown_only(told)
    return not _is_shown_only(told) and bool(decode_hashable(told) == label)


def _shown(told: Any) -> str:
    return visible(told[_SHOWN_ONLY]) if _is_shown_only(told) else quoted(decode_hashable(told))


# The allowed labels


def mask_of(indices: Array, n_labels: int) -> int:
    """A set of labels as the bits of a number, which takes little room and cannot be changed."""
    bits = np.zeros(n_labels, np.uint8)
    bits[indices] = 1
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def indices_in(mask: int) -> Array | None:
    """The labels of a set, in increasing order; None if it is empty, which stands for all."""
    if not mask:
        return None
    size = (mask.bit_length() + 7) // 8
    return np.flatnonzero(
        np.unpackbits(np.frombuffer(mask.to_bytes(size, "little"), np.uint8), bitorder="little")
    )
