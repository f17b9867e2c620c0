"""Where a row goes: from the root to a leaf, without recursion."""

from __future__ import annotations

from banditboost.compiled.compile import inlined, kernel
from banditboost.trees.layout import Forest
from banditboost.types import Array


@inlined
def unusual_child(forest: Forest, node: int, value: float) -> int:
    """The child at a nominal split, or for a missing value; what cannot be told goes to the default child."""
    threshold = forest.steps[node]["threshold"]
    if value == value and threshold != threshold and value < forest.nodes[node]["n_children"]:
        return forest.steps[node]["next"] + int(value)
    return forest.nodes[node]["default_child"]


@inlined
def next_node(forest: Forest, node: int, x: Array) -> int:
    """The child to which a split sends the row."""
    step = forest.steps[node]
    value, threshold = x[step["feature"]], step["threshold"]
    # Without a branch on which side: that one could never be foreseen. NaN on either side is no number minus
    # itself.
    if value - threshold != value - threshold:
        return unusual_child(forest, node, value)
    return step["next"] + (1 if value > threshold else 0)


@inlined
def find_leaf(forest: Forest, tree: int, x: Array) -> int:
    return leaf_below(forest, forest.trees[tree]["root"], x)


@inlined
def leaf_below(forest: Forest, node: int, x: Array) -> int:
    """The leaf that a row comes to from a node on."""
    while forest.steps[node]["feature"] >= 0:
        node = next_node(forest, node, x)
    return node


@kernel
def find_leaves(
    forest: Forest, first: int, distance: int, n_asked: int, x: Array, leaves: Array, walking: Array
) -> None:
    """The leaves of the first n_asked of every `distance` trees. `walking` is scratch space.

    All walk together, a step each in turn, so that none waits for the memory that another one reads.
    """
    n, tree, end = 0, first, first + n_asked
    for i in range(leaves.size):
        if tree == end:
            tree, end = end - n_asked + distance, end + distance
        node = forest.trees[tree]["root"]
        leaves[i], walking[n] = node, i
        n += 1 if forest.steps[node]["feature"] >= 0 else 0
        tree += 1
    while n > 0:
        n_walking, n = n, 0
        for j in range(n_walking):
            i = walking[j]
            node = next_node(forest, leaves[i], x)
            leaves[i], walking[n] = node, i
            n += 1 if forest.steps[node]["feature"] >= 0 else 0
