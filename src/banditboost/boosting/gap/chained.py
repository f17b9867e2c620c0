"""What GapBoost and OptionBoost share: chains of linear stages and trees, regressions beside them, and the
weights of all these experts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import numpy as np

from banditboost.boosting.booster import BanditBooster
from banditboost.boosting.gap.chain import LINEAR_STEP
from banditboost.boosting.gap.experts import N_REGRESSIONS, weigh_experts
from banditboost.boosting.gap.stages import LinearStages
from banditboost.boosting.gap.state import STAGES, GapLearned, GapScratch, GapState
from banditboost.boosting.gap.stored import check_losses
from banditboost.errors import ParameterError
from banditboost.io.container import take_array
from banditboost.memo import MOST_PROBABILITIES, POLICY_INVERSE_GAPS
from banditboost.models.locking import locked
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree
from banditboost.weak_learners.tree_committee import TreeCommittee

FIRST_LOSS = 1.0  # of prefixes with trees and of wide regressions: others learn sooner
_LEAST_TREE_SHARE = 0.25  # of the memory ceiling, whatever the linear stages take


class ChainBooster(BanditBooster):
    """A booster with chains: one for each label, or one for all options."""

    takes_words = True
    _policy = POLICY_INVERSE_GAPS
    has_groups = True
    weighs_by_probability = False
    _linear_step: ClassVar[float] = LINEAR_STEP
    default_tree = HoeffdingTree(grace_period=(5.0, 10.0), split_confidence=0.1, tie_threshold=0.6)
    _committee: TreeCommittee

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int,
        weak_learner: HoeffdingTree | None,
        schema: Schema | None,
        rewards: tuple[float, float],
        max_memory: int,
        seed: int | None,
    ) -> None:
        if not (weak_learner is None or isinstance(weak_learner, HoeffdingTree)):
            raise ParameterError(
                f"weak_learner is {quoted(weak_learner)}; {type(self).__name__}'s chains are of trees: give "
                "a HoeffdingTree"
            )
        super().__init__(
            labels,
            n_learners=n_learners,
            weak_learner=weak_learner,
            schema=schema,
            rewards=rewards,
            max_memory=max_memory,
            seed=seed,
        )

    def _make_learners(self) -> None:
        """A chain is made when its first verdict is learned."""
        self._losses = np.zeros(STAGES + self.n_learners + N_REGRESSIONS)
        self._losses[STAGES:-2] = self._losses[-1] = FIRST_LOSS
        self._stages, self._settings.step = self._make_stages(), self._linear_step
        self._committee.set_ceiling(self._memory_for_trees())

    def _make_stages(self) -> LinearStages:
        raise NotImplementedError

    def _make_scratch(self) -> None:
        super()._make_scratch()
        trust = np.zeros_like(self._losses)
        self._scratch = GapScratch(**self._scratch._asdict(), **self._stages.scratch(), trust=trust)

    def learned(self) -> Any:
        """Counts, tally, losses of the experts, linear stages and regressions."""
        return GapLearned(*self.counted(), self._losses, **self._stages.learned())

    def _state(self) -> Any:
        return GapState(**super()._state()._asdict(), layout=self._stages.layout)

    def _memory_for_trees(self) -> int:
        """What the linear stages of all labels leave."""
        return max(self.max_memory - self._stages.largest_size, int(_LEAST_TREE_SHARE * self.max_memory))

    def _n_between(self) -> int:
        """As many for any number of labels, so that labels can join while decisions are open."""
        return MOST_PROBABILITIES

    def _n_votes(self) -> int:
        return 0

    def _own_parts(self) -> None:
        super()._own_parts()
        self._stages = self._stages.draft()

    def _follow_schema(self) -> None:
        before = self._stages.layout
        self._stages.follow_schema(self._schema)
        self._committee.set_ceiling(self._memory_for_trees())
        super()._follow_schema()
        if self._stages.layout is not before:
            self._make_scratch()

    # What can be seen

    @property
    def n_groups(self) -> int:
        """Labels that have been heard of, each with its own chain."""
        return self._stages.n_groups

    @property
    @locked
    def expert_weights(self) -> Array:
        """The weights v of the prefixes (after columns, products, pairs of bins, each tree), then of narrow
        and of wide regressions.
        """
        weights = np.empty_like(self._losses)
        has_wide = self._stages.wide.weights.shape[1] > 0
        weigh_experts(self._losses, self._scratch.narrow.size > 0, has_wide, weights)
        return weights

    def _weights_to_show(self) -> dict[str, Any]:
        weights = tuple(self.expert_weights.tolist())
        return {**super()._weights_to_show(), "expert_weights": weights, "word_places": self._stages.in_use}

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._stages.memory_usage + self._losses.nbytes

    # Files and copies

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_learners": self.n_learners,
            "weak_learner": self.weak_learner,
            "rewards": self.rewards,
            "max_memory": self.max_memory,
            "seed": self.seed,
        }

    def _records(self) -> list[Array]:
        return [*super()._records(), self._stages.statistics, *self._stages.layout[1:]]

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), **self._stages.arrays(), "losses": self._losses}

    def _restore(self, arrays: dict[str, Array]) -> None:
        losses = take_array(arrays, "losses", np.float64, self._losses.shape)
        check_losses(losses, self._counted.verdicts)
        self._losses = losses
        self._stages.restore(arrays, self._features, self._counted.verdicts)
        self._make_scratch()
        super()._restore(arrays)

    def _n_learners_made(self) -> int:
        return self.n_groups * self.n_learners
