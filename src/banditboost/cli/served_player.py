"""A model of a running service that plays a stream: one decision and one verdict after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from banditboost import Result
from banditboost.cli.player import Player
from banditboost.cli.stream import Rounds, named
from banditboost.client import Client, ServiceRefusal
from banditboost.errors import ParameterError
from banditboost.loading import from_bytes
from banditboost.models.saving import to_bytes
from banditboost.serve.messages import DecisionAnswer, Label

if TYPE_CHECKING:
    from banditboost.models.model import Model


class ServedPlayer(Player):
    """Plays as `Player` does, but what decides and learns is in the service.

    Args:
        stream: what is played.
        model: that begins; the service gets its file, and what it has become at the end is fetched.
        skip: rounds at the beginning to leave out.
        client: of the service; the model's name is the client's.
    """

    def __init__(self, stream: Rounds, model: Model, skip: int, client: Client) -> None:
        super().__init__(stream, model, skip)
        self._client, self._schema = client, stream.schema()
        self._begin(model)

    def _begin(self, model: Any) -> None:
        """Make the model in the service; one that is there is left alone."""
        if self._is_there():
            raise ParameterError(
                f"the service has a model {self._client.model!r}; give another name with --model, or delete "
                "that one"
            )
        rewards, labels = getattr(model, "rewards", (0.0, 1.0)), list(model.labels)
        learner = type(model).__name__
        file = to_bytes(model, self._client.model)
        self._client.create(labels, learner=learner, rewards=rewards, seed=model.seed)
        try:
            self._client.upload(file)
        except ServiceRefusal:
            self._client.delete()
            raise

    def _is_there(self) -> bool:
        try:
            self._client.show()
        except ServiceRefusal as refusal:
            if refusal.status != 404:
                raise
            return False
        return True

    @property
    def rounds(self) -> int:
        """Played here."""
        return sum(len(part.shown) for part in self.parts)

    def play(self) -> None:
        """Until the end or Ctrl-C; then fetch the model."""
        super().play()
        self.model: Any = from_bytes(self._client.download(), self._client.model)

    def _block(self, X: Any, y: Any) -> Result:
        """One request after the other, as a caller who waits for each verdict sends them."""
        shown: list[int] = []
        greedy: list[int] = []
        try:
            for row, told in zip(named(self._schema, X), y, strict=True):
                decision = self._client.decide(row, ranking=2)
                shown.append(self._place(decision.label))
                greedy.append(self._place(_greedy(decision)))
                if self.graded:
                    self._client.learn(decision, reward=float(told[shown[-1]]))
                else:
                    self._client.learn(decision, correct=shown[-1] == int(told))
        except KeyboardInterrupt:
            self.parts.append(self._result(y[: len(greedy)], shown, greedy))
            raise
        return self._result(y, shown, greedy)

    def _place(self, label: Any) -> int:
        place: int = self.model.labels.index(label)
        return place

    def _result(self, y: Any, shown: list[int], greedy: list[int]) -> Result:
        labels, count = self.model.labels, len(greedy)
        indices = np.array(shown[:count], np.int64), np.array(greedy, np.int64)
        if not self.graded:
            return Result(labels, np.asarray(y), *indices, learned=count, edges=None)
        rewards, greedy_rewards = (np.asarray(y)[np.arange(count), places] for places in indices)
        return Result(
            labels, None, *indices, learned=count, edges=None, rewards=rewards, greedy_rewards=greedy_rewards
        )


def _greedy(decision: DecisionAnswer) -> Label:
    """The label that would have been shown without exploration: as far as the answer tells, the most probable
    other one if it explored.
    """
    others = (place.label for place in decision.ranking if place.label != decision.label)
    return next(others) if decision.explored else decision.label
