"""Exploration that is not constant: what rate follows from what, exact probabilities, unbiased estimates,
files.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import AdaBandit, BinBandit, Decision, OptBandit, baselines, play, schedules
from banditboost.boosting.divided import divide, divided_probability, draw_divided
from banditboost.boosting.estimate import (
    estimate_loss,
    estimate_loss_among,
    estimate_simple,
    estimate_simple_among,
)
from banditboost.compiled.compile import kernel
from banditboost.errors import DecisionError, ParameterError
from banditboost.memo import LEARNERS, RATE, ROUND, VOTES
from banditboost.schedules import Adaptive, Decaying, Divided, Schedule, Theory
from banditboost.theory import adaptive_exploration, optimal_exploration
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference, state_of
from tests.boosting.streams import make_stream

LABELS = tuple("abcde")
ALL: list[Schedule] = [
    Theory(least=0.01, most=0.3),
    Decaying(scale=0.9),
    Adaptive(scale=0.4, memory=30.0),
    Divided(least=0.02),
]
VOTERS = [AdaBandit, OptBandit]
PAIRS = [(booster, schedule) for booster in VOTERS for schedule in ALL] + [
    (BinBandit, ALL[1]),
    (BinBandit, ALL[2]),
]
ROUNDS = 60 if INTERPRETED else 400
NONE = np.zeros(0, np.int64)


def made(booster: Any, exploration: Any, **options: Any) -> Any:
    return booster(LABELS, n_learners=5, exploration=exploration, seed=3, **options)


def rounds_of(model: Any, n_rounds: int = ROUNDS) -> Any:
    """Decisions with their right labels, each learned."""
    stream = make_stream("mixed", len(LABELS), n_rounds)
    for row, y in zip(stream.dicts(), stream.y.tolist(), strict=True):
        decision = model.decide(row)
        yield decision, LABELS[y]
        model.learn(decision, decision.label == LABELS[y])


@pytest.mark.parametrize(("booster", "schedule"), PAIRS)
def test_probabilities_are_exact(booster: Any, schedule: Schedule) -> None:
    rates = set()
    for decision, _ in rounds_of(made(booster, schedule)):
        distribution = decision.distribution()
        assert math.fsum(distribution.values()) == pytest.approx(1.0, abs=1e-14)
        assert distribution[decision.label] == decision.probability > 0.0
        assert all(p > 0.0 for p in distribution.values())
        assert distribution[decision.greedy] == 1.0 - decision._memo[RATE]
        rates.add(decision._memo[RATE])
        assert schedule.least <= decision._memo[RATE] <= schedule.most
    assert len(rates) > 1 or isinstance(schedule, Theory)


@pytest.mark.parametrize(("booster", "schedule"), PAIRS)
def test_both_estimates_are_unbiased(booster: Any, schedule: Schedule) -> None:
    """Every label that could have been shown, weighed by its probability."""
    for decision, right in itertools.islice(rounds_of(made(booster, schedule)), 0, ROUNDS, 7):
        for simple in (True, False):
            mean = np.zeros(len(LABELS))
            for label, p in decision.distribution().items():
                explored, correct = label != decision.greedy, label == right
                base, shown, greedy = (
                    estimate_simple(p, correct) if simple else estimate_loss(p, explored, correct)
                )
                vector = np.full(len(LABELS), base)
                vector[LABELS.index(label)] += shown
                vector[LABELS.index(decision.greedy)] += greedy
                mean += p * vector
            assert mean == pytest.approx([float(label == right) for label in LABELS], abs=1e-9)


@pytest.mark.parametrize("booster", VOTERS)
@pytest.mark.parametrize("schedule", ALL, ids=lambda schedule: schedule.name)
def test_among_some_labels(booster: Any, schedule: Schedule) -> None:
    model = made(booster, schedule)
    for t, (decision, right) in enumerate(rounds_of(model)):
        allowed = [label for i, label in enumerate(LABELS) if (t + i) % 3 or i == t % 5]
        among = model.decide({"f0": float(t % 7)}, allowed=allowed)
        distribution = among.distribution()
        assert {label for label, p in distribution.items() if p > 0.0} == set(allowed)
        assert math.fsum(distribution.values()) == pytest.approx(1.0, abs=1e-14)
        assert distribution[among.label] == among.probability
        mean = np.zeros((2, len(LABELS)))
        for label, p in distribution.items():
            if p > 0.0:
                explored, correct = label != among.greedy, label == right
                for form, (base, shown, greedy) in enumerate(
                    (estimate_simple_among(p, correct), estimate_loss_among(p, explored, correct))
                ):
                    vector = np.full(len(LABELS), base)
                    vector[LABELS.index(label)] += shown
                    vector[LABELS.index(among.greedy)] += greedy
                    mean[form] += p * vector
        assert mean == pytest.approx(
            np.array([[float(label == right and label in allowed) for label in LABELS]] * 2), abs=1e-9
        )
        model.learn(among, among.label == right)
        assert decision.round < among.round


@kernel
def draw_over_a_grid(memo: Any, greedy: int, allowed: Any, votes: Any, rate: float, drawn: Any) -> None:
    for i in range(drawn.size):
        drawn[i] = draw_divided(memo, greedy, allowed, 6, votes, rate, (i + 0.5) / drawn.size)


@settings(max_examples=20 if INTERPRETED else 200)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.floats(-2.0, 2.0, allow_subnormal=False)), min_size=1, max_size=8
    ),
    st.integers(0, 5),
    st.floats(0.01, 0.9),
)
def test_numbers_that_draw_a_label_measure_its_probability(
    learners: list[tuple[int, float]], greedy: int, rate: float
) -> None:
    """Over an even grid of numbers each label is drawn as often as its probability says."""
    memo = np.zeros(VOTES + 2 * len(learners))
    memo[LEARNERS] = len(learners)
    memo[VOTES : VOTES + len(learners)] = [label for label, _ in learners]
    memo[VOTES + len(learners) :] = [alpha for _, alpha in learners]
    size = 400 if INTERPRETED else 4_000
    votes = divide(memo, greedy, NONE)
    drawn = np.zeros(size, np.int64)
    draw_over_a_grid(memo, greedy, NONE, votes, rate, drawn)
    shares = np.bincount(drawn, minlength=6) / size
    expected = [divided_probability(memo, label, greedy, 6, votes, rate) for label in range(6)]
    # A label may be drawn by as many intervals as there are learners, and by one more.
    assert shares == pytest.approx(expected, abs=(len(learners) + 2) / size)
    assert math.fsum(expected) == pytest.approx(1.0, abs=1e-14)


def test_rate_falls_with_the_rounds() -> None:
    model = made(AdaBandit, Decaying(scale=2.0, power=0.5, least=0.1, most=0.4))
    rates = [float(decision._memo[RATE]) for decision, _ in rounds_of(model, 500 if not INTERPRETED else 60)]
    assert rates[:25] == [0.4] * 25  # 2 / sqrt(25)
    assert rates[30] == 2.0 / math.sqrt(31.0)
    if not INTERPRETED:
        assert rates[-1] == 0.1


def test_rate_follows_the_recent_error() -> None:
    model = made(AdaBandit, Adaptive(scale=0.5, memory=25.0, least=0.001, most=0.5))
    right = [model.decide({"x": 1.0}) for _ in range(1)]
    assert right[0]._memo[RATE] == 0.5  # nothing is known: an error of 1
    for _ in range(300):
        decision = model.decide({"x": 1.0})
        model.learn(decision, correct=True)
    calm = float(model.decide({"x": 1.0})._memo[RATE])
    assert calm == 0.001
    for _ in range(100):
        decision = model.decide({"x": 1.0})
        model.learn(decision, correct=False)
    assert model.decide({"x": 1.0})._memo[RATE] > 0.4


def test_rate_follows_the_votes() -> None:
    """A doubt of a quarter of the votes: rho is its square; of the three others the one that was voted for
    gets most.
    """
    Says.made = 0
    model = OptBandit(
        ["a", "b", "c"], n_learners=4, exploration=Divided(least=0.001), seed=1, weak_learner=Says
    )
    distribution = model.decide({"x": 1.0}).distribution()
    assert distribution == pytest.approx({"a": 1 - 1 / 16, "b": (0.1 + 0.8) / 16, "c": 0.1 / 16})


class Says:
    """The first of four learners votes for label 1, the others for label 0."""

    made = 0

    def __init__(self) -> None:
        self.label = 1 if Says.made % 4 == 0 else 0
        Says.made += 1

    def predict(self, x: Any) -> int:  # noqa: ARG002
        return self.label

    def learn(self, x: Any, label: int, weight: float) -> None:
        pass


def test_theory_is_that_of_the_theorems() -> None:
    for booster, suggestion in (
        (AdaBandit, adaptive_exploration(5, [0.3] * 5, 10**9)),
        (OptBandit, optimal_exploration(5, 5, 10**9)),
    ):
        known = made(booster, Theory(edge=0.3, rounds=10**9, least=1e-9))
        assert known.decide({"x": 1.0})._memo[RATE] == pytest.approx(suggestion.rate, rel=1e-12)
        unknown = made(booster, Theory(edge=0.3, least=1e-9, most=0.99))
        unknown._counts.rounds = 10**9 - 1
        memo = unknown.decide({"x": 1.0})._memo
        assert memo[ROUND] == 10**9 - 1
        assert memo[RATE] == pytest.approx(suggestion.rate, rel=1e-9)


@pytest.mark.parametrize(("booster", "schedule"), PAIRS)
def test_play_equals_decide_and_learn(booster: Any, schedule: Schedule) -> None:
    stream = make_stream("mixed", len(LABELS), ROUNDS)
    one, other = made(booster, schedule), made(booster, schedule)
    shown = [decision.label for decision, _ in rounds_of(one)]
    result = play(other, stream.dicts(), [LABELS[y] for y in stream.y.tolist()])
    assert [LABELS[label] for label in result.shown.tolist()] == shown
    assert difference(one, other) == []


@pytest.mark.parametrize(("booster", "schedule"), PAIRS)
def test_saved_models_and_decisions_go_on(booster: Any, schedule: Schedule, tmp_path: Path) -> None:
    model = made(booster, schedule)
    for _ in rounds_of(model, 40):
        pass
    open_decision = model.decide({"f0": 0.3})
    model.save(tmp_path / "model.bb")
    again = banditboost.load(tmp_path / "model.bb")
    assert again.exploration == schedule
    stored = Decision.from_dict(json.loads(json.dumps(open_decision.to_dict())), again.labels)
    assert stored.distribution() == open_decision.distribution()
    again.learn(stored, correct=True)
    model.learn(open_decision, correct=True)
    assert difference(model, again) == []
    assert [decision.label for decision, _ in rounds_of(again, 20)] == [
        decision.label for decision, _ in rounds_of(model, 20)
    ]


# Changed on the way


@pytest.mark.parametrize("changed", [0.2, Decaying(scale=0.9), Adaptive(scale=0.4), "adaptive"], ids=str)
@pytest.mark.parametrize("booster", [*VOTERS, BinBandit])
def test_exploration_may_be_changed(booster: Any, changed: Any, tmp_path: Path) -> None:
    """From the next decision on, as in a model that had it from the start; it is kept in the file, and open
    decisions keep theirs.
    """
    model, fresh = made(booster, 0.05), made(booster, changed)
    fresh.model_id = model.model_id
    before = model.decide({"f0": 0.3})
    model.save(tmp_path / "model.bb")
    again = banditboost.load(tmp_path / "model.bb")
    again.exploration = changed
    fresh.decide({"f0": 0.3})
    after = again.decide({"f0": 0.3})
    assert after._memo.tobytes() == fresh.decide({"f0": 0.3})._memo.tobytes()
    again.learn(before, correct=True)
    model.learn(before, correct=True)
    assert before.distribution()[before.greedy] == 0.95
    assert booster is not AdaBandit or np.array_equal(
        again._weights, model._weights
    )  # whose step is that of the rate
    assert again.parameters == fresh.parameters
    again.save(tmp_path / "model.bb")
    assert banditboost.load(tmp_path / "model.bb").exploration == fresh.exploration
    assert difference(again, banditboost.load(tmp_path / "model.bb")) == []


def test_a_step_of_ones_own_stays() -> None:
    model = made(BinBandit, 0.05, step=0.25)
    model.exploration = 0.3
    assert model.parameters["step"] == 0.25


@pytest.mark.parametrize(
    ("model", "changed", "said"),
    [
        (lambda: made(AdaBandit, 0.05), 1.5, "exploration is 1.5; give a number"),
        (lambda: made(AdaBandit, 0.05), Divided(), "no model changes to Divided or from it: make a new one"),
        (lambda: made(AdaBandit, Divided()), 0.1, "no model changes to Divided or from it: make a new one"),
        (lambda: made(BinBandit, 0.05), Theory(), "the theorems are about AdaBandit and OptBandit"),
        (lambda: baselines.Random(LABELS, seed=3), 0.1, "Random shows all labels alike"),
    ],
)
def test_a_refused_change_changes_nothing(model: Any, changed: Any, said: str) -> None:
    model = model()
    before = state_of(model), model.exploration
    with pytest.raises(ParameterError, match=said):
        model.exploration = changed
    assert (state_of(model), model.exploration) == before


def test_a_changed_decision_is_refused() -> None:
    model = made(AdaBandit, Divided(least=0.02))
    for decision, _ in rounds_of(model, 40):
        data = decision.to_dict()
        for slot, value in ((LEARNERS, 4), (RATE, 0.123), (VOTES, 1e300)):
            changed = json.loads(json.dumps(data))
            changed["memo"][slot] = value
            with pytest.raises(DecisionError):
                model.learn(Decision.from_dict(changed, model.labels), correct=True)


@pytest.mark.parametrize("schedule", ["decaying", "adaptive"])
@pytest.mark.parametrize(
    "name", ["Banditron", "DiagonalSOBA", "EpsilonGreedyTree", "EpsilonGreedyForest", "Majority"]
)
def test_baselines_take_schedules(name: str, schedule: str, tmp_path: Path) -> None:
    model = getattr(baselines, name)(LABELS, exploration=schedule, seed=3)
    rates = {float(decision._memo[RATE]) for decision, _ in rounds_of(model, 60)}
    assert len(rates) > 10
    model.save(tmp_path / "model.bb")
    assert difference(model, banditboost.load(tmp_path / "model.bb")) == []


def test_names_and_plain_data() -> None:
    assert made(AdaBandit, "divided").exploration == Divided()
    assert made(AdaBandit, {"schedule": "adaptive", "scale": 0.3}).exploration == Adaptive(scale=0.3)
    for schedule in ALL:
        assert schedules.from_plain(json.loads(json.dumps(schedules.to_plain(schedule)))) == schedule


@pytest.mark.parametrize(
    ("exploration", "said"),
    [
        ("sometimes", "'sometimes'.*theory, decaying, adaptive, divided"),
        ({"schedule": "adaptive", "speed": 3}, "speed"),
        ({"scale": 3}, "None"),
        (-0.1, r"-0\.1"),
        (True, "True"),
        ([0.1], r"\[0\.1\]"),
        (math.nan, "nan"),
    ],
)
def test_refused(exploration: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        made(AdaBandit, exploration)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Decaying(least=0.0), "least is 0.0"),
        (lambda: Decaying(least=0.4, most=0.3), "least is 0.4 and most 0.3"),
        (lambda: Adaptive(memory=0.0), "memory is 0.0"),
        (lambda: Adaptive(scale=True), "scale is True"),
        (lambda: Theory(edge=2.0), "edge is 2.0"),
        (lambda: Theory(rounds=0), "rounds is 0"),
        (lambda: made(BinBandit, Divided()), "do not vote"),
        (lambda: made(BinBandit, Theory()), "AdaBandit and OptBandit"),
        (lambda: baselines.Majority(LABELS, exploration=Divided()), "do not vote"),
    ],
)
def test_schedules_that_cannot_be(make: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make()


def test_theory_follows_labels_that_join() -> None:
    model = made(OptBandit, Theory(least=1e-6, rounds=10**9))
    before = float(model.decide({"x": 1.0})._memo[RATE])
    model.add_label("f")
    assert model.decide({"x": 1.0})._memo[RATE] == pytest.approx(before * (6 / 5) ** 1.75)


@pytest.mark.parametrize(
    "learner", [AdaBandit, OptBandit, BinBandit, baselines.Banditron, baselines.EpsilonGreedyForest]
)
def test_the_warning_points_at_whoever_gave_the_rate(learner: Any) -> None:
    with pytest.warns(UserWarning, match="exploration is 0") as told:
        learner(LABELS, exploration=0.0)
    assert told[0].filename == __file__
