"""All trees at once: the two calls that a booster makes, and what a memory ceiling needs."""

from __future__ import annotations

import numpy as np

from banditboost.compiled.border import Address
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import round_key
from banditboost.trees.columns import carry_slots, exchange_columns, n_slots, open_slots
from banditboost.trees.layout import Forest
from banditboost.trees.leaf_prediction import leaf_label, leaf_score, mark_leaf_answers
from banditboost.trees.leaf_statistics import (
    forget_lightest,
    forget_statistics,
    observe,
    to_24_bits,
)
from banditboost.trees.merit import Work, make_work, work_size
from banditboost.trees.route import find_leaf
from banditboost.trees.split import new_leaf, try_split
from banditboost.types import Array


@inlined
def has_room(forest: Forest) -> bool:
    """Whether one more example can be learned, in the worst case, without asking for memory."""
    head = forest.head[0]
    if head["nodes_full"] == 0 and head["n_nodes"] + head["most_children"] > forest.nodes.size:
        return False
    if head["entries_full"] == 0 and head["n_free_entries"] < 1 + head["most_children"] * (
        head["most_classes"] + 1
    ):
        return False
    return head["n_free_rows"] >= 2


@inlined
def learn_tree(forest: Forest, tree: int, x: Array, label: int, weight: float, work: Work) -> None:
    leaf = find_leaf(forest, tree, x)
    mark_leaf_answers(forest, leaf, x, label, weight)
    observe(forest, leaf, x, label, weight)
    node = forest.nodes[leaf]
    if node["weight"] - node["last_attempt"] >= forest.trees[tree]["grace_period"] and node["asleep"] == 0:
        node["last_attempt"] = node["weight"]
        if not try_split(forest, tree, leaf, work):
            exchange_columns(forest, leaf, x)


@inlined
def learn_trees(
    forest: Forest, first: int, x: Array, labels: Array, weights: Array, start: int, numbers: Array
) -> int:
    work = make_work(forest, numbers)
    for i in range(start, labels.size):
        if weights[i] > 0.0:
            if not has_room(forest):
                return i
            learn_tree(forest, first + i, x, labels[i], to_24_bits(weights[i]), work)
    return labels.size


@allocating
def learn_forest(forest: Forest, first: int, x: Array, labels: Array, weights: Array, start: int) -> int:
    """Teach tree first + i the label and weight number i, from i = start on; returns the first i for which
    there is no room.
    """
    return learn_trees(forest, first, x, labels, weights, start, np.empty(work_size(forest)))


LEARN_FOREST = Address(learn_forest)
"""Where its machine code is: the same for all boosters, so that it is compiled once."""


@inlined
def vote_forest(forest: Forest, x: Array, key: int, votes: Array) -> None:
    """Line 5 of Algorithm 1: the label that each tree predicts."""
    for i in range(forest.trees.size):
        votes[i] = leaf_label(forest, find_leaf(forest, i, x), x, key, i)


@kernel
def vote_in_round(forest: Forest, x: Array, seed: int, round_: int, votes: Array) -> None:
    """Line 5 in one call from Python, where keys, being uint64, do not fit an int64."""
    vote_forest(forest, x, round_key(seed, round_), votes)


@kernel
def score_forest(forest: Forest, x: Array, scores: Array) -> None:
    """The scores in [0, 1] of all binary trees, a row for each group."""
    size = scores.shape[1]
    for tree in range(forest.trees.size):
        scores[tree // size, tree % size] = leaf_score(forest, find_leaf(forest, tree, x), x)


@kernel
def plant(forest: Forest, first: int) -> None:
    """Give every tree from number `first` on an empty root."""
    for tree in range(first, forest.trees.size):
        forest.trees[tree]["root"] = new_leaf(forest, -1)


@kernel
def open_features(forest: Forest, first: int) -> None:
    """Features from number `first` on are new: no leaf has seen a value of them.

    A draft that was dropped may have written to where they lie.
    """
    if first >= n_slots(forest):
        return
    size, start = forest.head[0]["row_size"], forest.features[first]["offset"]
    for node in range(forest.head[0]["n_nodes"]):
        if forest.steps[node]["feature"] < 0 and forest.nodes[node]["summary"] >= 0:
            base = forest.nodes[node]["summary"] * size
            forest.stats[base + start : base + size] = 0.0
            open_slots(forest, node, first)


@kernel
def carry_statistics(before: Forest, after: Forest, rows: Array) -> None:
    """Copy all statistics to where the features want them now; rows[i] is what row i was before."""
    for node in range(after.head[0]["n_nodes"]):
        if after.steps[node]["feature"] < 0 and after.nodes[node]["summary"] >= 0:
            carry_slots(before, after, node, rows)


@kernel
def free_rows(forest: Forest, sleepers: Array, giver: int, n_given: int, woken: Array) -> None:
    """Put leaves to sleep, which gives their rows back; take so many rows from one that stays awake; wake
    others.
    """
    for leaf in sleepers:
        forget_statistics(forest, leaf)
        forest.nodes[leaf]["asleep"] = 1
    if n_given > 0:
        forget_lightest(forest, giver, n_given)
    for leaf in woken:
        forest.nodes[leaf]["asleep"] = 0
