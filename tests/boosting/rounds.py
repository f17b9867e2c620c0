"""Small models for tests of rounds, and what a refusal must leave as it was."""

from __future__ import annotations

from typing import Any

import pytest

from banditboost.errors import BanditBoostError, DecisionError
from tests.boosting.states import state_of
from tests.boosting.streams import make_stream
from tests.boosting.twins import make_booster

K, N = 3, 4
STREAM = make_stream("mixed", K, 120)


def make(name: str, **options: Any) -> Any:
    return make_booster(name, K, N, schema=STREAM.schema(), **options)


def taught(name: str, n_rounds: int = 40) -> Any:
    """A model that has been through some rounds."""
    model = make(name)
    for x, y in zip(STREAM.X[:n_rounds], STREAM.y.tolist(), strict=False):
        decision = model.decide(x)
        model.learn(decision, decision.label == y)
    return model


def refused(model: Any, decision: Any, correct: Any) -> str:
    """The message with which a verdict is refused, after a look at whether anything has changed."""
    before = state_of(model)
    with pytest.raises(DecisionError) as error:
        model.learn(decision, correct)
    assert state_of(model) == before
    assert isinstance(error.value, BanditBoostError)
    return str(error.value)
