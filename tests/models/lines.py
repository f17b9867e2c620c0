"""Small models whose decisions are told apart, and what names a decision."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import banditboost
from banditboost import Decision
from banditboost.errors import DecisionError
from tests.boosting.states import state_of
from tests.boosting.twins import parameters_of

LABELS = ["a", "b", "c"]
ROWS: list[dict[str, Any]] = [
    {"x": float(t % 5), "colour": ["red", "green", "blue"][t % 3]} for t in range(60)
]


def make(name: str = "AdaBandit", labels: list[Any] = LABELS, **options: Any) -> Any:
    return getattr(banditboost, name)(labels, n_learners=3, **parameters_of(name, seed=5, **options))


def taught(name: str = "AdaBandit", n_rounds: int = 20, **options: Any) -> Any:
    """A model that has learned the first rows."""
    model = make(name, **options)
    go_on(model, ROWS[:n_rounds])
    return model


def go_on(model: Any, rows: list[Any]) -> list[Decision]:
    decisions = []
    for t, row in enumerate(rows):
        decisions.append(model.decide(row))
        model.learn(decisions[-1], t % 3 == 0)
    return decisions


def id_of(decision: Decision | dict[str, Any]) -> tuple[str, str, str, int]:
    """What no two decisions have in common."""
    if isinstance(decision, dict):
        decision = Decision.from_dict(decision)
    return decision.model_id, decision.branch, decision.run, decision.round


def refused(model: Any, decision: Decision, correct: bool = True) -> str:
    """The reason, after a look at whether anything has changed."""
    before = state_of(model), model.memory_usage, model.summary().open_decisions, model.verdicts
    with pytest.raises(DecisionError) as error:
        model.learn(decision, correct)
    assert (state_of(model), model.memory_usage, model.summary().open_decisions, model.verdicts) == before
    with pytest.raises(DecisionError):
        model.learn_many([decision], [correct])
    assert (state_of(model), model.memory_usage, model.summary().open_decisions, model.verdicts) == before
    return str(error.value)


def via_json(decision: Decision) -> Decision:
    return Decision.from_dict(json.loads(json.dumps(decision.to_dict(), allow_nan=False)))


JOURNEYS: dict[str, Callable[[Decision], Decision]] = {
    "itself": lambda decision: decision,
    "json": via_json,
    "pickle": lambda decision: pickle.loads(pickle.dumps(decision)),
}
