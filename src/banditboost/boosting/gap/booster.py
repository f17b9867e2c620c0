"""GapBoost: the class. docs/gapboost.md is its specification.

A chain is three linear stages and N Hoeffding trees. Each stage learns what the sum of those before it gets
wrong; the prefixes of the chain are experts, weighed by how well they have answered lately. Where rows are
narrow, two regressions for each label are experts, too, on the columns and on their products; the first knows
which labels have not been tried enough on rows like this one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from banditboost.boosting.gap.chained import ChainBooster
from banditboost.boosting.gap.choose import choose
from banditboost.boosting.gap.stages import LinearStages
from banditboost.boosting.gap.teach import first_learner, teach, teach_chains
from banditboost.boosting.round import Round
from banditboost.inspection.changes import with_line
from banditboost.memo import SHOWN
from banditboost.models.model import MEBIBYTE
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree


class GapBoost(ChainBooster):
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

    compiled_round = Round(
        choose, teach, first_learner=first_learner, teach_learners=teach_chains, graded=True
    )

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
        super().__init__(
            labels,
            n_learners=n_learners,
            weak_learner=weak_learner,
            schema=schema,
            rewards=rewards,
            max_memory=max_memory,
            seed=seed,
        )

    def _make_stages(self) -> LinearStages:
        return LinearStages(len(self.labels), self._schema, self.seed, self.max_memory)

    def _is_watching(self) -> bool:
        return True

    def _n_watched(self) -> int:
        return len(self.labels)

    def _follow_labels(self) -> None:
        """The new label's chain is made when its first verdict is learned."""
        self._watch = with_line(self._watch)
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
