"""What is played: settings on one seed, then the best one on the seeds of the page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from banditboost.experiments.results import Results
from benchmarks.rewards.players import Player, Settings
from benchmarks.rewards.streams import Stream, Task

SEEDS = range(4, 9)
TUNING_SEED, TUNING_ROUNDS = 99, 4_000
LAST = 0.2
TUNING, PAGE = "tuning", "page"
Record = dict[str, Any]


class Runner:
    """Plays, and writes every run down; what is in the file is not played again."""

    def __init__(
        self,
        results: Results,
        about: Mapping[str, Any],
        tell: Callable[[Record], None],
        until: float,
        measure: Callable[[Task, Player, Settings, int], Record] | None = None,
    ) -> None:
        self._results, self._about, self._tell, self._until = results, about, tell, until
        self._measure = measure or played
        self._records = {record["id"]: record for record in results.records()}

    def play(self, task: Task, player: Player, seeds: Sequence[int] = SEEDS) -> None:
        """Tune a player on a stream, and play the setting that was best."""
        settings = self._tuned(task, player)
        for seed in seeds:
            self._run(task, player, settings, seed)

    def _tuned(self, task: Task, player: Player) -> Settings:
        if len(player.first) == 1:
            return player.first[0]

        def mean(settings: Settings) -> float:
            return float(self._run(task, player, settings, TUNING_SEED)["mean"])

        best = max(player.first, key=mean)
        return max([best, *player.neighbours(best)], key=mean)

    def _run(self, task: Task, player: Player, settings: Settings, seed: int) -> Record:
        key = f"{task.name}/{player.name}/{json.dumps(settings, sort_keys=True)}/seed={seed}"
        if key not in self._records:
            if time.time() > self._until:
                raise TimeoutError("the time that was given is over; the same command goes on")
            now = _now()
            found = self._measure(task, player, settings, seed)
            record = {"id": key, **found, **self._about, "date": now[:10], "finished": now}
            self._results.append(record)
            self._records[key] = record
            self._tell(record)
        return self._records[key]


def played(task: Task, player: Player, settings: Settings, seed: int) -> Record:
    """Rewards are the known means of what was shown, where luck is in them."""
    stream = task.make(seed)
    if seed == TUNING_SEED:
        stream = Stream(*(part[:TUNING_ROUNDS] for part in (stream.rows, stream.rewards, stream.means)))
    start = time.process_time()
    shown = player.play(stream, settings, seed)
    seconds = time.process_time() - start
    earned = stream.means[np.arange(len(shown)), shown]
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
        "last": round(float(earned[-int(LAST * len(shown)) :].mean()), 5),
        "best": round(float(stream.means.max(axis=1).mean()), 5),
        "seconds": round(seconds, 2),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
