"""coba: bandit boosters as learners of its experiments. coba itself need not be imported."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from banditboost.boosting.booster import BanditBooster
from banditboost.decision import Decision
from banditboost.errors import LabelError
from banditboost.validation import check_reward, refuse


def _row(context: Any) -> Any:
    """A context of coba as a row: nothing, one value, a sequence, or a mapping."""
    if context is None:
        return {}
    if isinstance(context, Mapping) or hasattr(context, "items"):
        return dict(context.items())
    return list(context) if hasattr(context, "__iter__") and not isinstance(context, str) else [context]


class CobaLearner:
    """A bandit booster for coba: `CobaLearner(AdaBandit, n_learners=10, seed=1)`.

    The model is made when coba first tells the actions, which must stay the same ones, in the same order.
    Rewards are from 0 to 1, or within `rewards=(low, high)` if that is given with the parameters.

    >>> from banditboost import AdaBandit
    >>> learner = CobaLearner(AdaBandit, n_learners=3, seed=1)
    >>> action, probability, memory = learner.predict([0.5], ["left", "right"])
    >>> learner.learn([0.5], action, 1.0, probability, **memory)
    >>> learner.model.verdicts
    1
    """

    def __init__(self, booster: type[BanditBooster], **parameters: Any) -> None:
        self._booster = booster
        self._parameters = parameters
        self._actions: dict[Hashable, Any] = {}  # by label, which is the place among the actions
        self.model: BanditBooster | None = None

    @property
    def params(self) -> dict[str, Any]:
        """How coba names the learner in its tables."""
        return {"family": self._booster.__name__, **self._parameters}

    def _model_for(self, actions: Sequence[Any]) -> BanditBooster:
        if self.model is None:
            self.model = self._booster(range(len(actions)), **self._parameters)
            self._actions = dict(enumerate(actions))
        if list(actions) != list(self._actions.values()):
            raise LabelError(
                f"actions are {actions!r}, but were {list(self._actions.values())!r}; "
                "give the same ones in every round"
            )
        return self.model

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, Decision]]:
        """An action, its probability, and the decision, which coba hands back to `learn`."""
        decision = self._model_for(actions).decide(_row(context))
        return self._actions[decision.label], decision.probability, {"decision": decision}

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """The probability with which the action would be chosen; the model does not change."""
        return self._model_for(actions).distribution(_row(context))[actions.index(action)]

    def learn(
        self,
        context: Any,  # noqa: ARG002
        action: Any,  # noqa: ARG002
        reward: float,
        probability: float,  # noqa: ARG002
        decision: Decision,
    ) -> None:
        """Learn the reward of a decision."""
        if self.model is None:
            refuse("decision", decision, "give what predict gave; it was not called yet")
        self.model.learn(decision, reward=check_reward(reward, self.model.rewards))
