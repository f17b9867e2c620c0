"""River's boosted trees and forest, told every label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from banditboost.datasets import Stream
from benchmarks.peers.player import Clock, IntArray, Parameters, Player

TREES = 10


class River:
    def __init__(self, stream: Stream, parameters: Parameters, seed: int) -> None:
        self._records = list(stream.records())
        self._positions = {label: i for i, label in enumerate(stream.labels)}
        self._model = model(parameters["model"], parameters["delta"], seed)
        self._shown: list[Any] = []

    def play(self, limit: float) -> None:
        clock = Clock(limit)
        for row, label in self._records:
            self._shown.append(self._model.predict_one(row))
            self._model.learn_one(row, label)
            if clock.over:
                break

    def shown(self) -> IntArray:
        return np.array(
            [self._positions.get(label, -1) for label in self._shown], np.int64
        )  # -1: no answer before the first label


def model(name: str, delta: float, seed: int) -> Any:
    from river import ensemble, forest, tree

    if name == "AdaBoost":
        return ensemble.AdaBoostClassifier(
            tree.HoeffdingTreeClassifier(delta=delta), n_models=TREES, seed=seed
        )
    return forest.ARFClassifier(n_models=TREES, delta=delta, seed=seed)


def players() -> list[Player]:
    return [
        Player(f"River {name}", River, "river", settings=partial(_settings, name), told=True, seeds=1)
        for name in ("AdaBoost", "ARF")
    ]


def _settings(name: str, _stream: str) -> Sequence[Parameters]:
    """River's own split confidence, and one that suits short streams."""
    return [{"model": name, "delta": delta} for delta in ({"AdaBoost": 1e-7, "ARF": 1e-2}[name], 1e-3)]
