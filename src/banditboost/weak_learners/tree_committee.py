"""A committee of Hoeffding trees: the arrays that the kernels work on, and their growth up to the memory
ceiling.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from banditboost.compiled import rng
from banditboost.errors import ParameterError
from banditboost.log import LOGGER
from banditboost.rows.features import column_table
from banditboost.rows.schema import Schema
from banditboost.trees.columns import MOST_COLUMNS
from banditboost.trees.forest import (
    carry_statistics,
    free_rows,
    learn_forest,
    open_features,
    plant,
    vote_in_round,
)
from banditboost.trees.layout import ENTRY, NODE, STEP, TREE, empty_forest, row_width
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import LEAF_PREDICTIONS, HoeffdingTree
from banditboost.weak_learners.stored import stored_forest

# Shares of the memory ceiling: statistics, nodes, class entries; the rest is for what does not grow with the
# stream.
_ROWS_SHARE, _NODES_SHARE, _ENTRIES_SHARE = 0.49, 0.24, 0.24
_RECLAIMED = 0.25  # of all rows, when leaves are put to sleep
_FEWEST_ROWS = 4  # whatever the ceiling: a leaf with two classes, and two more rows
_SPARE = 1.25  # room for features to join before statistics are laid out anew
_SMALL_POOL = 1 << 21  # bytes up to which a pool moves when it grows
# Of a pool: growing from a handful of items would stop the first rounds again and again.
_FIRST_BYTES = 1 << 15
_QUICK_BYTES = 1 << 18  # up to which a pool becomes four times as large; then it doubles


def _longer(array: Array, size: int, most: int) -> Array:
    """The same items and room behind them, where they are if there is more room there, as the ceiling allows.

    So a pool never needs its old place and a new one. What is behind is not written, so that the system gives
    memory for it when it is needed.
    """
    room = array.base
    if isinstance(room, np.ndarray) and room.ctypes.data == array.ctypes.data and room.dtype == array.dtype:
        return room[:size] if size <= len(room) else _moved(array, size, most)
    return _moved(array, size, most)


def _moved(array: Array, size: int, most: int) -> Array:
    """A copy with zeros behind it; one that is not small has room for all that there may ever be.

    As bytes, since NumPy copies records field by field, fifty times slower.
    """
    room = np.zeros(size if size * array.itemsize <= _SMALL_POOL else max(size, most), array.dtype)
    room.view(np.uint8)[: array.nbytes] = array.view(np.uint8)
    return room[:size]


def _unready(steps: Array) -> None:
    """Take the answers back that leaves have ready: they follow from their classes, if these are two."""
    steps["threshold"][steps["feature"] < 0] = math.nan


def _larger(capacity: int, item_size: int) -> int:
    """How many items a pool is to have next: each time it grows, a round waits for Python."""
    return (4 if capacity * item_size <= _QUICK_BYTES else 2) * capacity


class TreeCommittee:
    """All trees of a model, in the few arrays of `forest`."""

    in_python: ClassVar[bool] = False

    def __init__(
        self, tree: HoeffdingTree, n_labels: int, schema: Schema, seed: int, max_memory: int
    ) -> None:
        self._tree = tree
        self._seed = seed
        self._max_memory = max_memory
        self.forest = empty_forest(column_table(Schema()))
        head = self.forest.head
        head["n_labels"] = n_labels
        head["leaf_prediction"] = LEAF_PREDICTIONS.index(tree.leaf_prediction)
        head["min_branch_fraction"] = tree.min_branch_fraction
        head["free_entry"] = head["free_row"] = -1
        self.forest.choice["seed"] = seed
        self.forest.choice["max_columns"] = min(tree.max_columns or MOST_COLUMNS, MOST_COLUMNS)
        self._schema_version = -1
        self._times_put_to_sleep = 0
        self._n_expected = 0
        self.follow_schema(schema)

    def draft(self) -> TreeCommittee:
        """A committee to be changed before it takes this one's place.

        Arrays are shared, but for the head: whatever else is written into is copied before. What is written
        behind the nodes in use, or in the rows' spare width, is seen by nobody who does not have the draft's
        head and features.
        """
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.forest = self.forest._replace(head=self.forest.head.copy())
        return made

    @property
    def memory_usage(self) -> int:
        return sum(array.nbytes for array in self.forest)

    def expect(self, n_trees: int) -> None:
        """So many trees there will be in the end: their roots' nodes are kept for them, where the share of
        the ceiling allows.
        """
        self._n_expected = n_trees

    def refuse_too_many(self, n_trees: int) -> None:
        """Refuse to plant so many trees, if there is too little memory for their roots."""
        if n_trees > self._most_nodes():
            raise ParameterError(
                f"max_memory is {self._max_memory} bytes, too little for {n_trees} trees; give more"
            )

    def add(self, n_trees: int) -> None:
        """Plant more trees, each with its own draw of the parameters that were given as ranges."""
        first = len(self.forest.trees)
        self._n_expected = max(self._n_expected, first + n_trees)
        if first == 0:
            self.refuse_too_many(n_trees)
        n_nodes = int(self.forest.head["n_nodes"][0]) + n_trees
        if n_nodes > len(self.forest.nodes) and not self._grow_nodes(
            n_trees, self._n_expected - first - n_trees
        ):
            self._set_node_capacity(
                n_nodes
            )  # those of a label for which nothing was kept are planted all the same
        drawn, ranges = np.zeros(n_trees, TREE), self._tree.ranges()
        for i in range(n_trees):
            drawn[i]["grace_period"], drawn[i]["log_confidence"], drawn[i]["tie_threshold"] = (
                self._draw_parameters(first + i, *ranges)
            )
        self.forest = self.forest._replace(trees=np.concatenate([self.forest.trees, drawn]))
        plant(self.forest, first)

    def set_labels(self, n_labels: int) -> None:
        """Leaves have room for the classes that they have met only, so nothing moves."""
        self.forest.head["n_labels"] = n_labels
        if n_labels != 2:
            steps = _moved(self.forest.steps, len(self.forest.steps), self._most_nodes())
            _unready(steps)
            self.forest = self.forest._replace(steps=steps)

    def _draw_parameters(self, number: int, *ranges: tuple[float, float]) -> tuple[float, float, float]:
        grace, confidence, tie = ranges
        u = [
            rng.uniform_at(self._seed, number, rng.TREE_PARAMETER, index) if low < high else 0.0
            for index, (low, high) in enumerate(ranges)
        ]
        log_confidence = math.log(confidence[0]) + u[1] * (math.log(confidence[1]) - math.log(confidence[0]))
        log_tie = math.log(tie[0]) + u[2] * (math.log(tie[1]) - math.log(tie[0]))
        return grace[0] + u[0] * (grace[1] - grace[0]), -log_confidence, math.exp(log_tie)

    # Trees from Python, for checks; a booster's round asks and teaches them in its own compiled code.

    def vote(self, x: Array, round_: int, votes: Array) -> None:
        """The label index that each tree predicts."""
        vote_in_round(self.forest, x, self._seed, round_, votes)

    def learn(self, x: Array, labels: Array, weights: Array, first: int = 0) -> None:
        """Teach tree first + i labels[i] with weights[i]; a weight of 0 teaches nothing."""
        taught = learn_forest(self.forest, first, x, labels, weights, 0)
        while taught < len(labels):
            self.forest = self.with_room().forest
            taught = learn_forest(self.forest, first, x, labels, weights, taught)

    def arrays(self) -> dict[str, Array]:
        """All there is to keep of the trees, without what dropped drafts have left in the rows' spare width.

        (Free rows keep what nobody reads.)
        """
        size, stats = int(self.forest.head["row_size"][0]), self.forest.stats
        width = max(1, row_width(self.forest))  # a free row keeps its link in its first number
        if stats.reshape(-1, size)[:, width:].any():
            stats = stats.copy()
            stats.reshape(-1, size)[:, width:] = 0.0
        steps = self.forest.steps.copy()
        _unready(steps)
        arrays = self.forest._replace(stats=stats, steps=steps)._asdict()
        del arrays["choice"]
        return arrays

    def states(self) -> list[Any]:
        """Trees are arrays."""
        return []

    def restore(self, arrays: dict[str, Array], states: list[Any], n_trees: int) -> None:  # noqa: ARG002 (trees are arrays)
        """Go on from stored arrays, after every index in them has been looked at."""
        self.forest = stored_forest(arrays, self.forest, n_trees, self._tree.ranges())

    def set_ceiling(self, max_memory: int) -> None:
        """How much the trees may take from now on; what they have they keep."""
        self._max_memory = max_memory

    # Memory: pools grow until their share of the ceiling is used up.

    def with_room(self) -> TreeCommittee:
        """Called when a kernel found too little free memory to go on: the committee with more of what is
        lacking.

        Where rows are lacking and the ceiling is met it is this committee, in which leaves were put to sleep.
        """
        head, made, grown = self.forest.head[0], self.draft(), False
        if not head["nodes_full"] and head["n_nodes"] + head["most_children"] > len(self.forest.nodes):
            kept = max(0, self._n_expected - len(self.forest.trees))
            made.forest.head["nodes_full"] = not made._grow_nodes(int(head["most_children"]), kept)
            made._tell_if_full("nodes")
            grown = True
        needed = 1 + int(head["most_children"]) * (int(head["most_classes"]) + 1)
        if not head["entries_full"] and head["n_free_entries"] < needed:
            made.forest.head["entries_full"] = not made._grow_entries(needed)
            made._tell_if_full("entries")
            grown = True
        if head["n_free_rows"] < 2 and not made._grow_rows() and not grown:
            self._free_rows(max(2, int(_RECLAIMED * (len(self.forest.stats) // int(head["row_size"])))))
            return self
        return made

    def _tell_if_full(self, pool: str) -> None:
        """Said once: a pool that has met the ceiling does not grow again."""
        if self.forest.head[f"{pool}_full"][0]:
            LOGGER.info(
                "memory ceiling of %d bytes met: no more %s, leaves split only where there is room left",
                self._max_memory,
                pool,
            )

    def _tell_if_rows_are_few(self, n_features: int, row_size: int) -> None:
        if int(self._max_memory * _ROWS_SHARE) < _FEWEST_ROWS * 8 * row_size:
            message = (
                "max_memory of %d bytes is too little for the statistics of %d features:"
                " it will be exceeded; give at least %d"
            )
            least = math.ceil(_FEWEST_ROWS * 8 * row_size / _ROWS_SHARE)
            LOGGER.warning(message, self._max_memory, n_features, least)

    def _tell_of_sleepers(self, fallen: int, woken: int) -> None:
        """At the ceiling leaves fall asleep again and again; the 1st, 2nd, 4th, 8th, ... time is told."""
        self._times_put_to_sleep += 1
        if self._times_put_to_sleep.bit_count() == 1:
            message = (
                "memory ceiling of %d bytes met: %d leaves put to sleep, %d woken"
                " (time %d since the model was made or loaded)"
            )
            LOGGER.info(message, self._max_memory, fallen, woken, self._times_put_to_sleep)

    @staticmethod
    def _grown(capacity: int, needed: int, item_size: int, most: int) -> int | None:
        """A doubled capacity with at least `needed` more items; None if that would be more than the most."""
        first = _FIRST_BYTES // item_size if capacity else 0  # a model that has learned nothing stays small
        larger = _larger(capacity, item_size)
        return min(max(larger, capacity + needed, first), most) if capacity + needed <= most else None

    def _most_nodes(self) -> int:
        return int(self._max_memory * _NODES_SHARE) // (NODE.itemsize + STEP.itemsize)

    def _most_entries(self) -> int:
        return int(self._max_memory * _ENTRIES_SHARE) // ENTRY.itemsize

    def _most_rows(self, row_size: int) -> int:
        return max(_FEWEST_ROWS, int(self._max_memory * _ROWS_SHARE) // (8 * row_size))

    def _grow_nodes(self, needed: int, kept: int) -> bool:
        """`kept` nodes are left for the roots of trees yet to come."""
        capacity = self._grown(
            len(self.forest.nodes), needed, NODE.itemsize + STEP.itemsize, self._most_nodes() - kept
        )
        if capacity is None:
            return False
        self._set_node_capacity(capacity)
        return True

    def _set_node_capacity(self, capacity: int) -> None:
        most = self._most_nodes()
        self.forest = self.forest._replace(
            steps=_longer(self.forest.steps, capacity, most), nodes=_longer(self.forest.nodes, capacity, most)
        )

    def _grow_entries(self, needed: int) -> bool:
        head, entries = self.forest.head, self.forest.entries
        most = self._most_entries()
        capacity = self._grown(len(entries), needed, ENTRY.itemsize, most)
        if capacity is None:
            return False
        longer = _longer(entries, capacity, most)
        fresh = longer[len(entries) :]
        fresh["row"] = -1
        fresh["next"] = np.arange(len(entries) + 1, capacity + 1)
        fresh["next"][-1] = head["free_entry"][0]
        head["free_entry"] = len(entries)
        head["n_free_entries"] += len(fresh)
        self.forest = self.forest._replace(entries=longer)
        return True

    def _grow_rows(self) -> bool:
        size = int(self.forest.head["row_size"][0])
        before = len(self.forest.stats) // size
        most = self._most_rows(size)
        capacity = min(max(_larger(before, 8 * size), 2, _FIRST_BYTES // (8 * size)), most)
        if capacity <= before:
            return False
        self.forest = self.forest._replace(stats=_longer(self.forest.stats, capacity * size, most * size))
        self._free_from(before)
        return True

    def _free_from(self, first: int) -> None:
        """Rows from number `first` on are free: link them, before those that were free already."""
        head, size = self.forest.head, int(self.forest.head["row_size"][0])
        links = self.forest.stats[first * size :: size]
        if len(links):
            links[:] = np.arange(first + 1, first + 1 + len(links))
            links[-1] = head["free_row"][0]
            head["free_row"] = first
            head["n_free_rows"] += len(links)

    def _free_rows(self, wanted: int) -> None:
        """Take that many rows from the leaves that have least to win, which sleep; wake those that now have
        more to win than these. One compiled call does it.

        The leaf with most to win stays awake. If it has nearly all rows, it gives those of its lightest
        classes instead: put to sleep, too, it would be no better off when it wakes, and no tree would ever
        split.
        """
        n_nodes = int(self.forest.head["n_nodes"][0])
        nodes, entries = self.forest.nodes[:n_nodes], self.forest.entries
        leaves = np.flatnonzero((self.forest.steps["feature"][:n_nodes] < 0) & (nodes["top"] >= 0))
        promise = nodes["weight"][leaves] - entries["weight"][nodes["top"][leaves]]
        awake = nodes["summary"][leaves] >= 0
        order = np.argsort(promise[awake], kind="stable")
        candidates = leaves[awake][order]
        freed = np.cumsum(1 + nodes["n_classes"][candidates])
        n_chosen = min(int(np.searchsorted(freed, wanted)) + 1, len(candidates) - 1)
        missing = wanted - (int(freed[n_chosen - 1]) if n_chosen else 0)
        limit = promise[awake][order][max(n_chosen - 1, 0)]
        given = min(missing, int(nodes["n_classes"][candidates[-1]]) - 1) if missing > 0 else 0
        woken = leaves[(nodes["asleep"][leaves] != 0) & (promise > limit)]
        free_rows(self.forest, candidates[:n_chosen], candidates[-1], given, woken)
        self._tell_of_sleepers(n_chosen, len(woken))

    # Features and nominal values may join at any time; then the rows of statistics are laid out anew.

    def follow_schema(self, schema: Schema) -> None:
        if self._schema_version == schema.version:
            return
        self._lay_out(column_table(schema))
        self.forest.head["most_children"] = max(2, int(self.forest.features["n_values"].max(initial=0)))
        self._schema_version = schema.version

    def _lay_out(self, features: Array) -> None:
        """Move the statistics to where the new features want them."""
        before, size, most = self.forest.features, int(self.forest.head["row_size"][0]), self.forest.choice
        stays = np.array_equal(before["capacity"], features["capacity"][: len(before)])
        becomes_wide = len(before) <= most["max_columns"][0] < len(features)
        after = self.forest._replace(features=features)
        needed = row_width(after)
        if not stays or becomes_wide or needed > size or size == 0:
            self._move_rows(features, max(1, needed if size == 0 else int(needed * _SPARE)))
        else:
            self.forest = after
            if len(features) > len(before):
                open_features(self.forest, len(before))

    def _move_rows(self, features: Array, size: int) -> None:
        """Rows in use move together to the front; longer rows may mean that some leaves must do without."""
        old_size = max(1, int(self.forest.head["row_size"][0]))
        most = self._most_rows(size)
        self._tell_if_rows_are_few(len(features), size)
        n_rows = len(self.forest.stats) // old_size
        in_use = n_rows - int(self.forest.head["n_free_rows"][0])
        self.forest = self.forest._replace(
            nodes=_moved(self.forest.nodes, len(self.forest.nodes), self._most_nodes()),
            entries=_moved(self.forest.entries, len(self.forest.entries), self._most_entries()),
        )
        if in_use > most:
            self.forest = self.forest._replace(stats=self.forest.stats.copy())
            self._free_rows(in_use - most)
        nodes, entries = self.forest.nodes[: int(self.forest.head["n_nodes"][0])], self.forest.entries
        used = np.unique(np.concatenate([nodes["summary"], entries["row"]]))
        used = used[used >= 0]
        place = np.full(n_rows + 1, -1)
        place[used] = np.arange(len(used))
        nodes["summary"], entries["row"] = place[nodes["summary"]], place[entries["row"]]
        before = self.forest
        head = before.head.copy()
        head["row_size"], head["free_row"], head["n_free_rows"] = size, -1, 0
        capacity = max(len(used), min(n_rows, most))  # as before, or the next lesson would wait for room
        self.forest = before._replace(head=head, features=features, stats=np.zeros(capacity * size))
        carry_statistics(before, self.forest, used)
        self._free_from(len(used))
