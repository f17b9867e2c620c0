"""Play one task and tell what came of it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from banditboost import datasets
from banditboost.datasets.catalog import Variant
from banditboost.experiments.curves import growing_curve
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.learners import learner_class, make, make_for_options, parameters_of
from banditboost.experiments.machine import machine, peak_memory, versions
from banditboost.experiments.results import FORMAT
from banditboost.experiments.task import Source, Task, sha256_of
from banditboost.models.model import Model
from banditboost.rewards import UNIT
from banditboost.simulation.play import play
from banditboost.simulation.result import Result
from banditboost.text import quoted

WINDOW = 0.2
"""The share of the stream that learning curves average over."""
_WARM_UP_ROUNDS = 64


def run_task(task: Task, data_directory: str | None = None) -> dict[str, Any]:
    """Play a task and return its record.

    A record is plain data, complete in itself (docs/experiments.md lists the fields).
    """
    if not isinstance(task, Task):
        raise ExperimentError(f"task is {quoted(task)}; give a Task")
    warm_up(task.learner)
    stream = for_learner(task.learner, open_stream(task.source, task.seed, data_directory))
    model = make(task.learner, stream.labels, stream.schema(), task.parameters, task.seed)
    start = time.perf_counter()
    result = play(model, *stream)
    seconds = time.perf_counter() - start
    rounds = len(result.shown)
    return {
        "format": FORMAT,
        "id": task.id,
        "task": task.to_dict(),
        "rounds": rounds,
        "n_labels": len(model.labels),
        **_accuracies(result),
        **_weights(model, result),
        "seconds": seconds,
        "rounds_per_second": rounds / seconds,
        "memory_bytes": model.memory_usage,
        "peak_rss_bytes": peak_memory(),
        "versions": versions(),
        "machine": machine(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def open_stream(source: Source, seed: int, data_directory: str | None = None) -> Any:
    """The rounds of a source: a stream with `labels` and `schema()` that unpacks to what `play` takes."""
    if not isinstance(source, Source):
        raise ExperimentError(f"source is {quoted(source)}; give a Source")
    table = _load(replace(source, repeat=1, rounds=None, shuffle=True), data_directory)
    return table.stream(repeat=source.repeat, seed=seed if source.shuffle else None, rounds=source.rounds)


def for_learner(learner: str, rounds: Any) -> Any:
    """Rounds as a learner can take them: without words, if it cannot read them."""
    return rounds if learner_class(learner).takes_words or not rounds.words else rounds.without_words()


def count_rounds(source: Source, data_directory: str | None = None) -> int:
    """How many rounds a source has."""
    return len(open_stream(source, 0, data_directory).y)


@lru_cache(maxsize=2)  # tasks of one data set mostly follow each other
def _load(source: Source, data_directory: str | None) -> Any:
    if source.path is None or source.label is None:
        return datasets.load(source.name, cast(Variant, source.variant), data_directory)
    if sha256_of(Path(source.path)) != source.sha256:
        raise ExperimentError(f"{source.path} has changed since the task was made; make the task anew")
    return datasets.read(
        source.path,
        source.label,
        numeric=source.numeric,
        nominal=source.nominal,
        dates=source.dates,
        words=source.words,
        ignore=source.ignore,
        encoding=source.encoding,
        separator=source.separator,
        decimal=source.decimal,
    )


@cache
def warm_up(learner: str) -> None:
    """Play a few rounds, so that compiling or loading kernels is in no task's time."""
    X = [{"number": float(t), "name": "ab"[t % 2]} for t in range(_WARM_UP_ROUNDS)]
    small = {"n_learners": 2} if "n_learners" in parameters_of(learner) else {}
    play(
        make(learner, ("a", "b", "c"), None, small, seed=0), X, ["abc"[t % 3] for t in range(_WARM_UP_ROUNDS)]
    )


def warm_up_for_options(learner: str) -> None:
    """The same for a model that chooses among options."""
    model = make_for_options(learner, {"n_learners": 2}, seed=0, rewards=UNIT)
    options = {"a": {"price": 1.0, "kind": "x"}, "b": {"price": 2.0, "kind": "y"}}
    X = [{"number": float(t), "name": "ab"[t % 2]} for t in range(_WARM_UP_ROUNDS)]
    play(model, X, options=options, rewards=[{"a": 1.0, "b": 0.0}] * len(X))


def _accuracies(result: Result) -> dict[str, Any]:
    return {
        "accuracy": result.accuracy,
        "last_accuracy": result.last_accuracy,
        "greedy_accuracy": result.greedy_accuracy,
        "explored": float(result.explored.mean()),
        "curve": growing_curve(result.correct, WINDOW),
    }


def _weights(model: Model, result: Result) -> dict[str, Any]:
    return {
        "alphas": _numbers(getattr(model, "alphas", None)),
        "expert_weights": _numbers(getattr(model, "expert_weights", None)),
        "edges": _numbers(result.edges),
    }


def _numbers(values: Iterable[float] | None) -> list[float | None] | None:
    """Plain numbers, or null for what a booster does not have.

    NaN is null, too: such is the edge of rounds that cost nothing.
    """
    return None if values is None else [float(value) if math.isfinite(value) else None for value in values]
