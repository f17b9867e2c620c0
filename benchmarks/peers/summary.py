"""Runs of a player on a stream, taken together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from banditboost.experiments.statistics import mean_interval
from benchmarks.peers.plan import TUNING_SEED

Record = Mapping[str, Any]
Table = dict[str, dict[str, "Summary"]]
"""Stream -> player -> what came of it."""


@dataclass(frozen=True)
class Summary:
    runs: Sequence[Record]

    @property
    def n_seeds(self) -> int:
        return len(self.runs)

    @property
    def rounds(self) -> int:
        """That all runs have played."""
        return int(min(run["rounds"] for run in self.runs))

    @property
    def whole(self) -> bool:
        return bool(self.rounds == self.runs[0]["stream_rounds"])

    @property
    def settings(self) -> Mapping[str, Any]:
        return dict(self.runs[0]["task"]["parameters"])

    @property
    def rate(self) -> float:
        """Rounds per CPU second."""
        return float(statistics.median(run["rounds_per_second"] for run in self.runs))

    @property
    def memory(self) -> int:
        return int(max(run["memory_bytes"] for run in self.runs))

    def mean(self, field: str) -> float:
        return mean_interval([run[field] for run in self.runs])[0]

    def text(self, field: str) -> str:
        """Mean and half of its 95 % interval."""
        mean, half = mean_interval([run[field] for run in self.runs])
        return f"{mean:.3f}" if math.isnan(half) else f"{mean:.3f} ± {half:.3f}"


def summarise(records: Iterable[Record]) -> Table:
    """Runs that settings were tuned on are left out, and so are those that failed.

    Of a player's runs the last settings count.
    """
    runs: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        task = record["task"]
        if task["seed"] != TUNING_SEED and "failed" not in record:
            runs.setdefault(task["source"]["name"], {}).setdefault(task["learner"], []).append(record)
    return {
        stream: {player: Summary(_latest(found)) for player, found in players.items()}
        for stream, players in runs.items()
    }


def _latest(runs: Sequence[Record]) -> list[Record]:
    return [run for run in runs if run["task"]["parameters"] == runs[-1]["task"]["parameters"]]
