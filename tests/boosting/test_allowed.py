"""Choices among some of the labels: right probabilities, the best allowed label, and lessons that are right
in the mean over the draws.
"""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditboost
from banditboost import AdaBandit, Decision
from banditboost.boosting.adaptive import choose
from banditboost.boosting.estimate import estimate, estimated_loss
from banditboost.compiled.compile import kernel
from banditboost.compiled.rng import EXPLORE, round_key, uniform_at
from banditboost.distribution import _probability
from banditboost.errors import DecisionError, FeatureError, LabelError
from banditboost.memo import ALLOWED, CHOSEN_EXPERT, GREEDY, PROBABILITY, ROUND, SHOWN, VOTES
from tests.boosting.forged import forged
from tests.boosting.kernels import INTERPRETED, memo_of, settings_of
from tests.boosting.states import difference, state_of
from tests.boosting.streams import make_stream
from tests.boosting.twins import BANDITS, SEED, make_booster

K, N = 5, 4
STREAM = make_stream("mixed", K, 40 if INTERPRETED else 160)


@pytest.fixture(params=BANDITS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def subset(t: int) -> list[int]:
    """Another choice in every round: of one label, of several, of all."""
    return [label for label in range(K) if (t * 7 + 3) >> label & 1] or [t % K]


def taught(name: str, **options: Any) -> Any:
    model = make_booster(name, K, N, schema=STREAM.schema(), **options)
    for t, (x, y) in enumerate(zip(STREAM.X, STREAM.y.tolist(), strict=True)):
        decision = model.decide(x, allowed=subset(t))
        model.learn(decision, decision.label == y)
    return model


# Choosing


@pytest.mark.parametrize("rho", [0.01, 0.3, 0.9])
def test_distribution(name: str, rho: float) -> None:
    model = make_booster(name, K, N, exploration=rho)
    for t, x in enumerate(STREAM.X):
        allowed = subset(t)
        decision = model.decide(x, allowed)
        distribution = decision.distribution()
        assert decision.allowed == tuple(allowed)
        assert list(distribution) == list(range(K))
        assert [label for label, share in distribution.items() if share > 0] == allowed
        assert math.fsum(distribution.values()) == pytest.approx(1.0, abs=1e-15)
        assert distribution[decision.greedy] == (1.0 if len(allowed) == 1 else 1.0 - rho)
        assert distribution[decision.label] == decision.probability
        assert decision.explored == (decision.label != decision.greedy)
        model.learn(decision, t % 3 == 0)


def test_shown_label_is_drawn_from_the_distribution(name: str) -> None:
    """The same walk by hand: the greedy label first, then the other allowed ones."""
    model = make_booster(name, K, N, exploration=0.6)
    for t, x in enumerate(STREAM.X):
        decision = model.decide(x, subset(t))
        u, reached = uniform_at(SEED, t, EXPLORE, 0), 0.0
        for label in (decision.greedy, *(label for label in decision.allowed if label != decision.greedy)):
            reached += decision.distribution()[label]
            if u < reached:
                break
        assert label == decision.label
        model.learn(decision, t % 3 == 0)


def votes_of(model: Any, memo: np.ndarray) -> list[float]:
    """What the model thinks of each label, by plain loops."""
    sums = [0.0] * K
    if isinstance(model, banditboost.BinBandit):
        learned, scores = model._state().learned, model._scratch.scores
        for label, group in zip(learned.shown_labels.tolist(), learned.groups.tolist(), strict=True):
            answers = zip(learned.log_alphas[group], scores[group], strict=True)
            sums[label] = math.fsum(math.exp(a) * (2 * s - 1) for a, s in answers)
        return sums
    for i in range(int(memo[CHOSEN_EXPERT]) + 1):
        sums[int(memo[VOTES + i])] += memo[VOTES + N + i]
    return sums


def test_greedy_label_is_the_best_allowed_one(name: str) -> None:
    model = taught(name)
    for t, x in enumerate(STREAM.X):
        decision = model.decide(x, subset(t))
        votes = votes_of(model, decision._memo)
        assert votes[decision.greedy] == pytest.approx(
            max(votes[label] for label in decision.allowed), abs=1e-12
        )


@pytest.mark.parametrize(
    "allowed", [range(K), [4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 4], set(range(K)), np.arange(K)], ids=str
)
def test_all_labels_allowed_is_no_restriction(name: str, allowed: Any) -> None:
    one, other = (make_booster(name, K, N) for _ in range(2))
    for x, y in zip(STREAM.X, STREAM.y.tolist(), strict=True):
        decision, expected = one.decide(x, allowed), other.decide(x)
        assert forged(decision.to_dict(), model="", run="") == forged(expected.to_dict(), model="", run="")
        one.learn(decision, decision.label == y)
        other.learn(expected, decision.label == y)
    assert difference(one, other) == []


def test_restricted_steps_are_the_plain_ones_among_all(name: str) -> None:
    """The code for some labels, given all of them, chooses as the code for all does, ties included."""
    model = make_booster(name, K, N, exploration=0.4)
    for x, y in zip(STREAM.X, STREAM.y.tolist(), strict=True):
        memo, _ = model._choose(model._joined(x), model.rounds, np.arange(K))
        assert memo[ALLOWED] == K
        memo[ALLOWED] = 0
        decision = model.decide(x)
        assert memo.tobytes() == decision._memo.tobytes()
        model.learn(decision, decision.label == y)


# Learning: the mean over all draws


def estimates(k: int, rho: float, greedy: int, right: int, allowed: list[int], estimator: int) -> list[float]:
    """The mean of 1 - lhat over the labels that might be shown."""
    mean = [0.0] * k
    for shown in allowed:
        p = _probability(shown != greedy, rho, len(allowed))
        memo = memo_of(greedy, shown, p)
        memo[ALLOWED] = len(allowed)
        of = estimate(settings_of(k, estimator=estimator), memo, int(shown == right))
        mean = [m + p * (1.0 - estimated_loss(of, label)) for m, label in zip(mean, range(k), strict=True)]
    return mean


@pytest.mark.parametrize("estimator", [3, 4])
@given(k=st.integers(2, 12), rho=st.floats(1e-6, 1 - 1e-6), data=st.data())
def test_estimate_is_unbiased_whether_the_right_label_was_allowed_or_not(
    k: int, rho: float, data: st.DataObject, estimator: int
) -> None:
    allowed = sorted(data.draw(st.sets(st.integers(0, k - 1), min_size=1)))
    greedy, right = data.draw(st.sampled_from(allowed)), data.draw(st.integers(0, k - 1))
    expected = [float(label == right and right in allowed) for label in range(k)]
    assert estimates(k, rho, greedy, right, allowed, estimator) == pytest.approx(expected, abs=1e-9)


def copies_by_draw(model: Any, decision: Decision, right: int) -> list[tuple[float, int, Any]]:
    """For each label that might have been shown: its probability, and a copy of the model that has learned
    its verdict.
    """
    made = []
    for shown in decision.allowed:
        one, memo = copy.deepcopy(model), decision._memo.copy()
        memo[SHOWN] = shown
        memo[PROBABILITY] = decision.distribution()[shown]
        drawn = Decision._of(decision._origin, model.labels, memo, allowed=np.array(decision.allowed))
        one.learn(drawn, shown == right)
        made.append((float(memo[PROBABILITY]), int(shown), one))  # type: ignore[call-overload]
    return made


def told(model: Any, decision: Decision, right: int) -> Any:
    """A copy that has learned that `right` is the right label, in the same round: as if that label alone had
    been allowed.
    """
    one, memo = copy.deepcopy(model), decision._memo.copy()
    memo[SHOWN] = memo[GREEDY] = right
    memo[PROBABILITY] = memo[ALLOWED] = 1
    one.learn(Decision._of(decision._origin, model.labels, memo, allowed=np.array([right])), True)
    return one


@pytest.mark.parametrize("estimator", [3, 4])
def test_adaptive_weights_learn_the_right_lesson_in_the_mean(estimator: int) -> None:
    """Alphas move by the gradient of the right label, experts are charged for their mistakes; neither if the
    right one was not allowed.
    """
    model = taught("AdaBandit", estimator=estimator, exploration=0.2)
    charged = 0
    for t, x in enumerate(STREAM.X[:20]):
        right, allowed = t % K, subset(t)
        if len(allowed) == K:
            continue
        decision = model.decide(x, allowed)
        after = copies_by_draw(model, decision, right)
        alphas = sum(p * one.alphas for p, _, one in after)
        expected = told(model, decision, right).alphas if right in allowed else model.alphas
        assert alphas == pytest.approx(expected, abs=1e-12)
        logs = [(p, one._weights[N:] - one._weights[N]) for p, _, one in after]
        moved = sum(p * log for p, log in logs) - (model._weights[N:] - model._weights[N])
        losses = np.array([float(label != right) for label in expert_labels(model, decision)])
        assert moved == pytest.approx(losses[0] - losses, abs=1e-9)
        charged += bool(np.any(losses != losses[0]))
    assert charged > 0


@kernel
def choose_in_round(model: Any, memo: np.ndarray, seed: int) -> None:
    choose(model, memo, round_key(seed, int(memo[ROUND])))


def expert_labels(model: Any, decision: Decision) -> list[int]:
    """What each expert would have shown: the same round decided again by copies that believe in one expert
    only.
    """
    labels = []
    for j in range(N):
        one = copy.deepcopy(model)
        one._weights[:N] = decision._memo[VOTES + N : VOTES + 2 * N]
        one._weights[N:] = -1e9
        one._weights[N + j] = 0.0
        memo = decision._memo.copy()
        one._scratch.allowed[0] = one._allow(np.array(decision.allowed))
        choose_in_round(one._state(), memo, one.seed)
        assert memo[CHOSEN_EXPERT] == j
        labels.append(int(memo[GREEDY]))
    return labels


def test_each_allowed_labels_group_hears_its_verdict_once_in_the_mean() -> None:
    model = taught("BinBandit", exploration=0.2)
    for t, x in enumerate(STREAM.X[:20]):
        decision = model.decide(x, subset(t))
        for p, shown, one in copies_by_draw(model, decision, t % K):
            assert p * one._scratch.importance[0] == pytest.approx(1.0)
            assert set(one._scratch.labels.tolist()) == {int(shown == t % K)}


@pytest.mark.parametrize("correct", [True, False])
def test_a_label_allowed_alone(name: str, correct: bool) -> None:
    """It is shown for certain. Its being right is a lesson; its being wrong says nothing about the others."""
    model = taught(name)
    decision = model.decide(STREAM.X[0], [3])
    assert (decision.label, decision.greedy, decision.probability, decision.explored) == (3, 3, 1.0, False)
    before = model.alphas if name == "AdaBandit" else None
    model.learn(decision, correct)
    if name != "BinBandit":
        assert bool(np.any(model._scratch.importance > 0)) == correct
    if name == "AdaBandit":
        assert correct or np.array_equal(model.alphas, before)


@pytest.mark.skipif(INTERPRETED, reason="takes a thousand rounds")
@pytest.mark.parametrize("estimator", [3, 4])
def test_it_learns(name: str, estimator: int) -> None:
    """Half of the labels at a time: afterwards it knows all of them."""
    draw = np.random.default_rng(1)
    model = make_booster(name, 4, 10, exploration=0.2, estimator=estimator)
    for _ in range(3000):
        y = int(draw.integers(4))
        decision = model.decide({"x": str(y)}, draw.choice(4, 2, replace=False))
        model.learn(decision, decision.label == y)
    assert [[model.decide({"x": str(y)}).greedy for _ in range(5)].count(y) >= 4 for y in range(4)] == [
        True
    ] * 4


# Decisions that travel


def test_stored_decisions(name: str, tmp_path: Path) -> None:
    model, twin = taught(name), taught(name)
    for t, x in enumerate(STREAM.X[:30]):
        decision, expected = model.decide(x, subset(t)), twin.decide(x, subset(t))
        stored = json.loads(json.dumps(decision.to_dict()))
        assert ("allowed" in stored) == (len(subset(t)) < K)
        back, blind = Decision.from_dict(stored, model.labels), Decision.from_dict(stored)
        assert (back, back.allowed, back.distribution()) == (
            decision,
            decision.allowed,
            decision.distribution(),
        )
        assert (blind.label, blind.greedy, blind.probability) == (
            decision.label,
            decision.greedy,
            decision.probability,
        )
        assert back.to_dict() == blind.to_dict() == stored
        if t == 15:
            model.save(tmp_path / "model")
            model = banditboost.load(tmp_path / "model")
        model.learn((blind, back)[t % 2], t % 3 == 0)
        twin.learn(expected, t % 3 == 0)
    assert difference(model, twin) == []


@pytest.mark.parametrize("k", [3, 1000])
def test_stored_decisions_are_small(name: str, k: int) -> None:
    draw = np.random.default_rng(2)
    model = make_booster(name, k, 20)
    for _ in range(3 if INTERPRETED else 20):
        decision = model.decide(draw.normal(size=20), [*draw.permutation(k)[: k // 2].tolist(), k - 1])
        assert len(json.dumps(decision.to_dict())) < 2000
        model.learn(decision, bool(draw.random() < 0.3))


def test_changed_decisions_are_refused(name: str) -> None:
    model = make_booster(name, K, N)
    data = forged(model.decide(STREAM.X[0], [1, 2, 4]).to_dict())
    assert data["allowed"] == "16"
    memo = data["memo"]
    elsewhere = [memo[0], 0, 0, *memo[3:]]
    other_rate = [*memo[:5], 0.5, *memo[6:]]
    changes = [
        {"format": 1},
        {"allowed": "1f"},
        {"allowed": "6"},
        {"allowed": "0"},
        {"allowed": "-16"},
        {"allowed": "0x16"},
        {"allowed": 22},
        {"allowed": None},
        {"allowed": "46"},
        {"allowed": "f" * 10_000},
        {"memo": elsewhere},
        {"memo": other_rate},
        {"memo": [*memo[:6], 0, *memo[7:]]},
        {"labels": 4},
        {"format": 2, "allowed": None},
        {"format": 4},
    ]
    before = state_of(model)
    for change in changes:
        with pytest.raises(DecisionError):
            model.learn(Decision.from_dict({**data, **change}), True)
        assert state_of(model) == before
    model.learn(Decision.from_dict(data), True)


# Many, and refusals


def test_many_rows_each_with_its_choice(name: str) -> None:
    one, many = taught(name), taught(name)
    choices = [None if t % 5 == 0 else subset(t) for t in range(20)]
    expected = [one.decide(x, allowed) for x, allowed in zip(STREAM.X[:20], choices, strict=True)]
    decisions = many.decide_many(STREAM.X[:20], choices)
    assert [d._memo.tobytes() for d in decisions] == [d._memo.tobytes() for d in expected]
    assert [d.allowed for d in decisions] == [d.allowed for d in expected]
    for decision in expected:
        one.learn(decision, decision.round % 2 == 0)
    many.learn_many(decisions, [decision.round % 2 == 0 for decision in decisions])
    assert difference(one, many) == []


@pytest.mark.parametrize("allowed", [[], [7], ["0"], [0, None], [[0]], 3, "01", {}], ids=repr)
def test_what_is_not_allowed(name: str, allowed: Any) -> None:
    model = make_booster(name, K, N)
    before = state_of(model)
    with pytest.raises(LabelError, match="allowed"):
        model.decide({"new": 1.0}, allowed)
    with pytest.raises(LabelError, match="allowed"):
        model.decide_many([{"new": 1.0}, {"newer": 1.0}], [[0, 1], allowed])
    assert state_of(model) == before


def test_bad_rows_and_counts(name: str) -> None:
    model = make_booster(name, K, N)
    before = state_of(model)
    with pytest.raises(FeatureError):
        model.decide({"x": float("inf")}, [0, 1])
    with pytest.raises(FeatureError, match="finite"):
        model.decide(np.array([np.inf]), [0, 1])
    with pytest.raises(LabelError, match="1 lists of labels for 2 rows"):
        model.decide_many([{"x": 1.0}, {"x": 2.0}], [[0, 1]])
    with pytest.raises(LabelError, match="for each row"):
        model.decide_many([{"x": 1.0}], 3)
    assert state_of(model) == before


@given(
    st.lists(
        st.one_of(st.sampled_from(["a", "b", "c", 1, None, ("t", 2)]), st.text(max_size=1), st.floats()),
        max_size=5,
    )
)
def test_any_list_of_labels_is_taken_or_refused(allowed: list[Any]) -> None:
    labels = ["a", "b", "c", 1, None, ("t", 2)]
    model = AdaBandit(labels, n_learners=2, seed=1)
    if not allowed or any(label not in labels for label in allowed):
        with pytest.raises(LabelError):
            model.decide({"x": 1}, allowed)
        assert model.rounds == 0
    else:
        decision = model.decide({"x": 1}, allowed)
        assert set(decision.allowed) == set(allowed)
        assert decision.label in allowed
