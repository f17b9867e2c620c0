"""Every baseline against its slow twin, decision for decision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.baselines.models import NAMES, make, make_twin
from tests.boosting.kernels import INTERPRETED
from tests.boosting.streams import KINDS, growing_rows, make_stream
from tests.boosting.test_twins import Coder

ROUNDS = 60 if INTERPRETED else 300


def decide(model: Any, twin: Any, x: Any, coded: list[float]) -> tuple[Any, Any, list[float]]:
    decision, expected = model.decide(x), twin.decide(coded)
    assert (decision.label, decision.greedy, decision.probability) == (
        expected.ytilde,
        expected.yhat,
        expected.p,
    ), decision.round
    return decision, expected, coded


def learn(model: Any, twin: Any, both: tuple[Any, Any, list[float]], y: int) -> None:
    decision, expected, coded = both
    model.learn(decision, decision.label == y)
    twin.learn(expected, coded, decision.label == y)


@pytest.mark.parametrize("k", [2, 3, 12])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_baseline_equals_its_twin(name: str, kind: str, k: int) -> None:
    stream = make_stream(kind, k, ROUNDS)
    model, twin = make(name, range(k), stream.schema()), make_twin(name, k, stream.kinds, stream.n_values)
    for x, y in zip(stream.X, stream.y.tolist(), strict=True):
        learn(model, twin, decide(model, twin, x, x.tolist()), y)
    assert model.verdicts == ROUNDS


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_in_any_order(name: str) -> None:
    """After each decision between none and three of the open ones are learned, drawn at random; some never
    are.
    """
    stream = make_stream("mixed", 3, ROUNDS)
    model, twin = make(name, range(3), stream.schema()), make_twin(name, 3, stream.kinds, stream.n_values)
    luck = np.random.default_rng(3)
    waiting: list[Any] = []
    for x, y in zip(stream.X, stream.y.tolist(), strict=True):
        waiting.append((decide(model, twin, x, x.tolist()), y))
        for _ in range(min(luck.integers(0, 4), len(waiting))):
            learn(model, twin, *waiting.pop(luck.integers(len(waiting))))


@pytest.mark.parametrize("name", NAMES)
def test_features_and_values_join(name: str) -> None:
    """Also while verdicts of shorter rows are out: each is learned five rounds late."""
    stream, coder = make_stream("mixed", 3, ROUNDS), Coder()
    model, twin = make(name, range(3)), make_twin(name, 3, coder.kinds, coder.n_values)
    waiting: list[Any] = []
    for row, y in zip(growing_rows(stream), stream.y.tolist(), strict=True):
        waiting.append((decide(model, twin, row, coder.code(row)), y))
        if len(waiting) > 5:
            (decision, expected, coded), right = waiting.pop(0)
            longer = coded + [float("nan")] * (len(coder.kinds) - len(coded))
            learn(model, twin, (decision, expected, longer), right)
    assert model.schema.n_values() == coder.n_values
