"""Every compiled booster against its slow twin, decision for decision, alpha for alpha, leaf for leaf."""

from __future__ import annotations

import math
from typing import Any

import pytest

from banditboost import schedules
from banditboost.schedules import Schedule
from tests.boosting.kernels import INTERPRETED
from tests.boosting.streams import KINDS, Stream, growing_rows, make_stream
from tests.boosting.twins import BANDITS, BOOSTERS, MIXTURES, Pair, make_booster, make_twin, naive_tree
from tests.naive import boosters as naive
from tests.naive import sharing as naive_sharing

ROUNDS = 40 if INTERPRETED else 300  # interpreted, a round takes as long as the twin's
SIZES = [(2, 5), (26, 5)] if INTERPRETED else [(k, n) for k in (2, 3, 26) for n in (1, 5, 20)]
ALL_SIZES = [(k, n) for k in (2, 3, 26) for n in (1, 5, 20)]


def make_pair(
    name: str, k: int, n_learners: int, stream: Stream, *, leaf_prediction: str = "majority", **options: Any
) -> Pair:
    booster = make_booster(
        name, k, n_learners, schema=stream.schema(), leaf_prediction=leaf_prediction, **options
    )
    kinds, n_values = stream.kinds, stream.n_values
    twin = make_twin(
        name,
        k,
        n_learners,
        lambda number, k: naive_tree(number, k, kinds, n_values, leaf_prediction),
        **options,
    )
    return Pair(name, booster, twin)


def run(name: str, kind: str, k: int, n_learners: int, n_rounds: int, **options: Any) -> None:
    """Play both side by side, and compare what they have learned."""
    stream = make_stream(kind, k, n_rounds)
    pair = make_pair(name, k, n_learners, stream, **options)
    pair.play(stream)
    pair.compare_state()


