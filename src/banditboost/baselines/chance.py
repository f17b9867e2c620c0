"""Random: what guessing gives."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.baselines.base import Baseline, BaselineState, CountsOnly
from banditboost.boosting.exploration import allowed_labels, count_verdict, show
from banditboost.boosting.round import Round, teach_nobody
from banditboost.compiled.compile import kernel
from banditboost.compiled.rng import LABEL_TIE, uniform
from banditboost.errors import ParameterError
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.schedules import Schedule
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_labels


@kernel
def choose(model: Any, memo: Array, key: int) -> None:
    """All labels are tied: a keyed number names the greedy one, and exploration at the rate (k - 1) / k shows
    each with 1 / k.
    """
    greedy = int(uniform(key, LABEL_TIE, 0) * model.settings.n_labels)
    show(model.settings, model.learned.counts, memo, greedy, allowed_labels(model.scratch), key)


@kernel
def teach(model: Any, memo: Array, reward: float, key: int) -> None:  # noqa: ARG001 (nothing is drawn)
    """Count the reward."""
    count_verdict(model.settings, model.learned.counts, memo, reward)


class Random(Baseline):
    """Shows every label with probability 1 / k and learns nothing.

    Args:
        labels, schema, rewards, seed: as for the boosters.

    >>> Random(["a", "b", "c", "d"], seed=1).decide({"age": 31}).probability
    0.25
    """

    compiled_round = Round(choose, teach, teach_learners=teach_nobody, graded=True)
    weighs_by_probability = False

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        seed: int | None = None,
    ) -> None:
        names = check_labels(labels)
        exploration = (len(names) - 1) / len(names)
        super().__init__(names, exploration=exploration, schema=schema, rewards=rewards, seed=seed)

    def _state(self) -> BaselineState:
        return BaselineState(learned=CountsOnly(self._counts, self._tally), **self._common())

    def _scores_of(self, memo: Array) -> Array:  # noqa: ARG002 (all labels are tied)
        return np.zeros(len(self.labels))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"rewards": self.rewards, "seed": self.seed}

    def _change_exploration(self, changed: float | Schedule) -> None:
        raise ParameterError(
            f"exploration is {quoted(changed)}; Random shows all labels alike: give the model another class"
        )
