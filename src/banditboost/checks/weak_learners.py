"""The rules of weak learners.

Each check takes what a booster takes as `weak_learner`; lessons are on the labels 0 and 1. A learner that has
`learn_costs` is taught by cost vectors, as boosters teach it.
"""

from __future__ import annotations

import copy
import operator
import pickle
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from banditboost.checks.rule import Check, Make, checked_maker, expect, expect_bounded, fingerprint, rule
from banditboost.checks.threads import run_together
from banditboost.rows.schema import Schema
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree
from banditboost.weak_learners.protocol import CostLearner, WeakLearner
from banditboost.weak_learners.tree_committee import TreeCommittee

_N_LABELS = 2
_LESSONS = 60
_STRETCH = 60
_CYCLE = 24
_FEATURES = 3
_TREE_MEMORY = 1 << 24


class _Tree:
    """A Hoeffding tree by itself."""

    def __init__(self, tree: HoeffdingTree) -> None:
        self._schema = Schema()
        self._committee = TreeCommittee(tree, _N_LABELS, self._schema, seed=0, max_memory=_TREE_MEMORY)
        self._committee.add(1)

    def predict(self, x: Array) -> int:
        vote = np.zeros(1)
        self._committee.vote(self._row(x), 0, vote)
        return int(vote[0])

    def learn(self, x: Array, label: int, weight: float) -> None:
        self._committee.learn(self._row(x), np.array([label]), np.array([weight]))

    def _row(self, x: Array) -> Array:
        if len(x) > len(self._schema):
            self._schema.admit({f"x{i}": 0.0 for i in range(len(x))})
            self._committee.follow_schema(self._schema)
        return x.copy()


def _maker(given: Any) -> Make:
    """What makes fresh learners, as a booster would."""
    if isinstance(given, HoeffdingTree):
        return partial(_Tree, given)
    if isinstance(given, WeakLearner | CostLearner) and not isinstance(given, type):
        return partial(copy.deepcopy, given)
    if callable(given):
        return checked_maker(given, _expect_weak_learner)
    raise AssertionError(
        f"{given!r} is no weak learner: give an object with predict(x) and learn(x, label, weight) or "
        "learn_costs(x, costs), or what makes one"
    )


def _expect_weak_learner(made: Any) -> None:
    expect(
        isinstance(made, WeakLearner | CostLearner),
        f"the function made {made!r}, which lacks predict(x) or learn(x, label, weight)",
    )


_check = rule(_maker)


class Lesson(NamedTuple):
    x: Array
    label: int
    weight: float


def _lessons(n: int, first: int = 0, n_features: int = _FEATURES) -> list[Lesson]:
    """Few and easy rows again and again, some values missing."""
    return [_lesson(t * 7 % _CYCLE, n_features) for t in range(first, first + n)]


