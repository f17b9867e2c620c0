"""What a leaf answers: a label, or for a binary tree a score in [0, 1]."""

from __future__ import annotations

import math

from banditboost.compiled.compile import inlined, kernel
from banditboost.compiled.rng import LEAF_TIE, uniform
from banditboost.rows.features import NUMERIC
from banditboost.trees.approximate_merit import class_spread, is_wide
from banditboost.trees.columns import column_in, n_slots
from banditboost.trees.layout import ADAPTIVE, MAJORITY, NAIVE_BAYES, Forest
from banditboost.trees.leaf_statistics import share_of_right
from banditboost.types import Array

_LOG_ROOT_TWO_PI = 0.9189385332046727
_FARTHEST = 1e100  # deviations, so that the square does not overflow


@kernel
def bayes_value(forest: Forest, leaf: int, entry: int, x: Array) -> float:
    """ln(class weight) + sum over present features of ln p(x_f | class): normal densities and smoothed
    shares.
    """
    stats, size = forest.stats, forest.head[0]["row_size"]
    base, summary = forest.entries[entry]["row"] * size, forest.nodes[leaf]["summary"] * size
    one_example = forest.nodes[leaf]["own"] / forest.nodes[leaf]["examples"]
    total = math.log(forest.entries[entry]["weight"])
    following = 0
    for slot in range(n_slots(forest)):
        offset = following
        f = column_in(forest, slot, summary + offset)
        following += forest.features[f]["capacity"]
        value = x[f]
        if value != value:
            continue
        at = base + offset
        if forest.features[f]["kind"] == NUMERIC:
            spread = stats[summary + offset + 1] - stats[summary + offset]
            weight = stats[at]
            if is_wide(spread) and weight > 0.0:
                sd = class_spread(weight, stats[at + 2], spread)
                z = min(max((value - stats[at + 1]) / sd, -_FARTHEST), _FARTHEST)
                total += -0.5 * z * z - math.log(sd) - _LOG_ROOT_TWO_PI
        else:
            n_values = forest.features[f]["n_values"]
            if 0.0 <= value < n_values:
                code, weight = int(value), 0.0
                for v in range(n_values):
                    weight += stats[at + v]
                total += math.log((stats[at + code] + one_example) / (weight + one_example * n_values))
    return total


@kernel
def bayes_label(forest: Forest, leaf: int, x: Array) -> int:
    """The naive Bayes answer, or -1 where no class has statistics."""
    entries = forest.entries
    best, best_value = -1, -math.inf
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            value = bayes_value(forest, leaf, entry, x)
            if best < 0 or value > best_value:
                best, best_value = entries[entry]["label"], value
        entry = entries[entry]["next"]
    return best


@kernel
def majority_label(forest: Forest, leaf: int, key: int, learner: int) -> int:
    nodes, entries = forest.nodes, forest.entries
    if nodes[leaf]["first_entry"] < 0:
        if nodes[leaf]["fallback"] >= 0:
            return nodes[leaf]["fallback"]
        return int(uniform(key, LEAF_TIE, learner) * forest.head[0]["n_labels"])
    top = nodes[leaf]["top"]
    n_tied = nodes[leaf]["n_tied"]
    if n_tied == 1:
        return entries[top]["label"]
    wanted = int(uniform(key, LEAF_TIE, learner) * n_tied)
    entry = top
    while True:
        if entries[entry]["weight"] == entries[top]["weight"]:
            if wanted == 0:
                return entries[entry]["label"]
            wanted -= 1
        entry = entries[entry]["next"]


@inlined
def uses_bayes(forest: Forest, leaf: int) -> bool:
    mode = forest.head[0]["leaf_prediction"]
    if mode == MAJORITY or forest.nodes[leaf]["n_classes"] == 0:
        return False
    return mode == NAIVE_BAYES or forest.nodes[leaf]["bayes_right"] > forest.nodes[leaf]["majority_right"]


@inlined
def leaf_label(forest: Forest, leaf: int, x: Array, key: int, learner: int) -> int:
    if forest.steps[leaf]["next"] >= 0:
        return forest.steps[leaf]["next"]
    if uses_bayes(forest, leaf):
        return bayes_label(forest, leaf, x)
    return majority_label(forest, leaf, key, learner)


@kernel
def bayes_score(forest: Forest, leaf: int, x: Array) -> float:
    """Posterior probability of class 1 among the classes with statistics."""
    entries = forest.entries
    zero, one = -math.inf, -math.inf
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            value = bayes_value(forest, leaf, entry, x)
            if entries[entry]["label"] == 1:
                one = value
            else:
                zero = value
        entry = entries[entry]["next"]
    return 1.0 / (1.0 + math.exp(min(zero - one, 700.0)))


@kernel
def leaf_score(forest: Forest, leaf: int, x: Array) -> float:
    """How much class 1 is believed."""
    nodes, ready = forest.nodes, forest.steps[leaf]["threshold"]
    if ready == ready:
        return ready
    if nodes[leaf]["first_entry"] < 0:
        fallback = nodes[leaf]["fallback"]
        return 0.5 if fallback < 0 else (fallback + 1.0) / 3.0
    if uses_bayes(forest, leaf):
        return bayes_score(forest, leaf, x)
    return share_of_right(forest, leaf)


@inlined
def mark_leaf_answers(forest: Forest, leaf: int, x: Array, label: int, weight: float) -> None:
    """Adaptive leaves keep score of both ways of answering, before they learn the example."""
    node = forest.nodes[leaf]
    if forest.head[0]["leaf_prediction"] != ADAPTIVE or node["first_entry"] < 0:
        return
    top = forest.entries[node["top"]]["label"]
    if top == label:
        node["majority_right"] += weight
    if (bayes_label(forest, leaf, x) if node["n_classes"] > 0 else top) == label:
        node["bayes_right"] += weight
