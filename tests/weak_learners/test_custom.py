"""Weak learners written in Python: who may be one, and what a booster promises them.

And the parameters of the built-in one.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, AdaFull, BinBandit, HoeffdingTree, OptBandit, play
from banditboost.baselines import EpsilonGreedyForest
from banditboost.errors import ParameterError

LABELS = ["a", "b", "c"]


class Constant:
    """Predicts what it is told to."""

    def __init__(self, label: Any = 0) -> None:
        self.label = label
        self.lessons: list[tuple[list[float], int, float]] = []

    def predict(self, x: np.ndarray) -> Any:  # noqa: ARG002
        return self.label

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        self.lessons.append((x.tolist(), label, weight))


class Counter:
    """Remembers the weight of every label for every value of the first feature."""

    def __init__(self) -> None:
        self.weights: defaultdict[tuple[float, int], float] = defaultdict(float)

    def predict(self, x: np.ndarray) -> int:
        return max(range(len(LABELS)), key=lambda label: self.weights[float(x[0]), label])

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        self.weights[float(x[0]), label] += weight


class Nearest:
    """Keeps the rows it was given, as they are, and answers as the nearest of them."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.labels: list[int] = []

    def predict(self, x: np.ndarray) -> int:
        if not self.rows:
            return 0
        return self.labels[int(np.argmin([np.abs(row - x).sum() for row in self.rows]))]

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:  # noqa: ARG002
        self.rows.append(x)
        self.labels.append(label)


class Vandal(Constant):
    """Writes on the rows it is shown."""

    def predict(self, x: np.ndarray) -> int:
        self.scribble(x)
        return 0

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        super().learn(x, label, weight)
        self.scribble(x)

    @staticmethod
    def scribble(x: np.ndarray) -> None:
        try:
            x[:] = -1.0
        except ValueError:
            return  # a row that cannot be written on is as good as a copy


def learners_of(model: Any) -> list[Any]:
    return list(model._committee.learners)


def stream(n: int) -> tuple[list[dict[str, float]], list[str]]:
    draw = np.random.default_rng(1)
    numbers = draw.integers(0, 3, n)
    return [{"n": float(number), "m": float(draw.normal())} for number in numbers], [
        LABELS[number] for number in numbers
    ]


# Who may be a weak learner


def test_an_instance_is_copied_for_each_learner() -> None:
    given = Constant()
    model = AdaBandit(LABELS, n_learners=3, weak_learner=given, seed=1)
    assert len({id(learner) for learner in [given, *learners_of(model)]}) == 4
    for _ in range(5):
        model.learn(model.decide({"n": 1.0}), correct=False)
    lists = [learner.lessons for learner in learners_of(model)]
    assert len({id(lessons) for lessons in lists}) == 3, "deep copies"
    assert any(lists)
    assert given.lessons == []


def test_a_class_or_a_function_is_called_for_each_learner() -> None:
    numbers = itertools.count()
    by_class = AdaBandit(LABELS, n_learners=3, weak_learner=Constant, seed=1)
    by_function = AdaBandit(LABELS, n_learners=3, weak_learner=lambda: Constant(next(numbers)), seed=1)
    assert [learner.label for learner in learners_of(by_class)] == [0, 0, 0]
    assert [learner.label for learner in learners_of(by_function)] == [0, 1, 2]


class OnlyPredict:
    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return 0


@pytest.mark.parametrize(
    "weak_learner", [5, "tree", OnlyPredict(), OnlyPredict, lambda: None, HoeffdingTree, object()]
)
def test_what_cannot_predict_and_learn_is_refused(weak_learner: Any) -> None:
    with pytest.raises(
        ParameterError, match=r"weak_learner gave .*, which lacks predict.*; give a HoeffdingTree"
    ):
        AdaBandit(LABELS, weak_learner=weak_learner)


@pytest.mark.parametrize("label", [-1, 3, 10**6])
def test_a_label_out_of_range_is_refused(label: int) -> None:
    model = AdaBandit(LABELS, weak_learner=Constant(label), seed=1)
    with pytest.raises(
        ParameterError, match=rf"weak learner 0 predicted {label}; it must predict a label index from 0 to 2"
    ):
        model.decide({"n": 1.0})
    assert model.rounds == 0


