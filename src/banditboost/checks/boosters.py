"""The rules of boosters. Each check takes a function that makes a fresh booster, or a fresh booster."""

from __future__ import annotations

import copy
import math
import pickle
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from banditboost.checks.feedback import Verdicts, expect_sound_decision, feedback_of, shown
from banditboost.checks.offering import with_labels
from banditboost.checks.rule import Check, Make, checked_maker, expect, expect_bounded, fingerprint, rule
from banditboost.checks.streams import Lesson, array_lessons, lessons, word_lessons
from banditboost.checks.threads import run_together
from banditboost.errors import DecisionError, FeatureError, ModelFileError
from banditboost.loading import load
from banditboost.weak_learners.hoeffding import HoeffdingTree

_ROUNDS = 48
_STRETCH = 72  # rounds between two looks at the memory
_THREADS, _ROUNDS_A_THREAD = 8, 40


def _maker(given: Any) -> Make:
    """What makes fresh boosters: the function that was given, or one that copies the booster."""
    make = given if callable(given) else partial(copy.deepcopy, given)
    return checked_maker(lambda: with_labels(make()), feedback_of)


_check = rule(_maker)


def _taught(make: Make) -> Any:
    model = make()
    feedback_of(model).rounds(model, lessons(model, _ROUNDS))
    return model


@_check
def check_works_before_any_feedback(make: Make) -> None:
    """A booster answers from the first row on: with one of its labels, and with probabilities that are those
    of its distribution."""
    model = make()
    for x, _ in lessons(model, 5):
        feedback_of(model).expect_sound(model, x)


@_check
def check_asking_teaches_nothing(make: Make) -> None:
    """What was asked leaves no trace but the number of decisions: models that were asked for different rows
    go on alike."""
    model = _taught(make)
    other, feedback = copy.deepcopy(model), feedback_of(model)
    for lesson, other_lesson in zip(lessons(model, 10), lessons(model, 10, first=7), strict=True):
        feedback.answer(model, lesson.x)
        feedback.answer(other, other_lesson.x)
    feedback.expect_same_run(model, other, lessons(model, _ROUNDS), "asked for different rows before")


@_check
def check_same_seed_same_run(make: Make) -> None:
    """Boosters that are made alike, with the same seed, answer alike in every round."""
    model = make()
    feedback_of(model).expect_same_run(
        model, make(), lessons(model, _ROUNDS), "made alike (does the function give the same seed each time?)"
    )


@_check
def check_copies_are_independent(make: Make) -> None:
    """What a deep copy learns does not change the original, nor the other way round."""
    model = _taught(make)
    feedback, copied = feedback_of(model), copy.deepcopy(model)
    for learning, other, name in ((copied, model, "the original"), (model, copied, "the copy")):
        before = fingerprint(other)
        feedback.rounds(learning, lessons(model, _ROUNDS, first=5))
        expect(fingerprint(other) == before, f"{name} has changed while the other one learned")


@_check
def check_pickles_go_on(make: Make) -> None:
    """A booster that was pickled goes on as if nothing had been, also with verdicts on decisions that were
    open."""
    _expect_goes_on(make, lambda model: pickle.loads(pickle.dumps(model)), "pickled")


@_check
def check_files_go_on(make: Make) -> None:
    """A booster that was saved and loaded goes on as if nothing had been, or `save` refuses with a
    ModelFileError."""
    if hasattr(make(), "save"):
        with tempfile.TemporaryDirectory() as folder:
            try:
                _expect_goes_on(make, partial(_reloaded, Path(folder) / "model.bb"), "saved and loaded")
            except ModelFileError as refusal:
                expect(not any(Path(folder).iterdir()), f"it wrote a file that load refuses: {refusal}")


def _reloaded(path: Path, model: Any) -> Any:
    model.save(path)
    learner = getattr(model, "weak_learner", None)
    return with_labels(load(path, weak_learner=None if isinstance(learner, HoeffdingTree) else learner))


def _expect_goes_on(make: Make, copier: Callable[[Any], Any], how: str) -> None:
    model = _taught(make)
    feedback = feedback_of(model)
    waiting = [(feedback.answer(model, x)[1], right) for x, right in lessons(model, 5)]
    other = copier(model)
    for kept, right in waiting:
        feedback.teach(model, kept, right)
        feedback.teach(other, kept, right)
    feedback.expect_same_run(
        model, other, lessons(model, _ROUNDS), f"the original and the one that was {how}"
    )


