"""A committee of Hoeffding trees: the arrays that the kernels work on, and their growth up to the memory ceiling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from banditboost.errors import ParameterError
from banditboost.kernels import entry, rng
from banditboost.kernels.forest import open_features, plant, put_to_sleep
from banditboost.kernels.layout import ENTRY, FEATURE, HEAD, NODE, STEP, TREE, Forest
from banditboost.log import LOGGER
from banditboost.schema import Schema
from banditboost.weak_learners.features import feature_table
from banditboost.weak_learners.hoeffding import LEAF_PREDICTIONS, HoeffdingTree
from banditboost.weak_learners.stored import stored_forest

Array = np.ndarray[Any, Any]
# Shares of the memory ceiling: statistics, nodes, class entries; the rest is for what does not grow with the stream.
_ROWS_SHARE, _NODES_SHARE, _ENTRIES_SHARE = 0.49, 0.24, 0.24
_RECLAIMED = 0.25  # of all rows, when leaves are put to sleep
_SPARE = 1.25  # room for features to join before statistics are laid out anew


class TreeCommittee:
    """All trees of a model, in the few arrays of `forest`."""

    def __init__(self, tree: HoeffdingTree, n_labels: int, schema: Schema, seed: int, max_memory: int) -> None:
        self._tree = tree
        self._schema = schema
        self._seed = seed
        self._max_memory = max_memory
        head = np.zeros(1, HEAD)
        head["n_labels"] = n_labels
        head["leaf_prediction"] = LEAF_PREDICTIONS.index(tree.leaf_prediction)
        head["min_branch_fraction"] = tree.min_branch_fraction
        head["free_entry"] = head["free_row"] = -1
        empty = (np.zeros(0, kind) for kind in (TREE, STEP, NODE, ENTRY, FEATURE, np.float64))
        self.forest = Forest(head, *empty)
        self._schema_version = -1
        self._times_put_to_sleep = 0
        self.follow_schema()

    @property
    def features(self) -> Array:
        """Kind, values and place of every feature."""
        return self.forest.features

    @property
    def memory_usage(self) -> int:
        return sum(array.nbytes for array in self.forest)

    def add(self, n_trees: int) -> None:
        """Plant more trees, each with its own draw of the parameters that were given as ranges."""
        first = len(self.forest.trees)
        if int(self.forest.head["n_nodes"][0]) + n_trees > len(self.forest.nodes) and not self._grow_nodes(n_trees):
            if first == 0:
                raise ParameterError(f"max_memory is {self._max_memory} bytes, too little for {n_trees} trees; give more")
            self._set_node_capacity(int(self.forest.head["n_nodes"][0]) + n_trees)  # a label's first trees are planted all the same
        drawn = np.zeros(n_trees, TREE)
        for i in range(n_trees):
            drawn[i]["grace_period"], drawn[i]["log_confidence"], drawn[i]["tie_threshold"] = self._draw_parameters(first + i)
        self.forest = self.forest._replace(trees=np.concatenate([self.forest.trees, drawn]))
        plant(self.forest, first)

    def set_labels(self, n_labels: int) -> None:
        """Leaves have room for the classes that they have met only, so nothing moves."""
        self.forest.head["n_labels"] = n_labels

    def _draw_parameters(self, number: int) -> tuple[float, float, float]:
        grace, confidence, tie = self._tree.ranges()
        u = [rng.uniform_at(self._seed, number, rng.TREE_PARAMETER, index) for index in range(3)]
        log_confidence = math.log(confidence[0]) + u[1] * (math.log(confidence[1]) - math.log(confidence[0]))
        log_tie = math.log(tie[0]) + u[2] * (math.log(tie[1]) - math.log(tie[0]))
        return grace[0] + u[0] * (grace[1] - grace[0]), -log_confidence, math.exp(log_tie)

    def vote(self, x: Array, round_: int, votes: Array) -> None:
        entry.vote(*self.forest, x, self._seed, round_, votes)

    def score(self, x: Array, scores: Array) -> None:
        entry.score(*self.forest, x, scores)

    def learn(self, x: Array, labels: Array, weights: Array, first: int = 0) -> None:
        done = entry.learn(*self.forest, x, labels, weights, first, 0)
        if done < len(labels):
            self.learn_rest(x, labels, weights, done, first)

    def learn_rest(self, x: Array, labels: Array, weights: Array, done: int, first: int = 0) -> None:
        """Go on with a lesson that `done` trees have heard and for which the next one had no room."""
        while done < len(labels):
            self.make_room()
            done = entry.learn(*self.forest, x, labels, weights, first, done)

    def arrays(self) -> dict[str, Array]:
        """All there is to keep of the trees."""
        return self.forest._asdict()

    def restore(self, arrays: dict[str, Array], n_trees: int) -> None:
        """Go on from stored arrays, after every index in them has been looked at."""
        self.forest = stored_forest(arrays, self.forest, n_trees)

    def set_ceiling(self, max_memory: int) -> None:
        """How much the trees may take from now on; what they have they keep."""
        self._max_memory = max_memory

    # Memory: pools double until their share of the ceiling is used up.

    def make_room(self) -> None:
        """Called when a kernel found too little free memory to go on; afterwards it can."""
        head = self.forest.head[0]
        if not head["nodes_full"] and head["n_nodes"] + head["most_children"] > len(self.forest.nodes):
            head["nodes_full"] = not self._grow_nodes(int(head["most_children"]))
            self._tell_if_full("nodes")
        needed = 1 + int(head["most_children"]) * (int(head["most_classes"]) + 1)
        if not head["entries_full"] and head["n_free_entries"] < needed:
            head["entries_full"] = not self._grow_entries(needed)
            self._tell_if_full("entries")
        if not head["rows_full"] and head["n_free_rows"] < 2 and not self._grow_rows():
            head["rows_full"] = not self._put_leaves_to_sleep(max(2, _RECLAIMED * (len(self.forest.stats) // int(head["row_size"]))))

    def _tell_if_full(self, pool: str) -> None:
        """Said once: a pool that has met the ceiling does not grow again."""
        if self.forest.head[f"{pool}_full"][0]:
            LOGGER.info("memory ceiling of %d bytes met: no more %s, leaves split only where there is room left", self._max_memory, pool)

    def _tell_of_sleepers(self, fallen: int, woken: int) -> None:
        """At the ceiling leaves fall asleep again and again; the 1st, 2nd, 4th, 8th, ... time is told."""
        self._times_put_to_sleep += 1
        if self._times_put_to_sleep.bit_count() == 1:
            message = "memory ceiling of %d bytes met: %d leaves put to sleep, %d woken (time %d since the model was made or loaded)"
            LOGGER.info(message, self._max_memory, fallen, woken, self._times_put_to_sleep)

    def _grown(self, capacity: int, needed: int, item_size: int, share: float) -> int | None:
        """A doubled capacity with at least `needed` more items, or None if the ceiling forbids it."""
        most = int(self._max_memory * share) // item_size
        return min(max(2 * capacity, capacity + needed), most) if capacity + needed <= most else None

    def _grow_nodes(self, needed: int) -> bool:
        capacity = self._grown(len(self.forest.nodes), needed, NODE.itemsize + STEP.itemsize, _NODES_SHARE)
        if capacity is None:
            return False
        self._set_node_capacity(capacity)
        return True

    def _set_node_capacity(self, capacity: int) -> None:
        steps, nodes = self.forest.steps, self.forest.nodes
        more = capacity - len(nodes)
        self.forest = self.forest._replace(
            steps=np.concatenate([steps, np.zeros(more, STEP)]), nodes=np.concatenate([nodes, np.zeros(more, NODE)])
        )

    def _grow_entries(self, needed: int) -> bool:
        head, entries = self.forest.head, self.forest.entries
        capacity = self._grown(len(entries), needed, ENTRY.itemsize, _ENTRIES_SHARE)
        if capacity is None:
            return False
        fresh = np.zeros(capacity - len(entries), ENTRY)
        fresh["row"] = -1
        fresh["next"] = np.arange(len(entries) + 1, capacity + 1)
        fresh["next"][-1] = head["free_entry"][0]
        head["free_entry"] = len(entries)
        head["n_free_entries"] += len(fresh)
        self.forest = self.forest._replace(entries=np.concatenate([entries, fresh]))
        return True

    def _grow_rows(self) -> bool:
        head, size = self.forest.head, int(self.forest.head["row_size"][0])
        before = len(self.forest.stats) // size
        capacity = self._grown(before, 2, 8 * size, _ROWS_SHARE)
        if capacity is None:
            return False
        fresh = np.zeros((capacity - before, size))
        fresh[:, 0] = np.arange(before + 1, capacity + 1)
        fresh[-1, 0] = head["free_row"][0]
        head["free_row"] = before
        head["n_free_rows"] += capacity - before
        self.forest = self.forest._replace(stats=np.concatenate([self.forest.stats, fresh.ravel()]))
        return True

    def _put_leaves_to_sleep(self, wanted: float) -> bool:
        """Free that many rows, taken from the leaves that have least to win; wake those that now have more to win than these."""
        n_nodes = int(self.forest.head["n_nodes"][0])
        nodes, entries = self.forest.nodes[:n_nodes], self.forest.entries
        leaves = np.flatnonzero((self.forest.steps["feature"][:n_nodes] < 0) & (nodes["top"] >= 0))
        promise = nodes["weight"][leaves] - entries["weight"][nodes["top"][leaves]]
        awake = nodes["summary"][leaves] >= 0
        order = np.argsort(promise[awake], kind="stable")
        candidates = leaves[awake][order]
        freed = np.cumsum(1 + nodes["n_classes"][candidates])
        chosen = candidates[: int(np.searchsorted(freed, wanted)) + 1]
        if len(chosen) == 0:
            return False
        put_to_sleep(self.forest, chosen)
        more_to_win = promise > promise[awake][order][len(chosen) - 1]
        woken = leaves[(nodes["asleep"][leaves] != 0) & more_to_win]
        nodes["asleep"][woken] = 0
        self._tell_of_sleepers(len(chosen), len(woken))
        return True

    # Features and nominal values may join at any time; then the rows of statistics are laid out anew.

    def follow_schema(self) -> None:
        if self._schema_version == self._schema.version:
            return
        self._lay_out(feature_table(self._schema))
        self.forest.head["most_children"] = max([2, *self.forest.features["n_values"].tolist()])
        self._schema_version = self._schema.version

    def _lay_out(self, features: Array) -> None:
        """Move the statistics to where the new features want them."""
        before, size, needed = self.forest.features, int(self.forest.head["row_size"][0]), int(features["capacity"].sum())
        stays = all(np.array_equal(before[field], features[field][: len(before)]) for field in ("offset", "capacity"))
        self.forest = self.forest._replace(features=features)
        if not stays or needed > size or size == 0:
            self._move_rows(before, features, max(1, needed if size == 0 else int(needed * _SPARE)))
        open_features(self.forest, len(before))

    def _move_rows(self, before: Array, features: Array, size: int) -> None:
        """Rows in use move together to the front; longer rows may mean that some leaves must do without."""
        old_size = max(1, int(self.forest.head["row_size"][0]))
        most = max(2, int(self._max_memory * _ROWS_SHARE) // (8 * size))
        n_rows = len(self.forest.stats) // old_size
        in_use = n_rows - int(self.forest.head["n_free_rows"][0])
        if in_use > most:
            self._put_leaves_to_sleep(in_use - most)
        nodes, entries = self.forest.nodes[: int(self.forest.head["n_nodes"][0])], self.forest.entries
        used = np.unique(np.concatenate([nodes["summary"], entries["row"]]))
        used = used[used >= 0]
        place = np.full(n_rows + 1, -1)
        place[used] = np.arange(len(used))
        nodes["summary"], entries["row"] = place[nodes["summary"]], place[entries["row"]]
        rows = self.forest.stats.reshape(-1, old_size)[used]
        fresh = np.zeros((len(used), size))
        for old, new in zip(before, features, strict=False):
            width = min(int(old["capacity"]), int(new["capacity"]))
            fresh[:, new["offset"] : new["offset"] + width] = rows[:, old["offset"] : old["offset"] + width]
        head = self.forest.head
        head["row_size"], head["free_row"], head["n_free_rows"] = size, -1, 0
        self.forest = self.forest._replace(stats=fresh.ravel())
