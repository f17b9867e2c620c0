"""Models that hear only of the label they showed, whether it was right or what it earned: the second half
of a round, `learn`.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np

from banditboost.decision import Decision
from banditboost.errors import DecisionError, FeatureError
from banditboost.inspection.tally import HEARD
from banditboost.io.header import MOST_ROUNDS
from banditboost.memo import LEARNERS, POLICY, ROUND
from banditboost.models.calls import CLOSED, ELSEWHERE, LEARNED, NO_LEARNERS, NO_ROOM, OWN
from banditboost.models.changing import ToLearn
from banditboost.models.identity import Identity, draw_seed
from banditboost.models.locking import locked
from banditboost.models.logged import Lesson, LoggedModel
from banditboost.models.settings import CHANGES
from banditboost.rewards import UNIT, check_range, share_told
from banditboost.rows.checking import fits
from banditboost.rows.many import listed, try_row
from banditboost.rows.schema import Schema
from banditboost.rows.vocabulary import Vocabulary, as_taken
from banditboost.text import quoted
from banditboost.types import Array


class BanditModel(LoggedModel):
    """A model that hears only of the label it showed: whether it was right, or what it earned.

    >>> from banditboost import GapBoost
    >>> model = GapBoost(["sports", "politics", "science"], seed=7)
    >>> model.learn_many(model.decide_many([{"hour": 21}, {"hour": 9}]), [True, False])
    >>> model.verdicts
    2
    """

    def __init__(
        self, labels: Iterable[Hashable], *, rewards: tuple[float, float] = UNIT, **parameters: Any
    ) -> None:
        self._rewards = check_range(rewards)
        super().__init__(labels, **parameters)

    @property
    def rewards(self) -> tuple[float, float]:
        """The least and the largest reward."""
        return self._rewards

    # Learn

    def learn(
        self, decision: Decision, correct: bool | int | None = None, *, reward: float | None = None
    ) -> None:
        """Learn about a decision of this model or its branches, once, any time, in any order: whether the
        shown label was right, or its reward.

        Args:
            decision: what `decide` returned.
            correct: True if the shown label was right, False if not: the largest reward, or the least.
            reward: in place of it, a number within the model's `rewards`.

        >>> from banditboost import GapBoost
        >>> model = GapBoost(["news", "games"], rewards=(0, 5), seed=7)
        >>> model.learn(model.decide({"hour": 21}), reward=3.5)
        >>> model.summary().total.shown.share
        3.5
        """
        with self._turn.lock: self._learn(decision, correct, reward)  # fmt: skip # noqa: E701
        if self._calls.counters[CHANGES] != self._n_told:
            self._tell_changes()

    def _learn(self, decision: Decision, correct: Any, reward: Any) -> None:
        if self._turn.unfinished is not None:
            self._settled()
        if type(correct) is bool and reward is None:
            told = 1.0 if correct else 0.0
        else:
            told = share_told(correct, reward, self._rewards)
        if type(decision) is not Decision:
            self._check_kind(decision)
        origin, calls = decision._origin, self._calls
        if origin is self._identity.origin:
            if decision._labels is calls.labels and not decision._mask:
                status = calls.learn(calls.model, decision._memo, told, 0, OWN, calls.seed)
                if status == LEARNED:
                    return
                if status == NO_ROOM:
                    self._finish_lesson()
                    return
        else:
            self._check(decision)
            if origin.vocabulary is not None or origin.branch != self._identity.branch:
                self._check_row(decision, None)
                self._learn_from_list([(decision, told)])
                return
        status = self._hear_verdict(decision, decision._memo, told)
        if status == NO_LEARNERS:
            self._learn_from_list([(decision, told)])
        elif status == CLOSED:
            self._identity.ledger.check(decision._round, self.rounds)

    def _hear_verdict(self, decision: Decision, memo: Array, told: float) -> int:
        """Learn what was told about a decision. Returns LEARNED, NO_LEARNERS, or CLOSED."""
        among = (
            None
            if decision._labels is self.labels and not decision._mask
            else decision._among(len(self.labels))
        )
        return self._hear_among(decision, memo, told, among)

    def _hear_among(self, decision: Decision, memo: Array, told: float, among: Array | None) -> int:
        """The same, with the labels that could be shown."""
        branch = decision._origin.branch
        if branch == self._identity.branch:
            return self._hear(memo, told, self._draw_seed, among, OWN)
        return self._hear(memo, told, draw_seed(self.seed, branch), among, ELSEWHERE)

    # What is learned from a list: many verdicts, and one for which learners have to be made, something has to
    # join, or to be noted.

    def _learn_from_list(self, lessons: Iterable[tuple[Decision, float]]) -> None:
        """Learn verdicts that were found good: all of them, even if the call does not come to its end."""
        elsewhere, items = self._identity.verdicts_elsewhere, []
        for decision, told in lessons:
            elsewhere += decision._origin.branch != self._identity.branch
            items.append((decision, told, elsewhere))
        if elsewhere > MOST_ROUNDS:
            raise DecisionError(
                f"the model has learned {self._identity.verdicts_elsewhere} verdicts of its branches, and "
                f"learns {MOST_ROUNDS} at most; make a new model"
            )
        self._unfinished = ToLearn(items, self)
        try:
            self._settled()
        finally:
            if self._calls.in_python:  # a learner that fails would fail again and again
                self._unfinished = None

    def _learn_item(self, item: tuple[Decision, float, int]) -> None:
        decision, told, _ = item
        memo = self._memo_here(decision)
        while self._hear_verdict(decision, memo, told) == NO_LEARNERS:
            self._make_learners_for(memo)

    def _note_learned(self, item: tuple[Decision, float, int] | Lesson) -> None:
        if isinstance(item, Lesson):
            return  # compiled code has
        decision, _, elsewhere = item
        if decision._origin.branch != self._identity.branch:
            self._identity.close(decision)
            self._identity.verdicts_elsewhere = elsewhere

    def _check_kind(self, decision: Decision) -> None:
        """Refuse what is no decision."""
        if not isinstance(decision, Decision):
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
        row = self._joined(as_taken(self._schema, vocabulary.row_of(decision._memo)))
        return np.concatenate([decision._head(), row])

    def learn_many(self, decisions: Iterable[Decision], correct: Any = None, *, rewards: Any = None) -> None:
        """Learn the verdicts on many decisions, or their rewards, in their order, as if one by one.

        If any is refused, none was learned.
        """
        self._learn_all(decisions, correct, rewards)
        self._tell_changes()

    @locked
    def _learn_all(self, decisions: Iterable[Decision], correct: Any, rewards: Any) -> None:
        name, given, what = (
            ("correct", correct, "verdict") if rewards is None else ("rewards", rewards, "reward")
        )
        if rewards is not None and correct is not None:
            raise DecisionError(
                f"correct is a {type(correct).__name__} and rewards a {type(rewards).__name__}; give one of "
                "the two"
            )
        try:
            made, heard = listed(decisions), listed(given)
        except TypeError:
            raise DecisionError(
                f"decisions is a {type(decisions).__name__} and {name} a {type(given).__name__}; give a "
                "list of each"
            ) from None
        if len(made) != len(heard):
            raise DecisionError(
                f"there are {len(made)} decisions and {len(heard)} {what}s; give one {what} for each decision"
            )
        told = self._check_many(made, heard, graded=rewards is not None)
        self._learn_from_list(zip(made, told, strict=True))

    def _check_many(self, decisions: list[Decision], heard: list[Any], *, graded: bool) -> list[float]:
        """Refuse all if any is refused, or there twice; nothing changes. Returns what is told of each."""
        place: dict[Any, int] = {}
        trial, told = self._schema.copy(), []
        for i, (decision, one) in enumerate(zip(decisions, heard, strict=True)):
            try:
                correct, reward = (None, one) if graded else (one, None)
                told.append(share_told(correct, reward, self._rewards))
                self._check_kind(decision)
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
        return told

    def _check_row(self, decision: Decision, trial: Schema | None) -> None:
        """Refuse a branch's decision whose row does not fit; what it brings joins the schema on trial."""
        vocabulary = decision._origin.vocabulary
        if vocabulary is not None and decision._origin is not self._identity.origin:
            _try_row(self._schema.copy() if trial is None else trial, decision, vocabulary)

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

    @locked
    def go_on_as(self, branch: Self) -> None:
        """Become this branch: decide from its next round on, with what this model has learned.

        So a process that decides refreshes its branch: it loads the latest file of the model that learns,
        and lets it go on as the branch that it has. It costs nothing, however large the model is, and the
        model that learns remembers one branch for each process, however often they are refreshed. The old
        branch may go; if it decides on, then apart from this one.

        >>> from banditboost import GapBoost
        >>> model = GapBoost(["yes", "no"], seed=1)
        >>> branch = model.branch()
        >>> model.learn(branch.decide({"age": 31}), correct=True)
        >>> fresh = model.branch()  # or load() of its file
        >>> fresh.go_on_as(branch)
        >>> model.learn(fresh.decide({"age": 32}), correct=False)
        >>> fresh.verdicts, fresh.rounds, model.verdicts
        (1, 2, 2)
        """
        if not isinstance(branch, BanditModel):
            raise DecisionError(f"branch is {quoted(branch)}; give what model.branch() returned")
        with branch._lock:
            draft = self._draft()
            draft._identity = branch._identity.gone_on(self.model_id, draft._vocabulary)
            draft._identity.verdicts_elsewhere = int(self._tally[HEARD])
            draft._identity.ledger.write(draft._settings)
            draft._counts.rounds, draft._draw_seed = branch.rounds, branch._draw_seed
            draft._renew()
            branch._identity.end_run()
        self._become(draft)

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
        f"the decision of round {decision._round} was made by branch "
        f"{quoted(decision.branch)}, whose features do"
        f" not fit this model's ({error}); learn it with the branch that made it"
    )
