"""Random: what guessing gives."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.baselines.base import Array, LoneBaseline
from banditboost.boosting.base import check_labels
from banditboost.boosting.exploration import count_verdict, show
from banditboost.compiled.compile import kernel
from banditboost.compiled.rng import LABEL_TIE, round_key, uniform
from banditboost.errors import ParameterError
from banditboost.rows.schema import Schema
from banditboost.schedules import Schedule
from banditboost.trees.layout import ROUND


@kernel
def choose_any(settings: Array, memo: Array) -> None:
    """All labels are tied: a keyed number names the greedy one, and exploration at the rate (k - 1) / k shows each with 1 / k."""
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    show(settings, memo, int(uniform(key, LABEL_TIE, 0) * settings[0]["n_labels"]), key)


class Random(LoneBaseline):
    """Shows every label with probability 1 / k and learns nothing.

    >>> Random(["a", "b", "c", "d"], seed=1).decide({"age": 31}).probability
    0.25
    """

    def __init__(
        self, labels: Iterable[Hashable], *, schema: Schema | None = None, seed: int | None = None
    ) -> None:
        names = check_labels(labels)
        super().__init__(names, exploration=(len(names) - 1) / len(names), schema=schema, seed=seed)

    def _start(self) -> None:
        super()._start()
        self._weights = np.zeros(0)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"seed": self.seed}

    def _change_exploration(self, changed: float | Schedule) -> None:
        raise ParameterError(
            f"exploration is {changed!r}; Random shows all labels alike: give the model another class"
        )

    def _choose(self, memo: Array) -> None:
        choose_any(self._settings, memo)

    def _end_round(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:  # noqa: ARG002 (all labels are)
        count_verdict(self._settings, memo, outcome)
