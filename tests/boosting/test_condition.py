"""The weak learning condition of Definitions 3.1 and 3.2, on streams that were played."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from banditboost import baselines, play
from banditboost.errors import ParameterError
from banditboost.memo import VOTES
from banditboost.theory import WeakLearningCondition
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import play_by_hand
from tests.boosting.streams import make_stream
from tests.boosting.twins import ADAPTIVE, GAMMA, make_booster
from tests.naive import boosters as naive
from tests.naive.potential import phi as naive_phi
from tests.naive.potential import u_gamma

ROUNDS = 30 if INTERPRETED else 120
WITH_COSTS = ["AdaBandit", "OptBandit", "AdaFull", "OptFull"]
N = 4


def shifted_costs(name: str, memo: np.ndarray, k: int, y: int) -> list[tuple[int, list[float]]]:
    """h and d of every learner in one round, from whole matrices."""
    h, alpha = memo[VOTES : VOTES + N].astype(int).tolist(), memo[VOTES + N : VOTES + 2 * N].tolist()
    found = []
    for i, sums in enumerate(naive.cumulative_votes(h, alpha, k)[:N]):
        if name in ADAPTIVE:
            matrix = naive.adaptive_cost_matrix(sums)
        else:
            matrix = naive.optimal_cost_matrix([int(s) for s in sums], N - 1 - i, GAMMA)
        found.append((h[i], naive.shifted_costs(matrix, y)))
    return found


def played(name: str, k: int) -> tuple[Any, list[list[tuple[int, list[float]]]], list[int]]:
    stream = make_stream("mixed", k, ROUNDS)
    model, twin = (make_booster(name, k, N, schema=stream.schema()) for _ in range(2))
    result = play(model, stream.X, stream.y, delay=2, condition=True)
    memos, right = play_by_hand(twin, stream.X, stream.y, 2).memos, stream.y.tolist()
    return result, [shifted_costs(name, memo, k, y) for memo, y in zip(memos, right, strict=True)], right


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", WITH_COSTS)
def test_sums_are_those_of_whole_cost_matrices(name: str, k: int) -> None:
    result, rounds, _ = played(name, k)
    condition = result.condition
    for i in range(N):
        mine = [learners[i] for learners in rounds]
        assert condition.losses[i] == pytest.approx(sum(d[h] for h, d in mine), rel=1e-9, abs=1e-9)
        assert condition.weights[i] == pytest.approx(sum(sum(d) for _, d in mine), rel=1e-9, abs=1e-9)
        assert condition.largest_weights[i] == pytest.approx(max(sum(d) for _, d in mine), rel=1e-9)


@pytest.mark.parametrize("gamma", [-0.3, 0.0, 0.1, 0.7, 1.0])
@pytest.mark.parametrize("name", WITH_COSTS)
def test_excess_is_that_of_the_definition(name: str, gamma: float) -> None:
    """sum_t w_t c_t[h_t] <= sum_t w_t c_t . u^y_gamma + S, with weights w in [0, 1] and |c|_1 = 1."""
    result, rounds, right = played(name, 3)
    for i in range(N):
        mine = [learners[i] for learners in rounds]
        largest = max(sum(d) for _, d in mine)
        excess = 0.0
        for (h, d), y in zip(mine, right, strict=True):
            if sum(d) > 0.0:
                w, c = sum(d) / largest, [entry / sum(d) for entry in d]
                u = u_gamma(y, 3, gamma)
                assert 0.0 <= w <= 1.0
                assert min(c) == c[y] == 0.0 or min(c) > -1e-12
                excess += w * c[h] - w * sum(c[label] * u[label] for label in range(3))
        assert result.condition.excess(gamma)[i] == pytest.approx(excess, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("name", ["OptBandit", "OptFull"])
def test_the_lemma_of_theorem_3_2_is_an_equation(name: str, k: int) -> None:
    """sum_t phi_0(s^N_t) = phi_N(0) T + sum_i w*_i S_i(gamma), with the booster's own gamma."""
    stream = make_stream("mixed", k, ROUNDS)
    model, twin = (make_booster(name, k, N, schema=stream.schema()) for _ in range(2))
    condition = play(model, stream.X, stream.y, condition=True).condition
    lost = 0.0
    for memo, y in zip(play_by_hand(twin, stream.X, stream.y).memos, stream.y.tolist(), strict=True):
        votes = [memo[VOTES : VOTES + N].tolist().count(label) for label in range(k)]
        lost += naive_phi(y, 0, votes, GAMMA)
    allowed = naive_phi(0, N, [0] * k, GAMMA) * ROUNDS
    excess = np.nansum(condition.excess(GAMMA) * condition.largest_weights)
    assert lost == pytest.approx(allowed + excess, rel=1e-9)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_edges_of_adaptive_boosters_are_the_papers(name: str) -> None:
    """Columns of equation (10) sum to 0: then both definitions of an edge are one, and no request is needed."""
    stream = make_stream("mixed", 4, ROUNDS)
    result = play(make_booster(name, 4, N, schema=stream.schema()), stream.X, stream.y)
    assert result.condition.edges.tolist() == pytest.approx(result.edges.tolist(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["OptBandit", "OptFull"])
def test_watching_changes_nothing_else(name: str) -> None:
    stream = make_stream("mixed", 4, ROUNDS)
    one, other = (make_booster(name, 4, N, schema=stream.schema()) for _ in range(2))
    plain, watched = play(one, stream.X, stream.y), play(other, stream.X, stream.y, condition=True)
    assert plain.condition is plain.edges is watched.edges is None
    assert plain.shown.tolist() == watched.shown.tolist()
    assert plain.suffered.tolist() == watched.suffered.tolist()


class Constant:
    def __init__(self, label: int) -> None:
        self.label = label

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return self.label

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        pass


@pytest.mark.parametrize("name", WITH_COSTS)
@pytest.mark.parametrize(("answer", "edge"), [(1, 1.0), (0, -1.0)])
def test_learners_that_are_always_right_or_always_wrong(name: str, answer: int, edge: float) -> None:
    model = make_booster(name, 2, 1, weak_learner=lambda: Constant(answer))
    condition = play(model, [{"x": 1.0}] * 30, [1] * 30, condition=True).condition
    assert condition.edges.tolist() == pytest.approx([edge])
    assert condition.holds(0.1).tolist() == [edge > 0.1]
    assert condition.holds(0.1, excess=30.0).tolist() == [True]


@pytest.mark.parametrize("name", ["BinBandit", "GapBoost", "Majority"])
def test_models_without_cost_vectors_refuse(name: str) -> None:
    model = baselines.Majority([0, 1]) if name == "Majority" else make_booster(name, 2, 2)
    with pytest.raises(ParameterError, match=rf"condition is True, but {name} has no cost vectors.*leave it"):
        play(model, [{"x": 1.0}], [1], condition=True)
    assert model.rounds == 0


@pytest.mark.parametrize("bad", [1, None, "yes", 0.5])
def test_what_is_neither_true_nor_false_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"condition is .*; give True or False"):
        play(make_booster("OptBandit", 2, 2), [{"x": 1.0}], [1], condition=bad)


