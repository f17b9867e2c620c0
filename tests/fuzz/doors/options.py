"""Options of every kind: what is offered, and how it is played."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from banditboost import Decision, OptionBoost, Schema, load
from banditboost import play as play_stream
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, attempt_with, look_at_decision
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand, look_at_shares

_SCHEMAS: dict[str, Any] = {
    "growing": lambda: None,
    "declared": lambda: Schema(numeric=["a", "option.a"], nominal={"option.b": ["x", "y"]}),
}
_models: dict[str, OptionBoost] = {}


def prepare() -> None:
    """New models, and some that have learned a little."""
    for name, schema in _SCHEMAS.items():
        new = _models[name] = OptionBoost(n_learners=2, schema=schema(), seed=1)
        model = _models[f"{name}, used"] = copy.deepcopy(new)
        for i in range(12):
            options = {j: {"a": float(i + j), "b": "xy"[j % 2]} for j in range(3)}
            model.learn(model.decide({"a": float(i)}, options), correct=i % 3 == 0)


def play(luck: Luck, folder: Path) -> str:
    name = luck.choice(sorted(_models))
    model = copy.deepcopy(_models[name])
    refused = 0
    try:
        for _ in range(luck.randint(1, 4)):
            refused += luck.choice((_decide, _decide_many, _look, _play))(model, luck)
        _live_on(model, folder)
    except Exception as error:
        error.add_note(f"model: {name}")
        raise
    return REFUSED if refused else ACCEPTED


def _id(luck: Luck) -> Any:
    return luck.choice([luck.randint(-3, 3), values.text(luck), values.plain(luck, 1), None, True, (1, "a")])


def _row(luck: Luck) -> Any:
    """Most of them are such as people have."""
    if luck.chance(0.9):
        return {"a": float(luck.randint(-9, 9)), "b": luck.choice(["x", "y", "a long text of words", None])}
    return values.row(luck)


def _options(luck: Luck) -> Any:
    if luck.chance(0.1):
        return values.thing(luck)
    pairs = [(_id(luck), _row(luck)) for _ in range(luck.randint(0, 4))]
    if luck.chance(0.3):
        return pairs
    try:
        return dict(pairs)
    except TypeError:  # an id that cannot be hashed
        return pairs


def _decide(model: OptionBoost, luck: Luck) -> bool:
    row, options = _row(luck), _options(luck)
    allowed = (
        values.container(luck, list(options)[:2]) if luck.chance(0.3) and isinstance(options, dict) else None
    )
    decision, error = attempt_with(model, lambda: model.decide(row, options, allowed))
    if error is None:
        look_at_decision(decision, dict(options))
        back = Decision.from_dict(json.loads(json.dumps(decision.to_dict())))
        model.learn(luck.choice([decision, back]), correct=luck.chance(0.5))
    return error is not None


def _decide_many(model: OptionBoost, luck: Luck) -> bool:
    rows, options = [_row(luck) for _ in range(2)], [_options(luck) for _ in range(2)]
    decisions, error = attempt_with(model, lambda: model.decide_many(rows, options))
    if error is None:
        model.learn_many(decisions, rewards=[0.5] * len(decisions))
    return error is not None


def _look(model: OptionBoost, luck: Luck) -> bool:
    row, options = _row(luck), _options(luck)
    shares, error = attempt_with(model, lambda: model.distribution(row, options))
    if error is None:
        look_at_shares(shares)
        ranking = model.rank(row, options)
        demand(len(ranking) == len(shares), f"{len(ranking)} of {len(shares)} options are ranked")
    return error is not None


def _play(model: OptionBoost, luck: Luck) -> bool:
    """Streams stop where something is refused: the rounds before that are played."""
    rows, options = [_row(luck) for _ in range(2)], [_options(luck) for _ in range(2)]
    rounds = model.rounds
    try:
        play_stream(model, rows, options=options, rewards=lambda _t, _id: 0.5, delay=luck.randint(0, 2))
    except ValueError:
        demand(rounds <= model.rounds <= rounds + 2, f"{model.rounds - rounds} rounds of 2 were played")
        return True
    return False


def _live_on(model: OptionBoost, folder: Path) -> None:
    """What was decided is kept: a saved model goes on alike."""
    _, error = attempt(lambda: model.save(folder / "model.bb"))
    if error is not None:  # the name of a feature is of a type that no file holds
        return
    other = load(folder / "model.bb")
    options = {1: {"a": 1.0}, 2: {"a": 2.0}}
    demand(
        model.distribution({}, options) == other.distribution({}, options),
        "the saved model goes on otherwise",
    )