@_check
def check_rows_are_not_kept(make: Make) -> None:
    """A row belongs to the caller: nobody writes on it, and what becomes of it after the answer changes
    nothing."""
    for rows in (lessons, array_lessons):
        model = make()
        other, feedback = copy.deepcopy(model), feedback_of(model)
        for lesson in rows(model, _ROUNDS):
            x, clean = copy.deepcopy(lesson.x), copy.deepcopy(lesson.x)
            (seen, kept), (other_seen, other_kept) = feedback.answer(model, x), feedback.answer(other, clean)
            expect(repr(x) == repr(lesson.x), f"the row {lesson.x!r} was changed into {x!r}")
            expect(
                seen == other_seen,
                f"after rows that were used again it answers {shown(seen)}, after others {shown(other_seen)}",
            )
            if isinstance(feedback, Verdicts):
                _scribble(x)
            feedback.teach(model, kept, lesson.right)
            feedback.teach(other, other_kept, lesson.right)
            _scribble(x)


def _scribble(x: Any) -> None:
    """Use a row for something else."""
    if isinstance(x, dict):
        x.clear()
    else:
        x[:] = -1.0


@_check
def check_each_verdict_counts_once(make: Make) -> None:
    """Verdicts are learned late and in any order; a second one, and one on another booster's decision, is
    refused with a DecisionError."""
    model = make()
    if not isinstance(feedback_of(model), Verdicts):
        return
    heard, decisions = model.verdicts, [model.decide(x) for x, _ in lessons(model, 10)]
    for decision in reversed(decisions):
        model.learn(decision, correct=True)
    expect(model.verdicts == heard + 10, f"10 verdicts were given, and {model.verdicts - heard} are counted")
    before = fingerprint(model)
    _expect_refused(model, decisions[0], "a second verdict")
    stranger = make()
    if stranger.model_id != model.model_id:
        _expect_refused(
            model, stranger.decide(lessons(model, 1)[0].x), "a verdict on another booster's decision"
        )
    expect(fingerprint(model) == before, "a refused verdict has changed the model")


def _expect_refused(model: Any, decision: Any, what: str, told: dict[str, Any] | None = None) -> None:
    try:
        model.learn(decision, **({"correct": False} if told is None else told))
    except DecisionError:
        return
    raise AssertionError(f"{what} was learned")


@_check
def check_rewards_are_heard(make: Make) -> None:
    """A booster that says which `rewards` it takes learns any of them, an end as the verdict that it is; one
    beyond the range, or beside a verdict, is refused with a DecisionError, and nothing has changed."""
    model, other = make(), make()
    if not isinstance(feedback_of(model), Verdicts) or not hasattr(model, "rewards"):
        return
    low, high = model.rewards
    for (x, right), (same, _) in zip(lessons(model, _ROUNDS), lessons(other, _ROUNDS), strict=True):
        decision, twin = model.decide(x), other.decide(same)
        model.learn(decision, reward=high if decision.label == right else low)
        other.learn(twin, correct=twin.label == right)
        if model.seed == other.seed:
            expect(
                decision.probability == twin.probability, "the ends of the range are not learned as verdicts"
            )
    heard, decisions = model.verdicts, [model.decide(x) for x, _ in lessons(model, 5)]
    before = fingerprint(model)
    for told in (
        {"reward": high + (high - low)},
        {"reward": math.nan},
        {"reward": low, "correct": False},
        {},
    ):
        _expect_refused(model, decisions[0], f"learn(decision, **{told})", told)
    expect(fingerprint(model) == before, "a refused reward has changed the model")
    for i, decision in enumerate(decisions):
        model.learn(decision, reward=low + (high - low) * i / 5)
    expect(model.verdicts == heard + 5, f"5 rewards were given, and {model.verdicts - heard} are counted")


