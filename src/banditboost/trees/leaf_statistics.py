"""What a leaf remembers of an example: its class, and the class's statistics of every feature."""

from __future__ import annotations

import numpy as np

from banditboost.compiled.compile import inlined, kernel
from banditboost.rows.features import NUMERIC
from banditboost.trees.columns import choose_columns, column_in, has_all_columns, n_slots, open_slots
from banditboost.trees.layout import MAJORITY, SEVERAL, Forest
from banditboost.types import Array


@inlined
def to_24_bits(weight: float) -> float:
    """Round to the precision of a 32-bit float: sums of equal weights are then equal, whatever the order."""
    return np.float64(np.float32(weight))


@inlined
def take_row(forest: Forest) -> int:
    """A zeroed row from the free list, whose links are kept in the rows' first numbers."""
    head, stats = forest.head[0], forest.stats
    row = head["free_row"]
    size = head["row_size"]
    head["free_row"] = int(stats[row * size])
    head["n_free_rows"] -= 1
    for i in range(row * size, (row + 1) * size):
        stats[i] = 0.0
    return row


@kernel
def give_row(forest: Forest, row: int) -> None:
    head = forest.head[0]
    forest.stats[row * head["row_size"]] = head["free_row"]
    head["free_row"] = row
    head["n_free_rows"] += 1


@kernel
def take_entry(forest: Forest, label: int, position: int, weight: float) -> int:
    head, entries = forest.head[0], forest.entries
    entry = head["free_entry"]
    if entry < 0:
        return -1
    head["free_entry"] = entries[entry]["next"]
    head["n_free_entries"] -= 1
    head["most_classes"] = max(head["most_classes"], position + 1)
    entries[entry]["label"] = label
    entries[entry]["next"] = -1
    entries[entry]["row"] = -1
    entries[entry]["position"] = position
    entries[entry]["weight"] = weight
    entries[entry]["own"] = 0.0
    return entry


@kernel
def forget_statistics(forest: Forest, leaf: int) -> None:
    """Give back all rows of a leaf; its classes and their weights stay."""
    node, entries = forest.nodes[leaf], forest.entries
    if node["summary"] >= 0:
        give_row(forest, node["summary"])
    node["summary"] = -1
    node["n_classes"] = 0
    node["own"] = 0.0
    node["examples"] = 0.0
    node["last_attempt"] = node["weight"]
    entry = node["first_entry"]
    while entry >= 0:
        if entries[entry]["row"] >= 0:
            give_row(forest, entries[entry]["row"])
            entries[entry]["row"] = -1
        entries[entry]["own"] = 0.0
        entry = entries[entry]["next"]


@kernel
def forget_lightest(forest: Forest, leaf: int, n_rows: int) -> None:
    """Give back the rows of that many classes, the lightest in statistics, the later ones first where they
    are equal.
    """
    node, entries = forest.nodes[leaf], forest.entries
    for _ in range(n_rows):
        lightest, entry = -1, node["first_entry"]
        while entry >= 0:
            if entries[entry]["row"] >= 0 and (
                lightest < 0 or entries[entry]["own"] <= entries[lightest]["own"]
            ):
                lightest = entry
            entry = entries[entry]["next"]
        give_row(forest, entries[lightest]["row"])
        entries[lightest]["row"] = -1
        entries[lightest]["own"] = 0.0
        node["n_classes"] -= 1
    own, entry = 0.0, node["first_entry"]
    while entry >= 0:
        own += entries[entry]["own"]
        entry = entries[entry]["next"]
    node["own"] = own


@kernel
def recycle_entry(forest: Forest, leaf: int, label: int) -> int:
    """At the ceiling a class that is new to a leaf takes the entry of the lightest one there; -1 if there is
    none.
    """
    node, entries = forest.nodes[leaf], forest.entries
    lightest = node["first_entry"]
    entry = lightest
    while entry >= 0:
        if lightest == node["top"] or (
            entry != node["top"] and entries[entry]["weight"] < entries[lightest]["weight"]
        ):
            lightest = entry
        entry = entries[entry]["next"]
    if lightest < 0:
        return -1
    if entries[lightest]["row"] >= 0:
        give_row(forest, entries[lightest]["row"])
        node["n_classes"] -= 1
    if entries[lightest]["weight"] == entries[node["top"]]["weight"]:
        node["n_tied"] -= 1
    if lightest == node["top"]:
        node["top"] = -1
    node["weight"] = max(0.0, node["weight"] - entries[lightest]["weight"])  # sums may be off by a hair
    node["own"] = max(0.0, node["own"] - entries[lightest]["own"])
    node["last_attempt"] = min(node["last_attempt"], node["weight"])
    entries[lightest]["label"] = label
    entries[lightest]["row"] = -1
    entries[lightest]["weight"] = 0.0
    entries[lightest]["own"] = 0.0
    return lightest


