"""When a leaf splits, and what its children start with."""

from __future__ import annotations

import math
from typing import NamedTuple

from banditboost.compiled.compile import inlined, kernel
from banditboost.rows.features import NUMERIC
from banditboost.trees.approximate_merit import THRESHOLDS, class_spread
from banditboost.trees.layout import Forest
from banditboost.trees.leaf_statistics import forget_statistics, rank_entry, take_entry, to_24_bits
from banditboost.trees.merit import Work, best_split, class_entropy, list_classes
from banditboost.trees.special_functions import cut

_KEPT_BACK = 16  # one entry of so many, at the memory ceiling
_LEAST_SHARE = 1e-6  # a class with no more than this share of the leaf is not handed down


class Place(NamedTuple):
    """A feature, and where in the rows of a leaf its statistics begin."""

    feature: int
    offset: int


@kernel
def new_leaf(forest: Forest, fallback: int) -> int:
    head, nodes = forest.head[0], forest.nodes
    node = head["n_nodes"]
    head["n_nodes"] += 1
    forest.steps[node]["feature"] = -1
    forest.steps[node]["next"] = -1
    forest.steps[node]["threshold"] = math.nan
    nodes[node]["n_children"] = 0
    nodes[node]["default_child"] = -1
    nodes[node]["first_entry"] = -1
    nodes[node]["top"] = -1
    nodes[node]["n_tied"] = 0
    nodes[node]["n_classes"] = 0
    nodes[node]["summary"] = -1
    nodes[node]["fallback"] = fallback
    nodes[node]["asleep"] = 0
    nodes[node]["weight"] = 0.0
    nodes[node]["own"] = 0.0
    nodes[node]["examples"] = 0.0
    nodes[node]["last_attempt"] = 0.0
    nodes[node]["majority_right"] = 0.0
    nodes[node]["bayes_right"] = 0.0
    nodes[node]["gain"] = 0.0
    return node


@kernel
def class_mass(forest: Forest, leaf: int, row: int, place: Place, branch: int) -> float:
    """How much of a class goes to a branch of the split that the leaf is about to make."""
    stats, size = forest.stats, forest.head[0]["row_size"]
    at = row * size + place.offset
    if forest.features[place.feature]["kind"] != NUMERIC:
        return stats[at + branch]
    weight = stats[at]
    if not weight > 0.0:
        return 0.0
    summary = forest.nodes[leaf]["summary"] * size + place.offset
    sd = class_spread(weight, stats[at + 2], stats[summary + 1] - stats[summary])
    left = weight * cut((forest.steps[leaf]["threshold"] - stats[at + 1]) / sd)[0]
    return left if branch == 0 else weight - left


@kernel
def known_weight(forest: Forest, leaf: int, place: Place) -> float:
    """Weight of the leaf's examples in which the feature was present."""
    entries, size = forest.entries, forest.head[0]["row_size"]
    feature = forest.features[place.feature]
    width = 1 if feature["kind"] == NUMERIC else feature["n_values"]
    total = 0.0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            at = entries[entry]["row"] * size + place.offset
            for v in range(width):
                total += forest.stats[at + v]
        entry = entries[entry]["next"]
    return total


@kernel
def hand_down(forest: Forest, leaf: int, child: int, place: Place, least: float) -> None:
    """Give a child the class weights that the split estimates for it."""
    nodes, entries = forest.nodes, forest.entries
    branch = child - forest.steps[leaf]["next"]
    last = -1
    entry = nodes[leaf]["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            mass = class_mass(forest, leaf, entries[entry]["row"], place, branch)
            if mass > least:
                mass = to_24_bits(mass)
                copy = take_entry(
                    forest, entries[entry]["label"], 0 if last < 0 else entries[last]["position"] + 1, mass
                )
                if last < 0:
                    nodes[child]["first_entry"] = copy
                else:
                    entries[last]["next"] = copy
                rank_entry(forest, child, copy, 0.0)
                nodes[child]["weight"] += mass
                last = copy
        entry = entries[entry]["next"]


@kernel
def give_entries(forest: Forest, leaf: int) -> None:
    head, node = forest.head[0], forest.nodes[leaf]
    entry = node["first_entry"]
    while entry >= 0:
        following = forest.entries[entry]["next"]
        forest.entries[entry]["next"] = head["free_entry"]
        head["free_entry"] = entry
        head["n_free_entries"] += 1
        entry = following
    node["first_entry"] = -1
    node["top"] = -1


@kernel
def split(forest: Forest, leaf: int, place: Place, threshold: int) -> None:
    """Turn a leaf into a split node with fresh leaves below it."""
    node, step, feature = forest.nodes[leaf], forest.steps[leaf], forest.features[place.feature]
    least = _LEAST_SHARE * known_weight(forest, leaf, place)
    fallback = forest.entries[node["top"]]["label"]
    n_children, step["threshold"] = feature["n_values"], math.nan
    if feature["kind"] == NUMERIC:
        n_children = 2
        at = node["summary"] * forest.head[0]["row_size"] + place.offset
        low, high = forest.stats[at], forest.stats[at + 1]
        step["threshold"] = low + (high - low) * (threshold + 1) / (THRESHOLDS + 1)
    step["feature"] = place.feature
    step["next"] = forest.head[0]["n_nodes"]
    node["n_children"] = n_children
    node["default_child"] = step["next"]
    for _ in range(n_children):
        child = new_leaf(forest, fallback)
        hand_down(forest, leaf, child, place, least)
        if forest.nodes[child]["weight"] > forest.nodes[node["default_child"]]["weight"]:
            node["default_child"] = child
    forget_statistics(forest, leaf)
    give_entries(forest, leaf)


@inlined
def has_room_to_split(forest: Forest, leaf: int, feature: int) -> bool:
    """False only at the memory ceiling; below it the room was made before the example was learned."""
    head = forest.head[0]
    n_children = 2 if forest.features[feature]["kind"] == NUMERIC else forest.features[feature]["n_values"]
    # Some entries are kept back for classes that come to a leaf later.
    kept = forest.entries.size // _KEPT_BACK if head["entries_full"] != 0 else 0
    enough = head["n_free_entries"] - kept >= n_children * forest.nodes[leaf]["n_classes"]
    return enough and head["n_nodes"] + n_children <= forest.nodes.size


@inlined
def try_split(forest: Forest, tree: int, leaf: int, work: Work) -> bool:
    """Split if the best feature beats the second best by the Hoeffding bound, or if the bound is so small
    that it does not matter.
    """
    node = forest.nodes[leaf]
    if node["n_classes"] < 2:
        return False
    bound = math.log2(node["n_classes"]) * math.sqrt(
        forest.trees[tree]["log_confidence"] / (2.0 * node["weight"])
    )
    tie = bound < forest.trees[tree]["tie_threshold"]
    list_classes(forest, leaf, work)
    entropy = class_entropy(node["n_classes"], work)
    if entropy <= bound and not tie:
        return False
    found = best_split(forest, leaf, entropy, -1.0 if tie else bound, work)
    if found.slot < 0 or not (tie or found.best - found.second > bound):
        return False
    place = Place(work.columns[found.slot], work.offsets[found.slot])
    if not has_room_to_split(forest, leaf, place.feature):
        return False
    node["gain"] = found.best * node["own"]
    split(forest, leaf, place, found.threshold)
    return True
