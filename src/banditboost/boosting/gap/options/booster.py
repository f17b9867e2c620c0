"""OptionBoost: the class. docs/optionboost.md is its specification.

One chain reads a context and an option as one row: three linear stages, which have pairs of columns across
the two, and N Hoeffding trees; beside it two regressions. It scores every option that is offered, also one
that was never seen before; what is special to an id comes on top.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np

from banditboost.boosting.gap.chained import ChainBooster
from banditboost.boosting.gap.options.choose import choose_option
from banditboost.boosting.gap.options.own import arrays_of, places_for, stored_own
from banditboost.boosting.gap.options.rooms import (
    LinePlan,
    arrays_of_lines,
    line_row_for,
    lines_for,
    most_memory_of_lines,
    moved_lines,
    plan_lines,
    size_of_lines,
    stored_lines,
    with_rooms,
)
from banditboost.boosting.gap.options.state import (
    CHAIN,
    ID,
    N_BETWEEN,
    OWN,
    SCORE,
    OptionLearned,
    OptionState,
    folds_for,
    room_for,
    wide_row_for,
)
from banditboost.boosting.gap.options.teach import note_option, teach_option
from banditboost.boosting.gap.stages import LinearStages
from banditboost.boosting.gap.teach import teach_chains
from banditboost.boosting.round import Round
from banditboost.errors import LabelError
from banditboost.inspection.trees import TreeView
from banditboost.io.values import demand
from banditboost.memo import LEARNERS, POLICY
from banditboost.models.logged_offers import LoggedOfferingModel
from banditboost.models.model import MEBIBYTE
from banditboost.models.offering import ALL
from banditboost.rewards import UNIT
from banditboost.rows.features import NUMERIC, feature_table
from banditboost.rows.options import sides
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree

_FIRST_ROOM = 32  # options; then twice as many, and so on


class OptionBoost(LoggedOfferingModel, ChainBooster):
    """GapBoost for options that come with each call and have features of their own.

    It learns across options, from their features, those of the context and products of both, and what is
    special to an id that it has met before. An option that was never seen is scored by its features from its
    first moment.

    Args:
        n_learners: trees of the chain, after its three linear stages.
        weak_learner: a HoeffdingTree; by default one that splits early.
        schema: features, if they are to be declared: those of options as "option.price".
        rewards: the least and the largest reward; a verdict counts as one of the two.
        max_memory: bytes.
        seed: of all random numbers; None takes one from the system.

    >>> model = OptionBoost(seed=1)
    >>> shop = {"tea": {"price": 4.5}, "juice": {"price": 3.0}}
    >>> for _ in range(50):
    ...     decision = model.decide({"hour": 21}, shop)
    ...     model.learn(decision, correct=decision.label == "tea")
    >>> model.rank({"hour": 21}, {"water": {"price": 2.9}, "cocoa": {"price": 4.6}})[0].label
    'cocoa'
    >>> model.verdicts
    50
    """

    _linear_step = 0.1  # a third of GapBoost's: one chain hears of all options, and most of it is noise
    compiled_round = Round(
        choose_option, teach_option, teach_learners=teach_chains, graded=True, note=note_option
    )

    def __init__(
        self,
        *,
        n_learners: int = 10,
        weak_learner: HoeffdingTree | None = None,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            ALL,
            n_learners=n_learners,
            weak_learner=weak_learner,
            schema=schema,
            rewards=rewards,
            max_memory=max_memory,
            seed=seed,
        )

    @classmethod
    def _of_file(cls, labels: Iterable[Hashable], **parameters: Any) -> Self:
        demand(tuple(labels) == ALL, "the labels are not those of an OptionBoost")
        return cls(**parameters)

    @staticmethod
    def _checked_labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
        return tuple(labels)

    def _make_stages(self) -> LinearStages:
        """With the one chain, which is there from the beginning."""
        made = LinearStages(1, self._schema, self.seed, self.max_memory, sides)
        made.add_group(CHAIN)
        return made

    def _make_learners(self) -> None:
        super()._make_learners()
        self._own = np.zeros(places_for(self.max_memory), OWN)
        self._line_plan = self._plan_lines()
        self._lines = lines_for(len(self._line_plan.keys), self.max_memory)
        self._committee.add(self.n_learners)
        self._most_offered = _FIRST_ROOM

    def _make_scratch(self) -> None:
        super()._make_scratch()
        self._of_options = sides(self._schema).astype(np.int64)
        stages = self._stages
        n_read = len(self._scratch.narrow)
        folds = folds_for(stages.layout, stages.bin_widths, sides(self._schema), n_read)
        self._offered = room_for(self._most_offered, len(self._schema), folds)
        n_wide = self._stages.wide.weights.shape[1]
        self._wide_row = wide_row_for(len(self._schema), self._stages.layout, self._stages.triples, n_wide)
        if self._line_plan.layout is not stages.layout:
            self._move_lines()
        self._line_row = line_row_for(self._line_plan)

    def _plan_lines(self) -> LinePlan:
        numeric = feature_table(self._schema)["kind"] == NUMERIC
        return plan_lines(self._stages.layout, numeric, sides(self._schema))

    def _move_lines(self) -> None:
        """Lines move with what they are about; where there are fewer rooms now, ids lose theirs."""
        before, given = self._line_plan, self._lines
        self._line_plan = self._plan_lines()
        self._lines = moved_lines(given, before, self._line_plan, self.max_memory)
        if self._lines.taken[0] < given.taken[0]:
            self._own = with_rooms(self._own, self._lines)

    def _make_room_for(self, n_options: int) -> None:
        self._most_offered = 1 << (n_options - 1).bit_length()
        self._make_scratch()

    def learned(self) -> OptionLearned:
        """Counts, tally, losses of the experts, linear stages, regressions, and what is special to ids."""
        return OptionLearned(**super().learned()._asdict(), own=self._own, lines=self._lines)

    def _state(self) -> OptionState:
        own = {"offered": self._offered, "of_options": self._of_options}
        own |= {"wide_row": self._wide_row, "line_row": self._line_row}
        return OptionState(**super()._state()._asdict(), **own)

    def _memory_for_trees(self) -> int:
        own = places_for(self.max_memory) * OWN.itemsize + most_memory_of_lines(self.max_memory)
        return super()._memory_for_trees() - own

    def _n_between(self) -> int:
        return N_BETWEEN

    def _follow_labels(self) -> None:
        """There are none."""

    def _could_make(self, memo: Array) -> bool:
        number = memo[ID]
        return bool(
            memo[POLICY] == self._policy
            and memo[LEARNERS] == self._n_in_memo()
            and -1.0 <= number < 2.0**32
            and number == np.floor(number)
            and -1.0 <= memo[SCORE] <= 1.0
        )

    # What can be seen

    def _group_to_show(self, label: Hashable) -> int:
        if label is not ...:
            raise LabelError(
                f"label is {quoted(label)}, but the trees of OptionBoost serve all options; leave it out"
            )
        return CHAIN

    def tree(self, number: int, label: Hashable = ...) -> TreeView:
        """A picture of one tree, which reads a context and an option as one row.

        Args:
            number: which of the `n_learners` trees, from 0 on.
            label: to be left out.

        >>> OptionBoost(seed=1).tree(0).n_leaves
        1
        """
        return super().tree(number, label)

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._own.nbytes + size_of_lines(self._lines)

    # Files and copies

    def _records(self) -> list[Array]:
        return [*super()._records(), self._own, self._lines.rooms]

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), **arrays_of(self._own), **arrays_of_lines(self._lines)}

    def _restore(self, arrays: dict[str, Array]) -> None:
        own = stored_own(arrays, len(self._own), self._counted.verdicts)
        self._lines = stored_lines(arrays, self._lines, own, self._counted.verdicts)
        self._own = with_rooms(own, self._lines)
        super()._restore(arrays)

    def _n_learners_made(self) -> int:
        return self.n_learners
