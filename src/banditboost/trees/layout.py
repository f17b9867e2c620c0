"""The arrays of a forest: all trees of a committee live in these few, so that one compiled call serves them
all.

A node is a leaf while the `feature` of its step is negative. A leaf has a chain of entries, one for each
class, in the order in which the classes came. An entry of a class that was seen in this very leaf owns a row
of statistics; the leaf itself owns one more, its summary. A row holds for each feature of the leaf, one
after the other: numeric (weight, mean, M2), nominal one weight for each value; in the summary, numeric
(smallest, largest), nominal the code plus one of the only value seen, SEVERAL after a second one; and in the
third place the number of the feature, if the leaf has not all of them (`columns.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from banditboost.types import Array

SEVERAL = -1.0
MAJORITY, NAIVE_BAYES, ADAPTIVE = 0, 1, 2

HEAD = np.dtype(
    [
        ("n_labels", "i8"),
        ("row_size", "i8"),
        ("leaf_prediction", "i8"),
        ("min_branch_fraction", "f8"),
        ("n_nodes", "i8"),  # nodes in use; they are never given back
        ("free_entry", "i8"),  # heads of the free lists, -1 when empty
        ("n_free_entries", "i8"),
        ("free_row", "i8"),
        ("n_free_rows", "i8"),
        ("most_children", "i8"),  # what the largest split could need
        ("most_classes", "i8"),  # longest chain of entries so far
        ("nodes_full", "i8"),  # the ceiling is reached: go on without
        ("entries_full", "i8"),
        ("rows_full", "i8"),  # always 0 by now: some leaf can always do with fewer rows
    ],
    align=True,
)
TREE = np.dtype(
    [("root", "i8"), ("grace_period", "f8"), ("log_confidence", "f8"), ("tie_threshold", "f8")], align=True
)
STEP = np.dtype(
    [
        ("feature", "i4"),  # negative at a leaf
        ("next", "i4"),  # first child; at a leaf the label that it answers, -1 if it has to be looked into
        # NaN at a nominal split. At a leaf how much it believes class 1 of two, NaN if it has to be looked
        # into; files have NaN there.
        ("threshold", "f8"),
    ],
    align=True,
)
NODE = np.dtype(
    [
        ("weight", "f8"),  # of all classes of a leaf
        ("n_children", "i4"),
        ("default_child", "i4"),
        ("first_entry", "i4"),
        ("top", "i4"),  # the entry of the largest class
        ("n_tied", "i4"),  # how many entries are as large
        ("n_classes", "i4"),  # classes with statistics
        ("summary", "i4"),  # row of the leaf, -1 before the first example
        ("fallback", "i4"),
        ("asleep", "i4"),
        ("own", "f8"),
        ("examples", "f8"),
        ("last_attempt", "f8"),
        ("majority_right", "f8"),
        ("bayes_right", "f8"),
        ("gain", "f8"),  # merit of the split, times the weight it was made on
    ],
    align=True,
)
ENTRY = np.dtype(
    [("label", "i4"), ("next", "i4"), ("row", "i4"), ("position", "i4"), ("weight", "f8"), ("own", "f8")],
    align=True,
)


CHOICE = np.dtype([("max_columns", "i8"), ("seed", "i8")], align=True)


class Forest(NamedTuple):
    """All trees of a committee. Everything here is learned, and saved; parameters tell `choice`."""

    head: Array  # HEAD[1]
    trees: Array  # TREE[n_trees]
    steps: Array  # STEP[capacity]: what is read on the way down, kept small
    nodes: Array  # NODE[capacity]: the rest of the same nodes
    entries: Array  # ENTRY[capacity]
    features: Array  # rows.features.FEATURE[d]
    stats: Array  # float64[rows * row_size]
    choice: Array  # CHOICE[1]: how many columns a leaf looks at, and what they are drawn with


def empty_forest(features: Array) -> Forest:
    """A forest without trees."""
    trees, steps, nodes, entries = (np.zeros(0, kind) for kind in (TREE, STEP, NODE, ENTRY))
    return Forest(np.zeros(1, HEAD), trees, steps, nodes, entries, features, np.zeros(0), np.zeros(1, CHOICE))


def row_width(forest: Forest) -> int:
    """How long a row of statistics must be: as long as the widest features that a leaf may look at need."""
    widths, n_slots = forest.features["capacity"], int(forest.choice["max_columns"][0])
    return int((widths if len(widths) <= n_slots else np.sort(widths)[-n_slots:]).sum())
