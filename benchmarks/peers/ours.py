"""The six boosters and the baselines, through `play`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from banditboost import play
from banditboost.errors import FeatureError
from banditboost.experiments import protocol
from banditboost.experiments.learners import LEARNERS, make
from banditboost.experiments.paper import paper_parameters
from banditboost.models.model import Model
from benchmarks.peers.bags import Bags
from benchmarks.peers.player import AnyStream, IntArray, Parameters, Player

GAP_SEEDS = 10
_WARM_UP_ROUNDS = 64


class Ours:
    """Arrays with their schema, bags of words without one."""

    def __init__(self, stream: AnyStream, parameters: Parameters, seed: int) -> None:
        self._stream, self._rows = stream, rows(stream)
        play(self._fresh(parameters, seed), self._rows[:_WARM_UP_ROUNDS], stream.y[:_WARM_UP_ROUNDS])
        self._model = self._fresh(parameters, seed)

    def _fresh(self, parameters: Parameters, seed: int) -> Model:
        given = dict(parameters)
        schema = None if isinstance(self._stream, Bags) else self._stream.schema()
        return make(given.pop("learner"), self._stream.labels, schema, given, seed)

    def play(self, limit: float) -> None:  # noqa: ARG002 (fast enough for whole streams)
        self._result = play(self._model, self._rows, self._stream.y)

    def shown(self) -> IntArray:
        return self._result.shown


def rows(stream: AnyStream) -> Any:
    """What `play` takes: an array, a sparse matrix, or, where those are refused, dicts."""
    if not isinstance(stream, Bags):
        return stream.X
    try:
        play(make("Random", stream.labels, None, {}, 0), stream.matrix[:1], stream.y[:1])
    except FeatureError:
        return stream.dicts()
    return stream.matrix


def players() -> list[Player]:
    """GapBoost first; those of the paper are told apart by what they hear."""
    names = sorted(LEARNERS, key=lambda name: name != "GapBoost")
    return [
        Player(
            name,
            Ours,
            "banditboost",
            settings=partial(_settings, name),
            told=name in ("AdaFull", "OptFull"),
            seeds=GAP_SEEDS if name == "GapBoost" else 3,
        )
        for name in names
    ]


def _settings(learner: str, stream: str) -> Sequence[Parameters]:
    """The paper's parameters on the paper's streams, defaults elsewhere: nothing is tuned."""
    papers = stream in protocol.STREAMS and learner in protocol.ALGORITHMS
    return ({"learner": learner, **(paper_parameters(stream, learner) if papers else {})},)
