"""What baselines share with the boosters (everything seen from outside), and what those do without that have no weak learners."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.boosting.bandit import BanditBooster
from banditboost.rows.schema import Schema
from banditboost.schedules import to_plain
from banditboost.weak_learners.features import feature_table

Array = np.ndarray[Any, Any]


class Baseline(BanditBooster):
    """A learner that decides, explores and hears verdicts as a bandit booster does. `play` calls it round by round."""

    plays_compiled = False
    labels_are_fixed = True


class NoLearners:
    """The committee of a baseline that has no weak learners: it knows the features."""

    memory_usage = 0

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.features = feature_table(schema)

    def follow_schema(self) -> None:
        self.features = feature_table(self._schema)

    def add(self, n_learners: int) -> None:
        """Nobody joins."""

    def set_labels(self, n_labels: int) -> None:
        """Nobody asks."""

    def vote(self, x: Array, round_: int, votes: Array) -> None:
        """Nobody votes."""

    def score(self, x: Array, scores: Array) -> None:
        """Nobody is asked."""

    def learn(self, x: Array, labels: Array, weights: Array, first: int = 0) -> None:
        """Nobody is taught."""


class LoneBaseline(Baseline):
    """A baseline without weak learners: `_choose` decides and `_teach` learns, both from the memo alone."""

    has_learners = False

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        exploration: float = 0.05,
        schema: Schema | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(labels, n_learners=1, exploration=exploration, schema=schema, seed=seed)
        self.weak_learner = None

    def _start(self) -> None:
        self._committee = NoLearners(self.schema)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"exploration": to_plain(self.exploration), "seed": self.seed}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.labels)} labels, rounds={self.rounds}, seed={self.seed})"
