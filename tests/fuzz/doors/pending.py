"""Stores of open decisions: odd ids, clocks and limits, and their stored form, changed."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import banditboost
from banditboost import PendingDecisions
from banditboost.pending import stored
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, look_at_text
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand
from tests.models.interrupting import settled_state

_models: list[Any] = []


def prepare() -> None:
    for kind in ("AdaBandit", "GapBoost"):
        model = getattr(banditboost, kind)(["p", "q", "r"], n_learners=2, seed=1)
        for i in range(6):
            model.learn(model.decide({"a": float(i), "b": "xy"[i % 2]}), correct=i == 3)
        _models.append(model)


class _Clock:
    def __init__(self, luck: Luck) -> None:
        self._luck, self._now = luck, 0.0

    def __call__(self) -> float:
        self._now += self._luck.choice((0.0, 1.0, 1.0, 50.0, -20.0))
        return self._now


def play(luck: Luck, folder: Path) -> str:  # noqa: ARG001 (every door has a folder)
    model = copy.deepcopy(luck.choice(_models))
    store, error = _made(luck, model)
    if error is not None:
        return REFUSED
    for _ in range(luck.randint(1, 12)):
        _step(luck, model, store)
    return _store_and_read(luck, model, store)


def _made(luck: Luck, model: Any) -> tuple[Any, Any]:
    if luck.chance(0.7):
        rule = {
            "capacity": luck.choice((1, 2, 5, 100)),
            "max_rounds": luck.choice((None, 1, 3)),
            "max_seconds": luck.choice((None, 5.0, 1e-300, 1e308)),
            "expired": luck.choice(("as_wrong", "drop", 0.0, 0.25, 1)),
        }
        return PendingDecisions(model, **rule, clock=_Clock(luck)), None  # type: ignore[arg-type]
    rule = {
        name: values.thing(luck)
        for name in luck.sample(("capacity", "max_rounds", "max_seconds", "expired", "clock"), 2)
    }
    if callable(rule.get("clock")):  # whose errors are the user's own
        del rule["clock"]
    given = model if luck.chance(0.8) else values.thing(luck)
    return attempt(lambda: PendingDecisions(given, **rule))  # type: ignore[arg-type]


def _step(luck: Luck, model: Any, store: Any) -> None:
    key = luck.choice((1, 2, "a", "b")) if luck.chance(0.7) else values.thing(luck)
    verdict = luck.chance(0.5) if luck.chance(0.9) else values.thing(luck)
    before, n_open = settled_state(model), len(store)
    how = luck.randrange(6)
    if how < 2:
        row = {"a": 1.0} if luck.chance(0.7) else values.row(luck)
        _, error = attempt(lambda: store.decide(key, row))
    elif how < 4:
        told = {"correct": verdict} if luck.chance(0.5) else _reward(luck)
        _, error = attempt(lambda: store.learn(key, **told))
    elif how == 4:
        decision = model.decide({"a": 2.0}) if luck.chance(0.6) else values.thing(luck)
        before = settled_state(model)
        _, error = attempt(lambda: store.add(key, decision))
    else:
        _, error = attempt(store.expire)
    if error is not None and len(store) == n_open:  # what had expired may have been closed before
        demand(before == settled_state(model), f"the call was refused ({error}) and has changed the model")
    look_at_text(repr(store))
    demand(len(store) <= store.capacity, "more are open than may be")
    key in store  # noqa: B015 (any object may be asked for)


def _reward(luck: Luck) -> dict[str, Any]:
    """A reward, mostly a good one; sometimes a verdict beside it."""
    reward = luck.random() if luck.chance(0.7) else values.thing(luck)
    return {"reward": reward, **({"correct": True} if luck.chance(0.1) else {})}


def _store_and_read(luck: Luck, model: Any, store: Any) -> str:
    data, error = attempt(store.to_dict)
    if error is not None:  # an id that cannot be stored
        return REFUSED
    same = PendingDecisions.from_dict(json.loads(json.dumps(data)), model, clock=lambda: 0.0)
    demand(
        len(same) == len(store) and same.counters == store.counters, "the store that was read is another one"
    )
    changed = values.changed(luck, data)
    if luck.chance(0.5):
        try:
            changed["checksum"] = stored.checksum(changed)
        except Exception:
            return REFUSED
    read, error = attempt(lambda: PendingDecisions.from_dict(changed, model, clock=lambda: math.pi))
    if error is not None:
        return REFUSED
    attempt(read.expire)
    for key in ("a", 1):
        attempt(lambda key=key: read.learn(key, True))  # type: ignore[misc]
    attempt(lambda: read.decide("new", {"a": 1.0}))
    attempt(read.to_dict)
    return ACCEPTED
