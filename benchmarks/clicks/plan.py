"""What is played: every setting once, the best few of them again, and the best one for the page."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from banditboost.experiments.results import Results
from benchmarks.clicks.players import Player, Settings
from benchmarks.clicks.visits import VISITS, click_rate, draw

SEEDS = range(4, 14)
FIRST_TUNING_SEED = 99
FURTHER_TUNING_SEEDS = (98, 97, 96)
FINALISTS = 5
WINDOWS = 30
LAST = 0.2
TUNING, PAGE = "tuning", "page"
Record = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A player with one setting before the visitors of one seed."""

    player: Player
    settings: Settings
    seed: int
    purpose: str

    @property
    def id(self) -> str:
        return f"{self.player.name}/{json.dumps(self.settings, sort_keys=True)}/seed={self.seed}"

    def play(self, n_visits: int = VISITS) -> Record:
        """Click rates are the known ones of the banners that were shown; `clicks` counts what was clicked."""
        visits = draw(self.seed, n_visits)
        game = self.player.game(self.settings, self.seed, n_visits)
        rates, clicks = np.empty(n_visits), 0
        start = time.process_time()
        for t, (row, luck) in enumerate(zip(visits.rows(), visits.luck.tolist(), strict=True)):
            rates[t] = click_rate(row, game.show(row))
            clicks += luck < rates[t]
            game.hear(bool(luck < rates[t]))
        seconds = time.process_time() - start
        record = {
            "id": self.id,
            "player": self.player.name,
            "settings": dict(self.settings),
            "seed": self.seed,
            "purpose": self.purpose,
            "visits": n_visits,
            "rate": round(float(rates.mean()), 5),
            "last_rate": round(float(rates[-int(LAST * n_visits) :].mean()), 5),
            "clicks": int(clicks),
            "seconds": round(seconds, 2),
        }
        return record | self._curve(rates)

    def _curve(self, rates: np.ndarray[Any, Any]) -> Record:
        if self.purpose == TUNING:
            return {}
        return {"curve": [round(float(window.mean()), 5) for window in np.array_split(rates, WINDOWS)]}


class Runner:
    """Plays, and writes every run down; what is in the file is not played again."""

    def __init__(self, results: Results, about: Mapping[str, Any], tell: Callable[[Record], None]) -> None:
        self._results, self._about, self._tell = results, about, tell
        self._records = {record["id"]: record for record in results.records()}

    def play(self, player: Player, n_visits: int = VISITS, seeds: Sequence[int] = SEEDS) -> None:
        settings = self._tuned(player, n_visits)
        for seed in seeds:
            self._run(Run(player, settings, seed, PAGE), n_visits)

    def _tuned(self, player: Player, n_visits: int) -> Settings:
        """The setting with the highest click rate over all visits, on other visitors than the page's."""
        if len(player.grid) == 1:
            return player.grid[0]
        first = [
            (self._rate(player, setting, (FIRST_TUNING_SEED,), n_visits), setting) for setting in player.grid
        ]
        finalists = [setting for _, setting in sorted(first, key=lambda pair: -pair[0])[:FINALISTS]]
        seeds = (FIRST_TUNING_SEED, *FURTHER_TUNING_SEEDS)
        return max(finalists, key=lambda setting: self._rate(player, setting, seeds, n_visits))

    def _rate(self, player: Player, settings: Settings, seeds: Sequence[int], n_visits: int) -> float:
        return statistics.fmean(
            self._run(Run(player, settings, seed, TUNING), n_visits)["rate"] for seed in seeds
        )

    def _run(self, run: Run, n_visits: int) -> Record:
        if run.id not in self._records:
            record = {
                **run.play(n_visits),
                **(self._about if run.purpose == PAGE else {}),
                "finished": _now(),
            }
            self._results.append(record)
            self._records[run.id] = record
            self._tell(record)
        return self._records[run.id]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
