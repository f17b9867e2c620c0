"""Is a stored forest one that the kernels can walk?

They follow indices without a look: each is checked here, in time linear in the forest.

docs/format.md states the rules; `layout.py` says what the fields mean.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.rows.features import NUMERIC
from banditboost.rows.plain import LARGEST
from banditboost.trees.columns import COLUMN
from banditboost.trees.layout import MAJORITY, SEVERAL, Forest, row_width
from banditboost.types import Array

Ranges = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
"""Grace period, split confidence and tie threshold, as `HoeffdingTree.ranges` tells them."""
_ROUNDING = 1e-6  # sums of many numbers may be off by this share
_SMALL = 1e-300
_HEAVIEST = 1e38  # of a class or a leaf: what a split hands down must fit 32 bits
_SETTLED = (
    "n_labels",
    "leaf_prediction",
    "min_branch_fraction",
    "most_children",
)  # what the parameters and the schema determine
_FREE, _NOBODY = -1, -2


def stored_forest(arrays: dict[str, Array], empty: Forest, n_trees: int, ranges: Ranges) -> Forest:
    """The forest in `arrays`, if it is sound; `empty` is one of the same types, parameters and features."""
    shapes = {"head": (1,), "trees": (n_trees,), "features": empty.features.shape}
    learned = {
        name: take_array(arrays, name, part.dtype, shapes.get(name, (None,)))
        for name, part in empty._asdict().items()
        if name != "choice"
    }
    forest = empty._replace(**learned)
    _check_head(forest, empty)
    n_nodes = int(forest.head["n_nodes"][0])
    _check_trees(forest, n_nodes, ranges)
    splits = np.flatnonzero(forest.steps["feature"][:n_nodes] >= 0)
    leaves = np.flatnonzero(forest.steps["feature"][:n_nodes] < 0)
    _check_splits(forest, splits, n_nodes)
    owner = _owners_of_entries(forest, leaves)
    _check_entries(forest, owner)
    _check_leaves(forest, leaves, owner)
    _check_rows(forest, leaves, owner)
    _make_answers_ready(forest, leaves)
    return forest


def _make_answers_ready(forest: Forest, leaves: Array) -> None:
    """What leaves with two classes have ready is not stored: as `rank_entry` has it."""
    head, entries = forest.head[0], forest.entries
    leaves = leaves[forest.nodes["first_entry"][leaves] >= 0]
    if head["leaf_prediction"] != MAJORITY or head["n_labels"] != 2 or not len(leaves):
        return
    first = entries[forest.nodes["first_entry"][leaves]]
    second = np.where(first["next"] >= 0, entries["weight"][first["next"]], 0.0)
    one = np.where(first["label"] == 1, first["weight"], second)
    forest.steps["threshold"][leaves] = (one + 1.0) / (first["weight"] + second + 2.0)


def _demand(good: Any, what: str) -> None:
    demand(good, f"the trees are damaged: {what}")


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
    needed = max(1, row_width(forest))
    _demand(_within(head["row_size"], needed, 2 * needed + 1), "row_size is not what the features need")
    _demand(len(forest.stats) % max(1, int(head["row_size"])) == 0, "the statistics are not whole rows")
    _demand(0 <= head["most_classes"] <= head["n_labels"], "most_classes is out of range")
    for name in ("nodes_full", "entries_full", "rows_full"):
        _demand(_within(head[name], 0, 2), f"{name} is neither 0 nor 1")


def _check_trees(forest: Forest, n_nodes: int, ranges: Ranges) -> None:
    """Each tree has drawn its parameters from the ranges that were given."""
    trees = forest.trees
    _demand(_within(trees["root"], 0, n_nodes), "a root is out of range")
    grace, (least, most), tie = ranges
    for name, (low, high) in {
        "grace_period": grace,
        "log_confidence": (-math.log(most), -math.log(least)),
        "tie_threshold": tie,
    }.items():
        drawn = (trees[name] >= low * (1.0 - _ROUNDING)) & (trees[name] <= high * (1.0 + _ROUNDING))
        _demand(drawn, f"{name} of a tree is out of range")


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
    possible = ~numeric | (np.abs(steps["threshold"]) <= LARGEST * (1.0 + _ROUNDING))
    _demand(possible & ~np.isinf(steps["threshold"]), "a threshold is out of range")
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
    """A leaf has a class at most once; what its statistics have seen of it is not more than all."""
    entries, n_labels = forest.entries, int(forest.head["n_labels"][0])
    used = entries[owner >= 0]
    _demand(entries["row"][owner == _FREE] == -1, "a free entry has a row")
    _demand(_within(used["label"], 0, n_labels), "an entry has an unknown label")
    classes = np.sort(owner[owner >= 0] * n_labels + used["label"])
    _demand(classes[1:] != classes[:-1], "a leaf has a class twice")
    _demand((used["weight"] > 0.0) & _are_weights(used["weight"]), "a weight of a class is out of range")
    _demand((used["own"] >= 0.0) & (used["own"] <= used["weight"]), "a weight of a class is out of range")
    _demand((used["own"] > 0.0) == (used["row"] >= 0), "a class has statistics without examples")


def _check_leaves(forest: Forest, leaves: Array, owner: Array) -> None:
    nodes, steps, entries = forest.nodes[leaves], forest.steps[leaves], forest.entries
    n_labels = int(forest.head["n_labels"][0])
    _demand(_within(nodes["fallback"], -1, n_labels), "a fallback is an unknown label")
    _demand(_within(nodes["asleep"], 0, 2), "asleep is neither 0 nor 1")
    _demand(np.isnan(steps["threshold"]), "a leaf has a threshold")
    for name in ("weight", "own", "examples", "last_attempt", "majority_right", "bayes_right", "gain"):
        _demand(_are_weights(nodes[name]), f"{name} of a leaf is out of range")
    _demand(nodes["last_attempt"] <= nodes["weight"], "a leaf has tried to split with more than it has")
    _demand(nodes["examples"] == np.floor(nodes["examples"]), "examples of a leaf are no whole number")
    for name in ("own", "examples"):
        _demand(
            (nodes[name] > 0.0) == (nodes["summary"] >= 0), f"{name} of a leaf does not fit its statistics"
        )
    empty = nodes["first_entry"] < 0
    _demand((nodes["weight"] > 0.0) == ~empty, "the weight of a leaf does not fit its classes")
    _demand((nodes["top"] == -1) == empty, "a leaf has classes and no top, or the other way round")
    top = nodes["top"][~empty]
    _demand(_within(top, 0, len(entries)), "a top class is out of range")
    _demand(owner[top] == leaves[~empty], "a top class belongs to another leaf")
    _check_ties(forest, leaves[~empty], owner)
    plain = (nodes["n_tied"] == 1) & ~empty & (forest.head["leaf_prediction"][0] == MAJORITY)
    answers = np.where(plain, entries["label"][nodes["top"]], -1) if len(entries) else -1
    _demand(steps["next"] == answers, "a leaf does not answer its top class")


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
    summaries = table[nodes["summary"][count > 0]]
    slots = _slots_of(forest, summaries)
    _check_summaries(forest, slots, summaries)
    number = np.zeros(len(forest.nodes), np.int64)
    number[leaves[count > 0]] = np.arange(len(summaries))
    whose = number[owner[with_row]]
    mine = _Slots(*(np.broadcast_to(part, (len(summaries), part.shape[1]))[whose] for part in slots))
    classes = _Classes(table[entries["row"][with_row]], entries["own"][with_row], summaries[whose])
    _check_statistics(forest, mine, classes)


class _Slots(NamedTuple):
    """By leaf and slot: a feature, and where in the leaf's rows its statistics begin."""

    columns: Array
    offsets: Array

    def numbers(self, rows: Array, place: int) -> Array:
        """What stands in every slot of these rows, one for each leaf."""
        return np.take_along_axis(rows, np.broadcast_to(self.offsets + place, (len(rows), self.size)), axis=1)

    @property
    def size(self) -> int:
        return int(self.columns.shape[1])


