"""The first half of a round: `decide`, for one row or for many."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np

from banditboost.decision import Decision, Origin
from banditboost.distribution import distribution
from banditboost.errors import LabelError
from banditboost.memo import POLICY_UNIFORM
from banditboost.models.identity import FORKS, Identity
from banditboost.models.locking import locked
from banditboost.models.model import Model
from banditboost.models.settings import ROUNDS
from banditboost.rows.many import checked_rows, listed
from banditboost.rows.vocabulary import Vocabulary
from banditboost.text import quoted
from banditboost.types import Array, Row

_FLOAT = np.dtype(np.float64)


class DecidingModel(Model):
    """A model that makes decisions, each with an identity that no other one has."""

    _policy = POLICY_UNIFORM

    def _make_identity(self) -> None:
        self._identity = Identity(self.model_id)
        self._identity.ledger.write(self._settings)

    @property
    def _ledger(self) -> Array:
        return self._identity.ledger.bits

    # Decide

    def decide(self, x: Row, allowed: Iterable[Hashable] | None = None) -> Decision:
        """Choose a label for x. The decision carries all that `learn` needs; the model keeps nothing of it.

        Args:
            x: a dict of features, or an array or list in the schema's order.
            allowed: the labels to choose from, if not all.
        """
        with self._turn.lock: return self._decide(x, allowed)  # fmt: skip # noqa: E701

    def _decide(self, x: Row, allowed: Iterable[Hashable] | None) -> Decision:
        if self._turn.unfinished is not None:
            self._settled()
        calls, identity = self._calls, self._identity
        if type(x) is np.ndarray and x.dtype is _FLOAT and x.shape == calls.row_shape:
            row: Array | None = x  # as the one before: nothing else to look at
        elif type(x) is dict and calls.encode(x, written := calls.blank_row.copy()):
            row = written
        else:
            row = self._coded(x)
        origin, round_ = identity.origin, calls.counters[ROUNDS]
        if row is None or origin is None or identity.forks != FORKS[0] or round_ >= identity.ledger.room:
            return self._decide_on_draft(x, None if allowed is None else self._indices_of(allowed))
        if allowed is None:
            memo = calls.blank.copy()
            shown = calls.decide(calls.model, row, round_, calls.seed, memo, 0, 1)
            if shown >= 0:
                return Decision(origin, calls.labels, memo, round_, shown)
        indices = None if allowed is None else self._indices_of(allowed)
        return Decision._of(origin, self.labels, self._choose(row, round_, indices, True)[0], indices)

    def _decide_on_draft(self, x: Row, allowed: Array | None) -> Decision:
        """Decide after something has joined, a run has begun, or the ledger has grown: all at once."""
        self._finish_lesson()
        draft, round_ = self._draft(), self.rounds
        row = draft._coded(x)
        row = draft._admit(x) if row is None else row
        origin = draft._open_rounds(1)
        memo, _ = draft._choose(row, round_, allowed, True)
        self._become(draft)
        return Decision._of(origin, self.labels, memo, allowed)

    @locked
    def decide_many(
        self, X: Any, allowed: Iterable[Iterable[Hashable] | None] | None = None
    ) -> list[Decision]:
        """Choose a label for every row, as if one by one.

        If anything is refused, nothing was decided and no feature has joined.

        Args:
            X: a matrix, a list of rows, or a frame (pandas, polars, pyarrow).
            allowed: for each row the labels to choose from, or None for all.
        """
        rows = checked_rows(self._schema, X)
        choices = self._choices(allowed, len(rows))
        if not rows:
            return []
        draft = self._draft()
        origin = draft._open_rounds(len(rows))
        memos = [draft._next_memo(x, choice) for x, choice in zip(rows, choices, strict=True)]
        self._become(draft)
        return [
            Decision._of(origin, self.labels, memo, choice)
            for memo, choice in zip(memos, choices, strict=True)
        ]

    def _next_memo(self, x: Any, allowed: Array | None) -> Array:
        """Decide for one row of many. Called on a draft."""
        row = self._coded(x)
        if row is None:
            row = self._admit(x)
            self._renew()
        return self._choose(row, self.rounds, allowed, True)[0]

    def _open_rounds(self, n_rounds: int) -> Origin:
        """Have a run, and room in the ledger for so many rounds. Called on a draft, which is bound anew."""
        self._check_rounds(n_rounds)
        identity, rounds = self._identity, int(self._counts.rounds)
        origin = identity.origin
        if origin is None or identity.forks != FORKS[0]:
            vocabulary = Vocabulary(self._schema, self._row_start) if identity.branch else None
            origin = identity.begin_run(rounds, vocabulary)
        identity.ledger = identity.ledger.opened_up_to(rounds + n_rounds)
        self._renew()
        return origin

    def _prepare_to_play(self, n_rounds: int) -> None:
        identity, needed = self._identity, self.rounds + n_rounds
        if n_rounds and (identity.origin is None or needed > identity.ledger.room):
            draft = self._draft()
            draft._open_rounds(n_rounds)
            self._become(draft)

    def _become(self, draft: Self) -> None:
        origin = draft._identity.origin
        if origin is not None and origin.vocabulary is not None:
            # Before the draft takes its place: a longer schema tells what was decided with a shorter one.
            origin.vocabulary.follow(draft._schema)
        super()._become(draft)

    def _own_parts(self) -> None:
        super()._own_parts()
        self._identity = self._identity.draft()

    @locked
    def distribution(self, x: Row, allowed: Iterable[Hashable] | None = None) -> dict[Hashable, float]:
        """The probabilities that `decide(x).distribution()` would tell now; the model does not change."""
        indices = None if allowed is None else self._indices_of(allowed)
        shares = self._distribution_of(self._look(x, indices), indices)
        return dict(zip(self.labels, shares, strict=True))

    def _distribution_of(self, memo: Array, allowed: Array | None) -> list[float]:
        return distribution(memo, len(self.labels), allowed) or []

    def _indices_of(self, allowed: Iterable[Hashable]) -> Array | None:
        """The allowed labels' indices in increasing order, None if these are all."""
        if self.labels_are_fixed:
            self._refuse_fixed_labels(f"allowed is {quoted(allowed)}")
        try:
            indices = sorted({self._index[label] for label in listed(allowed)})
        except (KeyError, TypeError, ValueError):
            raise LabelError(
                f"allowed is {quoted(allowed)}; give a list of some of the model's labels, which are "
                f"{quoted(self.labels[:10])}"
            ) from None
        if not indices:
            raise LabelError("allowed is empty; give at least one label, or leave it out to allow all")
        return np.array(indices) if len(indices) < len(self.labels) else None

    def _choices(self, allowed: Any, n_rows: int) -> list[Array | None]:
        if allowed is None:
            return [None] * n_rows
        try:
            lists = listed(allowed)
        except TypeError:
            raise LabelError(
                f"allowed is {quoted(allowed)}; give a list of allowed labels for each row"
            ) from None
        if len(lists) != n_rows:
            raise LabelError(
                f"allowed has {len(lists)} lists of labels for {n_rows} rows; give one for each row"
            )
        return [None if labels is None else self._indices_of(labels) for labels in lists]
