"""River's bandit module: bandit boosters as policies for `river.bandit.evaluate_offline`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from river import bandit

from banditboost.boosting.adaptive import AdaBandit
from banditboost.boosting.booster import BanditBooster
from banditboost.decision import Decision
from banditboost.errors import DecisionError, LabelError
from banditboost.validation import check_reward


class BoosterPolicy(bandit.base.ContextualPolicy):
    """A bandit booster as a contextual policy: `BoosterPolicy(AdaBandit, n_learners=10, seed=1)`.

    The model is made at the first pull, with its arms as labels; they must stay the same. Rewards are from 0
    to 1, or within `rewards=(low, high)` if that is given with the parameters.
    River's policies are told of an arm, not of a pull: `update` is for the last pull only. Where verdicts
    come late, use the booster itself.

    >>> policy = BoosterPolicy(n_learners=3, seed=1)
    >>> arm = policy.pull(["left", "right"], context={"hour": 3})
    >>> policy.update(arm, {"hour": 3}, 1)
    >>> policy.model.verdicts
    1
    """

    def __init__(
        self, booster: type[BanditBooster] = AdaBandit, reward_obj: Any = None, **parameters: Any
    ) -> None:
        super().__init__(reward_obj=reward_obj)
        self.booster = booster
        self.parameters = parameters
        self.model: BanditBooster | None = None
        self._last: Decision | None = None

    def _pull(self, arm_ids: Sequence[Hashable], context: Mapping[Any, Any] | None = None) -> Hashable:
        if self.model is None:
            self.model = self.booster(arm_ids, **self.parameters)
        if set(arm_ids) != set(self.model.labels):
            raise LabelError(
                f"arm_ids is {arm_ids!r}, but the model knows {self.model.labels!r}; "
                "give the same arms in every round"
            )
        self._last = self.model.decide({} if context is None else context)
        return self._last.label

    def update(self, arm_id: Hashable, context: Mapping[Any, Any] | None, reward: float) -> None:
        """Learn the reward of the arm that was pulled last."""
        if self.model is None or self._last is None or self._last.label != arm_id:
            raise DecisionError(
                f"arm_id is {arm_id!r}, which was not pulled last; update once after each pull, "
                "or use the booster itself"
            )
        self.model.learn(self._last, reward=check_reward(reward, self.model.rewards))
        self._last = None
        super().update(arm_id, context, reward)