def test_without_rounds_there_is_no_condition() -> None:
    result = play(make_booster("OptBandit", 2, 2), [], [], condition=True)
    assert result.condition is None
    assert result.suffered.tolist() == [0.0, 0.0]


def test_rounds_without_weight_tell_nothing() -> None:
    """Where the vote was decided before a learner came, it cannot do anything wrong."""
    condition = WeakLearningCondition(3, np.zeros(1), np.zeros(1), np.zeros(1))
    assert math.isnan(condition.edges[0])
    assert math.isnan(condition.excess(0.1)[0])
    assert condition.holds(0.9).tolist() == [True]


def test_the_largest_edge_is_where_the_excess_vanishes() -> None:
    condition = WeakLearningCondition(4, np.array([3.0, 9.0]), np.array([20.0, 20.0]), np.array([2.0, 1.0]))
    assert condition.edges.tolist() == pytest.approx([0.4, -0.8])
    assert condition.excess(0.4)[0] == pytest.approx(0.0, abs=1e-12)
    assert condition.excess(0.1).tolist() == pytest.approx([(3.0 - 4.5) / 2.0, 9.0 - 4.5])
    assert condition.holds(0.1).tolist() == [True, False]
    assert str(condition).splitlines() == [
        "learner     edge   S(0.1)     S(0)",
        "      1    0.400    -0.75    -1.00",
        "      2   -0.800     4.50     4.00",
    ]


@pytest.mark.parametrize("gamma", [-1.1, 1.1, math.nan, "0.1", None])
def test_an_edge_out_of_range_is_refused(gamma: Any) -> None:
    condition = WeakLearningCondition(3, np.ones(1), np.ones(1), np.ones(1))
    with pytest.raises(ParameterError, match=r"^gamma"):
        condition.excess(gamma)
