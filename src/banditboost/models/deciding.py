"""The first half of a round: `decide`, for one row or for many."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from banditboost.decision import Decision, Origin
from banditboost.distribution import distribution
from banditboost.errors import FeatureError, LabelError
from banditboost.io.values import demand
from banditboost.memo import GREEDY, MOST_PROBABILITIES, POLICY_INVERSE_GAPS, POLICY_UNIFORM
from banditboost.models.identity import FORKS, Identity
from banditboost.models.locking import locked
from banditboost.models.model import Model
from banditboost.models.settings import ROUNDS
from banditboost.rankings import Ranked, order_of, ranked
from banditboost.rows.by_columns import ByColumns
from banditboost.rows.many import checked_rows, checked_table, for_each, listed
from banditboost.rows.schema import Cells
from banditboost.rows.vocabulary import Vocabulary
from banditboost.text import quoted
from banditboost.types import Array, Row
from banditboost.validation import is_hashable

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
        row: Array | Cells | None
        if type(x) is np.ndarray and x.dtype is _FLOAT and x.shape == calls.row_shape:
            row = x  # as the one before: nothing else to look at
        elif type(x) is not dict:
            row = self._read(x)
        elif (row := calls.encode(x)) is None:
            row = self._schema.code_by_cells(x)
        origin, round_ = identity.origin, calls.counters[ROUNDS]
        if (
            not isinstance(row, np.ndarray)
            or origin is None
            or identity.forks != FORKS[0]
            or round_ >= identity.ledger.room
        ):
            return self._decide_on_draft(x, row, self._indices_of(allowed))
        if allowed is None and calls.active is None:
            memo = calls.blank.copy()
            shown = calls.decide(calls.model, row, round_, calls.seed, memo, 0, 1)
            if shown >= 0:
                if calls.shares is None:
                    return Decision(origin, calls.labels, memo, round_, shown)
                return Decision(origin, calls.labels, memo, round_, shown, 0, False, calls.shares.copy())
        indices = self._indices_of(allowed)
        try:
            memo, _ = self._choose(row, round_, indices, True)
        except FeatureError as error:
            raise self._refusal(x, error) from None
        return Decision._of(origin, self.labels, memo, indices, self._shares_now())

    def _refusal(self, x: Row, error: FeatureError) -> FeatureError:
        """Why a row is refused: a number of a dict as it was given, not as it was coded."""
        try:
            self._coded(x)
        except FeatureError as told:
            return told
        return error

    def _decide_on_draft(self, x: Row, read: Array | Cells | None, allowed: Array | None) -> Decision:
        """Decide after something has joined, a run has begun, or the ledger has grown: all at once.

        `read` is what x is as numbers, or what it says if it brings something.
        """
        self._finish_lesson()
        draft, round_ = self._draft(), self.rounds
        row = read if isinstance(read, np.ndarray) else draft._admit(x, read)
        origin = draft._open_rounds(1)
        memo, _ = draft._choose(row, round_, allowed, True)
        shares = draft._shares_now()
        self._become(draft)
        return Decision._of(origin, self.labels, memo, allowed, shares)

    def _shares_now(self) -> Array | None:
        """The probabilities of the decision that was just made, if its memo has no room for them."""
        return None if self._calls.shares is None else self._calls.shares.copy()

    def _renew(self) -> None:
        super()._renew()
        if self._policy == POLICY_INVERSE_GAPS and len(self.labels) > MOST_PROBABILITIES:
            self._calls.shares = self._scratch.probabilities

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
        rows = checked_table(self._schema, X) or checked_rows(self._schema, X)
        choices = self._choices(allowed, len(rows))
        if not len(rows):
            return []
        draft = self._draft()
        origin = draft._open_rounds(len(rows))
        made = [
            (draft._choose(row, draft.rounds, choice, True)[0], choice, draft._shares_now())
            for row, choice in zip(draft._coded_one_by_one(rows), choices, strict=True)
        ]
        self._become(draft)
        return [Decision._of(origin, self.labels, *parts) for parts in made]

    def _coded_one_by_one(self, rows: ByColumns | Sequence[Any]) -> Iterator[Array]:
        """Each row as float64; what it brings joins just before it is asked for. Called on a draft."""
        if isinstance(rows, ByColumns):
            for block, _ in rows.blocks(self._coded, self._admit_next, lambda: self._schema):
                yield from block
        else:
            for x in rows:
                row = self._coded(x)
                yield self._admit_next(x) if row is None else row

    def _admit_next(self, x: Any) -> Array:
        """Let join what one row of many brings. Called on a draft, which is bound anew."""
        row = self._admit(x)
        self._renew()
        return row

    def _open_rounds(self, n_rounds: int) -> Origin:
        """Have a run, and room in the ledger for so many rounds. Called on a draft, which is bound anew."""
        self._check_rounds(n_rounds)
        identity, rounds = self._identity, int(self._counts.rounds)
        origin = identity.origin
        if origin is None or identity.forks != FORKS[0]:
            vocabulary = self._vocabulary() if identity.branch else None
            origin = identity.begin_run(rounds, vocabulary)
        identity.ledger = identity.ledger.opened_up_to(rounds + n_rounds)
        self._renew()
        return origin

    def _vocabulary(self) -> Vocabulary:
        """What tells the rows of a branch's decisions by names and values."""
        return Vocabulary(self._schema, self._row_start)

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
        indices = self._indices_of(allowed)
        shares = self._distribution_of(self._look(x, indices), indices)
        return dict(zip(self.labels, shares, strict=True))

    def _distribution_of(self, memo: Array, allowed: Array | None) -> list[float]:
        return distribution(memo, len(self.labels), allowed) or []

    @locked
    def rank(self, x: Row, n: int | None = None, allowed: Iterable[Hashable] | None = None) -> list[Ranked]:
        """Labels in the order of their scores, with the probabilities that `decide(x)` would have now.

        It is a look: nothing is decided, nothing changes, and nothing can be learned from it.
        docs/guide-rankings.md tells what the scores are, and what can be learned from lists that are shown.

        Args:
            x: as in `decide`; what the model does not know is left out.
            n: how many; None is all.
            allowed: the labels to rank, if not all.

        >>> from banditboost import AdaBandit
        >>> model = AdaBandit(["sports", "politics", "science"], exploration=0.1, n_learners=5, seed=7)
        >>> [place.probability for place in model.rank({"hour": 21})]
        [0.9, 0.05, 0.05]
        """
        indices = self._indices_of(allowed)
        memo = self._look(x, indices)
        shares = self._distribution_of(memo, indices)
        scores = self._scores_of(memo)
        if scores is None:
            return ranked(self.labels, shares, order_of(np.array(shares), indices), n)
        return ranked(self.labels, shares, order_of(scores, indices, int(memo[GREEDY])), n)

    def _scores_of(self, memo: Array) -> Array | None:  # noqa: ARG002 (none are kept)
        """What a model that explores at a rate thinks of every label, from the memo of a look just now; None
        if the probabilities follow from the scores, and so have their order.
        """
        return None

    def _indices_of(self, allowed: Iterable[Hashable] | None) -> Array | None:
        """The allowed labels' indices in increasing order, None if these are all labels that there are."""
        if allowed is None:
            return self._active
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
        self._refuse_removed(indices)
        return np.array(indices) if len(indices) < len(self.labels) else None

    def _choices(self, allowed: Any, n_rows: int) -> list[Array | None]:
        if allowed is None:
            return [self._active] * n_rows
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
        return for_each(lists, self._indices_of, of="allowed")

    def _refuse_removed(self, indices: list[int]) -> None:
        if self._active is not None:
            for index in indices:
                if index not in self._active:
                    raise LabelError(
                        f"the label {quoted(self.labels[index])} was removed; leave it out, or bring it back "
                        "with add_label"
                    )

    # Labels that go, and come back

    @property
    def removed_labels(self) -> tuple[Hashable, ...]:
        """Labels that are not shown any more; `labels` goes on to name them."""
        if self._active is None:
            return ()
        shown = set(self._active.tolist())
        return tuple(label for index, label in enumerate(self.labels) if index not in shown)

    @locked
    def remove_label(self, label: Hashable) -> None:
        """Show a label no more. What was learned about it is kept: `add_label` brings it back.

        Decisions from now on are made as with `allowed=` all other labels. Open decisions stay valid.

        >>> from banditboost import GapBoost
        >>> model = GapBoost(["sports", "politics", "science"], seed=7)
        >>> model.remove_label("politics")
        >>> model.decide({"hour": 21}).allowed
        ('sports', 'science')
        >>> model.add_label("politics")
        >>> model.removed_labels
        ()
        """
        self._refuse_fixed_labels(f"the label {quoted(label)} cannot be removed")
        index = self._index.get(label) if is_hashable(label) else None
        active = list(range(len(self.labels))) if self._active is None else self._active.tolist()
        if index is None or index not in active:
            raise LabelError(
                f"the label {quoted(label)} cannot be removed; give one of those that are shown, such as "
                f"{quoted([self.labels[i] for i in active[:10]])}"
            )
        if len(active) == 1:
            raise LabelError(
                f"the label {quoted(label)} cannot be removed: it is the last one; add another one before"
            )
        active.remove(index)
        self._set_active(active)

    @locked
    def add_label(self, label: Hashable) -> None:
        """Let a label join, or one that was removed come back with all that was learned about it.

        A new one joins after those that there are; docs/guide-restricted-choices.md tells what follows from
        it. Open decisions stay valid: they are learned as decisions among the labels of their time.
        """
        index = self._index.get(label) if is_hashable(label) else None
        if self._active is not None and index is not None and index not in self._active:
            self._set_active(sorted([*self._active.tolist(), index]))
        else:
            super().add_label(label)

    def _set_active(self, active: list[int]) -> None:
        """Show these labels from now on."""
        draft = self._draft()
        draft._active = np.array(active) if len(active) < len(self.labels) else None
        draft._renew()
        self._become(draft)

    def _take_label(self, label: Hashable) -> None:
        super()._take_label(label)
        if self._active is not None:
            self._active = np.append(self._active, len(self.labels) - 1)

    def _restore_removed(self, removed: list[int]) -> None:
        given = np.array(removed, np.int64)
        k = len(self.labels)
        increasing = bool(np.all(np.diff(given) > 0)) and bool(np.all((given >= 0) & (given < k)))
        demand(increasing and len(given) < k, "the removed labels do not fit the labels")
        demand(not removed or not self.labels_are_fixed, "labels were removed that are fixed")
        if removed:
            self._active = np.delete(np.arange(k), given)
