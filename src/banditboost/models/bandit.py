"""Models that hear only whether the label they showed was right: `decide`, and later `learn`."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np

from banditboost.decision import Decision, Origin
from banditboost.distribution import distribution
from banditboost.errors import DecisionError, FeatureError, LabelError
from banditboost.inspection.tally import HEARD
from banditboost.memo import LEARNERS, POLICY, POLICY_UNIFORM, ROUND
from banditboost.models.identity import Identity, draw_seed
from banditboost.models.model import Model
from banditboost.rows.checking import fits
from banditboost.rows.many import checked_rows, listed, try_row
from banditboost.rows.schema import Schema
from banditboost.rows.vocabulary import Vocabulary, as_taken
from banditboost.types import Array, Row


class BanditModel(Model):
    """A model that hears only whether the label it showed was right.

    >>> from banditboost import GapBoost
    >>> model = GapBoost(["sports", "politics", "science"], seed=7)
    >>> model.learn_many(model.decide_many([{"hour": 21}, {"hour": 9}]), [True, False])
    >>> model.verdicts
    2
    """

    _policy = POLICY_UNIFORM

    def __init__(self, labels: Iterable[Hashable], **parameters: Any) -> None:
        super().__init__(labels, **parameters)
        self._identity = Identity(self.model_id)

    # Decide

    def decide(self, x: Row, allowed: Iterable[Hashable] | None = None) -> Decision:
        """Choose a label for x. The decision carries all that `learn` needs; the model keeps nothing of it.

        Args:
            x: a dict of features, or an array or list in the schema's order.
            allowed: the labels to choose from, if not all.
        """
        try:
            self._acquire()
            indices = None if allowed is None else self._indices_of(allowed)
            memo, shown = self._begin_round(x, indices)
            identity, round_ = self._identity, self.rounds
            origin = identity.origin or self._begin_run()
            self.rounds = round_ + 1
            if round_ >= identity.ledger.room:
                identity.ledger.open_up_to(round_ + 1)
            if indices is not None:
                return Decision._of(origin, self.labels, memo, indices)
            return Decision(origin, self.labels, memo, round_, shown)
        finally:
            try:  # noqa: SIM105 (a call more would cost as much as the lock)
                self._release()
            except RuntimeError:
                pass  # interrupted while it waited for the lock

    def decide_many(
        self, X: Any, allowed: Iterable[Iterable[Hashable] | None] | None = None
    ) -> list[Decision]:
        """Choose a label for every row, as if one by one.

        If anything is refused, nothing was decided and no feature has joined.

        Args:
            X: a matrix, a list of rows, or a frame (pandas, polars, pyarrow).
            allowed: for each row the labels to choose from, or None for all.
        """
        with self._lock:
            rows = checked_rows(self.schema, X)
            choices = self._choices(allowed, len(rows))
            memos = [
                self._begin_round(x, choice, ahead)[0]
                for ahead, (x, choice) in enumerate(zip(rows, choices, strict=True))
            ]
            if not memos:
                return []
            origin = self._identity.origin or self._begin_run()
            self.rounds += len(memos)
            self._identity.ledger.open_up_to(self.rounds)
            return [
                Decision._of(origin, self.labels, memo, choice)
                for memo, choice in zip(memos, choices, strict=True)
            ]

    def _begin_run(self) -> Origin:
        """Name the run that the next decision is made by."""
        vocabulary = Vocabulary(self.schema, self._row_start) if self._identity.branch else None
        return self._identity.begin_run(self.rounds, vocabulary)

    def distribution(self, x: Row, allowed: Iterable[Hashable] | None = None) -> dict[Hashable, float]:
        """The probabilities that `decide(x).distribution()` would tell now; the model does not change."""
        with self._lock:
            indices = None if allowed is None else self._indices_of(allowed)
            memo, _ = self._begin_round(x, indices, looking=True)
            return dict(zip(self.labels, self._distribution_of(memo, indices), strict=True))

    def _distribution_of(self, memo: Array, allowed: Array | None) -> list[float]:
        return distribution(memo, len(self.labels), allowed) or []

    def _indices_of(self, allowed: Iterable[Hashable]) -> Array | None:
        """The allowed labels' indices in increasing order, None if these are all."""
        self._refuse_fixed_labels(f"allowed is {allowed!r}")
        try:
            indices = sorted({self._index[label] for label in listed(allowed)})
        except (KeyError, TypeError):
            raise LabelError(
                f"allowed is {allowed!r}; give a list of some of the model's labels, which are "
                f"{self.labels[:10]!r}"
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
            raise LabelError(f"allowed is {allowed!r}; give a list of allowed labels for each row") from None
        if len(lists) != n_rows:
            raise LabelError(
                f"allowed has {len(lists)} lists of labels for {n_rows} rows; give one for each row"
            )
        return [None if labels is None else self._indices_of(labels) for labels in lists]

    # Learn

    def learn(self, decision: Decision, correct: bool) -> None:
        """Learn the verdict on a decision of this model or its branches: once, any time, in any order."""
        try:
            self._acquire()
            self._check_kinds(decision, correct)
            identity = self._identity
            if decision._origin is identity.origin:
                ledger, memo, seed = identity.ledger, decision._memo, self._draw_seed
                refusal = ledger.close(decision._round, self.rounds)
                if refusal:
                    raise DecisionError(f"the decision of round {decision._round} {refusal}")
            else:
                self._check(decision)
                memo, seed = self._memo_here(decision), draw_seed(self.seed, decision._origin.branch)
                ledger = identity.close(decision, self.rounds)
            try:
                if decision._labels is self.labels and not decision._mask:
                    self._hear(memo, 1 if correct else 0, seed)
                else:
                    with self._restricted(decision._among(len(self.labels))):
                        self._hear(memo, 1 if correct else 0, seed)
                if ledger is not identity.ledger:
                    identity.verdicts_elsewhere += 1
            except BaseException:
                ledger.reopen(decision._round)
                raise
        finally:
            try:  # noqa: SIM105 (a call more would cost as much as the lock)
                self._release()
            except RuntimeError:
                pass  # interrupted while it waited for the lock

    def _check_kinds(self, decision: Decision, correct: bool) -> None:
        """Refuse what is no verdict and what is no decision."""
        if type(correct) is not bool and not isinstance(correct, np.bool_):
            raise DecisionError(
                f"correct is {correct!r}; give True if the shown label was right, False if not"
            )
        if type(decision) is not Decision and not isinstance(decision, Decision):
            raise DecisionError(f"decision is {decision!r}; give what decide returned")

    def _check(self, decision: Decision) -> None:
        """Refuse a decision that is not for this model to learn, or that was changed; nothing changes."""
        self._identity.check(decision, self.rounds)
        if decision._origin.vocabulary is not None:
            self._check_labels(decision)
            self._check_memo(decision)
        elif decision._stored or len(decision._labels) > len(self.labels):
            self._check_memo(decision)

    def _check_labels(self, decision: Decision) -> None:
        """Refuse a branch's decision if other labels have joined there than here: its numbers mean others."""
        labels = decision._labels
        if labels is self.labels:
            return
        n = len(labels)
        if isinstance(labels, tuple):
            same = self.labels[:n] == labels
        else:
            same = n <= len(self.labels) and (
                self._identity.digests.of(self.labels[:n]) == decision._labels_digest()
            )
        if same:
            return
        raise DecisionError(
            f"the decision of round {decision._round} was made by branch {decision.branch!r} among {n} labels"
            f" that are not the first {n} of this model's, {self.labels[:10]!r}; learn it with the branch,"
            " and let labels join the model before branches are made from it"
        )

    def _check_memo(self, decision: Decision) -> None:
        """Of a decision from elsewhere: the right length, possible votes and row, and our labels."""
        memo, n_labels = decision._head(), len(decision._labels)
        most = len(self._blank) if decision._origin.vocabulary is None else self._row_start
        labels_fit = n_labels == len(self.labels) or (
            n_labels < len(self.labels) and not self.labels_are_fixed
        )
        fitting = (
            labels_fit
            and self._row_start <= len(memo) <= most
            and memo[POLICY] == self._policy
            and memo[LEARNERS] == self._n_in_memo()
        )
        if not fitting or not fits(memo, self._row_start, min(n_labels, self._n_votes()), self._features):
            raise DecisionError(
                f"the decision of round {memo[ROUND]:g} does not fit this model: labels, votes or row were"
                " changed since decide returned it"
            )
        decision._check_told(self.labels)

    def _memo_here(self, decision: Decision) -> Array:
        """A decision's memo; that of a branch with its row coded anew, after what it brings has joined."""
        vocabulary = decision._origin.vocabulary
        if vocabulary is None:
            return decision._memo
        try:
            row = self._coded(as_taken(self.schema, vocabulary.row_of(decision._memo)))
        except FeatureError as error:
            raise _not_taken(decision, error) from None
        return np.concatenate([decision._head(), row])

    def learn_many(self, decisions: Iterable[Decision], correct: Any) -> None:
        """Learn the verdicts on many decisions, in their order, as if one by one.

        If any is refused, none was learned.
        """
        try:
            made, verdicts = listed(decisions), listed(correct)
        except TypeError:
            raise DecisionError(
                f"decisions is a {type(decisions).__name__} and correct a {type(correct).__name__}; give a "
                "list of each"
            ) from None
        if len(made) != len(verdicts):
            raise DecisionError(
                f"there are {len(made)} decisions and {len(verdicts)} verdicts; give one verdict for each "
                "decision"
            )
        with self._lock:
            self._check_many(made, verdicts)
            for decision, verdict in zip(made, verdicts, strict=True):
                self.learn(decision, verdict)

    def _check_many(self, decisions: list[Decision], verdicts: list[bool]) -> None:
        """Refuse all if any is refused, or there twice; nothing changes."""
        place: dict[Any, int] = {}
        trial: Schema | None = None
        for i, (decision, verdict) in enumerate(zip(decisions, verdicts, strict=True)):
            try:
                self._check_kinds(decision, verdict)
                self._check(decision)
                vocabulary = decision._origin.vocabulary
                if vocabulary is not None and decision._origin is not self._identity.origin:
                    trial = copy.deepcopy(self.schema) if trial is None else trial
                    _try_row(trial, decision, vocabulary)
            except DecisionError as error:
                raise DecisionError(f"decision {i} of {len(decisions)}: {error}") from None
            first = place.setdefault((decision._origin, decision._round), i)
            if first != i:
                raise DecisionError(
                    f"decision {i} is that of round {decision._round}, as is decision {first};"
                    " give each decision once"
                )

    def _n_votes(self) -> int:
        """How many votes are possible; 0 if they are scores."""
        return len(self.labels)

    # Copies and files

    def branch(self) -> Self:
        """A copy with random numbers of its own, whose decisions this model can learn, once each, any time.

        So several processes can decide for one learner: give each a branch, pickled or saved in a file of
        its own, and send its decisions and verdicts to the model. Features and values that a branch meets
        join the model with the decisions that bring them. Labels do not: let them join the model, and make
        branches after that.

        >>> from banditboost import GapBoost
        >>> model = GapBoost(["yes", "no"], seed=1)
        >>> branch = model.branch()
        >>> decision = branch.decide({"age": 31})
        >>> model.learn(decision, correct=True)
        >>> model.verdicts, branch.verdicts
        (1, 0)
        """
        with self._lock:
            made = copy.deepcopy(self)
            made._identity = self._identity.branched_off(self.rounds)
            made._identity.verdicts_elsewhere = int(self._tally[HEARD])
            made._draw_seed = draw_seed(self.seed, made._identity.branch)
            return made

    def _kept(self) -> dict[str, Any]:
        """A copy decides in a run of its own."""
        kept = super()._kept()
        if self._identity.origin is not None:
            identity = copy.copy(self._identity)
            identity.end_run()
            kept["_identity"] = identity
        return kept

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), **self._identity.arrays()}

    def _note_played(self, rounds: int, learned: Array) -> None:
        if rounds > self.rounds and self._identity.origin is None:
            self._begin_run()  # so that no other run's decision is taken for one of these rounds
        self._identity.ledger.open_up_to(rounds)
        self._identity.ledger.mark_all(learned)
        super()._note_played(rounds, learned)

    def _plain_identity(self) -> dict[str, Any]:
        return self._identity.to_plain()

    def _restore_identity(self, plain: dict[str, Any], arrays: dict[str, Array]) -> None:
        self._identity = Identity.restored(self.model_id, self.rounds, plain, arrays)
        self._draw_seed = draw_seed(self.seed, self._identity.branch)

    @property
    def _n_open(self) -> int:
        """Decisions of this branch whose verdicts were not learned."""
        return (
            self.rounds
            - self._identity.ledger.first
            - int(self._tally[HEARD])
            + self._identity.verdicts_elsewhere
        )

    @property
    def memory_usage(self) -> int:
        """Bytes held by the model."""
        return super().memory_usage + self._identity.memory_usage


def _try_row(schema: Schema, decision: Decision, vocabulary: Vocabulary) -> None:
    """Let what a branch's decision brings join a copy of the schema, or refuse the decision."""
    try:
        try_row(schema, as_taken(schema, vocabulary.row_of(decision._memo)))
    except FeatureError as error:
        raise _not_taken(decision, error) from None


def _not_taken(decision: Decision, error: FeatureError) -> DecisionError:
    return DecisionError(
        f"the decision of round {decision._round} was made by branch {decision.branch!r}, whose features do"
        f" not fit this model's ({error}); learn it with the branch that made it"
    )
