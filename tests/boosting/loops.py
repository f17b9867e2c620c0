"""`play`, written out with `decide` and `learn` and a list of open decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from banditboost.memo import GREEDY, SHOWN
from tests.naive import rng

Delay = int | Callable[[int], int]  # after how many further rounds the verdict of a round comes


class Played(NamedTuple):
    shown: list[int]
    greedy: list[int]
    memos: list[np.ndarray]
    learned: list[int]  # rounds, in the order in which their verdicts were learned


def play_by_hand(
    model: Any,
    rows: Iterable[Any],
    y: Iterable[int],
    delay: Delay = 0,
    lost: Callable[[int], bool] | None = None,
) -> Played:
    """After round t all verdicts due by then are told, those of earlier rounds first."""
    play = Played([], [], [], [])
    waiting: list[tuple[int, int, Any]] = []  # when it is due, round, what it takes to learn it
    right = list(y)
    for t, x in enumerate(rows):
        opened = open_round(model, x)
        memo = getattr(opened, "_memo", opened)
        play.memos.append(memo)
        play.shown.append(int(memo[SHOWN]))
        play.greedy.append(int(memo[GREEDY]))
        if lost is None or not lost(t):
            waiting.append((t + (delay(t) if callable(delay) else delay), t, opened))
        for due in [item for item in waiting if item[0] == t]:
            waiting.remove(due)
            close_round(model, due[2], right[due[1]])
            play.learned.append(due[1])
    return play


def open_round(model: Any, x: Any) -> Any:
    """A decision; of a full-information booster, which learns at once, the memo of its prediction."""
    if hasattr(model, "decide"):
        return model.decide(x)
    memo, _ = model._choose(model._joined(x), model.rounds, counted=True)
    return memo


def close_round(model: Any, opened: Any, right: int) -> None:
    if hasattr(model, "decide"):
        model.learn(opened, int(opened._memo[SHOWN]) == right)
    else:
        model._hear(opened, right, model.seed, None, False)


def keyed(seed: int, purpose: int, first_round: int = 0) -> Callable[[int], float]:
    """The number of a purpose that belongs to a round of the stream."""
    return lambda t: rng.uniform(seed, first_round + t, purpose, 0)