@pytest.mark.parametrize(("k", "n_learners"), SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BOOSTERS)
def test_booster_equals_its_twin(name: str, kind: str, k: int, n_learners: int) -> None:
    run(name, kind, k, n_learners, ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n_learners"), ALL_SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in BOOSTERS if name not in MIXTURES])
def test_booster_equals_its_twin_for_long(name: str, kind: str, k: int, n_learners: int) -> None:
    run(name, kind, k, n_learners, 2_000)


@pytest.mark.parametrize("leaf_prediction", ["naive_bayes", "adaptive"])
@pytest.mark.parametrize("kind", ["mixed"] if INTERPRETED else KINDS)
@pytest.mark.parametrize("name", BOOSTERS)
def test_other_leaf_predictions(name: str, kind: str, leaf_prediction: str) -> None:
    run(name, kind, 3, 5, ROUNDS, leaf_prediction=leaf_prediction)


@pytest.mark.parametrize(
    "options",
    [{"clip": 1.5}, {"clip": 100.0}, {"importance_scale": 0.3}, {"clip": 0.7, "importance_scale": 12.0}],
    ids=str,
)
@pytest.mark.parametrize("name", BOOSTERS)
def test_clip_and_scale(name: str, options: dict[str, float]) -> None:
    run(name, "mixed", 3, 5, ROUNDS, **options)


@pytest.mark.parametrize("exploration", [0.05, 0.6])
@pytest.mark.parametrize("k", [3, 8])
@pytest.mark.parametrize("lesson", ["differences", "text"])
@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit", "MixBandit"])
def test_the_lesson_of_the_text(name: str, lesson: str, k: int, exploration: float) -> None:
    """Explorations that hit are what makes the difference."""
    run(name, "mixed", k, 5, ROUNDS, lesson=lesson, exploration=exploration)


@pytest.mark.parametrize("options", [{}, {"clip": 0.4}], ids=str)
@pytest.mark.parametrize("name", ["AdaFull", "OptFull", "MixFull"])
def test_the_lesson_of_the_text_with_full_information(name: str, options: dict[str, float]) -> None:
    run(name, "mixed", 5, 5, ROUNDS, lesson="text", **options)


@pytest.mark.parametrize("k", [2, 3, 26])
@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit", "MixBandit"])
def test_the_simple_estimator(name: str, k: int) -> None:
    run(name, "mixed", k, 5, ROUNDS, estimator=3)


@pytest.mark.parametrize("exploration", [0.001, 0.7])
@pytest.mark.parametrize("name", BANDITS)
def test_little_and_much_exploration(name: str, exploration: float) -> None:
    run(name, "mixed", 3, 5, ROUNDS, exploration=exploration)


# Verdicts that come late


@pytest.mark.parametrize("k", [2, 3, 26])
@pytest.mark.parametrize("name", BANDITS)
def test_verdicts_in_any_order(name: str, k: int) -> None:
    stream = make_stream("mixed", k, ROUNDS)
    pair = make_pair(name, k, 5, stream)
    pair.play_late(stream, seed=k)
    pair.compare_state()


SCHEDULES = {
    "decaying": lambda: naive.Falling(2.0, 0.4, 0.01, 0.6),
    "adaptive": lambda: naive.ByError(0.8, 40.0, 0.01, 0.6),
    "divided": lambda: naive.ByVotes(0.01, 0.6),
}
GIVEN: dict[str, Schedule] = {
    "decaying": schedules.Decaying(scale=2.0, power=0.4, least=0.01, most=0.6),
    "adaptive": schedules.Adaptive(scale=0.8, memory=40.0, least=0.01, most=0.6),
    "divided": schedules.Divided(least=0.01, most=0.6),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", BANDITS)
def test_exploration_that_is_not_constant(name: str, schedule: str) -> None:
    if (name, schedule) == ("BinBandit", "divided"):
        pytest.skip("its learners do not vote")
    stream = make_stream("mixed", 5, ROUNDS)
    booster = make_booster(name, 5, 7, schema=stream.schema(), exploration=GIVEN[schedule])
    kinds, n_values = stream.kinds, stream.n_values
    twin = make_twin(
        name,
        5,
        7,
        lambda number, k: naive_tree(number, k, kinds, n_values),
        exploration=SCHEDULES[schedule](),
    )
    pair = Pair(name, booster, twin)
    pair.play(stream)
    pair.compare_state()


# Features and values that join


class Coder:
    """An open schema in a few lines: features and values are numbered as they come."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.n_values: list[int] = []
        self._columns: dict[str, tuple[int, naive_sharing.Column]] = {}

    def code(self, row: dict[str, Any]) -> list[float]:
        coded = {}
        for name, value in row.items():
            if value is not None:
                column, values = self._column(name, value)
                if isinstance(value, float):
                    coded[column] = value
                else:
                    place = values.see(value)
                    coded[column] = float(
                        2**32 + naive_sharing.number(name, value) if place is None else place
                    )
                    self.n_values[column] = len(values.own)
        return [coded.get(column, math.nan) for column in range(len(self.kinds))]

    def _column(self, name: str, value: Any) -> tuple[int, Any]:
        if name not in self._columns:
            self._columns[name] = (len(self.kinds), naive_sharing.Column())
            self.kinds.append("numeric" if isinstance(value, float) else "nominal")
            self.n_values.append(0)
        return self._columns[name]


@pytest.mark.parametrize("leaf_prediction", ["majority", "adaptive"])
@pytest.mark.parametrize("name", BOOSTERS)
def test_features_and_values_join(name: str, leaf_prediction: str) -> None:
    stream, coder = make_stream("mixed", 3, ROUNDS), Coder()
    booster = make_booster(name, 3, 5, leaf_prediction=leaf_prediction)
    twin = make_twin(
        name, 3, 5, lambda number, k: naive_tree(number, k, coder.kinds, coder.n_values, leaf_prediction)
    )
    pair = Pair(name, booster, twin)
    for row, y in zip(growing_rows(stream), stream.y.tolist(), strict=True):
        pair.step(row, coder.code(row), y)
    pair.compare_state()
    assert booster.schema.n_values() == coder.n_values