@pytest.mark.parametrize(
    "answer", [0.5, 1.0, np.float64(1), math.nan, math.inf, None, "a", "1", [1], b"1"], ids=repr
)
def test_an_answer_that_is_no_label_index_is_refused(answer: Any) -> None:
    model = AdaBandit(LABELS, weak_learner=Constant(answer), seed=1)
    with pytest.raises(
        ParameterError, match=r"weak learner 0 predicted .*it must predict a label index from 0 to 2"
    ):
        model.decide({"n": 1.0})
    assert model.rounds == 0


@pytest.mark.parametrize("answer", [2, np.int64(2), np.uint8(2), np.array(2)], ids=repr)
def test_any_kind_of_whole_number_is_an_answer(answer: Any) -> None:
    model = AdaBandit(LABELS, n_learners=2, weak_learner=Constant(answer), exploration=0.5, seed=1)
    for _ in range(30):
        decision = model.decide({"n": 1.0})
        model.learn(decision, decision.label == "c")
    assert model.decide({"n": 1.0}).greedy == "c"


# What a booster promises


@pytest.mark.parametrize("booster", [AdaBandit, OptBandit])
def test_a_python_learner_is_boosted(booster: Any) -> None:
    model = booster(LABELS, n_learners=5, weak_learner=Counter, exploration=0.1, seed=3)
    assert play(model, *stream(400)).last_accuracy > 0.8


def test_full_information_and_binary_boosters_take_python_learners_too() -> None:
    full = AdaFull(LABELS, n_learners=5, weak_learner=Counter, seed=3)
    assert play(full, *stream(200)).last_accuracy > 0.9
    binary = BinBandit(LABELS, n_learners=2, weak_learner=lambda: Constant(1), seed=3)
    play(binary, *stream(50))
    assert {label for learner in learners_of(binary) for _, label, _ in learner.lessons} == {0, 1}


@pytest.mark.parametrize("weak_learner", [Counter, Nearest])
@pytest.mark.parametrize("delay", [0, 3])
def test_play_equals_decide_and_learn(weak_learner: Any, delay: int) -> None:
    rows, right = stream(120)
    played = AdaBandit(LABELS, n_learners=3, weak_learner=weak_learner, exploration=0.2, seed=5)
    decided = AdaBandit(LABELS, n_learners=3, weak_learner=weak_learner, exploration=0.2, seed=5)
    result = play(played, rows, right, delay=delay)
    open_decisions = []
    for t, row in enumerate(rows):
        open_decisions.append(decided.decide(row))
        assert open_decisions[-1].label == LABELS[result.shown[t]], f"round {t}"
        if t >= delay:
            decided.learn(open_decisions[t - delay], open_decisions[t - delay].label == right[t - delay])
    assert played.alphas.tolist() == decided.alphas.tolist()


@pytest.mark.parametrize("by", ["decide", "play"])
def test_a_learner_that_writes_on_its_row_harms_nobody(by: str) -> None:
    model = AdaBandit(LABELS, n_learners=3, weak_learner=Vandal, exploration=0.5, seed=2)
    rows, right = stream(20)
    if by == "play":
        play(model, rows, right)
    else:
        for row, label in zip(rows, right, strict=True):
            decision = model.decide(row)
            model.learn(decision, decision.label == label)
    given = {tuple(row.values()) for row in rows}
    seen = {tuple(x) for learner in learners_of(model) for x, _, _ in learner.lessons}
    assert seen
    assert seen <= given


def test_rows_become_longer_when_features_join() -> None:
    model = AdaBandit(LABELS, n_learners=2, weak_learner=Constant, exploration=0.9, seed=2)
    early = model.decide({"n": 1.0})
    late = model.decide({"n": 2.0, "s": "x"})
    model.learn(late, correct=True)
    model.learn(early, correct=True)
    lengths = [len(x) for learner in learners_of(model) for x, _, _ in learner.lessons]
    assert set(lengths) == {2}


def test_weights_are_positive_and_labels_in_range() -> None:
    model = AdaBandit(LABELS, n_learners=4, weak_learner=Constant, exploration=0.3, seed=2)
    play(model, *stream(50))
    lessons = [lesson for learner in learners_of(model) for lesson in learner.lessons]
    assert lessons
    assert all(label in (0, 1, 2) and 1e-10 <= weight < math.inf for _, label, weight in lessons)


