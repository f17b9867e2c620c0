"""Where a row goes: from the root to a leaf, without recursion."""

from __future__ import annotations

from banditboost.kernels.compile import njit
from banditboost.kernels.layout import NOMINAL, Array, Forest


@njit
def heaviest_child(nodes: Array, node: int) -> int:
    """The branch for what cannot be told: the one through which most weight has passed."""
    first = nodes[node]["first_child"]
    best = first
    for child in range(first + 1, first + nodes[node]["n_children"]):
        if nodes[child]["weight"] > nodes[best]["weight"]:
            best = child
    return best


@njit
def next_node(forest: Forest, node: int, x: Array) -> int:
    nodes = forest.nodes
    feature = nodes[node]["feature"]
    value = x[feature]
    if value != value:
        return heaviest_child(nodes, node)
    first = nodes[node]["first_child"]
    if forest.features[feature]["kind"] == NOMINAL:
        code = int(value)
        if code >= nodes[node]["n_children"]:
            return heaviest_child(nodes, node)
        return first + code
    return first if value <= nodes[node]["threshold"] else first + 1


@njit
def find_leaf(forest: Forest, tree: int, x: Array) -> int:
    node = forest.trees[tree]["root"]
    while forest.nodes[node]["feature"] >= 0:
        node = next_node(forest, node, x)
    return node


@njit
def descend(forest: Forest, tree: int, x: Array, weight: float) -> int:
    """Find the leaf and leave the example's weight on every node of the path."""
    nodes = forest.nodes
    node = forest.trees[tree]["root"]
    while nodes[node]["feature"] >= 0:
        child = next_node(forest, node, x)
        nodes[node]["weight"] += weight
        node = child
    nodes[node]["weight"] += weight
    return node
