"""Is a stored forest one that the kernels can walk?

They follow indices without a look: each is checked here, in time linear in the forest.

docs/format.md states the rules; `layout.py` says what the fields mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.rows.features import NUMERIC
from banditboost.trees.layout import Forest
from banditboost.types import Array

_LARGEST = 1e100  # of a value of a numeric feature
_HEAVIEST = 1e300
_SETTLED = (
    "n_labels",
    "leaf_prediction",
    "min_branch_fraction",
    "most_children",
)  # what the parameters and the schema determine
_FREE, _NOBODY = -1, -2


def stored_forest(arrays: dict[str, Array], empty: Forest, n_trees: int) -> Forest:
    """The forest in `arrays`, if it is sound; `empty` is one of the same types, parameters and features."""
    shapes = {"head": (1,), "trees": (n_trees,), "features": empty.features.shape}
    forest = Forest(
        *(
            take_array(arrays, name, part.dtype, shapes.get(name, (None,)))
            for name, part in empty._asdict().items()
        )
    )
    _check_head(forest, empty)
    n_nodes = int(forest.head["n_nodes"][0])
    _check_trees(forest, n_nodes)
    splits = np.flatnonzero(forest.steps["feature"][:n_nodes] >= 0)
    leaves = np.flatnonzero(forest.steps["feature"][:n_nodes] < 0)
    _check_splits(forest, splits, n_nodes)
    owner = _owners_of_entries(forest, leaves)
    _check_entries(forest, owner)
    _check_leaves(forest, leaves, owner)
    _check_rows(forest, leaves, owner)
    return forest


def _demand(good: Any, what: str) -> None:
    if not np.all(good):
        raise UnreadableError(f"the trees are damaged: {what}; load an intact copy")


def _within(values: Array, low: int | Array, high: int | Array) -> Any:
    """low <= value < high."""
    return (values >= low) & (values < high)


def _are_weights(values: Array) -> Any:
    return (values >= 0.0) & (values <= _HEAVIEST)  # NaN is neither


def _check_head(forest: Forest, empty: Forest) -> None:
    head = forest.head[0]
    for name in _SETTLED:
        _demand(head[name] == empty.head[0][name], f"{name} does not fit the parameters")
    _demand(forest.features == empty.features, "the features are not those of the schema")
    _demand(len(forest.nodes) == len(forest.steps), "nodes and steps differ in number")
    _demand(0 <= head["n_nodes"] <= len(forest.nodes), "n_nodes is out of range")
    _demand(max(1, int(forest.features["capacity"].sum())) <= head["row_size"], "row_size is too small")
    _demand(len(forest.stats) % max(1, int(head["row_size"])) == 0, "the statistics are not whole rows")
    _demand(0 <= head["most_classes"] <= head["n_labels"], "most_classes is out of range")
    for name in ("nodes_full", "entries_full", "rows_full"):
        _demand(_within(head[name], 0, 2), f"{name} is neither 0 nor 1")


def _check_trees(forest: Forest, n_nodes: int) -> None:
    trees = forest.trees
    _demand(_within(trees["root"], 0, n_nodes), "a root is out of range")
    for name in ("grace_period", "log_confidence", "tie_threshold"):
        _demand(_are_weights(trees[name]), f"{name} of a tree is out of range")


def _check_splits(forest: Forest, splits: Array, n_nodes: int) -> None:
    """Children come after their parent, so that no walk goes in a circle, and every node belongs to one
    parent or tree.
    """
    steps, nodes = forest.steps[splits], forest.nodes[splits]
    _demand(steps["feature"] < len(forest.features), "a split is on an unknown feature")
    features = forest.features[steps["feature"]]
    numeric = features["kind"] == NUMERIC
    first, many = steps["next"].astype(np.int64), nodes["n_children"].astype(np.int64)
    _demand(
        _within(many, 2, np.where(numeric, 3, features["n_values"] + 1)),
        "a split has an impossible number of children",
    )
    _demand((first > splits) & (first + many <= n_nodes), "a child is out of range, or before its parent")
    _demand(_within(nodes["default_child"], first, first + many), "a default child is none of the children")
    _demand(np.isfinite(steps["threshold"]) == numeric, "a threshold does not fit its feature")
    _demand(np.isfinite(steps["threshold"]) | np.isnan(steps["threshold"]), "a threshold is infinite")
    _demand((nodes["first_entry"] == -1) & (nodes["summary"] == -1), "a split has statistics")
    _demand(_are_weights(nodes["gain"]), "gain of a split is out of range")
    begins = np.bincount(first, minlength=n_nodes + 1) + np.bincount(
        forest.trees["root"], minlength=n_nodes + 1
    )
    ends = np.bincount(first + many, minlength=n_nodes + 1) + np.bincount(
        forest.trees["root"] + 1, minlength=n_nodes + 1
    )
    _demand(np.cumsum(begins - ends)[:n_nodes] == 1, "a node has no parent, or two")


def _chain(first: int, following: Array) -> Array:
    """A linked list from its first item on."""
    links, found, seen = following.tolist(), [], bytearray(len(following))
    while 0 <= first < len(links) and not seen[first]:
        seen[first] = 1
        found.append(first)
        first = links[first]
    _demand(first == -1, "a list goes in a circle, or out of range")
    return np.array(found, np.int64)


def _owners_of_entries(forest: Forest, leaves: Array) -> Array:
    """Of every entry: the leaf in whose list it is, or _FREE."""
    head, entries = forest.head[0], forest.entries
    owner = np.full(len(entries), _NOBODY, np.int64)
    free = _chain(int(head["free_entry"]), entries["next"])
    _demand(len(free) == head["n_free_entries"], "free entries are miscounted")
    owner[free] = _FREE
    before = _predecessors(forest, owner)
    first = forest.nodes["first_entry"][leaves]
    _demand(_within(first, -1, len(entries)), "an entry is out of range")
    holders, first = leaves[first >= 0], first[first >= 0]
    _demand(
        (owner[first] == _NOBODY) & (before[first] < 0) & (entries["position"][first] == 0),
        "a list begins in the middle of another",
    )
    owner[first] = holders
    _demand(owner[first] == holders, "an entry is in two lists")
    used = owner != _FREE
    owner[used] = owner[_beginnings(before)[used]]
    _demand(owner != _NOBODY, "an entry is in no list")
    return owner


def _predecessors(forest: Forest, owner: Array) -> Array:
    """Of every entry of a leaf, the one before it, -1 for the first.

    Positions count up along a list, so none goes in a circle.
    """
    entries = forest.entries
    used = np.flatnonzero(owner == _NOBODY)
    following, position = entries["next"], entries["position"].astype(np.int64)
    _demand(_within(following[used], -1, len(entries)), "an entry is out of range")
    _demand(
        _within(position[used], 0, int(forest.head["most_classes"][0])), "an entry has an impossible position"
    )
    linked = used[following[used] >= 0]
    to = following[linked]
    _demand((owner[to] == _NOBODY) & (position[to] == position[linked] + 1), "an entry has a wrong position")
    before = np.full(len(entries), -1, np.int64)
    before[to] = linked
    _demand(before[to] == linked, "an entry is in two lists")
    return before


def _beginnings(before: Array) -> Array:
    """The first entry of every entry's list: jumps back are doubled until all have arrived."""
    start = np.where(before >= 0, before, np.arange(len(before)))
    while True:
        farther = start[start]
        if np.array_equal(farther, start):
            return start
        start = farther


