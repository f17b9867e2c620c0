"""Linear baselines whose features and values join one by one: equal to the last bit to those that had all at
once, and seldom copied.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import Schema
from tests.baselines.models import LINEAR, make
from tests.boosting.kernels import INTERPRETED

ROUNDS = 60 if INTERPRETED else 300


def rows(seed: int) -> list[dict[str, Any]]:
    """Each brings a feature, and some a value of a feature that there is."""
    random = np.random.default_rng(seed)
    made = []
    for t in range(ROUNDS):
        row: dict[str, Any] = {f"n{t // 2}": float(random.normal()), f"n{random.integers(t // 2 + 1)}": 1.5}
        row[f"c{random.integers(t // 9 + 1)}"] = f"v{random.integers(1 + t // 7)}"
        made.append(row)
    return made


def play(model: Any, stream: list[dict[str, Any]]) -> list[tuple[Any, float]]:
    told = []
    for t, row in enumerate(stream):
        decision = model.decide(row)
        model.learn(decision, decision.label == "abc"[t % 3])
        told.append((decision.label, decision.probability))
    return told


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_joins_one_by_one_is_as_what_was_there(name: str, seed: int, tmp_path: Path) -> None:
    stream = rows(seed)
    grown = make(name, ["a", "b", "c"])
    grown._schema.keeps_all_values = True
    told = play(grown, stream)
    whole = make(name, ["a", "b", "c"], Schema.from_dict({**grown.schema.to_dict(), "declared": False}))
    assert play(whole, stream) == told
    arrays, others = grown._arrays(), whole._arrays()
    assert arrays.keys() == others.keys()
    for key in arrays.keys() - {"ledger"}:
        assert arrays[key].shape == others[key].shape
        assert arrays[key].tobytes() == others[key].tobytes()
    grown.save(tmp_path / "model")
    again: Any = banditboost.load(tmp_path / "model")
    assert again.memory_usage == grown.memory_usage == whole.memory_usage
    assert play(again, stream) == play(grown, stream)


@pytest.mark.parametrize("name", LINEAR)
def test_tables_are_seldom_copied(name: str) -> None:
    model = make(name, ["a", "b", "c"])
    tables, copies = model._tables, 0
    for i in range(500):
        model.decide({f"g{i}": 1.0})
        copies += model._tables is not tables
        tables = model._tables
    assert 0 < copies <= 2 * np.log2(3 * 500)  # tables and scales double each in its time
    assert model._arrays()["weights"].shape == (model.n_tables, 1 + 3 * 500, 3)
    assert model._arrays()["scales"].shape == (500,)


@pytest.mark.parametrize("name", LINEAR)
def test_declared_features_need_no_room(name: str) -> None:
    model = make(name, ["a", "b", "c"], Schema(numeric=[f"g{i}" for i in range(500)]))
    assert model._tables.shape == model._arrays()["weights"].shape == (model.n_tables, 1501, 3)
