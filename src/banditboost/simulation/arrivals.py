"""When simulated verdicts come: at once, some rounds later, or never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.compiled.rng import DELAY, LOSS, uniforms_at
from banditboost.errors import ParameterError
from banditboost.models import ledger
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_whole

Delay = int | Callable[[Array], Any]


class Arrivals:
    """The order in which a stream's verdicts are learned.

    The verdict of round order[i] is learned after round due[i]; while it is out, its memo waits in
    slot[order[i]] of n_slots.
    """

    def __init__(self, n_rounds: int, delay: Delay, lost: float, seed: int, first_round: int) -> None:
        rounds = np.arange(n_rounds, dtype=np.int64)
        due = rounds + _delays(n_rounds, delay, seed, first_round)
        arrives = due < n_rounds
        if lost:
            arrives &= uniforms_at(seed, first_round, n_rounds, LOSS) >= lost
        _refuse_too_late(due[arrives] - rounds[arrives])
        arriving = rounds[arrives]
        by_time = np.argsort(due[arrives], kind="stable")
        self.order = np.ascontiguousarray(arriving[by_time])
        self.due = np.ascontiguousarray(due[arrives][by_time])
        self.slot, self.n_slots = _slots(n_rounds, due, arrives)


def _refuse_too_late(delays: Array) -> None:
    if delays.size and delays.max() >= ledger.REMEMBERED:
        raise ParameterError(
            f"delay is {delays.max()} rounds for a verdict, which is too old then: verdicts are taken for the"
            f" last {ledger.REMEMBERED:,} rounds; give shorter delays"
        )


def _delays(n_rounds: int, delay: Any, seed: int, first_round: int) -> Array:
    if callable(delay) and not isinstance(delay, type):
        drawn = _array(delay(uniforms_at(seed, first_round, n_rounds, DELAY)))
        numbers = drawn.shape == (n_rounds,) and drawn.dtype.kind in "fiub"
        if not numbers or not np.all(np.isfinite(drawn)) or np.any(drawn < 0):
            raise ParameterError(
                f"delay gave an array of shape {drawn.shape}; it must turn n uniform numbers into n delays "
                "of 0 or more rounds"
            )
        return np.asarray(np.minimum(drawn, n_rounds), dtype=np.int64)
    if not is_whole(delay) or delay < 0:
        raise ParameterError(
            f"delay is {quoted(delay)}; give a number of rounds, 0 or more, "
            "or a function from uniform numbers to delays"
        )
    return np.full(n_rounds, min(int(delay), n_rounds), dtype=np.int64)


def _array(drawn: Any) -> Array:
    try:
        return np.asarray(drawn)
    except (TypeError, ValueError):  # a class, or lists of different lengths
        return np.empty(0, object)


def _slots(n_rounds: int, due: Array, arrives: Array) -> tuple[Array, int]:
    """Give each open decision a place of its own; one that will never be heard of gives its place back at
    once.
    """
    if np.array_equal(due, np.arange(n_rounds)):
        return np.zeros(n_rounds, np.int64), 1
    slot = np.zeros(n_rounds, np.int64)
    waiting: dict[int, list[int]] = {}
    free: list[int] = []
    n_slots = 0
    for t in range(n_rounds):
        free.extend(waiting.pop(t, ()))
        if free:
            place = free.pop()
        else:
            place, n_slots = n_slots, n_slots + 1
        slot[t] = place
        # A verdict due after round r is learned before round r + 1 is decided.
        waiting.setdefault(int(due[t]) + 1 if arrives[t] else t + 1, []).append(place)
    return slot, max(n_slots, 1)