def _check_entries(forest: Forest, owner: Array) -> None:
    entries = forest.entries
    used = entries[owner >= 0]
    _demand(entries["row"][owner == _FREE] == -1, "a free entry has a row")
    _demand(_within(used["label"], 0, int(forest.head["n_labels"][0])), "an entry has an unknown label")
    _demand(
        (used["weight"] > 0.0) & _are_weights(used["weight"]) & _are_weights(used["own"]),
        "a weight of a class is out of range",
    )


def _check_leaves(forest: Forest, leaves: Array, owner: Array) -> None:
    nodes, entries, n_labels = forest.nodes[leaves], forest.entries, int(forest.head["n_labels"][0])
    _demand(_within(forest.steps["next"][leaves], -1, n_labels), "a leaf answers an unknown label")
    _demand(_within(nodes["fallback"], -1, n_labels), "a fallback is an unknown label")
    _demand(_within(nodes["asleep"], 0, 2), "asleep is neither 0 nor 1")
    for name in ("weight", "own", "examples", "last_attempt", "majority_right", "bayes_right"):
        _demand(_are_weights(nodes[name]), f"{name} of a leaf is out of range")
    empty = nodes["first_entry"] < 0
    _demand((nodes["top"] == -1) == empty, "a leaf has classes and no top, or the other way round")
    top = nodes["top"][~empty]
    _demand(_within(top, 0, len(entries)), "a top class is out of range")
    _demand(owner[top] == leaves[~empty], "a top class belongs to another leaf")
    _check_ties(forest, leaves[~empty], owner)


