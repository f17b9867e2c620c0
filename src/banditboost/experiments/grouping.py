"""What tables and figures ask of records: which data, which learner, and means over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from banditboost.experiments.protocol import ALGORITHMS, STREAMS
from banditboost.experiments.statistics import mean_interval

Record = Mapping[str, Any]
TITLES = {name: name.capitalize() for name in STREAMS}


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with half the width of its 95 % interval, which is NaN for a single seed."""

    mean: float
    half_width: float
    seeds: int

    def __str__(self) -> str:
        spread = f" ± {self.half_width:.3f}" if self.half_width == self.half_width else ""
        return f"{self.mean:.3f}{spread}"


def estimate(records: Iterable[Record], score: str) -> Estimate:
    values = [float(record[score]) for record in records]
    mean, half_width = mean_interval(values)
    return Estimate(mean, half_width, len(values))


def data_of(record: Record) -> str:
    """A built-in set's name, or what a file is called."""
    return str(record["task"]["source"]["name"])


def learner_of(record: Record) -> str:
    return str(record["task"]["learner"])


def exploration_of(record: Record) -> float:
    return float(record["task"]["parameters"]["exploration"])


def group(records: Iterable[Record], *keys: Callable[[Record], Any]) -> dict[Any, list[Record]]:
    """Records by the values of the keys: by a value if there is one key, else by a tuple; data and learners in the paper's order."""
    groups: dict[Any, list[Record]] = {}
    for record in sorted(records, key=_order):
        values = tuple(key(record) for key in keys)
        groups.setdefault(values if len(keys) > 1 else values[0], []).append(record)
    return groups


def title_of(data: str) -> str:
    return TITLES.get(data, data)


def _order(record: Record) -> tuple[Any, ...]:
    data, learner, seed = data_of(record), learner_of(record), record["task"]["seed"]
    return _place(tuple(STREAMS), data), data, _place(ALGORITHMS, learner), learner, seed


def _place(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else len(names)