class _Classes(NamedTuple):
    """Of each class with statistics: these, what they weigh, and the summary of its leaf."""

    rows: Array
    own: Array
    summaries: Array


def _slots_of(forest: Forest, summaries: Array) -> _Slots:
    """Where rows are narrow all leaves have the same; else each tells its own, no column twice."""
    widths, n_slots = forest.features["capacity"].astype(np.int64), int(forest.choice["max_columns"][0])
    if len(widths) <= n_slots:
        return _Slots(np.arange(len(widths))[None], forest.features["offset"].astype(np.int64)[None])
    shape, each = (len(summaries), n_slots), np.arange(len(summaries))
    slots, at = _Slots(np.zeros(shape, np.int64), np.zeros(shape, np.int64)), np.zeros(len(each), np.int64)
    for slot in range(n_slots):
        _demand(at + COLUMN < summaries.shape[1], "the columns of a leaf do not fit its rows")
        told = summaries[each, at + COLUMN]
        _demand(_within(told, 0, len(widths)) & (told == np.floor(told)), "a leaf has an unknown column")
        slots.columns[:, slot], slots.offsets[:, slot] = told, at
        at += widths[slots.columns[:, slot]]
    _demand(at <= summaries.shape[1], "the columns of a leaf do not fit its rows")
    ordered = np.sort(slots.columns, axis=1)
    _demand(ordered[:, 1:] != ordered[:, :-1], "a leaf has a column twice")
    return slots


