"""Where a row goes: from the root to a leaf, without recursion."""

from __future__ import annotations

from banditboost.kernels.compile import inlined
from banditboost.kernels.layout import Array, Forest


@inlined
def unusual_child(forest: Forest, node: int, value: float) -> int:
    """The child at a nominal split, or for a missing value; what cannot be told goes to the default child."""
    threshold = forest.steps[node]["threshold"]
    if value == value and threshold != threshold and value < forest.nodes[node]["n_children"]:
        return forest.steps[node]["next"] + int(value)
    return forest.nodes[node]["default_child"]


@inlined
def find_leaf(forest: Forest, tree: int, x: Array) -> int:
    steps = forest.steps
    node = forest.trees[tree]["root"]
    while steps[node]["feature"] >= 0:
        value = x[steps[node]["feature"]]
        threshold = steps[node]["threshold"]
        # Without a branch on which side: that one could never be foreseen. NaN on either side is no number minus itself.
        child = steps[node]["next"] + (1 if value > threshold else 0)
        if value - threshold != value - threshold:
            child = unusual_child(forest, node, value)
        node = child
    return node
