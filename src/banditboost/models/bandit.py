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
from banditboost.models.calls import CLOSED, LEARNED, NO_LEARNERS, NO_ROOM
from banditboost.models.changing import ToLearn
from banditboost.models.identity import Identity, draw_seed
from banditboost.models.locking import locked
from banditboost.models.model import Model
from banditboost.models.settings import ROUNDS
from banditboost.rows.checking import fits
from banditboost.rows.many import checked_rows, listed, try_row
from banditboost.rows.schema import Schema
from banditboost.rows.vocabulary import Vocabulary, as_taken
from banditboost.text import quoted
from banditboost.types import Array, Row

_FLOAT = np.dtype(np.float64)


class BanditModel(Model):
    """A model that hears only whether the label it showed was right.

    >>> from banditboost import GapBoost
    >>> model = GapBoost(["sports", "politics", "science"], seed=7)
    >>> model.learn_many(model.decide_many([{"hour": 21}, {"hour": 9}]), [True, False])
    >>> model.verdicts
    2
    """

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
        else:
            row = self._coded(x)
        origin, round_ = identity.origin, calls.counters[ROUNDS]
        if row is None or origin is None or round_ >= identity.ledger.room:
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
        rows = checked_rows(self.schema, X)
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
        identity, rounds = self._identity, int(self._counts.rounds)
        origin = identity.origin
        if origin is None:
            vocabulary = Vocabulary(self.schema, self._row_start) if identity.branch else None
            origin = identity.begin_run(rounds, vocabulary)
        identity.ledger = identity.ledger.opened_up_to(rounds + n_rounds)
        self._renew()
        return origin

    def _prepare_to_play(self, n_rounds: int) -> None:
        if n_rounds:
            draft = self._draft()
            draft._open_rounds(n_rounds)
            self._become(draft)

    def _become(self, draft: Self) -> None:
        origin = draft._identity.origin
        if origin is not None and origin.vocabulary is not None:
            # Before the draft takes its place: a longer schema tells what was decided with a shorter one.
            origin.vocabulary.follow(draft.schema)
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
        except (KeyError, TypeError):
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

    # Learn

    def learn(self, decision: Decision, correct: bool) -> None:
        """Learn the verdict on a decision of this model or its branches: once, any time, in any order."""
        with self._turn.lock: self._learn(decision, correct)  # fmt: skip # noqa: E701

    def _learn(self, decision: Decision, correct: bool) -> None:
        if self._turn.unfinished is not None:
            self._settled()
        self._check_kinds(decision, correct)
        origin, calls = decision._origin, self._calls
        if origin is self._identity.origin:
            if decision._labels is calls.labels and not decision._mask:
                status = calls.learn(calls.model, decision._memo, 1 if correct else 0, 0, 1, calls.seed)
                if status == LEARNED:
                    return
                if status == NO_ROOM:
                    self._finish_lesson()
                    return
        else:
            self._check(decision)
            if origin.vocabulary is not None or origin.branch != self._identity.branch:
                self._check_row(decision, None)
                self._learn_from_list([(decision, correct)])
                return
        status = self._hear_verdict(decision, decision._memo, correct)
        if status == NO_LEARNERS:
            self._learn_from_list([(decision, correct)])
        elif status == CLOSED:
            refusal = self._identity.ledger.refusal(decision._round, self.rounds)
            raise DecisionError(f"the decision of round {decision._round} {refusal}")

    def _hear_verdict(self, decision: Decision, memo: Array, correct: bool) -> int:
        """Learn the verdict on a decision. Returns LEARNED, NO_LEARNERS, or CLOSED."""
        among = (
            None
            if decision._labels is self.labels and not decision._mask
            else decision._among(len(self.labels))
        )
        branch = decision._origin.branch
        if branch == self._identity.branch:
            return self._hear(memo, 1 if correct else 0, self._draw_seed, among, True)
        return self._hear(memo, 1 if correct else 0, draw_seed(self.seed, branch), among, False)

    # What is learned from a list: many verdicts, and one for which learners have to be made, something has to
    # join, or to be noted.

    def _learn_from_list(self, told: Iterable[tuple[Decision, bool]]) -> None:
        """Learn verdicts that were found good: all of them, even if the call does not come to its end."""
        elsewhere, items = self._identity.verdicts_elsewhere, []
        for decision, correct in told:
            elsewhere += decision._origin.branch != self._identity.branch
            items.append((decision, correct, elsewhere))
        self._unfinished = ToLearn(items, self.verdicts)
        try:
            self._settled()
        finally:
            if self._calls.in_python:  # a learner that fails would fail again and again
                self._unfinished = None

    def _learn_item(self, item: tuple[Decision, bool, int]) -> None:
        decision, correct, _ = item
        memo = self._memo_here(decision)
        while self._hear_verdict(decision, memo, correct) == NO_LEARNERS:
            self._make_learners_for(memo)

    def _note_learned(self, item: tuple[Decision, bool, int]) -> None:
        decision, _, elsewhere = item
        if decision._origin.branch != self._identity.branch:
            self._identity.close(decision)
            self._identity.verdicts_elsewhere = elsewhere

    def _check_kinds(self, decision: Decision, correct: bool) -> None:
        """Refuse what is no verdict and what is no decision."""
        if type(correct) is not bool and not isinstance(correct, np.bool_):
            raise DecisionError(
                f"correct is {quoted(correct)}; give True if the shown label was right, False if not"
            )
        if type(decision) is not Decision and not isinstance(decision, Decision):
            raise DecisionError(f"decision is {quoted(decision)}; give what decide returned")

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
            f" that are not the first {n} of this model's, {quoted(self.labels[:10])}; learn it with the "
            "branch, and let labels join the model before branches are made from it"
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
        if vocabulary is None or decision._origin is self._identity.origin:
            return decision._memo
        row = self._joined(as_taken(self.schema, vocabulary.row_of(decision._memo)))
        return np.concatenate([decision._head(), row])

    @locked
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
        self._check_many(made, verdicts)
        self._learn_from_list(zip(made, verdicts, strict=True))

    def _check_many(self, decisions: list[Decision], verdicts: list[bool]) -> None:
        """Refuse all if any is refused, or there twice; nothing changes."""
        place: dict[Any, int] = {}
        trial = self.schema.copy()
        for i, (decision, verdict) in enumerate(zip(decisions, verdicts, strict=True)):
            try:
                self._check_kinds(decision, verdict)
                self._check(decision)
                self._check_row(decision, trial)
            except DecisionError as error:
                raise DecisionError(f"decision {i} of {len(decisions)}: {error}") from None
            first = place.setdefault((decision._origin, decision._round), i)
            if first != i:
                raise DecisionError(
                    f"decision {i} is that of round {decision._round}, as is decision {first};"
                    " give each decision once"
                )

    def _check_row(self, decision: Decision, trial: Schema | None) -> None:
        """Refuse a branch's decision whose row does not fit; what it brings joins the schema on trial."""
        vocabulary = decision._origin.vocabulary
        if vocabulary is not None and decision._origin is not self._identity.origin:
            _try_row(self.schema.copy() if trial is None else trial, decision, vocabulary)

    def _n_votes(self) -> int:
        """How many votes are possible; 0 if they are scores."""
        return len(self.labels)

    # Copies and files

    @locked
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
        made = copy.deepcopy(self)
        made._identity = self._identity.branched_off(self.rounds)
        made._identity.verdicts_elsewhere = int(self._tally[HEARD])
        made._identity.ledger.write(made._settings)
        made._draw_seed = draw_seed(self.seed, made._identity.branch)
        made._renew()
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
        return {**super()._arrays(), **self._identity.arrays(self.rounds)}

    def _plain_identity(self) -> dict[str, Any]:
        return self._identity.to_plain()

    def _restore_identity(self, plain: dict[str, Any], arrays: dict[str, Array]) -> None:
        self._identity = Identity.restored(self.model_id, int(self._counts.rounds), plain, arrays)
        self._identity.ledger.write(self._settings)
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
