"""Small tasks, and what of their records must be the same wherever they are played."""

from __future__ import annotations

from typing import Any

from banditboost.experiments.task import Source, Task

MEASURED = {"seconds", "rounds_per_second", "memory_bytes", "peak_rss_bytes", "machine", "finished"}
LEARNERS = ("OptBandit", "AdaBandit", "BinBandit", "OptFull", "AdaFull")


def small_tasks(rounds: int = 60, seeds: int = 2) -> list[Task]:
    """Each learner over the beginning of the Car stream."""
    return [
        Task(Source("car", repeat=6, rounds=rounds), learner, {"n_learners": 2}, seed)
        for learner in LEARNERS
        for seed in range(seeds)
    ]


def outcome(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what was measured."""
    return {name: value for name, value in record.items() if name not in MEASURED}


def outcomes(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {record["id"]: outcome(record) for record in records}
