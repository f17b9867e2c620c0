"""What is measured of a run: mean rewards, and after how many rounds a player is back at its level."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.change.streams import Changing
from benchmarks.rewards.plan import PAGE, TUNING, TUNING_SEED, Record
from benchmarks.rewards.players import Player, Settings
from benchmarks.rewards.streams import Task

SEEDS = range(4, 7)
BEFORE, TRAILING = 5_000, 1_000
LEVEL = 0.95
PARTS = 40
"""Of a stream, whose means are kept for pictures."""


def measured(task: Task, player: Player, settings: Settings, seed: int) -> Record:
    """Rewards are the known means of what was shown, where luck is in them."""
    stream: Any = task.make(seed)
    start = time.process_time()
    shown = player.play(stream, settings, seed)
    seconds = time.process_time() - start
    earned, best = stream.means[np.arange(len(shown)), shown], stream.means.max(axis=1)
    return {
        "stream": task.name,
        "streams_for": task.purpose,
        "player": player.name,
        "settings": dict(settings),
        "seed": seed,
        "purpose": TUNING if seed == TUNING_SEED else PAGE,
        "rounds": len(shown),
        "options": stream.rewards.shape[1],
        "mean": round(float(earned.mean()), 5),
        "best": round(float(best.mean()), 5),
        "recovered": recovery(stream, earned, best),
        "parts": [round(float(part.mean()), 4) for part in np.array_split(earned, PARTS)],
        "seconds": round(seconds, 2),
    }


def recovery(stream: Changing, earned: NDArray[np.float64], best: NDArray[np.float64]) -> int | None:
    """Rounds after the change until the last 1,000 earned 95 % of the share of the best possible that the
    5,000 before it did (or all before it); -1 for never, None if there is no such time.
    """
    at = stream.changed
    if at is None:
        return None
    before = slice(max(0, at - BEFORE), at)
    wanted = LEVEL * earned[before].sum() / best[before].sum()
    sums = np.cumsum(earned[at:]), np.cumsum(best[at:])
    got, possible = (total[TRAILING - 1 :] - np.r_[0.0, total[:-TRAILING]] for total in sums)
    back = np.flatnonzero(got >= wanted * possible)
    return TRAILING + int(back[0]) if len(back) else -1