def _lesson(place: int, n_features: int) -> Lesson:
    """The label and all features are steps of the place."""
    features = np.arange(n_features)
    x = np.where((place + 5 * features) % 7 == 6, np.nan, place // (features + 1.0))
    return Lesson(x, place * _N_LABELS // _CYCLE, 0.5 + place % 3)


def _tell(learner: Any, x: Array, label: int, weight: float) -> None:
    """Teach one lesson: as the cost vector of this label and weight, if the learner takes one."""
    if isinstance(learner, CostLearner):
        learner.learn_costs(x, _costs(label, weight))
    else:
        learner.learn(x, label, weight)


def _costs(label: int, weight: float, n_labels: int = _N_LABELS) -> Array:
    """A cost vector that is least at this label; costs may be negative."""
    return np.asarray(weight / (n_labels - 1) * (np.arange(n_labels) != label) - 1.0)


def _teach(learner: Any, lessons: list[Lesson]) -> None:
    for lesson in lessons:
        _tell(learner, *lesson)


def _taught(make: Make) -> Any:
    learner = make()
    _teach(learner, _lessons(_LESSONS))
    return learner


def _label(learner: Any, x: Array, n_labels: int = _N_LABELS) -> int:
    answer = learner.predict(x)
    try:
        label = operator.index(answer)
    except TypeError:
        label = -1
    expect(0 <= label < n_labels, f"it predicted {answer!r}, and the labels are 0 to {n_labels - 1}")
    return label


def _expect_same_run(one: Any, other: Any, what: str) -> None:
    """Both answer alike, lesson by lesson, and are taught alike."""
    for t, (x, label, weight) in enumerate(_lessons(_LESSONS, first=3)):
        answer, other_answer = _label(one, x.copy()), _label(other, x.copy())
        expect(
            answer == other_answer, f"{what}: at lesson {t} one predicts {answer}, the other {other_answer}"
        )
        _tell(one, x.copy(), label, weight)
        _tell(other, x.copy(), label, weight)


@_check
def check_predicts_before_any_lesson(make: Make) -> None:
    """A weak learner predicts the index of a label from the first row on, whatever it has been taught."""
    learner = make()
    for x, label, weight in _lessons(_LESSONS):
        _label(learner, x)
        _tell(learner, x, label, weight)
        _label(learner, x)


@_check
def check_predicting_teaches_nothing(make: Make) -> None:
    """Predictions leave no trace: a learner that was asked a hundred times goes on like one that was not."""
    learner = _taught(make)
    other = copy.deepcopy(learner)
    for x, _, _ in _lessons(100):
        learner.predict(x)
    _expect_same_run(learner, other, "asked, and not asked")


@_check
def check_made_alike_learn_alike(make: Make) -> None:
    """Learners that are made alike predict alike after the same lessons: if they draw random numbers, it is
    by a seed."""
    _expect_same_run(_taught(make), _taught(make), "made alike")


@_check
def check_copies_are_independent(make: Make) -> None:
    """What a deep copy learns does not change the original, nor the other way round."""
    learner = _taught(make)
    copied = copy.deepcopy(learner)
    for learning, other, name in ((copied, learner, "the original"), (learner, copied, "the copy")):
        before = fingerprint(other)
        _teach(learning, _lessons(_LESSONS, first=7))
        expect(fingerprint(other) == before, f"{name} has changed while the other one learned")


@_check
def check_pickles_go_on(make: Make) -> None:
    """A learner that was pickled goes on as if nothing had been."""
    learner = _taught(make)
    _expect_same_run(
        learner, pickle.loads(pickle.dumps(learner)), "the original and the one that was pickled"
    )


@_check
def check_stored_state_goes_on(make: Make) -> None:
    """A learner that `from_dict` makes of what `to_dict` told goes on as if nothing had been. (Without these
    two it cannot be saved.)"""
    learner = _taught(make)
    if hasattr(learner, "to_dict") and hasattr(type(learner), "from_dict"):
        _expect_same_run(
            learner, type(learner).from_dict(learner.to_dict()), "the original and the one that was stored"
        )


@_check
def check_rows_are_not_written_on(make: Make) -> None:
    """A row is shared by all learners of a booster: it may be kept, and must not be changed."""
    learner = make()
    for lesson in _lessons(_LESSONS):
        x = lesson.x.copy()
        learner.predict(x)
        _tell(learner, x, lesson.label, lesson.weight)
        expect(np.array_equal(x, lesson.x, equal_nan=True), f"the row {lesson.x} was changed into {x}")


@_check
def check_rows_may_grow(make: Make) -> None:
    """Features join at the end of a row, at any time; those that have vanished are NaN."""
    learner = _taught(make)
    for n_features in (_FEATURES + 1, _FEATURES + 4):
        for x, label, weight in _lessons(_LESSONS, n_features=n_features):
            _label(learner, x)
            _tell(learner, x, label, weight)
    vanished = np.full(_FEATURES + 4, np.nan)
    _label(learner, vanished)
    _tell(learner, vanished, 1, 1.0)


@_check
def check_costs_may_grow(make: Make) -> None:
    """Labels join at the end of a cost vector, at any time; from then on it is that long."""
    learner = _taught(make)
    if isinstance(learner, CostLearner):
        for n_labels in (_N_LABELS + 1, _N_LABELS + 3):
            for x, label, weight in _lessons(_LESSONS):
                learner.learn_costs(x, _costs(label, weight, n_labels))
                _label(learner, x, n_labels)


@_check
def check_labels_teach_too(make: Make) -> None:
    """A learner of costs that has `learn`, too, can be taught by that alone, as where costs are not known."""
    learner = make()
    if isinstance(learner, CostLearner) and isinstance(learner, WeakLearner):
        for x, label, weight in _lessons(_LESSONS):
            learner.learn(x, label, weight)
            _label(learner, x)


@_check
def check_memory_is_bounded(make: Make) -> None:
    """Nothing is kept of each lesson: over the same few rows again and again a learner stops growing."""
    learner = _taught(make)
    expect_bounded(learner, lambda: _teach(learner, _lessons(_STRETCH)), _STRETCH)


@_check
def check_any_thread_will_do(make: Make) -> None:
    """A learner is called by one thread at a time, but not always by the one that made it: in another it
    answers the same."""
    learner = _taught(make)
    other = copy.deepcopy(learner)
    here: list[int] = []
    there: list[int] = []
    _go_on(other, here)
    run_together([partial(_go_on, learner, there)])
    expect(here == there, f"in the thread that made it, it predicts {here}, in another {there}")


def _go_on(learner: Any, answers: list[int]) -> None:
    for x, label, weight in _lessons(_LESSONS, first=3):
        answers.append(_label(learner, x))
        _tell(learner, x, label, weight)


WEAK_LEARNER_CHECKS: tuple[Check, ...] = (
    check_predicts_before_any_lesson,
    check_predicting_teaches_nothing,
    check_made_alike_learn_alike,
    check_copies_are_independent,
    check_pickles_go_on,
    check_stored_state_goes_on,
    check_rows_are_not_written_on,
    check_rows_may_grow,
    check_costs_may_grow,
    check_labels_teach_too,
    check_memory_is_bounded,
    check_any_thread_will_do,
)
