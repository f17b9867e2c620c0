"""A committee of Hoeffding trees: the arrays that the kernels work on, and their growth up to the memory ceiling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.errors import ParameterError
from banditboost.kernels import entry, forest, layout, rng
from banditboost.schema import Schema
from banditboost.weak_learners.features import feature_table
from banditboost.weak_learners.hoeffding import LEAF_PREDICTIONS, HoeffdingTree

Array = np.ndarray[Any, Any]
# Shares of the memory ceiling: statistics, nodes, class entries.
_ROWS_SHARE, _NODES_SHARE, _ENTRIES_SHARE = 0.5, 0.25, 0.25
_RECLAIMED = 0.25  # of all rows, when leaves are put to sleep
_SPARE = 1.25  # room for features to join before statistics are laid out anew


class TreeCommittee:
    """All trees of a model, in seven arrays (`banditboost.kernels.layout.Forest`)."""

    def __init__(self, tree: HoeffdingTree, n_labels: int, schema: Schema, seed: int, max_memory: int) -> None:
        self._tree = tree
        self._schema = schema
        self._seed = seed
        self._max_memory = max_memory
        self.head = np.zeros(1, layout.HEAD)
        self.head["n_labels"] = n_labels
        self.head["leaf_prediction"] = LEAF_PREDICTIONS.index(tree.leaf_prediction)
        self.head["min_branch_fraction"] = tree.min_branch_fraction
        self.head["free_entry"] = self.head["free_row"] = -1
        self.trees = np.zeros(0, layout.TREE)
        self.steps = np.zeros(0, layout.STEP)
        self.nodes = np.zeros(0, layout.NODE)
        self.entries = np.zeros(0, layout.ENTRY)
        self.features = np.zeros(0, layout.FEATURE)
        self.stats = np.zeros(0)
        self._schema_version = -1
        self.follow_schema()

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What every kernel call begins with."""
        return self.head, self.trees, self.steps, self.nodes, self.entries, self.features, self.stats

    @property
    def memory_usage(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    def add(self, n_trees: int) -> None:
        """Plant more trees, each with its own draw of the parameters that were given as ranges."""
        first = len(self.trees)
        while int(self.head["n_nodes"][0]) + n_trees > len(self.nodes):
            if not self._grow_nodes(n_trees):
                raise ParameterError(f"max_memory is {self._max_memory} bytes, too little for {first + n_trees} trees; give at least 1 MiB")
        drawn = np.zeros(n_trees, layout.TREE)
        for i in range(n_trees):
            drawn[i]["grace_period"], drawn[i]["log_confidence"], drawn[i]["tie_threshold"] = self._draw_parameters(first + i)
        self.trees = np.concatenate([self.trees, drawn])
        entry.plant(*self.arrays, first)

    def _draw_parameters(self, number: int) -> tuple[float, float, float]:
        grace, confidence, tie = self._tree.ranges()
        u = [rng.uniform_at(self._seed, number, rng.TREE_PARAMETER, index) for index in range(3)]
        log_confidence = math.log(confidence[0]) + u[1] * (math.log(confidence[1]) - math.log(confidence[0]))
        log_tie = math.log(tie[0]) + u[2] * (math.log(tie[1]) - math.log(tie[0]))
        return grace[0] + u[0] * (grace[1] - grace[0]), -log_confidence, math.exp(log_tie)

    def vote(self, x: Array, round_: int, votes: Array) -> None:
        entry.vote(self.head, self.trees, self.steps, self.nodes, self.entries, self.features, self.stats, x, self._seed, round_, votes)

    def score(self, x: Array, scores: Array) -> None:
        entry.score(self.head, self.trees, self.steps, self.nodes, self.entries, self.features, self.stats, x, scores)

    def learn(self, x: Array, labels: Array, weights: Array, first: int = 0) -> None:
        done = 0
        while done < len(labels):
            done = entry.learn(self.head, self.trees, self.steps, self.nodes, self.entries, self.features, self.stats, x, labels, weights, first, done)
            if done < len(labels):
                self.make_room()

    # Memory: pools double until their share of the ceiling is used up.

    def make_room(self) -> None:
        """Called when a kernel found too little free memory to go on; afterwards it can."""
        head = self.head[0]
        if not head["nodes_full"] and head["n_nodes"] + head["most_children"] > len(self.nodes):
            head["nodes_full"] = not self._grow_nodes(int(head["most_children"]))
        needed = 1 + int(head["most_children"]) * (int(head["most_classes"]) + 1)
        if not head["entries_full"] and head["n_free_entries"] < needed:
            head["entries_full"] = not self._grow_entries(needed)
        if not head["rows_full"] and head["n_free_rows"] < 2 and not self._grow_rows():
            head["rows_full"] = not self._put_leaves_to_sleep()

    def _grown(self, capacity: int, needed: int, item_size: int, share: float) -> int | None:
        """A doubled capacity with at least `needed` more items, or None if the ceiling forbids it."""
        most = int(self._max_memory * share) // item_size
        return min(max(2 * capacity, capacity + needed), most) if capacity + needed <= most else None

    def _grow_nodes(self, needed: int) -> bool:
        capacity = self._grown(len(self.nodes), needed, layout.NODE.itemsize + layout.STEP.itemsize, _NODES_SHARE)
        if capacity is not None:
            self.steps = np.concatenate([self.steps, np.zeros(capacity - len(self.steps), layout.STEP)])
            self.nodes = np.concatenate([self.nodes, np.zeros(capacity - len(self.nodes), layout.NODE)])
        return capacity is not None

    def _grow_entries(self, needed: int) -> bool:
        before = len(self.entries)
        capacity = self._grown(before, needed, layout.ENTRY.itemsize, _ENTRIES_SHARE)
        if capacity is None:
            return False
        fresh = np.zeros(capacity - before, layout.ENTRY)
        fresh["next"] = np.arange(before + 1, capacity + 1)
        fresh["next"][-1] = self.head["free_entry"][0]
        self.entries = np.concatenate([self.entries, fresh])
        self.head["free_entry"] = before
        self.head["n_free_entries"] += capacity - before
        return True

    def _grow_rows(self) -> bool:
        size = int(self.head["row_size"][0])
        before = len(self.stats) // size
        capacity = self._grown(before, 2, 8 * size, _ROWS_SHARE)
        if capacity is None:
            return False
        fresh = np.zeros((capacity - before, size))
        fresh[:, 0] = np.arange(before + 1, capacity + 1)
        fresh[-1, 0] = self.head["free_row"][0]
        self.stats = np.concatenate([self.stats, fresh.ravel()])
        self.head["free_row"] = before
        self.head["n_free_rows"] += capacity - before
        return True

    def _put_leaves_to_sleep(self) -> bool:
        """Free a quarter of all rows, taken from the leaves that have least to win; wake those that now have more to win than these."""
        nodes = self.nodes[: int(self.head["n_nodes"][0])]
        leaves = np.flatnonzero((self.steps["feature"][: len(nodes)] < 0) & (nodes["top"] >= 0))
        promise = nodes["weight"][leaves] - self.entries["weight"][nodes["top"][leaves]]
        awake = nodes["summary"][leaves] >= 0
        order = np.argsort(promise[awake], kind="stable")
        candidates = leaves[awake][order]
        freed = np.cumsum(1 + nodes["n_classes"][candidates])
        wanted = max(2, _RECLAIMED * (len(self.stats) // int(self.head["row_size"][0])))
        chosen = candidates[: int(np.searchsorted(freed, wanted)) + 1]
        if len(chosen) == 0:
            return False
        forest.put_to_sleep(layout.Forest(*self.arrays), chosen)
        sleeping = leaves[(nodes["asleep"][leaves] != 0) & (promise > promise[awake][order][len(chosen) - 1])]
        self.nodes["asleep"][sleeping] = 0
        return True

    # Features and nominal values may join at any time; then the rows of statistics are laid out anew.

    def follow_schema(self) -> None:
        if self._schema_version == self._schema.version:
            return
        features = feature_table(self._schema)
        self._lay_out(features, int(features["capacity"].sum()))
        self.head["most_children"] = max([2, *features["n_values"].tolist()])
        self._schema_version = self._schema.version

    def _lay_out(self, features: Array, needed: int) -> None:
        """Move the statistics to where the new features want them."""
        before, size = self.features, int(self.head["row_size"][0])
        same = np.array_equal(before["offset"], features["offset"][: len(before)]) and np.array_equal(
            before["capacity"], features["capacity"][: len(before)]
        )
        self.features = features
        if same and needed <= size:
            if len(features) > len(before):
                entry.open_features(*self.arrays, len(before))
            return
        grown = max(1, needed if size == 0 else int(needed * _SPARE))
        rows = self.stats.reshape(-1, size) if size else np.zeros((0, 1))
        fresh = np.zeros((len(rows), grown))
        for old, new in zip(before, features, strict=False):
            width = min(int(old["capacity"]), int(new["capacity"]))
            fresh[:, new["offset"] : new["offset"] + width] = rows[:, old["offset"] : old["offset"] + width]
        self.head["row_size"] = grown
        self._relink_free_rows(rows, fresh)
        self.stats = fresh.ravel()
        entry.open_features(*self.arrays, len(before))

    def _relink_free_rows(self, rows: Array, fresh: Array) -> None:
        """The links of the free list live in the rows' first numbers, which may belong to another feature now."""
        row = int(self.head["free_row"][0])
        while row >= 0:
            following = int(rows[row, 0])
            fresh[row, 0] = following
            row = following
