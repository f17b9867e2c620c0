"""Decisions of every kind, to be stored, changed and sent back."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from banditboost import AdaBandit, BinBandit, Decision, GapBoost, OptBandit, Schema, baselines, schedules

LABELS = ["sports", 2, ("a", None), 0.5]
ROWS: list[dict[str, Any]] = [
    {"x": 0.25 * t, "y": -0.0, "z": None if t % 2 else 1e15, "s": "ab"[t % 2]} for t in range(12)
]


def _taught(model: Any) -> Any:
    for t, row in enumerate(ROWS):
        model.learn(model.decide(row), t % 3 == 0)
    return model


def _models() -> dict[str, Any]:
    schema = Schema(numeric=["x", "y", "z"], nominal={"s": ["a", "b"]})
    few = {"n_learners": 3, "seed": 1}
    return {
        "AdaBandit": AdaBandit(LABELS, exploration=0.4, schema=schema, **few),
        "by votes": AdaBandit(LABELS, exploration=schedules.Divided(least=0.3), **few),
        "OptBandit": OptBandit(LABELS, exploration=0.4, edge=0.2, **few),
        "BinBandit": BinBandit(LABELS, exploration=0.4, edge=0.2, **few),
        "GapBoost": GapBoost(LABELS, seed=1),
        "GapBoost among many": GapBoost([*LABELS, *(f"label {i}" for i in range(40))], seed=1),
        "Banditron": baselines.Banditron(LABELS, exploration=0.4, seed=1),
    }


_TAUGHT: dict[str, Any] = {}
NAMES = (*_models(), "branch", "allowed")


def model_and_decision(name: str) -> tuple[Any, Decision]:
    """A model that has learned something, and a decision that it has not learned yet; new ones each time."""
    if not _TAUGHT:
        _TAUGHT.update({kind: _taught(model) for kind, model in _models().items()})
    model = copy.deepcopy(_TAUGHT[name if name in _TAUGHT else "AdaBandit"])
    if name == "branch":
        return model, model.branch().decide({**ROWS[0], "s": "b"})
    return model, model.decide(ROWS[0], LABELS[1:] if name == "allowed" else None)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values of plain data that hold no others."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    if not items:
        yield path
        return
    for key, value in items:
        yield from leaves(value, (*path, key))


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at one place."""
    made = copy.deepcopy(data)
    at(made, path[:-1])[path[-1]] = value
    return made
