"""What every model is: labels, features, a seed, a compiled round bound to its arrays, files, and what can be
seen of it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from banditboost.compiled.border import arrays_in
from banditboost.errors import DecisionError, LabelError, ParameterError
from banditboost.inspection.summary import Summary
from banditboost.inspection.tally import HEARD, PER_LABEL, arrays_of, empty_tally, stored_tally
from banditboost.io.header import MOST_ROUNDS
from banditboost.io.values import demand
from banditboost.memo import LEARNERS, VOTES
from banditboost.models.calls import LEARNED, NO_ROOM, SHORT_MEMO, UNFINISHED, Calls
from banditboost.models.changing import Changing, Counts
from banditboost.models.locking import locked
from banditboost.models.saving import save
from banditboost.models.settings import COUNTS, ROUNDS, SETTINGS, new_record, same_record
from banditboost.rewards import UNIT, Range
from banditboost.rows.encoding import Encoder
from banditboost.rows.plain import without_mask
from banditboost.rows.schema import Cells, Schema
from banditboost.rows.sparse import is_sparse, one_row
from banditboost.text import counted, quoted, visible
from banditboost.theory import WeakLearningCondition
from banditboost.types import Array
from banditboost.validation import check_count, check_labels

MEBIBYTE = 1 << 20
_NO_BITS = np.zeros(0, np.uint8)


class Witnessed(NamedTuple):
    """What `play` tells of the learners, where it has watched them."""

    edges: Array | None
    condition: WeakLearningCondition | None


class Model(Changing):
    """What boosters and baselines share.

    A kind of model sets `compiled_round` and says what that reads (`_state`).
    """

    compiled_round: ClassVar[Any]
    """Algorithm 1 for this kind of model: its two compiled functions (`boosting.round.Round`)."""
    _calls: Calls
    _scratch: Any
    """What the running call needs: `allowed`, and more for some kinds of model."""
    takes_words: ClassVar[bool] = False
    """Whether words are learned: texts, and lists of strings."""
    labels_are_fixed: ClassVar[bool] = False
    """Whether `allowed`, `add_label` and `remove_label` are refused."""
    _rewards: Range = UNIT
    _active: Array | None = None
    """The labels that are shown, by increasing index, if some were removed."""

    def __init__(
        self, labels: Iterable[Hashable], *, schema: Schema | None, max_memory: int, seed: int | None
    ) -> None:
        super().__init__()
        self.labels = self._checked_labels(labels)
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.seed = (
            int.from_bytes(os.urandom(4), "big") if seed is None else check_count("seed", seed, 0, 2**63 - 1)
        )
        if schema is not None and not isinstance(schema, Schema):
            raise ParameterError(
                f"schema is {quoted(schema)}; give a Schema, such as Schema(numeric=['hour'], "
                "nominal=['device'])"
            )
        self._schema = Schema() if schema is None else schema.copy()
        self._schema.takes_words = self.takes_words
        self.max_memory = check_count("max_memory", max_memory, MEBIBYTE, 2**50)
        self.model_id = os.urandom(8).hex()
        self._draw_seed = self.seed
        self._settings, self._counts = new_record(SETTINGS), new_record(COUNTS)
        self._settings.n_labels = len(self.labels)
        self._tally = empty_tally(len(self.labels))
        self._make_identity()
        self._start()
        self._row_start = VOTES + self._n_between()
        self._settings.row_start = self._row_start
        self._make_blanks()
        self._renew()

    # What a kind of model says

    @staticmethod
    def _checked_labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """The labels that the model is made with, after a look at them."""
        return check_labels(labels)

    @classmethod
    def _of_file(cls, labels: Iterable[Hashable], **parameters: Any) -> Self:
        """A model that has learned nothing yet, from the labels and parameters of a file."""
        return cls(labels, **parameters)

    def _make_identity(self) -> None:
        """Set up what tells whose a decision is, if the model makes any."""

    @property
    def _ledger(self) -> Array:
        """Which rounds were learned, as bits; empty if the model makes no decisions."""
        return _NO_BITS

    def _start(self) -> None:
        """Set up what this kind of model keeps."""
        raise NotImplementedError

    def _state(self) -> Any:
        """The model's arrays as its compiled round reads them."""
        raise NotImplementedError

    @property
    def _features(self) -> Array:
        """The schema as compiled code reads it."""
        raise NotImplementedError

    def _n_in_memo(self) -> int:
        """How many learners a memo tells of."""
        return 1

    def _n_between(self) -> int:
        """Numbers that a memo holds between its fixed places and the row: votes, and weights of learners."""
        return 2 * self._n_in_memo()

    def _add_learners(self, memo: Array) -> None:
        """Make the learners that the verdict on this memo is to teach. Called on a draft."""
        raise NotImplementedError

    def _bind(self) -> Calls:
        return Calls(type(self), self._state(), self.__dict__.get("_calls"))

    def _renew(self) -> None:
        """Bind the round to the model's arrays. Whoever replaces an array calls this."""
        calls = self._bind()
        calls.blank, calls.encode = self._blank, Encoder(self._schema).encode
        calls.labels, calls.seed, calls.row_shape = self.labels, self._draw_seed, None
        calls.active, calls.shares = self._active, None
        self._schema.counters = calls.counters[ROUNDS:]
        self._calls = calls

    # The row at the door

    def _make_blanks(self) -> None:
        """Make an all-missing row, and a memo that ends in one: templates that are copied each round."""
        self._blank_row = np.full(len(self._schema), np.nan)
        self._blank = np.concatenate([np.zeros(self._row_start), self._blank_row])
        self._blank[LEARNERS] = self._n_in_memo()

    def _coded(self, x: Any, ahead: int | None = None) -> Array | None:
        """Line 4: a row as float64; None if it brings what has not joined, so that it has to be admitted.

        `ahead` is the row's round, if rows before it are not decided yet.
        """
        row = self._read(x, ahead)
        return row if isinstance(row, np.ndarray) else None

    def _given(self, x: Any) -> Any:
        """A row without a mask, and a sparse one as what it stands for."""
        x = without_mask(x)
        return one_row(self._schema, x) if is_sparse(x) else x

    def _read(self, x: Any, ahead: int | None = None) -> Array | Cells | None:
        """A row as float64, or what it says if it brings what has not joined; None for the first array.

        Its numbers are checked when they are copied into the memo.
        """
        x = self._given(x)
        if isinstance(x, np.ndarray) and x.dtype.kind != "O":
            if not len(self._schema):
                return None
            if self._schema.takes_array(x):
                self._calls.row_shape = x.shape
                return np.array(x, np.float64)
            if (row := self._schema.padded(x)) is not None:
                return row
            x = x.tolist()
        return self._schema.code_if_known(x) if ahead is None else self._schema.code_ahead(x, ahead)

    def _admit(self, x: Any, cells: Cells | None = None) -> Array:
        """Line 4 for a row that brings something: it is as float64 what it is after that has joined.

        Called on a draft. `cells` are what it says, if it was read before.
        """
        x, version = self._given(x), self._schema.version
        if cells is not None:
            row = self._schema.join(cells)
        elif isinstance(x, np.ndarray) and x.dtype.kind != "O" and self._schema.takes_array(x):
            row = np.array(x, np.float64)
        else:
            row = self._schema.code(x.tolist() if isinstance(x, np.ndarray) else x)
        if self._schema.version != version:
            self._follow_schema()
        return row

    def _joined(self, x: Any) -> Array:
        """Line 4: a row as float64, after what it brings has joined."""
        read = self._read(x)
        if isinstance(read, np.ndarray):
            return read
        draft = self._draft()
        row = draft._admit(x, read)
        draft._renew()
        self._become(draft)
        return row

    def _coded_to_look_at(self, x: Any) -> Array:
        """A row that nothing is learned from, as float64: features and values that the model does not know
        are left out.
        """
        x = self._given(x)
        if isinstance(x, np.ndarray) and x.dtype != object:
            if len(self._schema) and self._schema.takes_array(x):
                return np.array(x, np.float64)
            if (row := self._schema.padded(x)) is not None:
                return row
            x = x.tolist()
        return self._schema.code_known(x)

    def _follow_schema(self) -> None:
        """Features or values have joined. Called on a draft, which is bound anew afterwards."""
        if len(self._blank_row) != len(self._schema):
            self._make_blanks()

    # A round

    def _choose(
        self,
        row: Array,
        round_: int,
        allowed: Array | None = None,
        counted: bool = False,
        seed: int | None = None,
    ) -> tuple[Array, int]:
        """Lines 4 to 10: from a row to a memo and the label to show; `counted` lets the round count."""
        memo, shown = self._blank.copy(), UNFINISHED
        seed = self._draw_seed if seed is None else seed
        while shown == UNFINISHED:
            calls = self._calls
            n_allowed = self._allow(allowed)
            shown = calls.decide(calls.model, row, round_, seed, memo, n_allowed, counted)
            if shown == UNFINISHED:
                self._finish_lesson()
        if shown < 0:
            raise self._schema.bad_position(-1 - shown, float(row[-1 - shown]))
        return memo, shown

    def _look(self, x: Any, allowed: Array | None = None) -> Array:
        """The memo that a row would have now; nothing changes."""
        return self._choose(self._coded_to_look_at(x), self.rounds, allowed)[0]

    def _hear(self, memo: Array, told: float, seed: int, allowed: Array | None, closes: int) -> int:
        """Lines 11 to 17: learn what was told about a decision, whose random numbers were drawn with this
        seed. Returns LEARNED, NO_LEARNERS, or CLOSED.
        """
        while True:
            calls = self._calls
            n_allowed = self._allow(allowed)
            status = calls.learn(calls.model, memo, told, n_allowed, closes, seed)
            if status == NO_ROOM:
                self._finish_lesson()
                return LEARNED
            if status == SHORT_MEMO:
                memo = np.concatenate([memo, np.full(len(self._blank) - len(memo), np.nan)])
            elif status == UNFINISHED:
                self._finish_lesson()
            else:
                return status

    def _make_learners_for(self, memo: Array) -> None:
        draft = self._draft()
        draft._add_learners(memo)
        draft._renew()
        self._become(draft)

    def _allow(self, allowed: Array | None) -> int:
        """Write down, for the next call of compiled code, the labels that may be shown; 0 stands for all."""
        if allowed is None:
            return 0
        self._scratch.allowed[1 : 1 + len(allowed)] = allowed
        return len(allowed)

    def _prepare_to_play(self, n_rounds: int) -> None:
        """Have what so many rounds need that compiled code plays."""

    def _witnessed(self, sums: Array) -> Witnessed:
        """What follows from the sums that the round's witness has made."""
        return Witnessed(sums[0] / sums[1], None)

    def _tell_changes(self) -> None:
        """Tell of changes of the world that were noticed, if the model looks for them."""

    def _suffered(self) -> Array | None:
        """The sums of what each learner has suffered, which `play` sets back; None without cost vectors."""
        return None

    def _check_rounds(self, n_rounds: int) -> None:
        """Refuse rounds beyond the last one that a model can come to."""
        rounds = int(self._counts.rounds)
        if rounds + n_rounds > MOST_ROUNDS:
            raise DecisionError(
                f"the model has come to round {rounds}, and {counted(n_rounds, 'round')} more would lead "
                f"beyond the last one, {MOST_ROUNDS}; make a new model"
            )

    # Labels that join

    @locked
    def add_label(self, label: Hashable) -> None:
        """Let one more label join, after those that there are; docs/guide-restricted-choices.md tells what
        follows from it.

        Open decisions stay valid: they are learned as decisions among the labels of their time.
        """
        self._refuse_fixed_labels(f"the label {quoted(label)} cannot join")
        draft = self._draft()
        draft._take_label(label)
        draft._renew()
        self._become(draft)

    def _take_label(self, label: Hashable) -> None:
        self.labels = check_labels((*self.labels, label))
        self._index = {**self._index, label: len(self.labels) - 1}
        self._settings.n_labels = len(self.labels)
        self._tally = np.concatenate([self._tally, np.zeros(PER_LABEL)])
        self._follow_labels()

    def _refuse_fixed_labels(self, what: str) -> None:
        if self.labels_are_fixed:
            raise LabelError(
                f"{what}: {type(self).__name__} always chooses among the labels it was made with; give it "
                "all of them, or use GapBoost"
            )

    @property
    def removed_labels(self) -> tuple[Hashable, ...]:
        """Labels that are not shown any more; a model that makes no decisions has none."""
        return ()

    def _follow_labels(self) -> None:
        """A label has joined. Called on a draft."""

    def _own_parts(self) -> None:
        self._schema = self._schema.copy()
        self._settings, self._counts = same_record(self._settings), same_record(self._counts)

    # Files and copies

    @property
    def parameters(self) -> dict[str, Any]:
        """What the model was made with, besides labels and schema."""
        return {"max_memory": self.max_memory, "seed": self.seed}

    @locked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, replaced at once or not at all; `banditboost.load` goes on from there
        to the last bit.
        """
        save(self, path)

    def _records(self) -> list[Array]:
        """The record arrays among what is kept."""
        return []

    def _kept(self) -> dict[str, Any]:
        return {name: value for name, value in super()._kept().items() if name != "_calls"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._settings, self._counts = same_record(self._settings), same_record(self._counts)
        if not all(array.flags.writeable for array in arrays_in(self._state())):
            self.__dict__.update(
                copy.deepcopy(self._kept())
            )  # it was loaded as a map of a file, to be read only
            self._settings, self._counts = same_record(self._settings), same_record(self._counts)
        self._renew()

    def _arrays(self) -> dict[str, Array]:
        """What a file keeps of the model as arrays."""
        return arrays_of(self._tally)

    def _plain_parameters(self) -> dict[str, Any]:
        """The parameters as plain data, for the header of a file."""
        return self.parameters

    def _learner_states(self) -> list[Any]:
        """What weak learners written in Python keep, for the header of a file."""
        return []

    def _plain_identity(self) -> dict[str, Any]:
        """Branch and runs, for the header of a file, if the model has any."""
        return {}

    def _restore(self, arrays: dict[str, Array]) -> None:
        """Go on from stored arrays, after a look at each; rounds and verdicts are set already.

        The caller binds the round anew.
        """
        self._tally = stored_tally(arrays, len(self.labels), self.verdicts, self.logged)

    def _restore_removed(self, removed: list[int]) -> None:
        """Go on without labels that were removed, by their indices."""
        demand(not removed, "labels were removed from a model that makes no decisions")

    def _restore_identity(self, plain: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Go on with branch and runs from what a file tells, if the model has any."""

    def _restore_learners(self, arrays: dict[str, Array], states: list[Any]) -> None:
        """Go on with weak learners from what a file holds, if the model has any."""

    # What can be seen

    @property
    def schema(self) -> Schema:
        """The features that have joined, as a copy: what is done to it does not change the model."""
        return self._schema.alone()

    @property
    def _counted(self) -> Counts:
        """Rounds and verdicts up to now, within a call, too."""
        return Counts(self._calls.counters[ROUNDS], int(self._counts.verdicts), int(self._counts.logged))

    @property
    def _counted_at_last(self) -> Counts:
        """Those when the next call begins, which finishes what an interrupted one has left."""
        unfinished = self._unfinished
        return self._counted if unfinished is None else unfinished.counts(self)

    @property
    def rounds(self) -> int:
        """How many times the model has decided."""
        return self._counted_at_last.rounds

    @property
    def logged(self) -> int:
        """How many rows of logs were learned (`learn_logged`)."""
        return self._counted_at_last.logged

    @property
    def verdicts(self) -> int:
        """How many verdicts (or labels) were learned, those of logs left out."""
        counts = self._counted_at_last
        return counts.verdicts - counts.logged

    @property
    def memory_usage(self) -> int:
        """Bytes held by the model."""
        return int(self._settings.nbytes + self._counts.nbytes + self._tally.nbytes + self._blank.nbytes)

    @locked
    def summary(self) -> Summary:
        """Verdicts, accuracy or mean reward with intervals (overall and by label, since the start and
        lately), exploration, weights, leaves, memory.

        >>> from banditboost import AdaBandit
        >>> model = AdaBandit(["yes", "no"], n_learners=5, seed=1)
        >>> for age in range(200):
        ...     decision = model.decide({"age": age % 50})
        ...     model.learn(decision, correct=(decision.label == "yes") == (age % 50 < 25))
        >>> summary = model.summary()
        >>> summary.verdicts, round(summary.total.shown.share, 2)
        (200, 0.88)
        """
        return Summary.of(
            kind=type(self).__name__,
            labels=self.labels,
            rounds=self.rounds,
            open_decisions=self._n_open,
            tally=self._tally,
            rewards=self._rewards,
            memory=self.memory_usage,
            max_memory=self.max_memory,
            removed_labels=self.removed_labels,
            texts=self._schema.texts(),
            shared_values={visible(name): n for name, n in self._schema.shared_values().items()},
            **self._weights_to_show(),
        )

    @property
    def _n_open(self) -> int:
        return self.rounds - int(self._tally[HEARD])

    def _weights_to_show(self) -> dict[str, Any]:
        """Weights of learners and experts and the size of trees, for the summary, as far as the model has
        them.
        """
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.labels)} labels, rounds={self.rounds}, seed={self.seed})"
