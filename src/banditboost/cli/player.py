"""A model and the rounds it plays, block after block."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from banditboost import Result, play
from banditboost.cli import output
from banditboost.cli.stream import Rounds, for_model
from banditboost.experiments.curves import growing_curve
from banditboost.inspection.accuracy import Accuracy
from banditboost.models.saving import check_kind
from banditboost.schedules import to_plain
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree

if TYPE_CHECKING:
    from banditboost.models.model import Model

_WINDOW = 0.2


@dataclass
class Player:
    """A model over a stream: what is played, and what has been played so far."""

    stream: Rounds
    model: Model
    skip: int = 0
    parts: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    def __post_init__(self) -> None:
        self._first_round = self.model.rounds
        self._earned, self._counted = np.zeros(len(self.model.labels)), 0
        self._blocks = for_model(self.model, self.stream, self.stream.blocks(self.skip))

    @property
    def rounds(self) -> int:
        """Played here, also those of a block that was not finished."""
        return self.model.rounds - self._first_round

    @property
    def hears_verdicts(self) -> bool:
        """Whether the model hears only right or wrong; else it is told the right label."""
        return hasattr(self.model, "decide")

    @property
    def graded(self) -> bool:
        """Whether the stream tells rewards, and not right labels."""
        return self.stream.rewards is not None

    @property
    def weak_learners(self) -> str:
        """What the model boosts: trees, or weak learners of the user's."""
        kind = getattr(self.model, "weak_learner", None)
        if kind is None or isinstance(kind, HoeffdingTree):
            return "trees"
        name = getattr(kind, "__name__", "")
        return f"weak learners ({name})" if name else "weak learners"

    def check_target(self, path: Path) -> None:
        """Refuse a model that could not be loaded again, before it is played."""
        check_kind(self.model, path)

    def play(self) -> None:
        """Until the end or Ctrl-C, showing the accuracy, or the mean reward, so far."""
        start, right, told = time.perf_counter(), 0.0, "mean reward" if self.graded else "accuracy"
        try:
            with output.progress(output.SHARE, told + " {task.fields[accuracy]}") as bar:
                task = bar.add_task(
                    type(self.model).__name__, total=self.stream.count - self.skip, accuracy="-"
                )
                for X, y in self._blocks:
                    self.parts.append(self._block(X, y))
                    right += float(
                        self.parts[-1].earned.sum() if self.graded else self.parts[-1].correct.sum()
                    )
                    self._note(y)
                    bar.update(task, completed=self.rounds, accuracy=f"{right / self.rounds:.3f}")
        except KeyboardInterrupt:
            self.interrupted = self.rounds < self.stream.count - self.skip  # else there is nothing left to do
        self.seconds = time.perf_counter() - start

    def _block(self, X: Any, y: Any) -> Result:
        """Play some rounds."""
        return play(self.model, X, rewards=y) if self.graded else play(self.model, X, y)

    def _note(self, y: Any) -> None:
        """What each label would have earned."""
        if self.graded:
            self._earned, self._counted = self._earned + y.sum(axis=0), self._counted + len(y)

    def result(self) -> Result:
        """All blocks as one."""
        shown, greedy, learned = (
            self._joined("shown"), self._joined("greedy"), sum(part.learned for part in self.parts)
        )  # fmt: skip
        if not self.graded:
            return Result(self.model.labels, self._joined("y"), shown, greedy, learned=learned, edges=None)
        return Result(
            self.model.labels,
            None,
            shown,
            greedy,
            learned=learned,
            edges=None,
            rewards=self._joined("rewards"),
            greedy_rewards=self._joined("greedy_rewards"),
            reward_range=self.model.rewards,  # type: ignore[attr-defined]
        )

    def intervals(self) -> tuple[Accuracy, Accuracy]:
        """The mean reward of the whole stream and of its last fifth, with 95 % intervals."""
        result = self.result()
        return result.interval(), result.interval(last=True)

    def _means(self) -> dict[str, float]:
        """What each label would have earned if it had always been shown in the rounds that were played."""
        sums = self._earned / max(1, self._counted)
        return dict(zip(map(str, self.model.labels), sums.tolist(), strict=True))

    def _joined(self, name: str) -> Array:
        return np.concatenate([np.zeros(0, np.int64), *(getattr(part, name) for part in self.parts)])

    def summary(self) -> dict[str, Any]:
        """How well the model did, and at what cost."""
        result = self.result()
        told = _of_rewards(result, self._means()) if self.graded else _of_verdicts(result)
        return {
            "learner": type(self.model).__name__,
            "n_learners": getattr(self.model, "n_learners", 0),
            "exploration": to_plain(getattr(self.model, "exploration", None)),
            "seed": self.model.seed,
            "n_labels": len(self.model.labels),
            "rounds": self.rounds,
            **told,
            "explored": float(result.explored.mean()) if len(result.shown) else None,
            "seconds": self.seconds,
            "rounds_per_second": self.rounds / self.seconds,
            "memory_bytes": self.model.memory_usage,
            "interrupted": self.interrupted,
        }

    def curve(self) -> dict[str, Any]:
        """The learning curve from the beginning on, in the form that a record has."""
        return growing_curve(self.result().correct, _WINDOW)


def _of_verdicts(result: Result) -> dict[str, Any]:
    return {
        "accuracy": result.accuracy,
        "last_accuracy": result.last_accuracy,
        "greedy_accuracy": result.greedy_accuracy,
        "exploration_cost": result.greedy_accuracy - result.accuracy,
    }


def _of_rewards(result: Result, means: dict[str, float]) -> dict[str, Any]:
    """Mean rewards with their 95 % intervals, and what each label would have earned if always shown."""
    whole, last = result.interval(), result.interval(last=True)
    return {
        "reward_range": list(result.reward_range),
        "mean_reward": result.mean_reward,
        "mean_reward_interval": [whole.low, whole.high],
        "last_mean_reward": result.last_mean_reward,
        "last_mean_reward_interval": [last.low, last.high],
        "greedy_mean_reward": result.greedy_mean_reward,
        "exploration_cost": result.greedy_mean_reward - result.mean_reward,
        "mean_rewards": means,
    }
