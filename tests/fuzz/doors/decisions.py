"""Stored decisions: dicts, JSON and tokens that were changed on their way, also with a checksum that is right again."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import banditboost
from banditboost import Decision, Schema, schedules
from banditboost.decision import stored
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, attempt_with, look_at_decision, look_at_text
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand, look_at_shares

KEY = b"32 bytes that nobody else knows."
_models: list[Any] = []
_decisions: list[tuple[int, Decision]] = []


def prepare() -> None:
    """Models of several kinds, and decisions of each that nobody has learned."""
    labels = ("p", 1, None)
    for model in (
        banditboost.AdaBandit(labels, n_learners=2, seed=1),
        banditboost.AdaBandit(labels, n_learners=2, seed=1, exploration=schedules.Divided()),
        banditboost.GapBoost(labels, n_learners=2, seed=1),
        banditboost.OptBandit(
            labels, n_learners=2, seed=1, schema=Schema(numeric=["a"], nominal={"b": ["x", "y"]})
        ),
        banditboost.BinBandit(labels, n_learners=2, seed=1),
        banditboost.baselines.DiagonalSOBA(labels, seed=1),
        banditboost.GapBoost(range(40), n_learners=1, seed=1),
    ):
        for i in range(8):
            model.learn(model.decide({"a": float(i), "b": "xy"[i % 2]}), correct=i % 3 == 0)
        _models.append(model)
        branch = model.branch()
        allowed = model.labels[:2] if not model.labels_are_fixed else None
        for decision in (
            model.decide({"a": 1.5, "b": "y"}),
            model.decide({"a": None}, allowed),
            branch.decide({"a": -1.0, "b": "x"}),
        ):
            _decisions.append((len(_models) - 1, decision))


def play(luck: Luck, folder: Path) -> str:
    number, decision = luck.choice(_decisions)
    model = _models[number]
    kind = luck.randrange(10)
    if kind < 5:
        read = _changed_dict(luck, decision)
    elif kind < 8:
        read = _resealed(luck, decision)
    elif kind == 8:
        read = _changed_token(luck, decision)
    else:
        junk = values.thing(luck)
        read = attempt(lambda: Decision.from_dict(junk))[0]
    if read is None:
        return REFUSED
    _look_at(read)
    return _learn(luck, copy.deepcopy(model), read, folder)


def _changed_dict(luck: Luck, decision: Decision) -> Decision | None:
    data, labels = values.changed(luck, decision.to_dict()), _labels(luck, decision)
    if luck.chance(0.5):
        try:
            data = json.loads(json.dumps(data))
        except (TypeError, ValueError):
            return None
    read: Decision | None = attempt(lambda: Decision.from_dict(data, labels))[0]
    return read


def _labels(luck: Luck, decision: Decision) -> Any:
    if luck.chance(0.5):
        return None
    return decision._all_labels() if luck.chance(0.7) else values.thing(luck)


def _resealed(luck: Luck, decision: Decision) -> Decision | None:
    """A changed decision whose checksum was computed anew: it is no secret."""
    data = values.changed(
        luck, {key: value for key, value in decision.to_dict().items() if key != "checksum"}
    )
    parts, error = attempt(lambda: stored.parts_unsealed(data))
    if error is not None:
        return None
    try:
        data["checksum"] = stored.checksum(parts)
    except (TypeError, ValueError):  # what JSON cannot hold has no checksum
        return None
    read: Decision | None = attempt(lambda: Decision.from_dict(data))[0]
    return read


def _changed_token(luck: Luck, decision: Decision) -> Decision | None:
    token = decision.to_token(KEY)
    given: Any = token
    if luck.chance(0.7):
        place = luck.randrange(len(token))
        given = (
            token[:place]
            + luck.choice(("", "A", "=", "\n", "\u0660", values.text(luck)))
            + token[place + 1 :]
        )
    elif luck.chance(0.5):
        given = values.thing(luck)
    key = KEY if luck.chance(0.7) else values.thing(luck)
    age = None if luck.chance(0.7) else values.thing(luck)
    read, error = attempt(lambda: Decision.from_token(given, key, None, age))
    demand(error is not None or (given == token and read == decision), "a changed token was accepted")
    return read


def _look_at(decision: Decision) -> None:
    look_at_text(repr(decision))
    demand(0.0 < decision.probability <= 1.0, f"the probability is {decision.probability}")
    hash(decision), attempt(lambda: (decision.label, decision.greedy, decision.explored, decision.allowed))
    shares, error = attempt(decision.distribution)
    if error is None:
        look_at_shares(shares)
    data = decision.to_dict()
    again = Decision.from_dict(json.loads(json.dumps(data)))
    demand(again.to_dict() == data, "what was stored again tells something else")


def _learn(luck: Luck, model: Any, decision: Decision, folder: Path) -> str:
    """It is learned once, or refused; after it the model works, and can be saved and loaded."""
    verdicts = model.verdicts
    told = {"correct": luck.chance(0.5)} if luck.chance(0.5) else {"reward": luck.random()}
    _, error = attempt_with(model, lambda: model.learn(decision, **told))
    demand(model.verdicts == verdicts + (error is None), "the verdict was not counted once")
    _, again = attempt_with(model, lambda: model.learn(decision, True))
    demand(again is not None, "the decision was learned twice")
    for i in range(3):
        made = model.decide({"a": float(i), "b": "x"})
        look_at_decision(made, model.labels)
        model.learn(made, correct=i == 1)
    if error is None and luck.chance(0.3):
        model.save(folder / "model.bb")
        banditboost.load(folder / "model.bb")
    return REFUSED if error else ACCEPTED
