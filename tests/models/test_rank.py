"""`model.rank` and `decision.ranking`: the order of scores, for every model and any number of labels."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from banditboost import Decision, GapBoost, PendingDecisions, schedules
from banditboost.errors import DecisionError, LabelError, ParameterError
from banditboost.memo import CHOSEN_EXPERT, MOST_PROBABILITIES, ROUND, VOTES
from banditboost.models.model import Model
from banditboost.registry import MODELS, model_class

DECIDING = [name for name in MODELS if not name.endswith("Full")]
RATED = [name for name in DECIDING if name != "GapBoost"]
WITH_LEARNERS = ["AdaBandit", "OptBandit", "BinBandit", "MixBandit", "EpsilonGreedyForest"]
K = 6


def made(name: str, k: int = K, **others: Any) -> Any:
    if name in WITH_LEARNERS or name.endswith("Full"):
        others = {"n_learners": 5, **others}
    return model_class(name)(range(k), seed=3, **others)


def row(draw: np.random.Generator) -> list[float]:
    return [float(draw.integers(4)), float(draw.normal()), float(draw.integers(2))]


def taught(name: str, k: int = K, rounds: int = 60, noise: float = 0.0, **others: Any) -> Any:
    model, draw = made(name, k, **others), np.random.default_rng(5)
    for _ in range(rounds):
        x = row(draw)
        decision = model.decide(x)
        right = int(x[0]) if draw.random() > noise else int(draw.integers(k))
        model.learn(decision, decision.label == right)
    return model


def state(model: Any, path: Any) -> bytes:
    model.save(path / "model.bb")
    return bytes((path / "model.bb").read_bytes())


@pytest.mark.parametrize("name", DECIDING)
def test_a_rank_is_a_look(name: str, tmp_path: Any) -> None:
    """Probabilities are those of the decision that follows; the greedy label is first; nothing changes."""
    model, twin, draw = taught(name), taught(name), np.random.default_rng(8)
    for _ in range(20):
        x = row(draw)
        before = copy.deepcopy(model)
        places = model.rank(x)
        decision = model.decide(x)
        assert decision._memo.tolist() == twin.decide(x)._memo.tolist()
        assert {place.label: place.probability for place in places} == decision.distribution()
        assert before.rank(x) == before.rank(x) == places
        assert model.rank(x, n=2)[:2] == model.rank(x)[:2]
        if name != "GapBoost":
            assert places[0].label == decision.greedy
    saved = state(model, tmp_path)
    model.rank(row(draw), 3)
    assert state(model, tmp_path) == saved


@pytest.mark.parametrize("name", ["GapBoost", "AdaBandit", "OptBandit", "BinBandit", "MixBandit"])
def test_the_second_is_the_best_of_the_others(name: str) -> None:
    """As the compiled round itself has it: without the first label the second would be the greedy one. Labels
    of equal scores are drawn among, and left out here.
    """
    learners = {} if name == "GapBoost" else {"n_learners": 15}
    model, draw, seen = taught(name, rounds=300, noise=0.5, **learners), np.random.default_rng(8), 0
    for _ in range(60):
        x = row(draw)
        places = [place.label for place in model.rank(x)]
        scores = model._scores_of(model._look(x))
        for n in range(1, K - 1):
            left = sorted(places[n:])
            if scores is not None and np.sum(np.isclose(scores[left], scores[left].max(), atol=1e-12)) > 1:
                break
            assert model.rank(x, allowed=left)[0].label == places[n]
            seen += 1
    assert seen >= (0 if name == "MixBandit" else 10)  # whose learners hardly weigh anything so soon


@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit"])
def test_scores_of_voters_are_sums_of_votes(name: str) -> None:
    model, draw = taught(name, rounds=150), np.random.default_rng(8)
    for _ in range(30):
        x = row(draw)
        places, memo = model.rank(x), model.decide(x)._memo.tolist()
        sums = [0.0] * K
        for i in range(int(memo[CHOSEN_EXPERT]) + 1):
            sums[int(memo[VOTES + i])] += memo[VOTES + 5 + i]
        assert [sums[int(place.label)] for place in places] == sorted(sums, reverse=True)


def test_scores_of_mixtures_are_their_softmax() -> None:
    """In plain loops: a vote counts its weight, then all is smoothed (docs/mixture.md)."""
    model, draw = taught("MixBandit", rounds=150, noise=0.3, n_learners=15), np.random.default_rng(8)
    for _ in range(20):
        memo = model._look(row(draw))
        p, mu = [1.0 / K] * K, 1.0 / (memo[ROUND] + 2.0) ** 2
        for i in range(int(memo[CHOSEN_EXPERT]) + 1):
            grown = [
                share * (math.exp(memo[VOTES + 15 + i]) if label == memo[VOTES + i] else 1.0)
                for label, share in enumerate(p)
            ]
            p = [(1.0 - mu) * share / sum(grown) + mu / K for share in grown]
        np.testing.assert_allclose(model._scores_of(memo), p, rtol=1e-9)


@pytest.mark.parametrize("name", ["Majority", "Banditron", "DiagonalSOBA", "EpsilonGreedyTree"])
def test_baselines_rank_by_what_their_greedy_label_is_chosen_by(name: str) -> None:
    model, draw = taught(name, rounds=150), np.random.default_rng(8)
    for _ in range(20):
        x = row(draw)
        memo = model._look(x)
        scores = model._scores_of(memo)
        assert scores[int(model.rank(x)[0].label)] == scores.max()
        assert len(set(scores.tolist())) > 1


@pytest.mark.parametrize("name", [name for name in MODELS if name.endswith("Full")])
def test_boosters_that_are_told_the_label_rank_by_shares(name: str, tmp_path: Any) -> None:
    model, draw = made(name), np.random.default_rng(5)
    for _ in range(60):
        x = row(draw)
        model.learn_one(x, int(x[0]))
    saved = state(model, tmp_path)
    for _ in range(10):
        x = row(draw)
        places, shares = model.rank(x), model.predict_proba_one(x)
        assert [place.probability for place in places] == sorted(shares.values(), reverse=True)
        assert dict(places) == shares
    assert state(model, tmp_path) == saved


@pytest.mark.parametrize("k", [2, MOST_PROBABILITIES, MOST_PROBABILITIES + 1, 200])
def test_decisions_of_gapboost_tell_their_ranking_whatever_k_is(k: int) -> None:
    model, draw = taught("GapBoost", k, rounds=40), np.random.default_rng(8)
    for _ in range(5):
        x = row(draw)
        expected, some = model.rank(x), model.rank(x, allowed=[0, 1])
        decision = model.decide(x)
        assert decision.ranking() == expected == model.decide_many([x])[0].ranking()
        assert dict(expected) == decision.distribution()
        assert abs(sum(decision.distribution().values()) - 1.0) < 1e-9
        assert decision.distribution()[decision.label] == decision.probability
        restricted = model.decide(x, allowed=[0, 1])
        assert restricted.ranking() == some
        model.learn(decision, reward=0.5)
        assert decision.ranking() == expected  # what it was, whatever is learned


@pytest.mark.parametrize("schedule", [0.2, 0.9, schedules.Divided(least=0.2)], ids=repr)
def test_decisions_of_others_put_the_greedy_label_first(schedule: Any) -> None:
    model, draw = taught("AdaBandit", exploration=schedule), np.random.default_rng(8)
    for _ in range(20):
        decision = model.decide(row(draw))
        places = decision.ranking()
        assert places[0].label == decision.greedy
        others = [place.probability for place in places[1:]]
        assert others == sorted(others, reverse=True)
        assert dict(places) == decision.distribution()
        stored = Decision.from_dict(decision.to_dict(), model.labels)
        assert stored.ranking() == places


def test_what_is_stored_does_not_hold_the_probabilities_of_many() -> None:
    """They would make tokens long and stores large; the error says where to ask."""
    model = taught("GapBoost", 40, rounds=5)
    decision = model.decide([1.0, 2.0, 0.0])
    pending = PendingDecisions(model)
    pending.add("a", decision)
    light = [
        Decision.from_dict(decision.to_dict(), model.labels),
        pickle.loads(pickle.dumps(decision)),
        pending._open["a"].decision,
    ]
    for stored in light:
        assert stored == decision
        with pytest.raises(DecisionError, match=r"40 labels.*not stored.*model\.rank\(x\)"):
            stored.ranking()
    assert len(decision.ranking()) == 40
    pending.learn("a", reward=0.5)
    assert model.verdicts == 6


def test_a_stored_decision_that_does_not_know_its_labels_says_so() -> None:
    decision = taught("GapBoost").decide([1.0, 2.0, 0.0])
    with pytest.raises(DecisionError, match=r"does not tell this label"):
        Decision.from_dict(decision.to_dict()).ranking()


def test_labels_that_are_gone_or_not_allowed_have_no_place() -> None:
    model = taught("GapBoost")
    model.remove_label(2)
    x = [1.0, 2.0, 0.0]
    assert sorted(place.label for place in model.rank(x)) == [0, 1, 3, 4, 5]  # type: ignore[type-var]
    assert {place.label for place in model.rank(x, allowed=[5, 0])} == {0, 5}
    assert [place.label for place in model.decide(x, allowed=[3]).ranking()] == [3]
    with pytest.raises(LabelError, match=r"was removed"):
        model.rank(x, allowed=[2])


@pytest.mark.parametrize("n", [0, -1, 1.5, "3", True])
def test_numbers_of_places_that_are_none_are_refused(n: Any) -> None:
    model: Any = taught("GapBoost", rounds=5)
    decision = model.decide([1.0, 2.0, 0.0])
    for call in (lambda: model.rank([1.0, 2.0, 0.0], n=n), lambda: decision.ranking(n)):
        with pytest.raises(ParameterError, match=r"n is .*; give a whole number from 1"):
            call()
    assert len(decision.ranking(99)) == K


def test_what_is_new_to_the_model_is_left_out() -> None:
    model = GapBoost(range(3), seed=1)
    assert len(model.rank({"hour": 3, "device": "phone"})) == 3
    assert isinstance(model, Model)
    assert len(model.schema) == 0
