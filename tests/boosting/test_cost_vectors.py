"""Line 15 of Algorithm 1: what a learner suffers, and the cost vector that it may take as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import AdaBandit, load, play
from banditboost.baselines import EpsilonGreedyForest
from banditboost.errors import ParameterError
from banditboost.weak_learners.cost_sensitive_linear import CostSensitiveLinear
from tests.boosting.kernels import INTERPRETED, label_probability
from tests.boosting.loops import play_by_hand
from tests.boosting.states import difference
from tests.boosting.streams import make_stream
from tests.boosting.twins import BOOSTERS, GAMMA, Pair, make_booster, make_twin, naive_tree
from tests.naive import boosters as naive

ROUNDS = 40 if INTERPRETED else 200
WITH_COSTS = ["AdaBandit", "OptBandit", "AdaFull", "OptFull"]


class Recorder:
    """Keeps its cost vectors, and predicts what has cost least so far under the sign of the first number."""

    def __init__(self) -> None:
        self.vectors: list[list[float]] = []
        self.sums: dict[bool, list[float]] = {False: [0.0], True: [0.0]}

    def predict(self, x: Any, u: Any = None) -> int:  # noqa: ARG002 (as the twins ask)
        sums = self.sums[bool(x[0] > 0.5)]
        return sums.index(min(sums))

    def learn_costs(self, x: Any, costs: Any) -> None:
        self.vectors.append(list(costs))
        key = bool(x[0] > 0.5)
        old = self.sums[key] + [0.0] * (len(costs) - len(self.sums[key]))
        # Rounded: the twin's costs differ in the last bit, and a tie must not hang on that.
        self.sums[key] = [
            round(float(total + np.float32(cost)), 3) for total, cost in zip(old, costs, strict=True)
        ]


class Heavy:
    """Takes labels and weights only."""

    def __init__(self) -> None:
        self.lessons: list[tuple[int, float]] = []

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return 0

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:  # noqa: ARG002
        self.lessons.append((label, weight))


def vectors_of(model: Any) -> list[list[list[float]]]:
    return [learner.vectors for learner in model._committee.learners]


@pytest.mark.parametrize("lesson", ["ours", "text"])
@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("name", WITH_COSTS)
def test_every_learner_gets_the_vectors_of_the_twin(name: str, k: int, lesson: str) -> None:
    """Unclipped, whatever the lesson for others is."""
    stream, options = make_stream("numeric", k, ROUNDS), {"lesson": lesson, "clip": 0.4}
    booster = make_booster(name, k, 4, weak_learner=Recorder, schema=stream.schema(), **options)
    pair = Pair(name, booster, make_twin(name, k, 4, lambda number, k: Recorder(), **options))  # noqa: ARG005
    for x, y in zip(stream.X, stream.y.tolist(), strict=True):
        pair.step(x, x.tolist(), y)
    for vectors, twin in zip(vectors_of(booster), pair.twin.learners, strict=True):
        assert len(vectors) == ROUNDS
        np.testing.assert_allclose(vectors, twin.vectors, rtol=1e-9, atol=1e-9)
    assert booster._scratch.suffered.tolist() == pytest.approx(pair.twin.suffered, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", ["MixFull", "MixBandit"])
def test_learners_of_mixtures_get_vectors_too(name: str) -> None:
    """k / 2 times C[l, y] = softmax(s)_l - 1{l = y}: nothing is voted before the first learner."""
    model = getattr(banditboost, name)(range(4), n_learners=3, weak_learner=Recorder, seed=5)
    if name == "MixFull":
        model.learn_one([1.0], 2)
        expected = [2 * (0.25 - (label == 2)) for label in range(4)]
    else:
        decision = model.decide([1.0])
        model.learn(decision, True)
        lhat = naive.estimate_4(4, decision.greedy, decision.label, decision.probability, correct=True)
        right = [1 - loss for loss in lhat]
        expected = [2 * (0.25 * sum(right) - one) for one in right]
    vectors = vectors_of(model)
    assert vectors[0][0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert [len(learned) for learned in vectors] == [1, 1, 1]
    assert model._scratch.suffered[0] == pytest.approx(vectors[0][0][0])


class Fixed:
    """Always votes for one label."""

    def __init__(self, label: int) -> None:
        self.label = label
        self.costs: np.ndarray | None = None

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return self.label

    def learn_costs(self, x: np.ndarray, costs: np.ndarray) -> None:  # noqa: ARG002
        self.costs = costs


def handed_out(name: str, votes: list[int], alphas: list[float], seed: int, y: int) -> tuple[Any, np.ndarray]:
    """A decision of a model whose learners vote so, and all vectors of its verdict."""
    labels = iter(votes)
    model = make_booster(
        name, 3, len(votes), weak_learner=lambda: Fixed(next(labels)), exploration=0.4, seed=seed
    )
    if name == "AdaBandit":
        model._weights[: len(votes)] = alphas
    decision = model.decide({"x": 1.0})
    model.learn(decision, decision.label == y)
    return decision, np.array([learner.costs for learner in model._committee.learners])


@pytest.mark.parametrize("y", range(3))
@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit"])
def test_mean_of_the_vectors_is_the_column_of_the_right_label(name: str, y: int) -> None:
    """Over the draws of the shown label, all enumerated, chat is column y of C, for every learner."""
    votes, alphas, k = [2, 0, 2, 1], [0.7, -0.4, 1.2, 0.3], 3
    by_draw: dict[tuple[int, int], np.ndarray] = {}  # greedy and shown label -> vectors
    for seed in range(60):
        decision, vectors = handed_out(name, votes, alphas, seed, y)
        by_draw[decision.greedy, decision.label] = vectors
    greedy = next(g for g, _ in by_draw if all((g, shown) in by_draw for shown in range(k)))
    mean = sum(label_probability(shown, greedy, 0.4, k) * by_draw[greedy, shown] for shown in range(k))
    sums = naive.cumulative_votes(votes, alphas if name == "AdaBandit" else [1.0] * 4, k)
    for i in range(4):
        matrix = (
            naive.adaptive_cost_matrix(sums[i])
            if name == "AdaBandit"
            else naive.optimal_cost_matrix([int(s) for s in sums[i]], 3 - i, GAMMA)
        )
        np.testing.assert_allclose(mean[i], [row[y] for row in matrix], rtol=0.0, atol=1e-12)


def test_a_label_that_joins_makes_the_vector_longer() -> None:
    model = AdaBandit(["a", "b"], n_learners=2, weak_learner=Recorder, exploration=0.5, seed=1)
    early = model.decide({"n": 1.0})
    model.learn(model.decide({"n": 1.0}), correct=False)
    model.add_label("c")
    model.learn(early, correct=True)
    model.learn(model.decide({"n": 1.0}), correct=True)
    assert [[len(vector) for vector in vectors] for vectors in vectors_of(model)] == [[2, 3, 3]] * 2


@pytest.mark.parametrize("name", WITH_COSTS)
def test_kinds_of_learners_may_be_mixed(name: str) -> None:
    """Those without `learn_costs` are taught as ever."""
    stream = make_stream("numeric", 3, 30)
    kinds = iter([Recorder, Heavy, Recorder])
    mixed = make_booster(name, 3, 3, weak_learner=lambda: next(kinds)(), schema=stream.schema())
    play(mixed, stream.X, stream.y)
    first, second, third = mixed._committee.learners
    assert len(first.vectors) == len(third.vectors) == 30
    assert second.lessons
    assert all(label in range(3) and weight > 0.0 for label, weight in second.lessons)


def test_a_vector_is_the_learners_own() -> None:
    """It may be kept, and written on: no other learner sees that."""

    class Vandal(Recorder):
        def learn_costs(self, x: np.ndarray, costs: np.ndarray) -> None:
            super().learn_costs(x, costs)
            costs[:] = np.nan

    stream = make_stream("numeric", 3, 40)
    one, other = (make_booster("OptBandit", 3, 3, weak_learner=kind) for kind in (Recorder, Vandal))
    shown = [play_by_hand(model, stream.X, stream.y).shown for model in (one, other)]
    assert shown[0] == shown[1]
    assert vectors_of(one) == vectors_of(other)


@pytest.mark.parametrize("make", [lambda **a: make_booster("BinBandit", 3, 2, **a), EpsilonGreedyForest])
def test_a_learner_of_costs_alone_is_refused_without_cost_vectors(make: Any) -> None:
    labels = [] if make is not EpsilonGreedyForest else [["a", "b"]]
    with pytest.raises(ParameterError, match="no cost vectors for learn_costs; give a HoeffdingTree"):
        make(*labels, weak_learner=Recorder())


@pytest.mark.parametrize("name", BOOSTERS)
def test_linear_learner_is_boosted_by_all(name: str) -> None:
    """BinBandit teaches it by label and weight."""
    stream = make_stream("numeric", 3, 600)
    model = make_booster(
        name, 3, 4, weak_learner=CostSensitiveLinear(stream.schema()), schema=stream.schema()
    )
    assert play(model, stream.X, stream.y).last_accuracy > 0.5


@pytest.mark.parametrize("name", WITH_COSTS)
def test_saved_and_loaded_it_goes_on(name: str, tmp_path: Path) -> None:
    stream = make_stream("mixed", 3, 60)
    learner = CostSensitiveLinear(stream.schema(), ridge=2.0, clip=None)
    model = make_booster(name, 3, 2, weak_learner=learner, schema=stream.schema())
    play(model, stream.X[:40], stream.y[:40])
    model.save(tmp_path / "model.bb")
    copy = load(tmp_path / "model.bb", weak_learner=CostSensitiveLinear)
    shown = [play(one, stream.X[40:], stream.y[40:]).shown.tolist() for one in (model, copy)]
    assert shown[0] == shown[1]
    assert [one.to_dict()["clip"] for one in copy._committee.learners] == [None, None]
    weights = [[one._weights.tobytes() for one in each._committee.learners] for each in (model, copy)]
    assert weights[0] == weights[1]


class Moody(Recorder):
    """Fails when it is told to."""

    fails = False

    def learn_costs(self, x: Any, costs: Any) -> None:
        if Moody.fails:
            raise RuntimeError("not today")
        super().learn_costs(x, costs)


@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit"])
def test_what_a_learner_failed_to_learn_was_not_heard(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = make_stream("numeric", 3, 12)
    model, spared = (make_booster(name, 3, 3, weak_learner=Moody) for _ in range(2))
    for x, y in zip(stream.X, stream.y.tolist(), strict=True):
        decision = model.decide(x)
        monkeypatch.setattr(Moody, "fails", True)
        with pytest.raises(RuntimeError, match="not today"):
            model.learn(decision, decision.label == y)
        monkeypatch.setattr(Moody, "fails", False)
        model.learn(decision, decision.label == y)
        decision = spared.decide(x)
        spared.learn(decision, decision.label == y)
    assert difference(model, spared) == []


# What is suffered, with trees


def twin_of_trees(name: str, k: int, stream: Any) -> Any:
    kinds, n_values = ["numeric"] * stream.X.shape[1], [0] * stream.X.shape[1]
    return make_twin(name, k, 4, lambda number, k: naive_tree(number, k, kinds, n_values))


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit"])
def test_suffered_losses_are_those_of_the_twin(name: str, delay: int) -> None:
    """Verdicts that come after the end of the stream do not count."""
    stream = make_stream("numeric", 3, ROUNDS)
    result = play(make_booster(name, 3, 4, schema=stream.schema()), stream.X, stream.y, delay=delay)
    twin, told = twin_of_trees(name, 3, stream), []
    for t, (x, y) in enumerate(zip(stream.X.tolist(), stream.y.tolist(), strict=True)):
        told.append((twin.decide(x), x, y))
        if t >= delay:
            due, row, right = told[t - delay]
            twin.learn(due, row, due.ytilde == right)
    assert result.learned == ROUNDS - delay
    assert result.suffered.tolist() == pytest.approx(twin.suffered, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", ["AdaFull", "OptFull"])
def test_suffered_losses_of_full_information_are_those_of_the_twin(name: str) -> None:
    stream = make_stream("numeric", 3, ROUNDS)
    result = play(make_booster(name, 3, 4, schema=stream.schema()), stream.X, stream.y)
    twin = twin_of_trees(name, 3, stream)
    for x, y in zip(stream.X.tolist(), stream.y.tolist(), strict=True):
        twin.step(x, y)
    assert result.suffered.tolist() == pytest.approx(twin.suffered, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", ["AdaBandit", "OptFull"])
def test_suffered_losses_add_up(name: str) -> None:
    """Two halves of a stream suffer what the whole does, features that join on the way included."""
    stream = make_stream("numeric", 3, 60)
    rows: list[dict[str, float]] = [{"a": float(x[0])} for x in stream.X]
    for row in rows[30:]:
        row["b"] = 1.0
    one, other = (make_booster(name, 3, 3) for _ in range(2))
    whole = play(one, rows, stream.y).suffered
    halves = [play(other, rows[:30], stream.y[:30]).suffered, play(other, rows[30:], stream.y[30:]).suffered]
    assert whole.tolist() == pytest.approx((halves[0] + halves[1]).tolist(), rel=1e-12)
    assert abs(whole).min() > 0.0


@pytest.mark.parametrize("name", ["BinBandit", "GapBoost"])
def test_without_cost_vectors_nothing_is_suffered(name: str) -> None:
    stream = make_stream("numeric", 3, 20)
    assert play(make_booster(name, 3, 2), stream.X, stream.y).suffered is None