@inlined
def find_entry(forest: Forest, leaf: int, label: int) -> int:
    """The entry of a class in a leaf, made at the end of the chain if it is new; -1 if there is no room for
    even one.
    """
    node, entries = forest.nodes[leaf], forest.entries
    last, entry = -1, node["first_entry"]
    while entry >= 0:
        if entries[entry]["label"] == label:
            return entry
        last, entry = entry, entries[entry]["next"]
    entry = take_entry(forest, label, 0 if last < 0 else entries[last]["position"] + 1, 0.0)
    if entry < 0:
        return recycle_entry(forest, leaf, label)
    if last < 0:
        node["first_entry"] = entry
    else:
        entries[last]["next"] = entry
    return entry


@inlined
def share_of_right(forest: Forest, leaf: int) -> float:
    """How much class 1 is believed: Laplace's rule, so that one bad verdict does not condemn a label for
    good.
    """
    entries, one, total = forest.entries, 0.0, 0.0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        total += entries[entry]["weight"]
        if entries[entry]["label"] == 1:
            one += entries[entry]["weight"]
        entry = entries[entry]["next"]
    return (one + 1.0) / (total + 2.0)


@inlined
def rank_entry(forest: Forest, leaf: int, entry: int, before: float) -> None:
    """Keep `top`, `n_tied` and the ready answers true after an entry has grown from `before`."""
    node, entries = forest.nodes[leaf], forest.entries
    top, now = node["top"], entries[entry]["weight"]
    if top < 0 or now > entries[top]["weight"] or (entry == top and now > before):
        node["top"] = entry
        node["n_tied"] = 1
    elif entry != top and now == entries[top]["weight"] and before < now:
        node["n_tied"] += 1
        if entries[entry]["position"] < entries[top]["position"]:
            node["top"] = entry
    counts = forest.head[0]["leaf_prediction"] == MAJORITY
    forest.steps[leaf]["next"] = entries[node["top"]]["label"] if counts and node["n_tied"] == 1 else -1
    if counts and forest.head[0]["n_labels"] == 2:
        forest.steps[leaf]["threshold"] = share_of_right(forest, leaf)


@inlined
def take_rows_of(forest: Forest, leaf: int, entry: int, x: Array) -> None:
    """Make sure that leaf and class own a row each; that two are free was made sure of before."""
    node, entries = forest.nodes[leaf], forest.entries
    if node["summary"] < 0:
        node["summary"] = take_row(forest)
        if not has_all_columns(forest):
            choose_columns(forest, leaf, x)
        open_slots(forest, leaf, 0)
    if entries[entry]["row"] < 0:
        entries[entry]["row"] = take_row(forest)
        node["n_classes"] += 1


@inlined
def add_to_rows(forest: Forest, leaf: int, row: int, x: Array, weight: float) -> None:
    stats, size = forest.stats, forest.head[0]["row_size"]
    base, summary = row * size, forest.nodes[leaf]["summary"] * size
    total, share, following = 0.0, 0.0, 0
    for slot in range(n_slots(forest)):
        offset = following
        f = column_in(forest, slot, summary + offset)
        following += forest.features[f]["capacity"]
        value = x[f]
        if value != value:
            continue
        at = base + offset
        if forest.features[f]["kind"] == NUMERIC:
            stats[at] += weight
            if stats[at] != total:  # most features have been seen as often: one division does for all
                total = stats[at]
                share = weight / total
            delta = value - stats[at + 1]
            stats[at + 1] += delta * share
            stats[at + 2] += weight * delta * (value - stats[at + 1])
            low = summary + offset
            stats[low] = min(stats[low], value)
            stats[low + 1] = max(stats[low + 1], value)
        elif 0.0 <= value < forest.features[f]["n_values"]:  # others are missing to trees
            code = int(value)
            stats[at + code] += weight
            if stats[summary + offset] == 0.0:
                stats[summary + offset] = code + 1.0
            elif stats[summary + offset] != code + 1.0:
                stats[summary + offset] = SEVERAL


@inlined
def observe(forest: Forest, leaf: int, x: Array, label: int, weight: float) -> None:
    """Steps 3 and 4 of learning (docs/trees.md)."""
    entry = find_entry(forest, leaf, label)
    if entry < 0:
        return
    before = forest.entries[entry]["weight"]
    forest.entries[entry]["weight"] = before + weight
    forest.nodes[leaf]["weight"] += weight
    rank_entry(forest, leaf, entry, before)
    if forest.nodes[leaf]["asleep"] == 0:
        take_rows_of(forest, leaf, entry, x)
        forest.nodes[leaf]["own"] += weight
        forest.nodes[leaf]["examples"] += 1.0
        forest.entries[entry]["own"] += weight
        add_to_rows(forest, leaf, forest.entries[entry]["row"], x, weight)