def _check_summaries(forest: Forest, slots: _Slots, summaries: Array) -> None:
    """Smallest and largest values of numeric features; of nominal ones the only value, or that there were
    several. All else is 0, since features that join begin there.
    """
    features = forest.features[slots.columns]
    numeric = features["kind"] == NUMERIC
    low, high = slots.numbers(summaries, 0), slots.numbers(summaries, 1)
    _demand(
        ~numeric | _are_unseen(low, high) | ((low >= -LARGEST) & (low <= high) & (high <= LARGEST)),
        "a smallest or largest value is no number",
    )
    _demand(
        numeric | (low == SEVERAL) | ((low >= 0.0) & (low <= features["n_values"]) & (low == np.floor(low))),
        "the only value of a nominal feature is none of its values",
    )
    n_used = np.count_nonzero(low, axis=1) + np.count_nonzero(np.where(numeric, high, 0.0), axis=1)
    if slots.size < len(forest.features):
        n_used += np.count_nonzero(slots.columns, axis=1)
    _check_unused(summaries, n_used)


def _are_unseen(low: Array, high: Array) -> Any:
    return (low == np.inf) & (high == -np.inf)


def _check_unused(rows: Array, n_used: Array) -> None:
    _demand(np.count_nonzero(rows, axis=1) == n_used, "there are statistics of no feature")


def _check_statistics(forest: Forest, slots: _Slots, classes: _Classes) -> None:
    """Of each class: no value weighs more than the class, a mean is between the smallest and the largest
    value, and squares are what such values can have.
    """
    numeric = forest.features["kind"][slots.columns] == NUMERIC
    weight, mean, squares = (np.where(numeric, slots.numbers(classes.rows, i), 0.0) for i in range(3))
    owner, cells = _cells_of(forest, slots, classes.rows)
    n_used = np.bincount(owner[cells != 0.0], minlength=len(classes.rows))
    _check_unused(
        classes.rows, n_used + sum(np.count_nonzero(part, axis=1) for part in (weight, mean, squares))
    )
    for part, own in ((weight, classes.own[:, None]), (cells, classes.own[owner])):
        _demand((part >= 0.0) & (part <= own), "a statistic weighs more than its class")
    low, high = slots.numbers(classes.summaries, 0), slots.numbers(classes.summaries, 1)
    unseen = _are_unseen(low, high) | ~numeric
    low, high = np.where(unseen, 0.0, low), np.where(unseen, 0.0, high)
    size = np.maximum(np.abs(low), np.abs(high))
    slack = _ROUNDING * size
    _demand((weight == 0.0) | ~unseen, "a statistic is of values that were never seen")
    within = (mean >= low - slack) & (mean <= high + slack)
    _demand(np.where(weight > 0.0, within, mean == 0.0), "a mean is not between the values")
    hair = weight * (slack * size + _SMALL) + _SMALL  # squares of the smallest numbers are hardly numbers
    most = weight * (high - low) * (high - low) * (1.0 + _ROUNDING) + hair
    _demand((squares >= -hair) & (squares <= most), "squares are out of range")


def _cells_of(forest: Forest, slots: _Slots, rows: Array) -> tuple[Array, Array]:
    """The weights of all values of nominal features, and in which row each is."""
    features = forest.features[slots.columns]
    row, slot = np.nonzero(features["kind"] != NUMERIC)
    many = features["n_values"][row, slot].astype(np.int64)
    code = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    owner = np.repeat(row, many)
    return owner, rows[owner, np.repeat(slots.offsets[row, slot], many) + code]
