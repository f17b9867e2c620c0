"""The mixtures of MixFull and MixBandit: how exact their integrals are, and what must be refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import Decision, MixBandit, play, schedules
from banditboost.boosting.mixture import density
from banditboost.boosting.mixture.chain import add_vote, likeliest, no_votes
from banditboost.compiled.compile import allocating, kernel
from banditboost.compiled.rng import round_key
from banditboost.errors import DecisionError, ParameterError
from banditboost.memo import ROUND, VOTES
from tests.boosting.forged import forged
from tests.boosting.kernels import INTERPRETED
from tests.boosting.streams import make_stream
from tests.boosting.twins import MIXTURES, make_booster

ROUNDS = 300 if INTERPRETED else 30_000


@allocating
def hear(densities: Any, rule: Any, q: float, mine: float, all_: float) -> None:
    density.add_losses(densities.losses[0], rule, q, mine, all_)
    density.follow(densities, 0, rule, np.empty((4, density.POINTS)))


@kernel
def mixed(densities: Any, q: float) -> float:
    return density.mixed_weight(densities.places[0], densities.masses[0], q)


class History:
    """L by its definition, kept at many points: Gauss in short panels around where the density is."""

    def __init__(self) -> None:
        self.heard: dict[float, float] = {}
        self.slope = 0.0

    def add(self, q: float, mine: float, all_: float) -> None:
        self.heard[q] = self.heard.get(q, 0.0) + all_
        self.slope += mine

    def probability(self, q: float, window: np.ndarray) -> float:
        """The mean of softmax(s + alpha e_h)_h."""
        x, w = np.polynomial.legendre.leggauss(60)
        low, high = window
        around = np.linspace(max(-2.0, 2 * low - high), min(2.0, 2 * high - low), 25)
        edges = np.unique(np.concatenate([np.linspace(-2.0, 2.0, 17), around]))
        middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
        points = (middle[:, None] + half[:, None] * x).ravel()
        losses = -self.slope * points
        for known, all_ in self.heard.items():
            losses += all_ * np.log1p(known * np.expm1(points))
        mass = (half[:, None] * w).ravel() * np.exp(losses.min() - losses)
        grown = q * np.exp(points)
        return float((mass * grown / (1.0 - q + grown)).sum() / mass.sum())


def error(densities: Any, history: History) -> float:
    errors = []
    for q in (0.01, 0.3, 0.5, 0.9, 0.999):
        grown = q * math.exp(mixed(densities, q))
        found = grown / (1.0 - q + grown)
        errors.append(abs(found - history.probability(q, densities.windows[0])))
    return max(errors)


@pytest.mark.parametrize("right", [0.0, 0.4, 0.8, 1.0])
def test_mixtures_are_exact_however_narrow_the_density(right: float) -> None:
    """After ten rounds it is wide, after 30,000 a hundredth as wide."""
    luck = np.random.default_rng(7)
    densities, history = density.uniform_densities(1), History()
    for t in range(1, ROUNDS + 1):
        q, mine = float(luck.choice([0.1, 0.35, 0.7])), float(luck.random() < right)
        hear(densities, density.RULE, q, mine, 1.0)
        history.add(q, mine, 1.0)
        if t in (1, 10, 100, 300, 3_000, ROUNDS):
            assert error(densities, history) < 1e-10


def test_mixtures_follow_a_learner_that_turns_bad_and_estimates_that_jump() -> None:
    """The window widens as far as it must, at once: a loss far from the window is heard there, too."""
    luck = np.random.default_rng(8)
    densities, history = density.uniform_densities(1), History()
    narrowest = 4.0
    for t in range(600):
        q, mine, all_ = 0.4, float(luck.random() < (0.9 if t < 300 else 0.05)), 1.0
        if t % 97 == 96:  # an exploration that hit
            mine, all_ = float(luck.choice([-90.0, 30.0])), -150.0
        hear(densities, density.RULE, q, mine, all_)
        history.add(q, mine, all_)
        narrowest = min(narrowest, float(np.diff(densities.windows[0])[0]))
        assert error(densities, history) < 1e-9
    assert narrowest < 1.5


def test_a_density_that_has_heard_nothing_is_uniform() -> None:
    densities = density.uniform_densities(1)
    for q in (0.1, 0.5, 0.9):
        expected = (math.log1p(q * math.expm1(2.0)) - math.log1p(q * math.expm1(-2.0))) / 4.0
        grown = q * math.exp(mixed(densities, q))
        assert grown / (1.0 - q + grown) == pytest.approx(expected, abs=1e-14)


def test_weights_stay_in_their_range_at_its_end() -> None:
    densities = density.uniform_densities(1)
    for _ in range(ROUNDS):
        hear(densities, density.RULE, 0.5, 1.0, 1.0)
    assert 1.97 < mixed(densities, 0.5) <= 2.0 + 1e-9


# The chain of votes


@allocating
def chain(active: Any, votes: Any, weights: Any, memo: Any, n_labels: int) -> Any:
    probabilities = np.empty(active.size + 1)
    no_votes(n_labels, probabilities)
    for i in range(votes.size):
        add_vote(probabilities, votes[i], weights[i], memo, n_labels)
    return probabilities


def test_probabilities_of_labels_sum_to_one_and_keep_a_floor() -> None:
    memo = np.zeros(20)
    memo[ROUND] = 5.0
    luck = np.random.default_rng(1)
    found = chain(np.array([1, 4, 6]), luck.integers(0, 3, 200), luck.uniform(-2, 2, 200), memo, 9)
    assert found[:3].sum() + 6 * found[3] == pytest.approx(1.0)
    assert found.min() >= 1 / (9 * 49)


@kernel
def best(active: Any, probabilities: Any, n_labels: int, allowed: Any, t: int) -> int:
    return likeliest(active, active.size, probabilities, n_labels, allowed, round_key(3, t), 0)


@given(st.data())
def test_the_likeliest_label_among_those_that_may_be_shown(data: st.DataObject) -> None:
    n_labels = data.draw(st.integers(2, 7))
    active = data.draw(st.lists(st.integers(0, n_labels - 1), min_size=1, unique=True).map(sorted))
    chances = st.sampled_from([0.1, 0.1 * (1 + 1e-12), 0.2, 0.3])
    values = [data.draw(chances) for _ in range(len(active) + 1)]
    allowed = data.draw(
        st.lists(st.integers(0, n_labels - 1), max_size=n_labels - 1, unique=True).map(sorted)
    )
    every = [values[active.index(label)] if label in active else values[-1] for label in range(n_labels)]
    among = allowed or list(range(n_labels))
    largest = max(every[label] for label in among)
    tied = [label for label in among if every[label] > largest * (1 - 1e-6)]
    given_ = np.array(active), np.array(values), n_labels, np.array(allowed, np.int64)
    found = {best(*given_, t) for t in range(40)}
    assert found <= set(tied)
    assert len(found) > 1 or len(tied) == 1


# The boosters


@pytest.mark.parametrize("name", MIXTURES)
def test_means_are_those_of_the_densities(name: str) -> None:
    stream = make_stream("mixed", 3, 60 if INTERPRETED else 400)
    model = make_booster(name, 3, 5, schema=stream.schema())
    assert model.alphas.tolist() == [0.0] * 5
    play(model, stream.X, stream.y)
    assert model.alphas.tolist() == pytest.approx(density.mean_weights(model._densities).tolist(), abs=1e-12)
    assert model.alphas.max() > 0.2


def test_a_decision_with_a_weight_that_no_mixture_has_is_refused() -> None:
    model = MixBandit(["a", "b", "c"], n_learners=3, seed=1)
    data = model.decide({"x": 1.0}).to_dict()
    memo = list(data["memo"])
    memo[VOTES + 3] = 2.5
    with pytest.raises(DecisionError, match=r"a learner's weight is not in \[-2, 2\]"):
        model.learn(Decision.from_dict(forged(data, memo=memo)), correct=True)
    assert model.verdicts == 0
    model.learn(Decision.from_dict(data), correct=True)


def test_no_theorem_tells_its_rate() -> None:
    """Theorem 3.3 is about AdaBandit, whose parameters it shares."""
    with pytest.raises(ParameterError, match="the theorems are about AdaBandit and OptBandit"):
        MixBandit(["a", "b"], exploration=schedules.Theory(edge=0.1))
