"""What a played stream tells: accuracies, curves, and the empirical edges of the learners."""

from __future__ import annotations

import math

import numpy as np
import pytest

from banditboost import Result, play
from banditboost.memo import ROUND, VOTES
from banditboost.theory import empirical_edge
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import play_by_hand
from tests.boosting.streams import KINDS, make_stream
from tests.boosting.twins import ADAPTIVE, ALL_BOOSTERS, DECIDERS, MIXTURES, make_booster
from tests.naive import boosters as naive
from tests.naive import mixture

ROUNDS = 60 if INTERPRETED else 300


def result_of(correct: list[int], greedy: list[int] | None = None) -> Result:
    """A record in which 1 is right in every round."""
    shown = np.array(correct, np.int32)
    return Result(
        ("no", "yes"),
        np.ones(len(shown), np.int64),
        shown,
        shown if greedy is None else np.array(greedy, np.int32),
        0,
        None,
    )


def test_accuracies() -> None:
    result = result_of([1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1], greedy=[1] * 10 + [0])
    assert result.correct.tolist() == [True, False, False, True, True, False, True, True, True, False, True]
    assert result.accuracy == pytest.approx(7 / 11)
    assert result.greedy_accuracy == pytest.approx(10 / 11)
    assert result.explored.tolist() == [
        False,
        True,
        True,
        False,
        False,
        True,
        False,
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("n_rounds", [1, 4, 5, 9, 10, 11, 99, 1000])
def test_last_accuracy_is_of_the_last_fifth(n_rounds: int) -> None:
    correct = (np.arange(n_rounds) * 7 % 3 > 0).astype(int).tolist()
    last = max(1, int(0.2 * n_rounds))
    assert result_of(correct).last_accuracy == pytest.approx(sum(correct[-last:]) / last)


@pytest.mark.parametrize("n_rounds", [1, 7, 50, 101])
@pytest.mark.parametrize("window", [0.01, 0.2, 0.5, 1.0])
def test_curve_is_a_moving_average(n_rounds: int, window: float) -> None:
    correct = (np.arange(n_rounds) * 7 % 3 > 0).astype(int).tolist()
    width = max(1, int(window * n_rounds))
    expected = [sum(correct[t : t + width]) / width for t in range(n_rounds - width + 1)]
    curve = result_of(correct).curve(window)
    assert curve.tolist() == pytest.approx(expected)
    assert len(curve) == n_rounds - width + 1


def test_curve_ends_in_last_accuracy() -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    result = play(make_booster("AdaBandit", 3, 5, schema=stream.schema()), stream.X, stream.y)
    assert result.curve()[-1] == result.last_accuracy
    assert "last_accuracy=" in repr(result)


def test_an_empty_stream_has_no_accuracy() -> None:
    result = result_of([])
    assert math.isnan(result.accuracy)
    assert math.isnan(result.last_accuracy)
    assert math.isnan(result.greedy_accuracy)
    assert "0 rounds" in repr(result)


@pytest.mark.parametrize("name", ALL_BOOSTERS)
def test_fields_agree_with_the_stream(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    model, twin = (make_booster(name, 3, 5, schema=stream.schema()) for _ in range(2))
    result = play(model, stream.X, stream.y)
    expected = play_by_hand(twin, stream.X, stream.y)
    assert result.labels == model.labels
    assert result.y.tolist() == stream.y.tolist()
    assert result.accuracy == np.mean(np.array(expected.shown) == stream.y)
    assert result.greedy_accuracy == np.mean(np.array(expected.greedy) == stream.y)
    assert result.explored.any() == (name in DECIDERS)
    assert result.learned == model.verdicts == ROUNDS


# Empirical edges


def costs_of(memo: np.ndarray, n: int, k: int, y: int) -> tuple[list[float], list[float]]:
    """c^i_{h^i} and c^i_y of all learners, from the votes and alphas of one round: columns of eq. (10)."""
    h, alpha = memo[VOTES : VOTES + n].astype(int).tolist(), memo[VOTES + n : VOTES + 2 * n].tolist()
    suffered, of_truth = [], []
    for vote, sums in zip(h, naive.cumulative_votes(h, alpha, k), strict=False):
        matrix = naive.adaptive_cost_matrix(sums)
        suffered.append(matrix[vote][y])
        of_truth.append(matrix[y][y])
    return suffered, of_truth


def costs_of_mixtures(memo: np.ndarray, n: int, k: int, y: int) -> tuple[list[float], list[float]]:
    """The same with softmax(s)_l - 1{l = y} in the place of eq. (10)."""
    s, suffered, of_truth = [0.0] * k, [], []
    for i in range(n):
        vote, alpha = int(memo[VOTES + i]), memo[VOTES + n + i]
        matrix = mixture.cost_matrix(s)
        suffered.append(matrix[vote][y])
        of_truth.append(matrix[y][y])
        s[vote] += alpha
        s = [math.log(p) for p in mixture.smooth(mixture.softmax(s), int(memo[ROUND]))]
    return suffered, of_truth


@pytest.mark.parametrize("k", [2, 3, 26])
@pytest.mark.parametrize("name", ADAPTIVE)
def test_edges_are_those_of_the_definition(name: str, k: int) -> None:
    stream, n = make_stream("mixed", k, ROUNDS), 4
    model, twin = (make_booster(name, k, n, schema=stream.schema()) for _ in range(2))
    result = play(model, stream.X, stream.y, delay=3)
    memos = play_by_hand(twin, stream.X, stream.y, 3).memos
    costs = costs_of_mixtures if name in MIXTURES else costs_of
    rounds = [costs(memo, n, k, y) for memo, y in zip(memos, stream.y.tolist(), strict=True)]
    for i in range(n):
        expected = empirical_edge(
            [suffered[i] for suffered, _ in rounds], [of_truth[i] for _, of_truth in rounds]
        )
        assert result.edges[i] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ADAPTIVE)
def test_edges_lie_between_minus_one_and_one(name: str, kind: str) -> None:
    stream = make_stream(kind, 5, ROUNDS)
    edges = play(
        make_booster(name, 5, 5 if INTERPRETED else 20, schema=stream.schema()), stream.X, stream.y
    ).edges
    assert (np.abs(edges) <= 1.0).all()


@pytest.mark.parametrize(("answer", "edge"), [(1, 1.0), (0, -1.0)])
def test_edges_of_learners_that_are_always_right_or_always_wrong(answer: int, edge: float) -> None:
    """With two labels nothing lies between.

    (Their alphas tell: they go up or down from the first round on.)
    """

    class Constant:
        def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
            return answer

        def learn(self, x: np.ndarray, label: int, weight: float) -> None:
            pass

    model = make_booster("AdaFull", 2, 3, weak_learner=Constant)
    result = play(model, [{"x": 1.0}] * 30, [1] * 30)
    assert result.edges.tolist() == pytest.approx([edge] * 3, abs=1e-12)
    assert (np.sign(model.alphas) == edge).all()