def test_memory_usage_asks_the_learners() -> None:
    class Heavy(Constant):
        memory_usage = 10**6

    assert AdaBandit(LABELS, n_learners=3, weak_learner=Heavy()).memory_usage > 3 * 10**6
    assert 0 < AdaBandit(LABELS, n_learners=3, weak_learner=Constant()).memory_usage < 3 * 10**4


# The built-in weak learner's parameters

GOOD_RANGES = [5, 0.5, (0.1, 0.2), (0.2, 0.2), np.float64(0.5), np.float32(0.5), (np.float64(0.1), 1)]
BAD_RANGES = [
    0, -1, math.nan, math.inf, True, "5", None, [], (), (1,), (1, 2, 3), (0.2, 0.1), [0.1, 0.2], (0, 1),
    (0.1, math.nan), ("a", "b"),
    1e13, 1j,
]  # fmt: skip


@pytest.mark.parametrize("name", ["grace_period", "split_confidence", "tie_threshold"])
@pytest.mark.parametrize("value", BAD_RANGES, ids=repr)
def test_bad_ranges_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError) as refusal:
        HoeffdingTree(**{name: value})
    message = str(refusal.value)
    assert message.startswith(f"{name} is {value!r}; give a number in (0")
    assert "or a pair (low, high)" in message


@pytest.mark.parametrize("value", GOOD_RANGES[1:], ids=repr)
@pytest.mark.parametrize("name", ["grace_period", "split_confidence", "tie_threshold"])
def test_good_ranges_are_taken(name: str, value: Any) -> None:
    assert all(low <= high for low, high in HoeffdingTree(**{name: value}).ranges())


@pytest.mark.parametrize("value", [5, np.int64(5), np.uint8(5)], ids=repr)
def test_whole_numbers_are_numbers(value: Any) -> None:
    assert HoeffdingTree(grace_period=value).ranges()[0] == (5.0, 5.0)


@pytest.mark.parametrize(
    "value", [-0.1, 0.5, 1, math.nan, True, "0.1", None, (0.1, 0.2), Decimal("0.1")], ids=repr
)
def test_bad_branch_fractions_are_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"min_branch_fraction is .*; give a number in \[0, 0.5\)"):
        HoeffdingTree(min_branch_fraction=value)


@pytest.mark.parametrize("value", [0, -1, 2.0, True, math.nan, "80", (5, 20)], ids=repr)
def test_bad_numbers_of_columns_are_refused(value: Any) -> None:
    with pytest.raises(
        ParameterError, match=r"max_columns is .*; give a whole number of at least 1, or None for all"
    ):
        HoeffdingTree(max_columns=value)
    assert HoeffdingTree(max_columns=None) != HoeffdingTree(max_columns=10**30) != HoeffdingTree()


@pytest.mark.parametrize("value", ["Majority", "nb", "", None, 0, ["majority"]], ids=repr)
def test_bad_leaf_predictions_are_refused(value: Any) -> None:
    with pytest.raises(
        ParameterError, match=r"leaf_prediction is .*; it must be one of majority, naive_bayes, adaptive"
    ):
        HoeffdingTree(leaf_prediction=value)


def test_each_tree_draws_its_own_parameters_from_the_ranges() -> None:
    tree = HoeffdingTree(grace_period=(5, 20), split_confidence=(0.01, 0.9), tie_threshold=(0.01, 0.9))
    committee: Any = AdaBandit(LABELS, n_learners=50, weak_learner=tree, seed=4)._committee
    for name, low, high in [
        ("grace_period", 5, 20),
        ("tie_threshold", 0.01, 0.9),
        ("log_confidence", -math.log(0.9), -math.log(0.01)),
    ]:
        drawn = committee.forest.trees[name]
        assert low <= drawn.min() < low + 0.2 * (high - low)
        assert len(np.unique(drawn)) == 50
        assert drawn.max() <= high


@pytest.mark.parametrize("booster", [AdaBandit, BinBandit, EpsilonGreedyForest])
def test_what_is_no_weak_learner_is_refused_when_the_booster_is_made(booster: Any) -> None:
    """Also by boosters that make their learners with the first verdict."""
    with pytest.raises(ParameterError, match=r"^weak_learner gave \[1.5\], which lacks predict"):
        booster(LABELS, weak_learner=[1.5])
