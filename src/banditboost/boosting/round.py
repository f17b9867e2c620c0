"""Algorithm 1, the template of all boosters: `decide` is its lines 4 to 10, `learn` its lines 11 to 17.

Both are compiled once for each kind of booster. `model.decide` and `model.learn` call them, and `play` loops
over them. A booster says:

    choose(model, memo, key)            lines 5 to 10: ask the learners, choose an expert, explore. All of
                                        it goes into the memo
    teach(model, memo, feedback, key)   lines 12 to 15 and 17: write down what every learner is to learn,
                                        and update the booster
    first_learner(model, memo, feedback)
                                        which learners this verdict teaches: n_learners of them from this
                                        one on; -1 if they are yet to be made

Feedback is 1 (right) or 0; the right label, if that is told; and of a graded booster the reward itself, in
[0, 1]. To the others a reward becomes a verdict by a keyed number: right with the probability that it says.

`model` is a named tuple of the model's arrays, read by name (compiled/border.py). Whatever the booster, it
has

    settings        what the model was made with (models/settings.py)
    features        the schema as compiled code reads it
    ledger          which rounds were learned (models/ledger.py)
    learned.counts  how many rounds were decided and verdicts learned, and the recent error
    learned.tally   how the model has done so far (inspection/tally.py)
    scratch.allowed the labels that may be shown in this call

and, if it has trees, `forest`, `learn_trees`, and the lesson: `scratch.labels` and `scratch.importance`, and
`scratch.lesson` and `scratch.example`, where it waits if there is no room for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import float64, int64

from banditboost.boosting.change import has_fallen, note_change
from banditboost.compiled.border import TABLE, caller, table_type
from banditboost.compiled.compile import entry, inlined
from banditboost.compiled.rng import VERDICT, round_key, uniform
from banditboost.inspection.changes import NOBODY
from banditboost.inspection.tally import note_logged, note_verdict
from banditboost.memo import ROUND, SHOWN
from banditboost.models.calls import (
    CLOSED,
    GO_ON,
    LEARNED,
    LOGGED,
    NO_LEARNERS,
    NO_ROOM,
    OWN,
    SHORT_MEMO,
    UNFINISHED,
)
from banditboost.models.ledger import close_round, is_open
from banditboost.rows.checking import open_memo
from banditboost.types import Array, Record

LEARN_TREES = int64, float64[::1], int64[::1], float64[::1], int64
call_learn_trees = caller(int64, TABLE, *LEARN_TREES)


@inlined
def first_of_all(model: Any, memo: Array, feedback: int) -> int:  # noqa: ARG001 (always the same)
    """All learners are taught by every verdict."""
    return 0


# A lesson for which the trees have no room waits in the scratch: which of its examples is next (NONE if there
# is no such lesson, ANEW if all trees are to begin anew in its place), and the number of the first tree.
NEXT, FIRST = 0, 1
NONE, ANEW = -1, -2


@inlined
def is_unfinished(model: Any) -> bool:
    """Whether a lesson waits for room."""
    waits: bool = model.scratch.lesson[NEXT] != NONE
    return waits


@inlined
def teach_trees(model: Any, first: int, x: Array, taught: int) -> int:
    """Line 16: the trees learn their lesson, from number `taught` of it on.

    A forest without trees is that of a booster whose learners are Python objects (python_round.py teaches
    them).
    """
    scratch = model.scratch
    if model.forest.trees.size == 0:
        return LEARNED
    taught = call_learn_trees(
        model.learn_trees, (model.forest, first, x, scratch.labels, scratch.importance, taught)
    )
    if taught == scratch.labels.size:
        scratch.lesson[NEXT] = NONE
        return LEARNED
    scratch.lesson[NEXT], scratch.lesson[FIRST] = taught, first
    for f in range(model.forest.features.size):
        scratch.example[f] = x[f]
    return NO_ROOM


@inlined
def go_on(model: Any) -> int:
    """Line 16, from where the trees ran out of room."""
    lesson = model.scratch.lesson
    return teach_trees(model, lesson[FIRST], model.scratch.example, lesson[NEXT])


@inlined
def never(model: Any) -> bool:  # noqa: ARG001 (whatever the model)
    """Nothing waits for room in a model without weak learners."""
    return False


@inlined
def teach_nobody(model: Any, first: int, x: Array, taught: int) -> int:  # noqa: ARG001 (there is nobody)
    """Line 16 of a model without weak learners."""
    return LEARNED


@inlined
def is_done(model: Any) -> int:  # noqa: ARG001 (whatever the model)
    """There is nothing to go on with in a model without weak learners."""
    return LEARNED


@inlined
def begins_anew(model: Any, feedback: int) -> bool:
    """Whether verdicts have become worse than they were since the beginning, and the learners are to begin
    anew.
    """
    if model.settings.restarts == 0 or not has_fallen(model.watch.beliefs, 0, float(feedback), 0.0):
        return False
    note_change(model, NOBODY)
    model.scratch.lesson[NEXT] = ANEW
    return True


@inlined
def goes_on(model: Any, feedback: float) -> bool:  # noqa: ARG001 (whatever was heard)
    """A graded booster does on its own what changes ask for; without learners there is nothing to do."""
    return False


@inlined
def count_round(counts: Record, round_: int) -> None:
    """The round counts as decided."""
    counts.rounds = max(counts.rounds, round_ + 1)


@inlined
def as_verdict(settings: Record, told: float, key: int) -> int:
    """A reward as a verdict, by a keyed number: right with the probability that it says. A verdict stays what
    it is, and so does the right label.
    """
    if settings.full_information != 0:
        return int(told)
    return 1 if uniform(key, VERDICT, 0) < told else 0


@inlined
def as_told(settings: Record, told: float, key: int) -> float:  # noqa: ARG001 (nothing is drawn)
    """A reward as it is."""
    return told


class Round:
    """The two compiled functions of a kind of model, and what a simulation may note about a round that it
    knows the right label of.

    Args:
        choose, teach, first_learner: as above.
        teach_learners: line 16; `teach_nobody` for a model without weak learners.
        witness: called by `play` after each decision as `witness(model, memo, right, sums)`; sums are three
            for each learner, and `_witnessed` of the model says what they tell.
        on_request: the witness is called only if `play` is asked for the condition.
        graded: `teach` and `first_learner` are told rewards in [0, 1], not verdicts.
        note: counts in the tally what was learned.
    """

    def __init__(
        self,
        choose: Callable[..., None],
        teach: Callable[..., None],
        *,
        first_learner: Callable[..., int] = first_of_all,
        teach_learners: Callable[..., int] = teach_trees,
        witness: Callable[..., None] | None = None,
        on_request: bool = False,
        graded: bool = False,
        note: Callable[..., None] = note_verdict,
    ) -> None:
        self.first_learner = first_learner
        self.witness = witness
        self.on_request = on_request
        # Machine code by the type of a model's table: as a loop calls it, and as Python does.
        self.addresses: dict[tuple[str, bool], tuple[int, int, int]] = {}
        self.codes: dict[tuple[str, str], Any] = {}
        self._has_trees = teach_learners is not teach_nobody
        hear: Callable[..., Any] = as_told if graded else as_verdict
        is_over = begins_anew if self._has_trees and not graded else goes_on
        waits, finish = (is_unfinished, go_on) if self._has_trees else (never, is_done)

        def decide(
            model: Any, row: Array, round_: int, seed: int, memo: Array, n_allowed: int, counted: int
        ) -> int:
            """Lines 4 to 10: from a row to a memo and the label to show; if number f of the row is no good,
            -1 - f.
            """
            if waits(model):
                return UNFINISHED
            bad = open_memo(model.features, row, round_, memo, model.settings.row_start)
            if bad >= 0:
                return -1 - bad
            model.scratch.allowed[0] = n_allowed
            choose(model, memo, round_key(seed, round_))
            if counted != 0:
                count_round(model.learned.counts, round_)
            return int(memo[SHOWN])

        def learn(model: Any, memo: Array, told: float, n_allowed: int, closes: int, seed: int) -> int:
            """Lines 11 to 17: from a verdict to what every learner is taught."""
            if told == GO_ON:
                return finish(model)
            if waits(model):
                return UNFINISHED
            start, counts, round_ = model.settings.row_start, model.learned.counts, int(memo[ROUND])
            if memo.size < start + model.features.size:
                return SHORT_MEMO
            if closes == OWN and not is_open(model.settings, model.ledger, counts.rounds, round_):
                return CLOSED
            key = round_key(seed, round_)
            feedback = hear(model.settings, told, key)
            first = first_learner(model, memo, feedback)
            if first < 0:
                return NO_LEARNERS
            if closes == OWN:
                close_round(model.settings, model.ledger, round_)
            model.scratch.allowed[0] = n_allowed
            teach(model, memo, feedback, key)
            if closes == LOGGED:
                note_logged(counts, model.learned.tally, memo, told)
            else:
                note(model.settings, model.learned.tally, memo, told)
            if model.settings.full_information != 0:
                count_round(counts, round_)
            if is_over(model, feedback):
                return NO_ROOM
            return teach_learners(model, first, memo[start:], 0)

        self.decide = entry(decide, f"{choose.__module__}.decide_{choose.__name__}")
        self.learn = entry(learn, f"{teach.__module__}.learn_{teach.__name__}")

    def learners_are_compiled(self, state: Any) -> bool:
        """Whether how the trees of this model learn needs no compiling, or no more."""
        return not self._has_trees or state.learn_trees.address != 0

    def compile_learners(self, state: Any) -> None:
        """Compile how the trees of this model learn, which serves all boosters; once."""
        if not self.learners_are_compiled(state):
            state.learn_trees.compile((table_type(state.forest), *LEARN_TREES))