def _check_ties(forest: Forest, leaves: Array, owner: Array) -> None:
    """The top is the first of the heaviest classes, and `n_tied` says how many these are: the kernels count
    them down.
    """
    entries, top = forest.entries, forest.nodes["top"]
    used = np.flatnonzero(owner >= 0)
    tops = top[owner[used]]
    _demand(entries["weight"][used] <= entries["weight"][tops], "a top class is not the heaviest")
    tied = entries["weight"][used] == entries["weight"][tops]
    _demand(
        entries["position"][tops][tied] <= entries["position"][used][tied],
        "a top class is not the first of the heaviest",
    )
    count = np.bincount(owner[used][tied], minlength=len(forest.nodes))
    _demand(count[leaves] == forest.nodes["n_tied"][leaves], "the heaviest classes are miscounted")


def _check_rows(forest: Forest, leaves: Array, owner: Array) -> None:
    """Every row of statistics belongs to one leaf or class, or is free."""
    head, nodes, entries = forest.head[0], forest.nodes[leaves], forest.entries
    table = forest.stats.reshape(-1, int(head["row_size"]))
    links = table[:, 0]
    whole = np.where(links == np.floor(links), np.clip(links, -2.0, len(table)), -2.0).astype(np.int64)
    free = _chain(int(head["free_row"]), whole)
    _demand(len(free) == head["n_free_rows"], "free rows are miscounted")
    with_row = entries["row"] >= 0
    rows = np.concatenate([nodes["summary"][nodes["summary"] >= 0], entries["row"][with_row]])
    _demand(_within(nodes["summary"], -1, len(table)), "a row is out of range")
    _demand(_within(entries["row"], -1, len(table)), "a row is out of range")
    _demand(
        np.bincount(np.concatenate([rows, free]), minlength=len(table)) == 1,
        "a row belongs to nobody, or to two",
    )
    count = np.bincount(owner[with_row], minlength=len(forest.nodes))[leaves]
    _demand(count == nodes["n_classes"], "classes with statistics are miscounted")
    _demand(
        (nodes["summary"] >= 0) == (count > 0),
        "a leaf has classes with statistics and none itself, or the other way round",
    )
    _demand((nodes["asleep"] == 0) | (count == 0), "a sleeping leaf has statistics")
    _check_statistics(forest, table[nodes["summary"][count > 0]], table[entries["row"][with_row]])


def _check_statistics(forest: Forest, summaries: Array, rows: Array) -> None:
    """Numbers, and smallest and largest values between which a threshold can lie."""
    _demand(np.abs(rows) <= _HEAVIEST, "a statistic is no number")
    for feature in forest.features[forest.features["kind"] == NUMERIC]:
        low, high = summaries[:, feature["offset"]], summaries[:, feature["offset"] + 1]
        unseen = (low == np.inf) & (high == -np.inf)
        _demand(
            unseen | ((low >= -_LARGEST) & (low <= high) & (high <= _LARGEST)),
            "a smallest or largest value is no number",
        )
