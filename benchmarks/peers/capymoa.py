"""CapyMOA's boosted trees and forest, told every label, a row at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from banditboost.datasets import Stream
from benchmarks.peers.player import Clock, IntArray, Parameters, Player

TREES = 20


class CapyMOA:
    def __init__(self, stream: Stream, parameters: Parameters, seed: int) -> None:
        os.environ.setdefault("CAPYMOA_DATASETS_DIR", tempfile.gettempdir())
        from capymoa.stream import ARFFStream

        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "rows.arff"
            path.write_text("\n".join(arff(stream)))
            source = ARFFStream(str(path))
            self._instances = [source.next_instance() for _ in range(stream.rounds)]
        self._model = _model(parameters["model"], source.get_schema(), seed)
        self._shown: list[int | None] = []

    def play(self, limit: float) -> None:
        clock = Clock(limit)
        for instance in self._instances:
            self._shown.append(self._model.predict(instance))
            self._model.train(instance)
            if clock.over:
                break

    def shown(self) -> IntArray:
        return np.array([-1 if label is None else label for label in self._shown], np.int64)


def _model(name: str, schema: Any, seed: int) -> Any:
    from capymoa.classifier import AdaptiveRandomForestClassifier, OzaBoost

    if name == "OzaBoost":
        return OzaBoost(schema, random_seed=seed, boosting_iterations=TREES)
    return AdaptiveRandomForestClassifier(schema, random_seed=seed, ensemble_size=TREES)


def arff(stream: Stream) -> Iterator[str]:
    """Rows as MOA reads them; names are replaced by numbered ones, since any character may be in them."""
    yield "@relation r"
    for i, values in enumerate(stream.values):
        yield f"@attribute a{i} {'numeric' if values is None else _names('v', len(values))}"
    yield f"@attribute class {_names('l', len(stream.labels))}"
    yield "@data"
    numeric = [values is None for values in stream.values]
    for row, label in zip(stream.X.tolist(), stream.y.tolist(), strict=True):
        cells = (
            "?" if cell != cell else repr(cell) if numeric[i] else f"v{int(cell)}"
            for i, cell in enumerate(row)
        )
        yield f"{','.join(cells)},l{label}"


def _names(letter: str, count: int) -> str:
    return "{" + ",".join(f"{letter}{i}" for i in range(count)) + "}"


def players() -> list[Player]:
    return [
        Player(f"CapyMOA {name}", CapyMOA, "capymoa", settings=partial(_settings, name), told=True, seeds=1)
        for name in ("OzaBoost", "ARF")
    ]


def _settings(name: str, _stream: str) -> Sequence[Parameters]:
    return ({"model": name},)
