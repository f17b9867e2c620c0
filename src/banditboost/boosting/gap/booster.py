"""GapBoost: the class. docs/gapboost.md is its specification.

A chain is three linear stages and N Hoeffding trees. Each stage learns what the sum of those before it gets
wrong; the prefixes of the chain are experts, weighed by how well they have answered lately. Where rows are
narrow, two regressions for each label are experts, too, on the columns and on their products; the first knows
which labels have not been tried enough on rows like this one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.boosting.booster import BanditBooster
from banditboost.boosting.gap.choose import choose
from banditboost.boosting.gap.experts import N_REGRESSIONS, weigh_experts
from banditboost.boosting.gap.stages import LinearStages
from banditboost.boosting.gap.state import STAGES, GapLearned, GapScratch, GapState
from banditboost.boosting.gap.stored import check_losses
from banditboost.boosting.gap.teach import first_learner, teach, teach_chains
from banditboost.boosting.round import Round
from banditboost.errors import ParameterError
from banditboost.io.container import take_array
from banditboost.memo import MOST_PROBABILITIES, POLICY_INVERSE_GAPS, SHOWN
from banditboost.models.locking import locked
from banditboost.models.model import MEBIBYTE
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree
from banditboost.weak_learners.tree_committee import TreeCommittee

FIRST_LOSS = 1.0  # of prefixes with trees and of wide regressions: others learn sooner
_LEAST_TREE_SHARE = 0.25  # of the memory ceiling, whatever the linear stages take


class GapBoost(BanditBooster):
    """Chains of linear learners and trees, one for each label; explores where labels are close and the best
    one is in doubt.

    Args:
        labels: what can be shown.
        n_learners: trees of each label's chain, after its three linear stages.
        weak_learner: a HoeffdingTree; by default one that splits early, since later stages repair what it
            overlooks.
        schema: features, if they are to be declared.
        rewards: the least and the largest reward; a verdict counts as one of the two.
        max_memory: bytes.
        seed: of all random numbers; None takes one from the system.

    >>> model = GapBoost(["yes", "no"], seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.n_groups
    1
    """

    takes_words = True
    compiled_round = Round(
        choose, teach, first_learner=first_learner, teach_learners=teach_chains, graded=True
    )
    _policy = POLICY_INVERSE_GAPS
    has_groups = True
    default_tree = HoeffdingTree(grace_period=(5.0, 10.0), split_confidence=0.1, tie_threshold=0.6)
    _committee: TreeCommittee

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 10,
        weak_learner: HoeffdingTree | None = None,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        if not (weak_learner is None or isinstance(weak_learner, HoeffdingTree)):
            raise ParameterError(
                f"weak_learner is {quoted(weak_learner)}; GapBoost's chains are of trees: give a "
                "HoeffdingTree"
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
        """A label's chain is made when its first verdict is learned."""
        self._losses = np.zeros(STAGES + self.n_learners + N_REGRESSIONS)
        self._losses[STAGES:-2] = self._losses[-1] = FIRST_LOSS
        self._stages = LinearStages(len(self.labels), self._schema, self.seed, self.max_memory)
        self._committee.set_ceiling(self._memory_for_trees())

    def _make_scratch(self) -> None:
        super()._make_scratch()
        self._scratch = GapScratch(**self._scratch._asdict(), **self._stages.scratch())

    def learned(self) -> GapLearned:
        """Counts, tally, losses of the experts, linear stages and regressions."""
        return GapLearned(*self.counted(), self._losses, **self._stages.learned())

    def _state(self) -> GapState:
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

    def _follow_labels(self) -> None:
        """The new label's chain is made when its first verdict is learned."""
        self._stages.set_labels(len(self.labels), self._schema)
        self._committee.set_ceiling(self._memory_for_trees())
        super()._follow_labels()

    def _add_learners(self, memo: Array) -> None:
        """Give a label its chain: its first verdict has come."""
        self._committee.add(self.n_learners)
        self._stages.add_group(int(memo[SHOWN]))
        self._make_scratch()

    def _group_of(self, label: int) -> int:
        return int(self._stages.groups[label])

    def _distribution_of(self, memo: Array, allowed: Array | None) -> list[float]:  # noqa: ARG002 (a memo holds those of few labels)
        shares: list[float] = self._scratch.probabilities.tolist()
        return shares

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
        weigh_experts(self._losses, self._scratch.narrow.size > 0, self._scratch.wide.size > 0, weights)
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
        check_losses(losses, self.verdicts)
        self._losses = losses
        self._stages.restore(arrays, self._features, self.verdicts)
        self._make_scratch()
        super()._restore(arrays)

    def _n_learners_made(self) -> int:
        return self.n_groups * self.n_learners
