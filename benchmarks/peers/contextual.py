"""contextualbandits (David Cortes): one online model for each label. Rows are one-hot, and standardised or not.

Its calls are made for batches: many rows are decided, then learned from together. Small batches learn sooner
and cost more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import topics, words
from benchmarks.peers.bags import Bags
from benchmarks.peers.columns import one_hot, standardised
from benchmarks.peers.player import AnyStream, Clock, IntArray, Parameters, Player

BATCH = 20
"""Rows decided at a time, unless settings say otherwise."""
SMALL_BATCH = 5
MOST_COLUMNS = 1_000
"""Of a dense matrix: LinUCB keeps a square of them for each label."""


class ContextualBandits:
    def __init__(self, stream: AnyStream, parameters: Parameters, seed: int) -> None:
        self._X, self._y = rows(stream, parameters.get("standardised", True)), stream.y
        self._policy = policy(parameters, len(stream.labels), seed)
        self._batch = parameters.get("batch", BATCH)
        self._shown: list[IntArray] = []

    def play(self, limit: float) -> None:
        clock = Clock(limit)
        for start in range(0, len(self._y), self._batch):
            rows = self._X[start : start + self._batch]
            shown = np.asarray(self._policy.predict(rows), np.int64)
            right = shown == self._y[start : start + self._batch]  # all it gets to hear
            self._policy.partial_fit(rows, shown, right.astype(float))
            self._shown.append(shown)
            if clock.over:
                break

    def shown(self) -> IntArray:
        return np.concatenate(self._shown)


def rows(stream: AnyStream, scaled: bool) -> Any:
    """A matrix: sparse if there are many words."""
    if isinstance(stream, Bags):
        return stream.dense() if len(stream.words) <= MOST_COLUMNS else _csr(stream)
    return one_hot(standardised(stream) if scaled else stream)


def _csr(bags: Bags) -> Any:
    """As scikit-learn wants it."""
    from scipy.sparse import csr_matrix

    return csr_matrix(bags.matrix)


def policy(parameters: Parameters, n_labels: int, seed: int) -> Any:
    from contextualbandits import online
    from sklearn.linear_model import SGDClassifier

    if parameters["policy"] == "LinUCB":
        # In single precision, its default, its inverses decay: 0.85 instead of 0.91 at the end of Nursery.
        return online.LinUCB(n_labels, alpha=parameters["alpha"], use_float=False, njobs=1, random_state=seed)
    base = SGDClassifier(loss="log_loss", random_state=seed)
    if parameters["policy"] == "EpsilonGreedy":
        return online.EpsilonGreedy(
            base, n_labels, explore_prob=0.05, decay=None, batch_train=True, njobs=1, random_state=seed
        )
    return online.BootstrappedTS(
        base, n_labels, nsamples=5, batch_train=True, njobs_arms=1, random_state=seed
    )


def players() -> list[Player]:
    return [
        Player(
            "contextualbandits",
            ContextualBandits,
            "contextualbandits",
            settings=_settings,
            neighbours=_others,
        )
    ]


def _settings(stream: str) -> Sequence[Parameters]:
    """Bags are never standardised, for nothing would be empty then; LinUCB is for few columns."""
    widths = [{"policy": "LinUCB", "alpha": alpha} for alpha in (0.1, 0.02, 0.5)]
    linear: list[dict[str, Any]] = [{"policy": "EpsilonGreedy"}, {"policy": "BootstrappedTS"}]
    if stream in words.WORDS or stream in topics.TOPICS:
        few = stream == "topics"
        return [{**setting, "standardised": False} for setting in ([*widths, *linear] if few else linear)]
    return [*widths, *linear]


def _others(best: Parameters) -> Sequence[Parameters]:
    return [
        {**best, "batch": SMALL_BATCH},
        {**best, "standardised": False},
        {**best, "batch": SMALL_BATCH, "standardised": False},
    ]
