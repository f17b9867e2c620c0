"""The page that a summary prints, and the plain data that it is."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import banditboost
from banditboost.inspection.accuracy import Accuracy


@pytest.mark.parametrize(
    ("right", "verdicts"), [(0, 1), (1, 1), (0, 20), (7, 20), (20, 20), (931, 1000), (10**6, 10**6)]
)
def test_intervals_are_wilsons(right: int, verdicts: int) -> None:
    found, expected = Accuracy.of(right, verdicts), binomtest(right, verdicts).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0.0 <= found.low <= found.share == right / verdicts <= found.high <= 1.0


def taught(verdicts: int = 40, **parameters: Any) -> Any:
    """Shows one label at a time, so that what is counted is known: label number t mod 3, right if t is
    odd.
    """
    model = banditboost.AdaBandit(["sports", ("a", None), None], n_learners=3, seed=1, **parameters)
    for t in range(verdicts):
        model.learn(model.decide({"x": float(t)}, allowed=[model.labels[t % 3]]), t % 2 == 1)
    return model


def test_a_new_model_has_nothing_to_tell_yet() -> None:
    summary = banditboost.AdaBandit(["yes", "no"], n_learners=3, seed=1).summary()
    assert math.isnan(summary.total.shown.share)
    assert summary.to_dict()["total"]["shown"] == {"verdicts": 0, "share": None, "low": None, "high": None}
    assert "explored" not in str(summary)
    assert "nan" not in str(summary)


def test_the_page() -> None:
    model = taught(41)
    model.decide({"x": 0.0})
    lines = str(model.summary()).splitlines()
    assert lines[0] == "AdaBandit: 42 rounds, 41 verdicts, 1 open"
    cells = {line[:18].strip(): " ".join(line[18:].split()) for line in lines[3:8]}
    assert cells["all shown"] == "41 0.488 0.343 to 0.635 41 0.488 0.343 to 0.635"
    assert cells["sports"] == "14 0.500 0.268 to 0.732 14 0.500 0.268 to 0.732"
    assert cells["('a', None)"] == "14 0.500 0.268 to 0.732 14 0.500 0.268 to 0.732"
    assert cells["None"] == "13 0.462 0.232 to 0.709 13 0.462 0.232 to 0.709"
    assert (
        lines[-5]
        == "explored: 0.0% (lately 0.0%) of the verdicts, at a cost in accuracy of 0.000 (lately 0.000)"
    )
    assert [line.split(":")[0] for line in lines[-4:]] == ["alphas", "experts", "trees", "memory"]
    assert len({len(line) for line in lines[2:8]}) == 1  # columns are as wide in every line


def test_the_page_names_the_most_frequent_labels() -> None:
    model = banditboost.baselines.Random(range(40), seed=1)
    for t in range(800):
        model.learn(model.decide({"x": t}), False)
    lines = str(model.summary()).splitlines()
    counts = [int(line.split()[1]) for line in lines[5:17]]
    assert (
        counts
        == sorted((found.verdicts for found in model.summary().total.by_label.values()), reverse=True)[:12]
    )
    assert lines[17] == f"and {len(model.summary().total.by_label) - 12} more labels"


def test_plain_data_goes_through_json() -> None:
    data = taught().summary().to_dict()
    assert json.loads(json.dumps(data))["total"]["by_label"][0]["label"] == "sports"
    assert [entry["label"] for entry in data["recent"]["by_label"]] == ["sports", ("a", None), None]
    assert data["total"]["cost"] == 0.0
    assert data["trees"] == {"number": 3, "leaves": data["trees"]["leaves"], "asleep": 0, "full": False}
    assert data["alphas"] == taught().alphas.tolist()
    assert sum(data["expert_weights"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "alphas", "experts", "trees"),
    [
        ("OptBandit", False, False, True),
        ("BinBandit", False, False, True),
        ("GapBoost", False, True, True),
        ("AdaFull", True, True, True),
        ("MixBandit", True, True, True),
    ],
)
def test_each_booster_tells_what_it_has(name: str, alphas: bool, experts: bool, trees: bool) -> None:
    summary = getattr(banditboost, name)(["yes", "no"], n_learners=3, seed=1).summary()
    assert (summary.alphas is not None, summary.expert_weights is not None, summary.trees is not None) == (
        alphas,
        experts,
        trees,
    )
    assert summary.kind == name


def test_leaves_and_memory_are_those_of_the_model() -> None:
    model = banditboost.AdaFull(["yes", "no"], n_learners=3, seed=1)
    for t in range(80):
        model.learn_one({"x": t % 10}, "yes" if t % 10 < 5 else "no")
    summary = model.summary()
    assert summary.trees is not None
    assert summary.trees.leaves == sum(model.tree(i).n_leaves for i in range(3)) > 3
    assert (summary.memory, summary.max_memory) == (model.memory_usage, model.max_memory)


def test_learners_written_in_python_have_no_trees() -> None:
    class Constant:
        def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
            return 0

        def learn(self, x: np.ndarray, label: int, weight: float) -> None:
            """Nothing."""

    model = banditboost.AdaBandit(["yes", "no"], n_learners=3, weak_learner=Constant, seed=1)
    model.learn(model.decide({"x": 1.0}), True)
    assert model.summary().trees is None
    assert model.summary().verdicts == 1
