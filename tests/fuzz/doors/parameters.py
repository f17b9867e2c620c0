"""Labels and parameters of every booster, baseline, schedule and tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import banditboost
from banditboost import HoeffdingTree, baselines, schedules
from banditboost.errors import ModelFileError
from banditboost.text import quoted
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, look_at_decision, look_at_text
from tests.fuzz.doors.lives import KINDS, _parameters
from tests.fuzz.doors.lives import prepare as prepare
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand, look_at_shares

_SCHEDULES = (schedules.Theory, schedules.Decaying, schedules.Adaptive, schedules.Divided, HoeffdingTree)
_FIELDS = {
    "least", "most", "edge", "rounds", "scale", "power", "memory", "grace_period", "split_confidence", "tie_threshold",
    "leaf_prediction", "min_branch_fraction", "max_columns",
}  # fmt: skip


def play(luck: Luck, folder: Path) -> str:
    if luck.chance(0.25):
        return _make_schedule(luck)
    kind = luck.choice(KINDS)
    given = _parameters(kind, luck)
    for name in luck.sample(sorted({*given, "schema", "seed"}), luck.choice((0, 1, 1, 2))):
        given[name] = values.number(luck) if luck.chance(0.5) else values.thing(luck)
    if "exploration" in given and luck.chance(0.2):
        given["exploration"] = luck.choice(("theory", "adaptive", "decaying", "divided", values.text(luck)))
    if callable(given.get("weak_learner")):  # whose errors are the user's own
        given["weak_learner"] = None
    labels = _labels(luck)
    make = getattr(banditboost if hasattr(banditboost, kind) else baselines, kind)
    try:
        model, error = attempt(lambda: make(labels, **given))
        if error is not None:
            return REFUSED
        _use(luck, model, folder)
    except Exception as error_:
        error_.add_note(f"{kind}, labels {quoted(labels)}, {quoted(given)}")
        raise
    return ACCEPTED


def _make_schedule(luck: Luck) -> str:
    kind = luck.choice(_SCHEDULES)
    names = sorted(_FIELDS & set(kind.__dataclass_fields__))
    given = {
        name: values.number(luck) if luck.chance(0.6) else values.thing(luck)
        for name in luck.sample(names, luck.randint(1, 2))
    }
    made, error = attempt(lambda: kind(**given))
    if error is not None:
        return REFUSED
    look_at_text(repr(made))
    return ACCEPTED


def _labels(luck: Luck) -> Any:
    if luck.chance(0.3):
        return [0, 1, 2]
    names = [values.name(luck) if luck.chance(0.8) else values.thing(luck) for _ in range(luck.randint(0, 5))]
    return values.container(luck, names) if luck.chance(0.8) else values.thing(luck)


def _use(luck: Luck, model: Any, folder: Path) -> None:
    """A model that was accepted decides and learns, tells of itself, and is saved and loaded."""
    label = values.name(luck) if luck.chance(0.5) else values.thing(luck)
    if luck.chance(0.3):
        attempt(lambda: model.add_label(label))
    if luck.chance(0.3) and hasattr(model, "remove_label"):
        attempt(lambda: model.remove_label(label))
    if luck.chance(0.2) and hasattr(type(model), "exploration"):
        rate = values.thing(luck)
        attempt(lambda: setattr(model, "exploration", rate))
    for i in range(4):
        row = {"a": float(i), "b": "xy"[i % 2]}
        if model.schema.declared:
            row = {}
        if hasattr(model, "decide"):
            decision = model.decide(row)
            look_at_decision(decision, model.labels)
            model.learn(decision, luck.chance(0.5))
        else:
            model.learn_one(row, model.labels[0])
            look_at_shares(model.predict_proba_one(row))
    look_at_text(str(model.summary()))
    try:
        model.save(folder / "model.bb")
    except ModelFileError as error:
        demand("cannot be saved with" in str(error), str(error))  # a label that no file can hold
        return
    again = banditboost.load(folder / "model.bb")
    demand(
        again.labels == model.labels and again.parameters == model.parameters,
        "the loaded model is another one",
    )
