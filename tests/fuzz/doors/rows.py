"""Rows of every kind for decide, decide_many, distribution, learn_one, predict_proba_one and play."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import banditboost
from banditboost import Schema, baselines
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt_with, look_at_decision
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand, look_at_shares

_LABELS = ("p", "q", "r")
_SCHEMAS: dict[str, Any] = {
    "growing": lambda: None,
    "declared": lambda: Schema(numeric=["a"], nominal={"b": ["x", "y"]}),
    "dates": lambda: Schema(numeric=["a"], nominal=["b"], dates=["x0"]),
    "open values": lambda: Schema(numeric=["a"], nominal=["b"]),
}
_models: dict[str, Any] = {}


def prepare() -> None:
    """A new model of each kind and schema, and one that has learned a little."""
    for kind in ("AdaBandit", "GapBoost", "OptBandit", "BinBandit", "AdaFull"):
        for name, schema in _SCHEMAS.items():
            _models[f"{kind}, {name}"] = getattr(banditboost, kind)(
                _LABELS, n_learners=2, schema=schema(), seed=1
            )
    for kind in ("Banditron", "DiagonalSOBA", "Majority"):
        _models[f"{kind}, growing"] = getattr(baselines, kind)(_LABELS, seed=1)
    for name, new in list(_models.items()):
        model = _models[f"{name}, used"] = copy.deepcopy(new)
        for i in range(12):
            _teach(model, {"a": float(i), "b": "xy"[i % 2]}, i % 3)
    used = _models["AdaBandit by position, used"] = banditboost.AdaBandit(_LABELS, n_learners=2, seed=1)
    for i in range(12):
        _teach(used, [float(i), "xy"[i % 2]], i % 3)


def _teach(model: Any, row: Any, right: int) -> None:
    if hasattr(model, "decide"):
        decision = model.decide(row)
        model.learn(decision, decision.label == _LABELS[right])
    else:
        model.learn_one(row, _LABELS[right])


def play(luck: Luck, folder: Path) -> str:
    name = luck.choice(sorted(_models))
    model = copy.deepcopy(_models[name])
    calls = _TELLING if hasattr(model, "decide") else _TOLD
    refused = 0
    try:
        for _ in range(luck.randint(1, 4)):
            refused += luck.choice(calls)(model, luck)
        _live_on(model, luck, folder)
    except Exception as error:
        error.add_note(f"model: {name}")
        raise
    return REFUSED if refused else ACCEPTED


def _decide(model: Any, luck: Luck) -> bool:
    row = values.row(luck)
    decision, error = attempt_with(model, lambda: model.decide(row))
    if error is None:
        look_at_decision(decision, model.labels)
        model.learn(decision, luck.chance(0.5))
    return error is not None


def _decide_among(model: Any, luck: Luck) -> bool:
    allowed = values.container(luck, luck.sample(_LABELS, 2)) if luck.chance(0.7) else values.thing(luck)
    decision, error = attempt_with(model, lambda: model.decide({"a": 1.0}, allowed))
    if error is None:
        look_at_decision(decision, model.labels)
        demand(decision.label in decision.allowed, "the label was not allowed")
    return error is not None


def _decide_many(model: Any, luck: Luck) -> bool:
    rows = values.rows(luck)
    rounds = model.rounds
    decisions, error = attempt_with(model, lambda: model.decide_many(rows))
    if error is None:
        demand(model.rounds == rounds + len(decisions), "rounds were not counted")
        for decision in decisions:
            look_at_decision(decision, model.labels)
        model.learn_many(decisions, [luck.chance(0.5) for _ in decisions])
    return error is not None


def _distribution(model: Any, luck: Luck) -> bool:
    row = values.row(luck)
    shares, error = attempt_with(model, lambda: model.distribution(row))
    if error is None:
        look_at_shares(shares)
    return error is not None


def _play(model: Any, luck: Luck) -> bool:
    X = values.rows(luck)
    y = (
        values.container(luck, luck.some((*_LABELS, *_LABELS, 0, 1), 4))
        if luck.chance(0.3)
        else [luck.choice(_LABELS) for _ in range(_length(X))]
    )
    result, error = attempt_with(model, lambda: banditboost.play(model, X, y))
    if error is None:
        demand(0.0 <= result.accuracy <= 1.0 or len(result.correct) == 0, f"{result}")
    return error is not None


def _length(X: Any) -> int:
    try:
        return len(X)
    except TypeError:
        return 2


def _learn_one(model: Any, luck: Luck) -> bool:
    row, right = values.row(luck), luck.choice(_LABELS) if luck.chance(0.8) else values.thing(luck)
    return attempt_with(model, lambda: model.learn_one(row, right))[1] is not None


def _learn_many(model: Any, luck: Luck) -> bool:
    rows, right = values.rows(luck), luck.some((*_LABELS, "unknown") if luck.chance(0.2) else _LABELS, 4)
    return attempt_with(model, lambda: model.learn_many(rows, right))[1] is not None


def _predict(model: Any, luck: Luck) -> bool:
    row = values.row(luck)
    shares, error = attempt_with(model, lambda: model.predict_proba_one(row))
    if error is None:
        look_at_shares(shares)
    return error is not None


def _live_on(model: Any, luck: Luck, folder: Path) -> None:
    """The model is used further, and now and then saved and loaded."""
    for right in range(3):
        _teach(model, {}, right)
    model.summary()
    if luck.chance(0.1):
        path = folder / "model.bb"
        try:
            model.save(path)
        except banditboost.errors.ModelFileError as error:
            demand("cannot be saved with" in str(error), str(error))  # such as a name that no file can hold
            return
        banditboost.load(path)


_TELLING = (_decide, _decide, _decide_many, _decide_among, _distribution, _play)
_TOLD = (_learn_one, _learn_one, _learn_many, _predict, _play)
