"""Models of every kind, each after a life of its own: what the fuzzers damage, and how a model is put to use."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

import banditboost
from banditboost import HoeffdingTree, Schema, baselines, schedules
from banditboost.errors import FeatureError

KIBIBYTE, MEBIBYTE = 1 << 10, 1 << 20
_TREE = HoeffdingTree(grace_period=5.0, split_confidence=0.5, tie_threshold=0.5, leaf_prediction="adaptive")
_BAYES = HoeffdingTree(
    grace_period=5.0, split_confidence=0.5, tie_threshold=0.5, leaf_prediction="naive_bayes"
)
_WIDE = Schema(numeric=[f"c{i}" for i in range(100)])
_LABELS = ("p", "q", "r")

# By name: the class, how many labels, what else it is made with, and how many rounds it lives.
RECIPES: dict[str, tuple[Any, int, dict[str, Any], int]] = {
    "AdaBandit": (banditboost.AdaBandit, 3, {"n_learners": 4, "weak_learner": _TREE}, 300),
    "AdaBandit divided": (
        banditboost.AdaBandit, 5, {"n_learners": 3, "exploration": schedules.Divided()}, 300,
    ),
    "AdaBandit full memory": (
        banditboost.AdaBandit, 12, {"n_learners": 6, "max_memory": MEBIBYTE, "weak_learner": _TREE}, 600,
    ),
    "OptBandit": (banditboost.OptBandit, 3, {"n_learners": 4, "weak_learner": _BAYES}, 300),
    "OptBandit theory": (
        banditboost.OptBandit, 4, {"n_learners": 3, "exploration": schedules.Theory()}, 200,
    ),
    "BinBandit": (banditboost.BinBandit, 3, {"n_learners": 3, "weak_learner": _TREE}, 300),
    "BinBandit adaptive": (
        banditboost.BinBandit, 3, {"n_learners": 2, "exploration": schedules.Adaptive()}, 200,
    ),
    "GapBoost": (banditboost.GapBoost, 3, {"n_learners": 3}, 300),
    "GapBoost wide": (banditboost.GapBoost, 2, {"n_learners": 2, "schema": _WIDE}, 40),
    "GapBoost many labels": (banditboost.GapBoost, 20, {"n_learners": 2}, 300),
    "GapBoost new": (banditboost.GapBoost, 3, {}, 0),
    "AdaFull": (banditboost.AdaFull, 3, {"n_learners": 4, "weak_learner": _TREE}, 200),
    "MixBandit": (banditboost.MixBandit, 3, {"n_learners": 4, "weak_learner": _TREE}, 300),
    "MixFull": (banditboost.MixFull, 3, {"n_learners": 4}, 200),
    "OptFull": (banditboost.OptFull, 3, {"n_learners": 4}, 200),
    "Random": (baselines.Random, 3, {}, 100),
    "Majority": (baselines.Majority, 3, {}, 1_200),
    "Banditron": (baselines.Banditron, 3, {"exploration": schedules.Decaying()}, 200),
    "DiagonalSOBA": (baselines.DiagonalSOBA, 3, {"exploration": schedules.Adaptive()}, 200),
    "EpsilonGreedyTree": (baselines.EpsilonGreedyTree, 3, {"exploration": 0.2}, 300),
    "EpsilonGreedyForest": (baselines.EpsilonGreedyForest, 3, {"exploration": 0.2}, 200),
}  # fmt: skip


def grown(name: str) -> Any:
    """A model of the recipe of this name; one in three decisions stays open."""
    kind, n_labels, options, n_rounds = RECIPES[name]
    model = kind([*_LABELS, *range(n_labels)][:n_labels], seed=5, **options)
    luck = random.Random(name)
    for round_ in range(n_rounds):
        row = _honest_row(luck, options)
        if hasattr(model, "decide"):
            decision = model.decide(row)
            if round_ % 3:
                model.learn(decision, luck.random() < 0.4)
        else:
            model.learn_one(row, luck.choice(model.labels))
    return model


def branched(name: str) -> Any:
    """A model with a branch below it, some of whose decisions it has learned."""
    model = grown(name)
    branch = model.branch()
    for _ in range(20):
        model.learn(branch.decide({"a": 1.0, "b": "x"}), correct=True)
    return model


def _honest_row(luck: random.Random, options: dict[str, Any]) -> dict[str, Any]:
    if "schema" in options:
        return {name: luck.gauss(0, 1) for name in options["schema"].names if luck.random() < 0.9}
    return {"a": luck.gauss(0, 1), "b": luck.choice("xyz"), "c": luck.randrange(10), "d": luck.choice("uvw")}


class UnsoundError(AssertionError):
    """A model has told something that cannot be."""


def demand(good: Any, what: str) -> None:
    if not good:
        raise UnsoundError(what)


def use(model: Any, luck: random.Random, n_rounds: int) -> None:
    """Decide and learn, with odd rows, new features, new values and new labels; look at what is told."""
    for round_ in range(n_rounds):
        if round_ in (20, 120) and not model.labels_are_fixed:
            model.add_label(f"new label {round_}")
        row = _odd_row(model.schema, luck, round_)
        try:
            _use_once(model, luck, row)
        except FeatureError:  # such as a new feature where all are declared
            _use_once(model, luck, {})
    look_at_summary(model.summary())


def _use_once(model: Any, luck: random.Random, row: dict[Any, Any]) -> None:
    if not hasattr(model, "decide"):
        look_at_shares(model.predict_proba_one(row))
        model.learn_one(row, luck.choice(model.labels))
        return
    if luck.random() < 0.2:
        look_at_shares(model.distribution(row))
    allowed = None
    if not model.labels_are_fixed and luck.random() < 0.1:
        allowed = luck.sample(model.labels, luck.randint(1, len(model.labels)))
    decision = model.decide(row, allowed) if allowed else model.decide(row)
    demand(0.0 < decision.probability <= 1.0, f"the probability is {decision.probability}")
    demand(decision.label in (allowed or model.labels), "the label is none of those allowed")
    if luck.random() < 0.9:
        model.learn(decision, luck.random() < 0.5)


def _odd_row(schema: Schema, luck: random.Random, round_: int) -> dict[Any, Any]:
    row: dict[Any, Any] = {}
    columns = list(zip(schema.names, schema.kinds, strict=True))
    for name, kind in luck.sample(columns, min(len(columns), 40)):
        if luck.random() < 0.1:
            continue
        if kind == "numeric":
            row[name] = luck.choice((1.0, 1.0, 10.0, 1e-200, 1e100)) * luck.gauss(0, 1)
        else:
            known = schema.values(name)
            row[name] = luck.choice(known) if known and luck.random() < 0.95 else f"new {luck.randrange(3)}"
    if round_ in (50, 150):
        row[f"new feature {round_}"] = luck.choice((1.0, "x"))
    return row


def look_at_shares(shares: dict[Any, float]) -> None:
    told = list(shares.values())
    demand(all(0.0 <= share <= 1.0 for share in told), f"probabilities are {told}")
    demand(math.isclose(sum(told), 1.0, abs_tol=1e-9), f"probabilities are {told}")


def look_at_summary(summary: Any) -> None:
    for name in ("alphas", "expert_weights"):
        weights = getattr(summary, name, None)
        demand(weights is None or np.all(np.isfinite(weights)), f"{name} are {weights}")
    if summary.verdicts:
        demand(0.0 <= summary.total.shown.share <= 1.0, f"the accuracy is {summary.total.shown}")
        greedy = summary.total.greedy
        demand(greedy.verdicts == 0 or 0.0 <= greedy.share <= 1.0 + 1e-9, f"the accuracy is {greedy}")
