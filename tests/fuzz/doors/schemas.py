"""Schemas: made from anything, stored, changed, and read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from banditboost import AdaBandit, Schema
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, attempt_with, look_at_decision, look_at_text
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand

_SOUND = (
    Schema(numeric=["a"], nominal={"b": ["x", "y"]}).to_dict(),
    Schema(nominal=["b"]).to_dict(),
    Schema().to_dict(),
    Schema(numeric=["a"], dates=["b"], strict=True).to_dict(),
    {"names": ["x0", "x1"], "values": [None, ["x"]], "declared": False, "positions": 2},
)


def prepare() -> None:
    """Compile what a decision takes."""
    model = AdaBandit(["p", "q"], n_learners=1, seed=1)
    model.learn(model.decide({"a": 1.0, "b": "x"}), correct=True)


def play(luck: Luck, folder: Path) -> str:
    schema, error = _make(luck)
    if error is not None:
        return REFUSED
    look_at_text(repr(schema))
    data = schema.to_dict()
    stored, error = attempt(lambda: Schema.from_dict(data))
    if error is None:
        demand(stored.to_dict() == data, "the schema that was read is another one")
    model, error = attempt(lambda: AdaBandit(["p", "q"], n_learners=1, schema=schema, seed=1))
    if error is not None:
        return REFUSED
    for _ in range(3):
        row = _row(luck, schema)
        decision, error = attempt_with(model, lambda row=row: model.decide(row))  # type: ignore[misc]
        if error is None:
            look_at_decision(decision, model.labels)
            model.learn(decision, luck.chance(0.5))
    attempt(lambda: model.save(folder / "model.bb"))
    return ACCEPTED


def _row(luck: Luck, schema: Any) -> Any:
    if luck.chance(0.4):
        return values.row(luck)
    return {name: values.cell(luck) for name in schema.names if luck.chance(0.8)}


def _make(luck: Luck) -> tuple[Any, Any]:
    how = luck.randrange(3)
    if how == 0:
        data = values.changed(luck, luck.choice(_SOUND))
        if luck.chance(0.5):
            try:
                data = json.loads(json.dumps(data))
            except (TypeError, ValueError):
                return None, "no JSON"
        return attempt(lambda: Schema.from_dict(data))
    if how == 1:
        given = [_columns(luck) for _ in range(3)]
        return attempt(lambda: Schema(given[0], given[1], dates=given[2] if luck.chance(0.3) else ()))
    parts = [_columns(luck), luck.some(("numeric", "nominal", "other"), 3), _columns(luck)]
    return attempt(lambda: Schema.of(*parts))


def _columns(luck: Luck) -> Any:
    if luck.chance(0.2):
        return values.thing(luck)
    names = [values.name(luck) if luck.chance(0.9) else values.thing(luck) for _ in range(luck.randint(0, 3))]
    if luck.chance(0.3):
        return {name: luck.some(values.TEXTS, 3) for name in names if isinstance(name, str)}
    return values.container(luck, names)
