"""Logs as Vowpal Wabbit reads them: lines of text for `--cb`, and dsjson for `--cb_explore_adf`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from banditboost.errors import LogError
from banditboost.logs.log import Block, Log
from banditboost.logs.offered import Options, as_json
from banditboost.logs.vw import OWN_NAMESPACE, escaped
from banditboost.logs.writing import Row, kind_of
from banditboost.text import quoted


def vw_lines(log: Log, labels: Sequence[Hashable] | None = None, *, best: float = 0.0) -> Iterator[str]:
    """Lines `action:cost:probability | features` for Vowpal Wabbit's `--cb`, row by row.

    Args:
        log: what is to be told.
        labels: which action is number 1, 2, ...; None is `log.labels`.
        best: the reward that a cost of 0 stands for: the cost is best - reward.
    """
    numbers = {label: number for number, label in enumerate(log.labels if labels is None else labels, 1)}
    first = 1
    for block in log:
        if block.probabilities is None:
            raise LogError("the log has no probabilities, and --cb needs them; log them, or use GapBoost")
        costs = best - block.rewards
        for i, row in enumerate(block.rows):
            action, cost, p = block.actions[i], float(costs[i]), float(block.probabilities[i])
            if action not in numbers or np.isnan(cost) or np.isnan(p):
                raise LogError(
                    f"row {first + i} has no reward, probability or known action; leave it out before"
                )
            yield " ".join([f"{numbers[action]}:{cost!r}:{p!r}", "|", *_words(row)])
        first += len(block)


def _words(row: Row) -> Iterator[str]:
    for name, value in row.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if kind_of(one) == "number":
                yield f"{escaped(str(name))}:{float(one)!r}"
            else:
                yield f"{escaped(str(name))}={escaped(str(one))}"


def dsjson_lines(log: Log, labels: Sequence[Hashable] | None = None, *, best: float = 0.0) -> Iterator[str]:
    """Lines of dsjson for Vowpal Wabbit's `--dsjson --cb_explore_adf`; `read_dsjson` reads what was told.

    Args:
        log: what is to be told. Its blocks' options are what could be shown.
        labels: what could be shown where blocks tell no options; None is `log.labels`.
        best: the reward that a cost of 0 stands for: the cost is best - reward.

    >>> from banditboost import logs
    >>> log = logs.read_vw(["1:-1:0.5 | hour:9", "2:0:0.5 | hour:21"], labels=["news", "games"])
    >>> back = logs.read_dsjson(list(logs.dsjson_lines(log)))
    >>> next(iter(back)).actions.tolist()
    ['news', 'games']
    """
    everything: Options = {label: {} for label in (log.labels if labels is None else labels)}
    first = 1
    for block in log:
        for i in range(len(block)):
            offered = everything if block.options is None else block.options[i]
            yield as_json(_event(block, i, offered, best, f"row {first + i}"))
        first += len(block)


def _event(block: Block, i: int, offered: Options, best: float, place: str) -> dict[str, Any]:
    action, cost = block.actions[i], best - float(block.rewards[i])
    p = np.nan if block.probabilities is None else float(block.probabilities[i])
    if action not in offered or np.isnan(cost) or np.isnan(p):
        raise LogError(
            f"{place} has no reward or probability, or an action that could not be shown; leave it out before"
        )
    number = list(offered).index(action) + 1
    told = {
        "_label_cost": cost, "_label_probability": p, "_label_Action": number, "_labelIndex": number - 1,
        "Timestamp": None if block.times is None else block.times[i],
        "EventId": None if block.ids is None else block.ids[i],
        "a": [number], "p": [p],
        "c": {
            OWN_NAMESPACE: _plain(block.rows[i], place),
            "_multi": [_option(id_, _plain(features, place)) for id_, features in offered.items()],
        },
    }  # fmt: skip
    return {name: value for name, value in told.items() if value is not None}


def _option(id_: Hashable, features: Row) -> dict[str, Any]:
    """A text is a tag; a number is told as a feature, so that it is one again."""
    if not isinstance(id_, (str, int)):
        raise LogError(f"an option is called {quoted(id_)}; dsjson can tell texts and whole numbers only")
    named = {"_tag": id_} if isinstance(id_, str) else {"a": {"label": id_}}
    return {**named, **({OWN_NAMESPACE: features} if features else {})}


def _plain(row: Row, place: str) -> Row:
    for name in row:
        if not isinstance(name, str) or name.startswith("_"):
            raise LogError(
                f"{place} has a feature called {quoted(name)}, which dsjson cannot tell: rename it to a text "
                "that does not begin with _"
            )
    return row
