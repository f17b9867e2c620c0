"""Files of format 1 as they were written when it was released: they load, and answer as they did then, for
ever.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import banditboost
from banditboost import PendingDecisions
from banditboost.io import container
from tests.data.make_format_1 import BOOSTERS, FOLDER, LABELS, answers, make, row
from tests.weak_learners.invariants import check_committee

EXPECTED = json.loads((FOLDER / "format_1.json").read_text())


def loaded(name: str) -> Any:
    return banditboost.load(FOLDER / f"format_1_{name}.bb")


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_file_answers_as_it_did(name: str) -> None:
    model = loaded(name)
    assert (model.rounds, model.model_id, list(model.labels)) == (120, EXPECTED[name]["model_id"], LABELS)
    assert json.loads(json.dumps(answers(model))) == EXPECTED[name]["answers"]
    check_committee(model._committee)


@pytest.mark.parametrize("name", BOOSTERS)
def test_trees_from_before_max_columns_look_at_all_columns_as_they_did(name: str) -> None:
    assert loaded(name).weak_learner.max_columns is None


@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit", "BinBandit", "GapBoost"])
def test_the_open_decisions_can_be_learned(name: str) -> None:
    model = loaded(name)
    pending = PendingDecisions.from_dict(EXPECTED[name]["pending"], model, clock=lambda: 1.0e9)
    assert [str(pending.learn(t, True)) for t in (80, 90, 100, 110, 110, 5)] == [
        *["learned"] * 4,
        "duplicate",
        "unknown",
    ]
    assert model.verdicts == 120
    model.learn(model.decide(row(300)), False)


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_files_are_small_and_of_format_1(name: str) -> None:
    path = FOLDER / f"format_1_{name}.bb"
    assert path.stat().st_size < 120_000
    assert container.read(path).format == 1
    assert banditboost.io.describe(path)["class"] == name


def test_the_answers_are_not_all_the_same() -> None:
    """Else the comparison could not fail."""
    for name in BOOSTERS:
        assert len({str(answer) for answer in EXPECTED[name]["answers"]}) >= 3
        assert answers(make(name)[0]) != answers(type(make(name)[0])(LABELS, n_learners=3, seed=7))