@_check
def check_features_come_and_go(make: Make) -> None:
    """Features and values may join and vanish at any time, and older decisions can still be learned; where
    features are declared, one that is not is refused with a FeatureError, and nothing has changed."""
    model = make()
    feedback = feedback_of(model)
    usual = lessons(model, _ROUNDS)
    waiting = [(feedback.answer(model, x)[1], right) for x, right in usual[:5]]
    feedback.rounds(model, usual)
    if getattr(getattr(model, "schema", None), "declared", False):
        _expect_no_stranger(model, usual[0].x)
    else:
        feedback.rounds(
            model,
            [
                Lesson({**x, "weight": float(t % 3), "shape": "round"}, right)
                for t, (x, right) in enumerate(usual)
            ],
        )
        feedback.rounds(
            model,
            [
                Lesson({"weight": float(t % 4), "shape": f"shape {t}"}, right)
                for t, (_, right) in enumerate(usual)
            ],
        )
    for kept, right in waiting:
        feedback.teach(model, kept, right)
    feedback.expect_sound(model, {})
    feedback.expect_sound(model, usual[0].x)


def _expect_no_stranger(model: Any, x: dict[Any, Any]) -> None:
    before = fingerprint(model)
    try:
        feedback_of(model).answer(model, {**x, "a feature that nobody has declared": 1.0})
    except FeatureError:
        expect(fingerprint(model) == before, "a refused row has changed the model")
        return
    raise AssertionError("a feature that is not declared was taken")


@_check
def check_words_are_learned_or_refused(make: Make) -> None:
    """Texts and lists of words are learned, and kept in pickles; or they are refused with a FeatureError, and
    nothing has changed."""
    model = _taught(make)
    feedback, rows, usual = feedback_of(model), word_lessons(model, _ROUNDS), lessons(model, 1)[0].x
    before = fingerprint(model)
    try:
        feedback.answer(model, rows[0].x)
    except FeatureError:
        expect(fingerprint(model) == before, "a refused row has changed the model")
        feedback.expect_sound(model, usual)
        return
    feedback.rounds(model, rows)
    other = pickle.loads(pickle.dumps(model))
    feedback.expect_same_run(model, other, rows, "the original and the one that was pickled")
    feedback.expect_sound(model, rows[0].x)
    feedback.expect_sound(model, usual)


@_check
def check_memory_is_bounded(make: Make) -> None:
    """Nothing is kept of each round: over the same few rows again and again a booster stops growing."""
    model = _taught(make)
    feedback, rows = feedback_of(model), lessons(model, _STRETCH)
    expect_bounded(model, lambda: feedback.rounds(model, rows), _STRETCH)


@_check
def check_threads_lose_nothing(make: Make) -> None:
    """Threads may share a booster: each round has a number of its own, each verdict counts, and no answer
    mixes two states."""
    model = make()
    feedback, rows = feedback_of(model), lessons(model, _ROUNDS_A_THREAD)
    feedback.rounds(model, rows[:1])
    first, heard = model.rounds, getattr(model, "verdicts", 0)
    answers: list[Any] = []

    def visit() -> None:
        for lesson in rows:
            _, kept = feedback.answer(model, lesson.x)
            feedback.teach(model, kept, lesson.right)
            answers.append(kept)

    run_together([visit] * _THREADS)
    n = _THREADS * len(rows)
    expect(
        model.rounds == first + n,
        f"after {n} more rounds of {_THREADS} threads it counts {model.rounds - first}",
    )
    if isinstance(feedback, Verdicts):
        expect(
            model.verdicts == heard + n, f"{n} verdicts were given, and {model.verdicts - heard} are counted"
        )
        numbers = {decision.round for decision in answers}
        expect(
            numbers == set(range(first, first + n)),
            f"{n} decisions of {_THREADS} threads have {len(numbers)} different rounds",
        )
        for decision in answers:
            expect_sound_decision(model, decision)


BOOSTER_CHECKS: tuple[Check, ...] = (
    check_works_before_any_feedback,
    check_asking_teaches_nothing,
    check_same_seed_same_run,
    check_copies_are_independent,
    check_pickles_go_on,
    check_files_go_on,
    check_rows_are_not_kept,
    check_each_verdict_counts_once,
    check_rewards_are_heard,
    check_features_come_and_go,
    check_words_are_learned_or_refused,
    check_memory_is_bounded,
    check_threads_lose_nothing,
)
