"""What baselines share: they decide, explore and hear verdicts as a bandit booster does, without weak
learners of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.rated import Rated
from banditboost.models.model import MEBIBYTE
from banditboost.rewards import UNIT
from banditboost.rows.features import feature_table
from banditboost.rows.schema import Schema
from banditboost.schedules import to_plain
from banditboost.types import Array, Record


class BaselineScratch(NamedTuple):
    """Of the call that is running. Nothing here is saved."""

    allowed: Array


class Baseline(Rated):
    """A model without weak learners.

    `_state` of a baseline has settings, features, learned and scratch, as a booster's.
    """

    labels_are_fixed = True

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        exploration: float = 0.05,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            labels,
            exploration=exploration,
            schema=schema,
            rewards=rewards,
            max_memory=256 * MEBIBYTE,
            seed=seed,
        )

    def _start(self) -> None:
        self._table = feature_table(self._schema)
        self._scratch = BaselineScratch(np.zeros(1, np.int64))

    @property
    def _features(self) -> Array:
        return self._table

    def _common(self) -> dict[str, Any]:
        """What the round of every baseline reads."""
        return {
            "settings": self._settings,
            "features": self._table,
            "ledger": self._ledger,
            "scratch": self._scratch,
        }

    def _follow_schema(self) -> None:
        self._table = feature_table(self._schema)
        super()._follow_schema()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"exploration": to_plain(self.exploration), "rewards": self.rewards, "seed": self.seed}


class CountsOnly(NamedTuple):
    """What a baseline has learned that counts verdicts and nothing else."""

    counts: Record
    tally: Array


class BaselineState(NamedTuple):
    """A baseline as its round reads it."""

    settings: Record
    features: Array
    ledger: Array
    learned: Any
    scratch: BaselineScratch
