"""Models that explore at a rate: AdaBandit, OptBandit, BinBandit, MixBandit and the baselines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import numpy as np

from banditboost.boosting import rates
from banditboost.errors import ParameterError
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.memo import POLICY_BY_VOTES
from banditboost.models.bandit import BanditModel
from banditboost.models.locking import locked
from banditboost.schedules import Adaptive, Divided, Schedule, to_plain
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_whole


class Rated(BanditModel):
    """A model that explores at a rate: a number, or a schedule from `banditboost.schedules`.

    >>> from banditboost import AdaBandit
    >>> AdaBandit(["sports", "politics", "science"], exploration=0.1, seed=7).exploration
    0.1
    """

    learners_vote: ClassVar[bool] = False
    """Whether a schedule can follow from the learners' votes."""

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        exploration: float | Schedule | str,
        estimator: int = 4,
        **parameters: Any,
    ) -> None:
        super().__init__(labels, **parameters)
        self._exploration = rates.checked(exploration)
        if not is_whole(estimator) or estimator not in (3, 4):
            raise ParameterError(
                f"estimator is {quoted(estimator)}; give 3 or 4, the number of the paper's equation"
            )
        if isinstance(self.exploration, Divided):
            if not self.learners_vote:
                raise ParameterError(
                    f"exploration is {quoted(exploration)}; learners of {type(self).__name__} do not vote: "
                    "give Adaptive()"
                )
            self._policy = POLICY_BY_VOTES
        rates.write(self.exploration, self._settings, self._suggested_rate)
        self._counts.recent_error = 1.0
        self._settings.estimator = estimator

    @property
    def exploration(self) -> float | Schedule:
        """The rate or the schedule.

        It may be changed at any time: open decisions keep the rate that they were made with.
        """
        return self._exploration

    @exploration.setter
    @locked
    def exploration(self, given: float | Schedule | str) -> None:
        draft = self._draft()
        draft._change_exploration(rates.checked(given))
        draft._renew()
        self._become(draft)

    def _change_exploration(self, changed: float | Schedule) -> None:
        """Called on a draft."""
        if isinstance(changed, Divided) != (self._policy == POLICY_BY_VOTES):
            raise ParameterError(
                f"exploration is {quoted(changed)}; no model changes to Divided or from it: make a new one"
            )
        rates.write(changed, self._settings, self._suggested_rate)
        if not isinstance(self._exploration, Adaptive):
            self._counts.recent_error = 1.0
        self._exploration = changed

    def _suggested_rate(self, edge: float) -> tuple[float, float] | None:  # noqa: ARG002 (no theorem is about it)
        """What the paper's theory says: a scale and an exponent."""
        return None

    def _follow_labels(self) -> None:
        super()._follow_labels()
        rates.write(self.exploration, self._settings, self._suggested_rate)

    @property
    def parameters(self) -> dict[str, Any]:
        own = {"exploration": to_plain(self.exploration), "estimator": int(self._settings.estimator)}
        return {**super().parameters, **own, "rewards": self.rewards}

    def _arrays(self) -> dict[str, Array]:
        adapting = isinstance(self.exploration, Adaptive)
        return {
            **super()._arrays(),
            **({"recent_error": np.array([self._counts.recent_error])} if adapting else {}),
        }

    def _restore(self, arrays: dict[str, Array]) -> None:
        super()._restore(arrays)
        if isinstance(self.exploration, Adaptive):
            error = take_array(arrays, "recent_error", np.float64, (1,))
            demand(0.0 <= error[0] <= 1.0, "the recent error is out of range")
            self._counts.recent_error = error[0]
