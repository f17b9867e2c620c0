"""Rows of logs of every kind: for learn_logged, learn_logged_many, an apprentice, running sums, evaluate, check and read."""

from __future__ import annotations

import copy
import functools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import banditboost
from banditboost import OptionBoost, evaluation, logs
from banditboost.evaluation import Apprentice, Learner, LoggedRows, PolicyDifference, PolicyValue, Replay
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, attempt_with
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand

LABELS = ("p", "q", "r")
SHOP: dict[str, Any] = {"p": {"a": 1.0, "b": "x"}, "q": {"a": 2.0}, "r": None}
_models: dict[str, Any] = {}


def prepare() -> None:
    """Models that have learned a little."""
    for kind in ("GapBoost", "AdaBandit", "BinBandit"):
        _models[kind] = getattr(banditboost, kind)(LABELS, n_learners=2, seed=1)
        for i in range(6):
            _models[kind].learn_logged({"a": float(i), "b": "xy"[i % 2]}, LABELS[i % 3], i % 2, 0.5)
    _models["OptionBoost"] = OptionBoost(n_learners=2, seed=1)


def play(luck: Luck, folder: Path) -> str:  # noqa: ARG001
    return REFUSED if luck.choice(list(CALLS.values()))(luck) else ACCEPTED


# What rows tell: mostly what it should


def _row(luck: Luck) -> Any:
    if luck.chance(0.7):
        return {"a": float(luck.randint(-9, 9)), "b": luck.choice("xyz")}
    return values.row(luck)


def _label(luck: Luck) -> Any:
    return luck.choice(LABELS) if luck.chance(0.8) else values.thing(luck)


def _number(luck: Luck) -> Any:
    """A reward or a probability."""
    return luck.choice((0.0, 1.0, 0.5, 0.25, True, 1)) if luck.chance(0.7) else values.thing(luck, 1)


def _column(luck: Luck, one: Callable[[Luck], Any], n: int) -> Any:
    cells = [one(luck) for _ in range(n)]
    return cells if luck.chance(0.9) else values.container(luck, cells)


# The doors: each tells whether the row was refused


def _model(luck: Luck) -> Any:
    return copy.deepcopy(_models[luck.choice(("GapBoost", "AdaBandit", "BinBandit"))])


def _told(luck: Luck) -> tuple[Any, ...]:
    return _row(luck), _label(luck), _number(luck), None if luck.chance(0.1) else _number(luck)


def _attempt(model: Any, luck: Luck, n: int, call: Callable[[], Any]) -> Any:
    """Have a model learn n rows; if they are refused it has not changed. All of it is compared now and then."""
    before, names = model.logged, len(model.schema)
    found, error = (attempt_with(model, call) if luck.chance(0.1) else attempt(call))[0:2]
    demand(model.logged == before + (0 if error else n), f"{model.logged - before} rows of {n} were learned")
    demand(error is None or len(model.schema) == names, "features of a refused row have joined")
    return found, error


def learn_logged(luck: Luck) -> bool:
    model, row = _model(luck), _told(luck)
    return _attempt(model, luck, 1, lambda: model.learn_logged(*row))[1] is not None


def learn_logged_many(luck: Luck) -> bool:
    model, n = _model(luck), luck.randint(0, 3)
    columns = [_column(luck, one, n) for one in (_row, _label, _number, _number)]
    return _attempt(model, luck, n, lambda: model.learn_logged_many(*columns))[1] is not None


def learn_option(luck: Luck) -> bool:
    """Whether the last of some rows was refused."""
    model, error = copy.deepcopy(_models["OptionBoost"]), None
    for _ in range(ROWS["learn_option"]):
        row, options = _told(luck), SHOP if luck.chance(0.8) else values.row(luck)
        call = functools.partial(model.learn_logged, *row, options=options)
        error = _attempt(model, luck, 1, call)[1]
    return error is not None


def observe(luck: Luck) -> bool:
    apprentice, row = Apprentice(_model(luck)), _told(luck)
    before = apprentice.to_plain()
    share, error = _attempt(apprentice.model, luck, 1, lambda: apprentice.observe(*row))
    if error is None:
        demand(0.0 <= share <= 1.0, f"the share is {share}")
        demand(apprentice.n == 1, "the row was not counted")
        _look_at(apprentice.summary().value)
    else:
        demand(apprentice.to_plain() == before, "a refused row was counted")
    return error is not None


