"""A decision: what was shown, with what probability, and everything that learning from its verdict needs,
however late it comes.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from banditboost.decision import tokens
from banditboost.decision.labels import TwoLabels, indices_in, label_text, mask_of, stored_label
from banditboost.decision.origin import Origin
from banditboost.decision.stored import Parts, parts_of, parts_unsealed, plain_of, row_from, unsealed
from banditboost.distribution import distribution
from banditboost.errors import DecisionError
from banditboost.io.values import UnstorableError, encode
from banditboost.memo import (
    GREEDY,
    MOST_PROBABILITIES,
    POLICY,
    POLICY_INVERSE_GAPS,
    PROBABILITY,
    ROUND,
    SHOWN,
)
from banditboost.rankings import Ranked, order_of, ranked
from banditboost.rows.vocabulary import ToldRow, Vocabulary, labels_digest, short_row, what_is_told
from banditboost.types import Array


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

    __slots__ = ("_labels", "_mask", "_memo", "_origin", "_round", "_shares", "_shown", "_stored")

    def __init__(
        self,
        origin: Origin,
        labels: Sequence[Hashable],
        memo: Array,
        round_: int,
        shown: int,
        mask: int = 0,
        stored: bool = False,
        shares: Array | None = None,
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
        self._shares = shares  # the probabilities, if the memo has no room for them; not stored

    @classmethod
    def _of(
        cls,
        origin: Origin,
        labels: Sequence[Hashable],
        memo: Array,
        allowed: Array | None = None,
        shares: Array | None = None,
    ) -> Decision:
        """The decision that a memo tells."""
        mask = 0 if allowed is None else mask_of(allowed, len(labels))
        return cls(origin, labels, memo, int(memo[ROUND]), int(memo[SHOWN]), mask, False, shares)

    def _for_a_store(self) -> Decision:
        """The decision without what only the process that decided knows: as light as a stored one."""
        if self._shares is None:
            return self
        return Decision(
            self._origin, self._labels, self._memo, self._round, self._shown, self._mask, self._stored
        )

    @classmethod
    def _telling(
        cls, origin: Origin, labels: Sequence[Hashable], head: Array, row: ToldRow, mask: int, stored: bool
    ) -> Decision:
        """The decision of a branch, which tells its row by names and values; `head` is the memo up to it."""
        try:
            vocabulary, coded = Vocabulary.of_row(row, len(head))
        except (ValueError, OverflowError) as error:
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
        indices = indices_in(self._mask)
        if indices is None:
            return self._all_labels()
        return tuple([self._labels[i] for i in indices.tolist()])

    def _all_labels(self) -> tuple[Hashable, ...]:
        return self._labels.all() if isinstance(self._labels, TwoLabels) else tuple(self._labels)

    def distribution(self) -> dict[Hashable, float]:
        """The probability of every label, eq. (2): 1 - rho for the greedy one, rho / (k - 1) for the others.

        Among k' allowed labels these are 1 - rho and rho / (k' - 1), and 0 for all others; 1 for a label that
        was allowed alone. With exploration by votes (`schedules.Divided`) what is not the greedy label's is
        divided by these. Decisions of GapBoost among more than 32 labels hold it in the process that decided,
        until they are stored, pickled, copied or added to a store.
        """
        labels = self._all_labels()  # before anything is made for each: a stored decision may not tell them
        return dict(zip(labels, self._probabilities(len(labels)), strict=True))

    def ranking(self, n: int | None = None) -> list[Ranked]:
        """The labels that were chosen from, with their probabilities, the most probable first.

        For GapBoost this is the order of its scores, as in `model.rank`. Models that explore at a rate put
        the greedy label first and give all others the same probability; the decision does not keep their
        scores, so these stand in the order of the labels: `model.rank(x)` tells more. As `distribution`, it
        is not stored with more than 32 labels of GapBoost.

        Args:
            n: how many; None is all.

        >>> from banditboost import GapBoost
        >>> model = GapBoost(range(100), seed=7)
        >>> decision = model.decide({"hour": 21})
        >>> len(decision.ranking()), decision.ranking(2) == model.rank({"hour": 21}, n=2)
        (100, True)
        """
        labels = self._all_labels()
        shares = self._probabilities(len(labels))
        first = None if self._memo[POLICY] == POLICY_INVERSE_GAPS else int(self._memo[GREEDY])
        return ranked(labels, shares, order_of(np.array(shares), indices_in(self._mask), first), n)

    def _probabilities(self, n_labels: int) -> list[float]:
        if self._shares is not None:
            held: list[float] = self._shares.tolist()
            return held
        shares = distribution(self._memo, n_labels, indices_in(self._mask))
        if shares is None:
            raise DecisionError(
                f"the decision was made among {n_labels} labels, and the probabilities of more than "
                f"{MOST_PROBABILITIES} are not stored with it; ask the decision that decide returned, or "
                "model.distribution(x) and model.rank(x) before the model learns more"
            )
        return shares

    def _among(self, n_labels: int) -> Array | None:
        """The indices of the labels that could be shown, None if these are all that the model has now."""
        if self._mask:
            return indices_in(self._mask)
        return np.arange(len(self._labels)) if len(self._labels) < n_labels else None

    # On its way

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can carry; `Decision.from_dict` makes the decision again, in any process.

        It is for your own logs, files and databases. Where others can write, use `to_token`.
        """
        return plain_of(self._parts())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], labels: Sequence[Hashable] | None = None) -> Decision:
        """The decision that `to_dict` described; a DecisionError if anything in it was changed by accident.

        Without `labels` (those of the model, `model.labels`) it can be learned and knows its own label and
        the greedy one; `distribution()` needs them all. Labels other than None, bool, int, float, str, bytes,
        NumPy's numbers and tuples of these need them, too.
        """
        return cls._from_parts(parts_of(data), labels)

    def to_token(self, key: bytes) -> str:
        """The decision as signed text for cookies, URLs and queues: letters, digits, `-` and `_`.

        Nobody can change it, or make one, without the key. Anybody can read it: it holds the row.

        Args:
            key: at least 16 secret bytes, such as `secrets.token_bytes(32)`.

        >>> from banditboost import AdaBandit
        >>> model = AdaBandit(["sports", "politics"], n_learners=5, seed=7)
        >>> decision = model.decide({"hour": 21})
        >>> key = b"32 bytes that nobody else knows."
        >>> Decision.from_token(decision.to_token(key), key) == decision
        True
        """
        return tokens.sign(json.dumps(unsealed(self._parts()), separators=(",", ":")), key)

    @classmethod
    def from_token(
        cls,
        token: str,
        key: bytes | Iterable[bytes],
        labels: Sequence[Hashable] | None = None,
        max_age: float | None = None,
    ) -> Decision:
        """The decision of a token that was signed with this key, or one of these.

        A token that was changed, cut, made up or signed with another key is refused with a DecisionError
        before anything in it is read.

        Args:
            token: what `to_token` returned.
            key: the key; or several while keys are changed, the new one and those before it.
            labels: as in `from_dict`.
            max_age: the seconds since `to_token`, by the time of day, after which the token is refused; None
                is no limit.
        """
        text = tokens.verified(token, key, max_age)
        return cls._from_parts(parts_unsealed(json.loads(text)), labels)

    def _parts(self) -> Parts:
        origin = self._origin
        return Parts(
            origin,
            len(self._labels),
            self._mask,
            stored_label(self._labels, self._shown),
            stored_label(self._labels, int(self._memo[GREEDY])),
            self._labels_digest() if origin.vocabulary else "",
            self._head(),
            self._stored_row(origin.vocabulary) if origin.vocabulary else None,
        )

    @classmethod
    def _from_parts(cls, parts: Parts, labels: Sequence[Hashable] | None) -> Decision:
        origin, memo, shown = parts.origin, parts.memo, int(parts.memo[SHOWN])
        told = TwoLabels(parts.n_labels, {shown: parts.label, int(memo[GREEDY]): parts.greedy}, parts.digest)
        names = told if labels is None else told.among(labels)
        if not origin.branch:
            return cls(origin, names, memo, int(memo[ROUND]), shown, parts.mask, stored=True)
        return cls._telling(origin, names, memo, row_from(parts), parts.mask, stored=True)

    def _check_told(self, labels: Sequence[Hashable]) -> None:
        """Refuse a decision from a store that names a label otherwise than these, the model's, do."""
        if isinstance(self._labels, TwoLabels):
            self._labels.check(labels)

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
        if isinstance(self._labels, TwoLabels):
            return self._labels.digest
        vocabulary = self._origin.vocabulary
        return vocabulary.digests.of(self._labels) if vocabulary else labels_digest(self._labels)

    def __repr__(self) -> str:
        drawn = f"probability={self.probability:.6g}, explored={self.explored}"
        return f"Decision(round={self.round}, label={label_text(self._labels, self._shown)}, {drawn})"

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
