"""The linear stages and regressions of GapBoost: room for their weights, which grows with labels, columns and
values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.boosting.gap.chain import move_weights
from banditboost.boosting.gap.layout import (
    Plan,
    Sides,
    lay_out,
    most_slots,
    moves,
    new_places,
)
from banditboost.boosting.gap.places import SharedPlaces
from banditboost.boosting.gap.room import (
    LATE,
    at_places,
    if_small,
    joint_slots,
    narrow_slots,
    ridge_room,
    wide_slots,
    with_more,
)
from banditboost.boosting.gap.state import LANES, STAGES, STATISTICS, GapLayout, Regressions
from banditboost.boosting.gap.stored import Learned, check_stages, stored_statistics, with_late_lessons
from banditboost.boosting.gap.triples import new_triple_places
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.rows.schema import Schema
from banditboost.types import Array

_SINCE = ("wide_rows", "wide_goals")  # files from before rows waited have none


class LinearStages:
    """Layout, weights, and room for the row at hand."""

    def __init__(
        self, n_labels: int, schema: Schema, seed: int, max_memory: int, sides: Sides | None = None
    ) -> None:
        self._seed = seed
        self._max_memory = max_memory
        self._most_slots = most_slots(n_labels, max_memory)
        self._sides = sides  # if a row is that of a context and an option
        self._plan = lay_out(schema, seed, self._most_slots, sides=sides)
        self._version = schema.version
        self.groups = np.full(n_labels, -1, np.int64)
        self.weights = np.zeros((2, 0, self._plan.n_slots, LANES))
        self.norms = np.zeros(STAGES)
        self.statistics = np.zeros(len(self.layout.columns), STATISTICS)
        narrow, wide = self._regression_slots(n_labels)
        self.narrow = ridge_room(0, narrow, 0 if sides is None else LATE)
        self.wide = ridge_room(0, wide, LATE)
        self._shared = SharedPlaces(n_labels, max_memory)
        if schema.shares_places:
            self._shared = self._shared.opened()

    def draft(self) -> LinearStages:
        """Stages to be changed before they take the place of these; arrays are replaced, not written into."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    @property
    def bin_widths(self) -> Array:
        """Bins or values of each column in a pair of bins."""
        return self._plan.bin_widths

    @property
    def triples(self) -> Array:
        """What the wide regression over contexts and options reads besides products."""
        return self._plan.triples if self.wide.weights.shape[1] else self._plan.triples[:0]

    @property
    def layout(self) -> GapLayout:
        return self._plan.layout

    def learned(self) -> dict[str, Any]:
        """What was learned, as the round reads it."""
        own = ("groups", "weights", "norms", "statistics", "narrow", "wide")
        shared = {
            "shared": self._shared.weights,
            "places": self._shared.places,
            "claims": self._shared.claims,
        }
        return {**{name: getattr(self, name) for name in own}, **shared}

    def scratch(self) -> dict[str, Array]:
        """Room for the row at hand, with no row in it."""
        d, length = len(self.layout.columns), self._plan.longest_list
        narrow, wide = self._slots_of_regressions
        return {
            "slots": np.zeros(length, np.uint32),
            "values": np.zeros(length),
            "bounds": np.zeros(STAGES + 1, np.int64),
            "codes": np.zeros(d, np.int64),
            "numbers": np.zeros(d),
            "columns": np.zeros(self._plan.n_columns if self._plan.n_columns < d else 0),
            "telling": np.zeros(self._plan.n_columns if self._weighs_columns else 0),
            "row": np.zeros(d),
            "verdicts": np.array([-1], np.int64),
            "shared_scores": np.zeros(self.weights.shape[1] * LANES),
            "scores": np.zeros((STAGES, self.weights.shape[1] * LANES)),
            "scored": np.zeros(1, np.int64),
            "listed": np.zeros(1, np.int64),
            "roots": np.zeros((2, length)),
            "narrow": np.zeros(narrow),
            "wide": np.zeros(wide if self._sides is None else 0),
            "late": np.zeros(self.wide.late.shape[1:]),
            "used": np.zeros(wide, np.uint32),
            "probabilities": np.zeros(len(self.groups)),
        }

    @property
    def _weighs_columns(self) -> bool:
        """Whether a column counts by what it tells: where pairs are drawn, and there are no regressions."""
        return self._sides is None and self._plan.draws_pairs and not self.narrow.weights.shape[1]

    @property
    def _slots_of_regressions(self) -> tuple[int, int]:
        return self.narrow.weights.shape[1], self.wide.weights.shape[1]

    def _regression_slots(self, n_labels: int) -> tuple[int, int]:
        """How many slots narrow and wide regressions are to have."""
        spans, n_columns = self.layout.spans, len(self.layout.columns)
        if self._sides is not None:
            narrow, n_triples = joint_slots(self.layout, n_columns, self._max_memory), len(self._plan.triples)
            return narrow, if_small(len(self._plan.prior), 1, self._max_memory) if n_triples else 0
        narrow = narrow_slots(spans, n_columns, n_labels, self._max_memory)
        return narrow, wide_slots(spans, n_labels, self._max_memory)

    @property
    def _prior(self) -> Array | None:
        """With which the inverse of a regression over contexts and options begins."""
        return None if self._sides is None else self._plan.prior

    def follow_schema(self, schema: Schema) -> None:
        """Columns, nominal values and places for words have joined."""
        if self._version != schema.version and not self._plan.serves(schema):
            before = self._plan
            self._lay_out(schema)
            if not self._plan.is_laid_out_as(before):
                self._move(before)
            if schema.shares_places:
                self._shared = self._shared.opened()
        self._version = schema.version

    def set_labels(self, n_labels: int, schema: Schema) -> None:
        """Labels have joined: more of them may have to share slots, and regressions may become too many."""
        self.groups = np.concatenate([self.groups, np.full(n_labels - len(self.groups), -1, np.int64)])
        self._shared = self._shared.for_labels(n_labels)
        affordable = most_slots(n_labels, self._max_memory)
        if affordable != self._most_slots or self._regression_slots(n_labels) != self._slots_of_regressions:
            before, self._most_slots = self._plan, affordable
            self._lay_out(schema)
            self._move(before)

    def _lay_out(self, schema: Schema) -> None:
        self._plan = lay_out(schema, self._seed, self._most_slots, self._plan.chosen, self._sides)

    def _move(self, before: Plan) -> None:
        """Weights move with what they are about."""
        moved = moves(before, self._plan)
        weights = np.zeros((*self.weights.shape[:2], self._plan.n_slots, LANES))
        move_weights(moved, self.weights, before.layout.spans, weights, self.layout.spans)
        self.weights = weights
        statistics = np.zeros(len(self.layout.columns), STATISTICS)
        statistics[: len(self.statistics)] = self.statistics
        self.statistics = statistics
        narrow, wide = self._regression_slots(len(self.groups))
        reads = before.layout.reads
        places = new_places(moved, before.layout, self.layout, reads[0] if narrow else 0)
        self.narrow = at_places(self.narrow, places, narrow, self._prior)
        places = new_places(moved, before.layout, self.layout, reads[1] if wide else 0)
        if self._sides is not None and wide:
            places = self._wide_places(places, before)
        self.wide = at_places(self.wide, places, wide, self._prior)

    def _wide_places(self, places: Array, before: Plan) -> Array:
        """Where the slots of products, and those of triples after them, move."""
        plan, n_products = self._plan, int(self.layout.spans["room"][:2].sum())
        moved = new_triple_places(before.triples, before.widths, plan.triples, plan.widths)
        return np.concatenate([places, np.where(moved < 0, -1, n_products + moved)])

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    def add_group(self, label: int) -> None:
        """Give a label a chain."""
        group, blocks, n_labels = self.n_groups, self.weights.shape[1], len(self.groups)
        if group == blocks * LANES:
            most = -(-n_labels // LANES)
            more = np.zeros((2, min(max(1, blocks), most - blocks), self._plan.n_slots, LANES))
            self.weights = np.concatenate([self.weights, more], axis=1)
            self._shared = self._shared.with_blocks(self.weights.shape[1])
        if group == len(self.narrow.weights):
            self.narrow = with_more(self.narrow, n_labels, self._prior)
            self.wide = with_more(self.wide, n_labels, self._prior)
        self.groups = self.groups.copy()
        self.groups[label] = group

    @property
    def in_use(self) -> tuple[int, int] | None:
        """Of the places that names and words share, how many are in use, and how many there are."""
        places = self._shared.places
        return (int(np.count_nonzero(places["count"])), len(places)) if len(places) else None

    @property
    def largest_size(self) -> int:
        """Bytes of the weights and regressions once every label has a chain."""
        n_labels = len(self.groups)
        numbers = sum((slots + 1 + LATE) * slots for slots in self._slots_of_regressions)
        own = 2 * 8 * self._plan.n_slots * LANES * -(-n_labels // LANES) + 8 * numbers * n_labels
        return own + self._shared.largest_size

    @property
    def memory_usage(self) -> int:
        kept = self.groups, self.weights, self.norms, self.statistics, *self.narrow, *self.wide, *self.layout
        return sum(array.nbytes for array in kept) + self._shared.memory_usage

    # Files

    @property
    def _late_names(self) -> tuple[str, str]:
        """What wide regressions have not learned yet, or their inverses do not hold."""
        return ("wide_rows", "wide_goals") if self._sides is None else ("wide_late", "wide_shares")

    def arrays(self) -> dict[str, Array]:
        """What a file keeps."""
        statistics = np.stack([self.statistics[field] for field in STATISTICS.names or ()])
        return {
            "groups": self.groups,
            "linear": self.weights,
            "norms": self.norms,
            "statistics": statistics,
            "inverse": self.narrow.inverse,
            "ridge": self.narrow.weights,
            **({} if self._sides is None else {"late": self.narrow.late, "shares": self.narrow.shares}),
            "wide_inverse": self.wide.inverse,
            "wide_ridge": self.wide.weights,
            self._late_names[0]: self.wide.late,
            self._late_names[1]: self.wide.shares,
            **self._shared.arrays(),
        }

    def restore(self, arrays: dict[str, Array], features: Array, verdicts: int) -> None:
        """Go on from stored arrays, after a look at each."""
        groups = take_array(arrays, "groups", np.int64, self.groups.shape)
        n_groups = int(np.sum(groups >= 0))
        in_order = np.concatenate([np.full(len(groups) - n_groups, -1), np.arange(n_groups)])
        demand(np.array_equal(np.sort(groups), in_order), "the groups do not fit the labels")
        weights = take_array(arrays, "linear", np.float64, (2, None, self._plan.n_slots, LANES))
        fits = n_groups <= weights.shape[1] * LANES < 2 * max(n_groups, 1) + 2 * LANES
        demand(fits, "the linear weights do not fit the groups")
        norms = take_array(arrays, "norms", np.float64, (STAGES,))
        statistics = stored_statistics(arrays, len(self.layout.columns))
        narrow, wide = self._stored_regressions(arrays)
        fits = n_groups <= len(narrow.weights) <= min(2 * n_groups, len(groups))
        demand(fits, "the regressions do not fit the groups")
        learned = Learned(n_groups, weights, norms, statistics, narrow, wide)
        check_stages(learned, features, verdicts, waits=self._sides is None)
        self._shared = self._shared.restored(arrays, weights.shape[1], n_groups, verdicts)
        for field, column in zip(STATISTICS.names or (), statistics, strict=True):
            self.statistics[field] = column
        self.groups, self.weights, self.norms = groups, weights, norms
        self.narrow, self.wide = narrow, wide

    def _stored_regressions(self, arrays: dict[str, Array]) -> tuple[Regressions, Regressions]:
        narrow, wide = self._slots_of_regressions
        n = len(take_array(arrays, "inverse", np.float64, (None, narrow, narrow)))
        room = ridge_room(n, narrow, self.narrow.shares.shape[1]), ridge_room(n, wide, LATE)
        of_narrow = ("inverse", "ridge") if self._sides is None else ("inverse", "ridge", "late", "shares")
        names = of_narrow, ("wide_inverse", "wide_ridge", *self._late_names)
        made = []
        for regressions, own in zip(room, names, strict=True):
            taken = [
                take_array(arrays, name, np.float64, array.shape)
                for name, array in zip(own, regressions, strict=False)
                if name in arrays or name not in _SINCE
            ]
            made.append(Regressions(*taken, *regressions[len(taken) :]))
        return made[0], made[1] if self._sides is not None else with_late_lessons(made[1], arrays)
