"""Graded rewards on the command line: which columns tell them, and how far they go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from banditboost.cli import options
from banditboost.cli.data_choice import DataChoice
from banditboost.errors import ParameterError
from banditboost.rewards import UNIT, Range, check_range

if TYPE_CHECKING:
    from banditboost.datasets.rewards import RewardColumns
    from banditboost.models.model import Model


def parse_range(text: str) -> Range:
    """The least and the largest reward, typed as LOW:HIGH.

    >>> parse_range("0:30")
    (0.0, 30.0)
    """
    try:
        return check_range([float(end) for end in text.split(":")])
    except (ValueError, ParameterError):
        raise typer.BadParameter(
            f"--reward-range {text!r} is not LOW:HIGH, the least and the largest reward, such as 0:30"
        ) from None


@dataclass(frozen=True)
class RewardChoice:
    """The options of `run` for files that say what each label would earn.

    >>> RewardChoice(rewards="price_*", reward_range="0:30").bounds
    (0.0, 30.0)
    """

    rewards: options.Rewards = None
    reward_range: options.RewardRange = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names and patterns of columns; none if there is a label."""
        return options.names(self.rewards)

    @property
    def bounds(self) -> Range:
        """The least and the largest reward."""
        if self.reward_range is None:
            return UNIT
        return parse_range(self.reward_range)

    def check(self, choice: DataChoice) -> None:
        """Refuse what cannot be meant, before anything is read."""
        if not self.columns:
            if self.reward_range is not None:
                raise typer.BadParameter(
                    "--reward-range is for rewards: name their columns with --rewards, or leave it out"
                )
            if self.rewards is not None:
                raise typer.BadParameter("--rewards is empty: name a column for each label, or leave it out")
            return
        if not choice.is_file:
            raise typer.BadParameter(
                f"--rewards is for files; {choice.data} is a built-in data set, so leave it out"
            )
        if choice.label is not None:
            raise typer.BadParameter(
                f"--label {choice.label} and --rewards are both given: name the right labels or the rewards, "
                "and leave the other columns out with --ignore"
            )
        _ = self.bounds

    def check_rewards(self, found: RewardColumns | None, model: Model | None) -> Range | None:
        """Refuse rewards that are not in the range, and a saved model that cannot learn them.

        Returns the range; None if there are right labels.
        """
        if found is None:
            return None
        bounds = self.bounds
        if model is not None:
            bounds = getattr(model, "rewards", UNIT)
            self._check_resumed(model, bounds)
        found.check_range(*bounds)
        return bounds

    def _check_resumed(self, model: Model, rewards: Range) -> None:
        """Refuse another range than that of the model that goes on."""
        if not hasattr(model, "rewards"):
            raise typer.BadParameter(
                f"the saved {type(model).__name__} is told right labels, and learns no rewards: name the "
                "right labels with --label, or begin a new model"
            )
        if self.reward_range is not None and self.bounds != rewards:
            low, high = rewards
            raise typer.BadParameter(
                f"--reward-range {self.reward_range} cannot be changed with --resume: the model was made for "
                f"{low:g}:{high:g}; leave it out, or begin a new model"
            )
