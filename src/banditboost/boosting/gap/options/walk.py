"""What trees add to the scores of options that share a context: the walk down each is begun once for all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.gap.choose import leaf_answer, leave_words_out
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.trees.leaf_prediction import uses_bayes
from banditboost.trees.route import leaf_below, next_node
from banditboost.types import Array


class Walk(NamedTuple):
    """The first trees of the chain, in one call."""

    starts: Array  # where their ways part by an option's column; -1 if a tree has not split and adds nothing
    leaves: Array  # to which the option before came
    answers: Array  # what they add to its score


@inlined
def start_of(model: Any, tree: int, x: Array) -> int:
    """From the root on as far as the context tells the way."""
    forest, node = model.forest, model.forest.trees[tree]["root"]
    if forest.steps[node]["feature"] < 0:
        return -1
    if model.scratch.columns.size > 0:  # trees count the columns otherwise where there are words
        return int(node)
    while forest.steps[node]["feature"] >= 0 and model.of_options[forest.steps[node]["feature"]] == 0:
        node = next_node(forest, node, x)
    return int(node)


@allocating
def begin_walk(model: Any, n_asked: int, x: Array) -> Walk:
    """The walk for options with the context of this row."""
    walk = Walk(np.empty(n_asked, np.int64), np.full(n_asked, -1), np.zeros(n_asked))
    for tree in range(n_asked):
        walk.starts[tree] = start_of(model, tree, x)
    return walk


@kernel
def ask_walking(model: Any, walk: Walk, x: Array) -> None:
    """Write what the trees add to the score of a joint row. A leaf mostly says the same to all rows."""
    if model.scratch.columns.size > 0:
        leave_words_out(model, x)
        x = model.scratch.columns
    for tree in range(walk.starts.size):
        if walk.starts[tree] >= 0:
            leaf = leaf_below(model.forest, walk.starts[tree], x)
            if leaf != walk.leaves[tree] or uses_bayes(model.forest, leaf):
                walk.answers[tree] = leaf_answer(model.forest, leaf, x)
                walk.leaves[tree] = leaf
