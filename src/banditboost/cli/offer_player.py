"""A model that chooses among options, and the decisions it plays, block after block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from banditboost import Result, play
from banditboost.cli.player import Player

if TYPE_CHECKING:
    from banditboost.cli.offer_choice import OfferedRounds
    from banditboost.models.offering import OfferingModel


class OfferPlayer(Player):
    """Plays as `Player` does, with options and their rewards in the place of labels.

    Args:
        stream: the decisions.
        model: that goes on.
        skip: decisions at the beginning to leave out.
    """

    stream: OfferedRounds  # type: ignore[assignment]
    model: OfferingModel

    def __post_init__(self) -> None:
        self._first_round = self.model.rounds
        self._sums, self._counted = np.zeros(2), 0
        self._blocks = self.stream.blocks(self.skip)

    def _block(self, X: Any, y: Any) -> Result:
        offered, rewards = y
        return play(self.model, X, options=offered, rewards=rewards)

    def _note(self, y: Any) -> None:
        """What options drawn at random would have earned, and the best ones."""
        for rewards in y[1]:
            self._sums += np.mean(list(rewards.values())), max(rewards.values())
        self._counted += len(y[1])

    def result(self) -> Result:
        """All blocks as one; in each of them ids are numbered as they come."""
        ids: dict[Any, int] = {}
        numbers = [np.array([ids.setdefault(i, len(ids)) for i in part.labels], int) for part in self.parts]
        shown, greedy = (
            np.concatenate(
                [
                    np.zeros(0, int),
                    *(new[getattr(part, name)] for new, part in zip(numbers, self.parts, strict=True)),
                ]
            )
            for name in ("shown", "greedy")
        )
        return Result(
            tuple(ids),
            None,
            shown,
            greedy,
            learned=sum(part.learned for part in self.parts),
            edges=None,
            rewards=self._joined("rewards"),
            greedy_rewards=self._joined("greedy_rewards"),
            reward_range=self.model.rewards,
        )

    def summary(self) -> dict[str, Any]:
        """How well the model did, beside options drawn at random and the best ones."""
        told = super().summary()
        del told["mean_rewards"], told["n_labels"]
        at_random, best = (self._sums / max(1, self._counted)).tolist()
        return {
            **told,
            "n_options": self.stream.n_options,
            **self.stream.columns,
            "random_mean_reward": at_random,
            "best_mean_reward": best,
        }

    def _means(self) -> dict[str, float]:
        """There are no labels that could always be shown."""
        return {}