def add_many(luck: Luck) -> bool:
    """All running sums hear the same rows, and refuse the same."""
    n, refused = luck.randint(0, 4), False
    columns = [_column(luck, _number, n) for _ in range(3)]
    for sums in (PolicyValue(), PolicyDifference()):
        before = sums.to_plain()
        _, error = attempt(lambda sums=sums: sums.add_many(*columns))  # type: ignore[misc]
        refused = refused or error is not None
        demand(error is None or sums.to_plain() == before, "refused rows were added")
        _look_at(sums.interval())
    attempt(lambda: Replay(10.0).add_many(*columns))
    return refused


def _look_at(bounds: Any) -> None:
    demand(not math.isnan(bounds.low) and not math.isnan(bounds.high), f"the bounds are {bounds}")
    demand(-1.0 <= bounds.low <= 1.0 and -1.0 <= bounds.high <= 1.0, f"the bounds are {bounds}")


def evaluate(luck: Luck) -> bool:
    """A block of which a label, a reward or a probability is refused is not learned at all."""
    model, n = _model(luck), luck.randint(0, 4)
    rows = [{"a": float(i)} for i in range(n)]
    log = LoggedRows(rows, *(_column(luck, one, n) for one in (_label, _number, _number)))
    policy = {luck.choice(LABELS): 1.0} if luck.chance(0.7) else values.row(luck)
    found, error = attempt(
        lambda: evaluation.evaluate({"model": Learner(model), "rule": lambda _: policy}, log, LABELS)
    )
    if error is None:
        demand(found.rows == n and model.logged == 6 + n, f"{found.rows} rows of {n} were judged")
    elif "policy" not in str(error):
        demand(
            model.logged == 6, f"{model.logged - 6} rows of a block that is refused were learned ({error})"
        )
    return error is not None


def read(luck: Luck) -> bool:
    """Frames and lines."""
    import pandas as pd

    n = luck.randint(0, 4)
    cells = {name: [values.cell(luck) for _ in range(n)] for name in "xarp"}
    sources: list[Callable[[], Any]] = [
        lambda: logs.read(pd.DataFrame(cells, dtype=object), action="a", reward="r", probability="p"),
        lambda: logs.read(values.frame(luck), action="a0", reward="b0"),
        lambda: _told_again(_with_options(luck, cells, n)),
        lambda: logs.read_vw(values.container(luck, [values.text(luck)])),
        lambda: logs.from_obp({"action": cells["a"], "reward": cells["r"], "pscore": cells["p"]}),
    ]
    source = luck.choice(sources)
    health, error = attempt(lambda: logs.check(source()))
    if error is None:
        repr(health)
        demand(health.n_rows >= 0, f"{health.n_rows} rows")
    return error is not None


def _with_options(luck: Luck, cells: dict[str, list[Any]], n: int) -> logs.Log:
    """A frame with options in a cell, or columns of what was shown."""
    import pandas as pd

    offers = [
        luck.choice((SHOP, json.dumps(SHOP), None, values.row(luck), values.thing(luck))) for _ in range(n)
    ]
    shown = [luck.choice("pq") for _ in range(n)]
    frame = pd.DataFrame(cells | {"a": shown, "r": [0.5] * n, "p": [0.5] * n, "o": offers}, dtype=object)
    options: Any = luck.choice(("o", ["x"], ["x", "o"], ()))
    return logs.read(frame, action="a", reward="r", probability="p", options=options)


def _told_again(log: logs.Log) -> logs.Log:
    """What was read is written as dsjson, and comes back, or is refused."""
    blocks = list(log)
    lines, error = attempt(lambda: list(logs.dsjson_lines(log)))
    if error is None:
        back = list(logs.read_dsjson(lines))
        actions, before = ([a for block in told for a in block.actions] for told in (back, blocks))
        demand(actions == before, f"{before} came back as {actions}")
    return log


ROWS = {"learn_option": 4}
"""Of a case, where there are more than one."""
CALLS = {
    call.__name__: call
    for call in (learn_logged, learn_logged_many, learn_option, observe, add_many, evaluate, read)
}
