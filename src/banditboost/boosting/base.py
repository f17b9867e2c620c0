"""Algorithm 1, the template of all boosters: `decide` is its lines 4 to 10, `learn` its lines 11 to 17."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from banditboost.boosting.ledger import Ledger
from banditboost.boosting.rows import checked_rows, listed
from banditboost.boosting.saving import save
from banditboost.boosting.state import SETTINGS
from banditboost.boosting.tally import arrays_of, empty_tally, stored_tally
from banditboost.boosting.threads import OneAtATime
from banditboost.decision import Decision
from banditboost.errors import DecisionError, LabelError, ParameterError
from banditboost.io.container import take_array
from banditboost.kernels.entry import fits, open_once
from banditboost.kernels.layout import LEARNERS, POLICY, ROUND, SHOWN, UNIFORM, VOTES
from banditboost.kernels.tally import note_once
from banditboost.schema import Schema, without_mask
from banditboost.seeing.visible import Visible
from banditboost.weak_learners.custom import PythonCommittee
from banditboost.weak_learners.forest import TreeCommittee
from banditboost.weak_learners.hoeffding import HoeffdingTree
from banditboost.weak_learners.protocol import Committee

Array = np.ndarray[Any, Any]
MEBIBYTE = 1 << 20
_FLOAT = np.dtype(np.float64)


def check_labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(labels, (str, bytes)):
        raise LabelError(f"labels is the string {labels!r}; give a list of labels, such as ['yes', 'no']")
    if not isinstance(labels, Iterable):
        raise LabelError(f"labels is {labels!r}; give a list of labels, such as ['yes', 'no']")
    if isinstance(labels, (set, frozenset)):
        raise LabelError("labels is a set, whose order differs from process to process; give a list, such as sorted(labels)")
    names = tuple(labels)
    seen: set[Hashable] = set()
    for label in names:
        try:
            repeated = label in seen
        except TypeError:
            raise LabelError(f"label {label!r} is not hashable; give strings, numbers or tuples") from None
        if repeated:
            raise LabelError(f"label {label!r} is given twice; give each label once")
        if isinstance(label, (float, np.floating)) and label != label:
            raise LabelError("label nan is not equal to itself, so that it could never be told to be right; give it a name")
        seen.add(label)
    if len(names) < 2:
        raise LabelError(f"labels has {len(names)} label(s); at least two are needed to choose from")
    return names


def check_number(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> float:
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not (low < value if open_low else low <= value) or not value <= high:
        raise ParameterError(f"{name} is {value!r}; give a number in {'(' if open_low else '['}{low:g}, {high:g}]")
    return float(value)


def check_count(name: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(f"{name} is {value!r}; give a whole number from {low} to {high}")
    return int(value)


class Booster(Visible, OneAtATime):
    """What all boosters share: labels, features, N weak learners, and the memo of a round.

    >>> from banditboost import AdaBandit
    >>> model = AdaBandit(["sports", "politics"], n_learners=5, seed=7)
    >>> model.add_label("science")
    >>> len(model.labels)
    3
    """

    has_learners: ClassVar[bool] = True
    """Whether it has weak learners, which a file must then tell."""
    plays_compiled: ClassVar[bool] = True
    """Whether boosting/play.py knows its steps."""
    labels_are_fixed: ClassVar[bool] = False
    """Whether `allowed` and `add_label` are refused."""
    default_tree = HoeffdingTree()
    _weights: Array
    _committee: Committee

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 20,
        weak_learner: Any = None,
        schema: Schema | None = None,
        clip: float = 100.0,
        importance_scale: float = 1.0,
        tie_tolerance: float = 1e-9,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.labels = check_labels(labels)
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.n_learners = check_count("n_learners", n_learners, 1, 10_000)
        self.seed = int.from_bytes(os.urandom(4), "big") if seed is None else check_count("seed", seed, 0, 2**63 - 1)
        if schema is not None and not isinstance(schema, Schema):
            raise ParameterError(f"schema is {schema!r}; give a Schema, such as Schema(numeric=['hour'], nominal=['device'])")
        self.schema = Schema() if schema is None else copy.deepcopy(schema)
        self.weak_learner = self.default_tree if weak_learner is None else weak_learner
        self.max_memory = check_count("max_memory", max_memory, MEBIBYTE, 2**50)
        self.model_id = os.urandom(8).hex()
        self.rounds = 0
        self._settings = np.zeros(1, SETTINGS)
        self._settings["n_labels"] = len(self.labels)
        self._settings["n_learners"] = self.n_learners
        self._settings["seed"] = self.seed
        self._settings["clip"] = check_number("clip", clip, 0.0, 1e12, open_low=True)
        self._settings["importance_scale"] = check_number("importance_scale", importance_scale, 0.0, 1e12, open_low=True)
        self._settings["tie_tolerance"] = check_number("tie_tolerance", tie_tolerance, 0.0, 1e6)
        self._tally = empty_tally(len(self.labels))
        self._start()
        self._lesson = np.zeros(self.n_learners, np.int64), np.zeros(self.n_learners)
        self._row_start = VOTES + self._n_kept()
        self._settings["row_start"] = self._row_start
        self._make_blanks()
        self._row_shape: tuple[int, ...] | None = None  # of array rows that were found good

    def _start(self) -> None:
        """Make the learners, and set up what a booster keeps beside them."""
        self._committee = self._make_committee(len(self.labels))
        self._committee.add(self.n_learners)

    def _make_committee(self, n_labels: int) -> Committee:
        if isinstance(self.weak_learner, HoeffdingTree):
            return TreeCommittee(self.weak_learner, n_labels, self.schema, self.seed, self.max_memory)
        return PythonCommittee(self.weak_learner, n_labels, self.schema)

    def _n_kept(self) -> int:
        """Numbers that a memo holds between its fixed slots and the row: votes, and weights of learners."""
        return 2 * self.n_learners

    def _make_blanks(self) -> None:
        """A row of which nothing is known, with NaN, which means missing, for every feature; and a memo with such a row."""
        self._blank_row = np.full(len(self.schema), np.nan)
        self._blank = np.concatenate([np.zeros(self._row_start), self._blank_row])
        self._blank[LEARNERS] = self.n_learners

    # The row at the door

    def _coded(self, x: Any) -> Array:
        """Line 4: a row as one dense vector of numbers. What these are is looked at where they are copied into the memo."""
        named = x
        if type(x) is not dict:
            x = without_mask(x)
            if isinstance(x, np.ndarray) and x.dtype.kind != "O":
                return self._coded_array(x)
            named = self.schema.named(x)
        row = self._blank_row.copy()
        if not self.schema.encode(named, row):
            self.schema.admit(x)
            self._follow_schema()
            row = self.schema.encode_anew(named)
        return row

    def _coded_array(self, x: Array) -> Array:
        if not self.schema.takes_array(x):
            return self._coded(x.tolist())
        if len(self._blank_row) != len(self.schema):
            self._follow_schema()
        self._row_shape = x.shape
        return np.array(x, np.float64)

    def _coded_to_look_at(self, x: Any) -> Array:
        """The same for a row that nothing is learned from: features and values that the model does not know are left out."""
        x = without_mask(x)
        if isinstance(x, np.ndarray) and x.dtype != object:
            if len(self.schema) and self.schema.takes_array(x):
                return self._coded_array(x)
            x = x.tolist()
        row = self.schema.named(x)
        self.schema.news(row)
        return self.schema.encode_anew(row)

    def _follow_schema(self) -> None:
        self._row_shape = None
        if len(self._blank_row) != len(self.schema):
            self._make_blanks()
        self._committee.follow_schema()

    def _row_of(self, memo: Array) -> Array:
        """The row of a memo, with NaN for features that have joined since."""
        row = memo[self._row_start :]
        missing = len(self.schema) - len(row)
        return np.concatenate([row, np.full(missing, np.nan)]) if missing else row

    # Algorithm 1

    def _begin_round(self, x: Any, allowed: Array | None = None, ahead: int = 0, looking: bool = False) -> tuple[Array, int]:
        """Lines 4 to 10: from a row to a memo and the label to show; `ahead` rounds have begun that are not counted yet."""
        if type(x) is np.ndarray and x.dtype is _FLOAT and x.shape == self._row_shape:
            row = x  # as the one before: nothing else to look at
        else:
            row = self._coded_to_look_at(x) if looking else self._coded(x)
        memo = self._blank.copy()
        shown = self._run(row, self.rounds + ahead, memo, allowed)
        if shown < 0:
            raise self.schema.bad_position(-1 - shown, float(row[-1 - shown]))
        return memo, shown

    def _run(self, row: Array, round_: int, memo: Array, allowed: Array | None) -> int:
        """Lines 5 to 10, into the memo: the label to show; if number f of the row is no good, -1 - f."""
        bad = open_once(self._committee.features, np.ascontiguousarray(row), round_, memo, self._row_start)
        if bad >= 0:
            return -1 - bad
        self._vote(memo)
        if allowed is None:
            self._choose(memo)
        else:
            self._choose_among(memo, allowed)
        return int(memo[SHOWN])

    def _vote(self, memo: Array) -> None:
        """Line 5."""
        self._committee.vote(memo[self._row_start :], int(memo[ROUND]), memo[VOTES : VOTES + self.n_learners])

    def _choose(self, memo: Array) -> None:
        """Lines 6 to 10: experts, the chosen one's label, exploration."""
        raise NotImplementedError

    def _choose_among(self, memo: Array, allowed: Array) -> None:
        """The same among some labels, whose indices are given in increasing order."""
        raise NotImplementedError

    def _teach(self, memo: Array, outcome: int, allowed: Array | None) -> None:
        """Lines 12 to 15 and 17: write the label and weight for every learner into the lesson, and update the booster."""
        raise NotImplementedError

    def _end_round(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:
        """Lines 12 to 17: from what was told to what every learner is taught."""
        self._teach(memo, outcome, allowed)
        self._committee.learn(self._row_of(memo), *self._lesson)

    def _hear(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:
        """Learn from what was told, and count it. If a learner written in Python fails, it was not heard, and can be told again."""
        if not isinstance(self._committee, PythonCommittee):
            self._end_round(memo, outcome, allowed)
        else:
            settings, weights = self._settings.copy(), self._weights.copy()
            try:
                self._end_round(memo, outcome, allowed)
            except BaseException:
                self._settings[:], self._weights[:] = settings, weights
                raise
        note_once(self._settings, self._tally, memo, outcome)

    # Labels that join

    def add_label(self, label: Hashable) -> None:
        """Let one more label join, after those that there are; docs/guide-restricted-choices.md tells what follows from it.

        Open decisions stay valid: they are learned as decisions among the labels of their time.
        """
        self._refuse_fixed_labels(f"the label {label!r} cannot join")
        with self._lock:
            self.labels = check_labels((*self.labels, label))
            self._index[label] = len(self.labels) - 1
            self._settings["n_labels"] = len(self.labels)
            self._tally = np.concatenate([self._tally, np.zeros(2)])
            self._follow_labels()

    def _refuse_fixed_labels(self, what: str) -> None:
        if self.labels_are_fixed:
            raise LabelError(
                f"{what}: {type(self).__name__} always chooses among the labels it was made with; give it all of them, or use AdaBandit"
            )

    def _follow_labels(self) -> None:
        self._committee.set_labels(len(self.labels))

    # Files and copies

    @property
    def parameters(self) -> dict[str, Any]:
        """What the model was made with, besides labels and schema."""
        settings = self._settings[0]
        return {
            "n_learners": self.n_learners,
            "weak_learner": self.weak_learner,
            "clip": float(settings["clip"]),
            "importance_scale": float(settings["importance_scale"]),
            "tie_tolerance": float(settings["tie_tolerance"]),
            "max_memory": self.max_memory,
            "seed": self.seed,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, replaced at once or not at all; `banditboost.load` goes on from there to the last bit."""
        with self._lock:
            save(self, path)

    def _records(self) -> list[Array]:
        forest = self._committee.forest if isinstance(self._committee, TreeCommittee) else (self._committee.features,)
        return [self._settings, *(array for array in forest if array.dtype.names)]

    def _arrays(self) -> dict[str, Array]:
        """What was learned, apart from what the committee keeps."""
        return arrays_of(self._tally)

    def _restore(self, arrays: dict[str, Array]) -> None:
        """Go on from stored arrays, after a look at each; rounds and verdicts are set already."""
        self._tally = stored_tally(arrays, len(self.labels), self.verdicts)

    def _n_learners_made(self) -> int:
        return self.n_learners

    # What can be seen

    @property
    def verdicts(self) -> int:
        """How many verdicts (or labels) were learned."""
        return int(self._settings["verdicts"][0])

    @property
    def memory_usage(self) -> int:
        """Bytes held by the learners and the booster."""
        own = self._weights.nbytes + self._settings.nbytes + self._tally.nbytes + self._blank.nbytes
        return int(self._committee.memory_usage + own)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.labels)} labels, n_learners={self.n_learners}, rounds={self.rounds}, seed={self.seed})"


class VerdictBooster(Booster):
    """A booster that hears only whether the label it showed was right.

    >>> from banditboost import AdaBandit
    >>> model = AdaBandit(["sports", "politics", "science"], n_learners=5, seed=7)
    >>> model.learn_many(model.decide_many([{"hour": 21}, {"hour": 9}]), [True, False])
    >>> model.verdicts
    2
    """

    _policy = UNIFORM

    def __init__(self, labels: Iterable[Hashable], **parameters: Any) -> None:
        super().__init__(labels, **parameters)
        self._ledger = Ledger()

    def decide(self, x: Mapping[Any, Any] | Array, allowed: Iterable[Hashable] | None = None) -> Decision:
        """Choose a label for x. The decision carries all that `learn` needs; the model keeps nothing of it.

        Args:
            x: a dict of features, or an array or list in the schema's order.
            allowed: the labels to choose from, if not all.
        """
        try:
            self._acquire()
            indices = None if allowed is None else self._indices_of(allowed)
            memo, shown = self._begin_round(x, indices)
            round_ = self.rounds
            self.rounds = round_ + 1
            if round_ >= self._ledger.room:
                self._ledger.open_up_to(round_ + 1)
            if indices is not None:
                return Decision._of(self.model_id, self.labels, memo, indices)
            return Decision(self.model_id, self.labels, memo, round_, shown)
        finally:
            try:  # noqa: SIM105 (a call more would cost as much as the lock)
                self._release()
            except RuntimeError:
                pass  # interrupted while it waited for the lock

    def decide_many(self, X: Any, allowed: Iterable[Iterable[Hashable] | None] | None = None) -> list[Decision]:
        """Choose a label for every row: the same as one by one. If anything is refused, nothing was decided and no feature has joined.

        Args:
            X: a matrix, a list of rows, or a frame (pandas, polars, pyarrow).
            allowed: for each row the labels to choose from, or None for all.
        """
        with self._lock:
            rows = checked_rows(self.schema, X)
            choices = self._choices(allowed, len(rows))
            memos = [self._begin_round(x, choice, ahead)[0] for ahead, (x, choice) in enumerate(zip(rows, choices, strict=True))]
            self.rounds += len(memos)
            self._ledger.open_up_to(self.rounds)
            return [Decision._of(self.model_id, self.labels, memo, choice) for memo, choice in zip(memos, choices, strict=True)]

    def _indices_of(self, allowed: Iterable[Hashable]) -> Array | None:
        """The allowed labels' indices in increasing order, None if these are all."""
        self._refuse_fixed_labels(f"allowed is {allowed!r}")
        try:
            indices = sorted({self._index[label] for label in listed(allowed)})
        except (KeyError, TypeError):
            raise LabelError(f"allowed is {allowed!r}; give a list of some of the model's labels, which are {self.labels[:10]!r}") from None
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
            raise LabelError(f"allowed has {len(lists)} lists of labels for {n_rows} rows; give one for each row")
        return [None if labels is None else self._indices_of(labels) for labels in lists]

    def learn(self, decision: Decision, correct: bool) -> None:
        """Learn the verdict on a decision of this model: any time later, in any order, once."""
        try:
            self._acquire()
            self._check(decision, correct)
            round_ = decision._round
            refusal = self._ledger.close(round_, self.rounds)
            if refusal:
                raise DecisionError(f"the decision of round {round_} {refusal}")
            among_all = decision._labels is self.labels and not decision._mask
            try:
                self._hear(decision._memo, 1 if correct else 0, None if among_all else decision._among(len(self.labels)))
            except BaseException:
                self._ledger.reopen(round_)
                raise
        finally:
            try:  # noqa: SIM105 (a call more would cost as much as the lock)
                self._release()
            except RuntimeError:
                pass  # interrupted while it waited for the lock

    def learn_many(self, decisions: Iterable[Decision], correct: Any) -> None:
        """Learn the verdicts on many decisions, in their order: the same as one by one. If any is refused, none was learned."""
        try:
            made, verdicts = listed(decisions), listed(correct)
        except TypeError:
            raise DecisionError(
                f"decisions is a {type(decisions).__name__} and correct a {type(correct).__name__}; give a list of each"
            ) from None
        if len(made) != len(verdicts):
            raise DecisionError(f"there are {len(made)} decisions and {len(verdicts)} verdicts; give one verdict for each decision")
        with self._lock:
            self._check_many(made, verdicts)
            for decision, verdict in zip(made, verdicts, strict=True):
                self.learn(decision, verdict)

    def _check_many(self, decisions: list[Decision], verdicts: list[bool]) -> None:
        place: dict[int, int] = {}
        for i, (decision, verdict) in enumerate(zip(decisions, verdicts, strict=True)):
            try:
                self._check(decision, verdict)
            except DecisionError as error:
                raise DecisionError(f"decision {i} of {len(decisions)}: {error}") from None
            round_ = decision._round
            refusal = self._ledger.refusal(round_, self.rounds)
            if refusal:
                raise DecisionError(f"decision {i} of {len(decisions)}: the decision of round {round_} {refusal}")
            if place.setdefault(round_, i) != i:
                raise DecisionError(f"decision {i} is that of round {round_}, as is decision {place[round_]}; give each decision once")

    def _check(self, decision: Decision, correct: bool) -> None:
        """Refuse what is no verdict, and no decision of this model."""
        if type(correct) is not bool and not isinstance(correct, np.bool_):
            raise DecisionError(f"correct is {correct!r}; give True if the shown label was right, False if not")
        if type(decision) is not Decision and not isinstance(decision, Decision):
            raise DecisionError(f"decision is {decision!r}; give what decide returned")
        if decision._model_id != self.model_id:
            raise DecisionError(
                f"the decision of round {decision.round} was made by model {decision.model_id}, this is {self.model_id}; learn it there"
            )
        if decision._stored or (decision._labels is not self.labels and len(decision._labels) > len(self.labels)):
            self._check_memo(decision._memo, len(decision._labels))

    def _check_memo(self, memo: Array, n_labels: int) -> None:
        """Of a decision that has been in a store: the right length, votes for labels, a row that could have been coded."""
        fitting = n_labels <= len(self.labels) and self._row_start <= len(memo) <= len(self._blank) and memo[POLICY] == self._policy
        fitting = fitting and memo[LEARNERS] == self.n_learners
        if not fitting or not fits(memo, self._row_start, min(n_labels, self._n_votes()), self._committee.features):
            raise DecisionError(
                f"the decision of round {memo[ROUND]:g} does not fit this model: labels, votes or row were changed since decide returned it"
            )

    def _n_votes(self) -> int:
        """How many votes are possible; 0 if they are scores."""
        return len(self.labels)

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "ledger": self._ledger.to_array()}

    def _restore(self, arrays: dict[str, Array]) -> None:
        super()._restore(arrays)
        self._ledger.restore(take_array(arrays, "ledger", np.uint8, (None,)), self.rounds)

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._ledger.memory_usage
