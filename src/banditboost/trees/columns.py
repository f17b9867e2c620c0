"""Of which columns a leaf keeps statistics: of all of them, or where rows are wide of a bounded number.

docs/trees.md says which ones. A leaf has a slot for each, in its rows of statistics one after the other, each
as wide as its column needs. Where rows are wide, the leaf's summary tells in the third number of a slot
whose it is; elsewhere slot f is column f.
"""

from __future__ import annotations

import math

from banditboost.compiled.compile import inlined, kernel
from banditboost.compiled.rng import LEAF_COLUMN, round_key, uniform
from banditboost.rows.features import NUMERIC
from banditboost.trees.approximate_merit import is_wide
from banditboost.trees.layout import SEVERAL, Forest
from banditboost.types import Array

COLUMN = 2  # where in a slot of a summary the number of the column is
EXCHANGED = 8  # columns at most, after an attempt in vain
MOST_COLUMNS = 1 << 24  # no row has more


@inlined
def has_all_columns(forest: Forest) -> bool:
    return forest.features.size <= forest.choice[0]["max_columns"]


@inlined
def n_slots(forest: Forest) -> int:
    return min(forest.features.size, forest.choice[0]["max_columns"])


@inlined
def column_in(forest: Forest, slot: int, at: int) -> int:
    """The column of a leaf's slot, which begins at this place of the summary."""
    return slot if has_all_columns(forest) else int(forest.stats[at + COLUMN])


@kernel
def choose_columns(forest: Forest, leaf: int, x: Array) -> None:
    """Choose the columns of a leaf by its first row: those that are present, some of them if they are too
    many, others as well if they are too few.
    """
    features, slots = forest.features, n_slots(forest)
    present = 0
    for f in range(features.size):
        present += 1 if x[f] == x[f] else 0
    few = present <= slots
    left, wanted = (features.size - present, slots - present) if few else (present, slots)
    key = round_key(forest.choice[0]["seed"], leaf)
    at = forest.nodes[leaf]["summary"] * forest.head[0]["row_size"]
    for f in range(features.size):
        taken = x[f] == x[f]
        if taken != few:
            taken = uniform(key, LEAF_COLUMN, f) * left < wanted
            left -= 1
            wanted -= 1 if taken else 0
        if taken:
            forest.stats[at + COLUMN] = f
            at += features[f]["capacity"]


@kernel
def open_slot(forest: Forest, f: int, at: int) -> None:
    """No value of the column has been seen: the smallest is infinite, the largest minus infinite."""
    if forest.features[f]["kind"] == NUMERIC:
        forest.stats[at] = math.inf
        forest.stats[at + 1] = -math.inf
    if not has_all_columns(forest):
        forest.stats[at + COLUMN] = f


@kernel
def open_slots(forest: Forest, leaf: int, first: int) -> None:
    """Nothing has been seen of the columns in the slots from number `first` on."""
    at = forest.nodes[leaf]["summary"] * forest.head[0]["row_size"]
    for slot in range(n_slots(forest)):
        f = column_in(forest, slot, at)
        if slot >= first:
            open_slot(forest, f, at)
        at += forest.features[f]["capacity"]


@inlined
def is_dead(forest: Forest, f: int, at: int) -> bool:
    """Whether a leaf has seen one value of the column at most."""
    if forest.features[f]["kind"] == NUMERIC:
        return not is_wide(forest.stats[at + 1] - forest.stats[at])
    return forest.stats[at] != SEVERAL


@kernel
def has_column(forest: Forest, leaf: int, wanted: int) -> bool:
    at = forest.nodes[leaf]["summary"] * forest.head[0]["row_size"]
    for slot in range(n_slots(forest)):
        f = column_in(forest, slot, at)
        if f == wanted:
            return True
        at += forest.features[f]["capacity"]
    return False


@kernel
def clear_slot(forest: Forest, leaf: int, offset: int, width: int) -> None:
    """Forget what the summary and the classes of a leaf have in a slot."""
    stats, size = forest.stats, forest.head[0]["row_size"]
    at = forest.nodes[leaf]["summary"] * size + offset
    stats[at : at + width] = 0.0
    entry = forest.nodes[leaf]["first_entry"]
    while entry >= 0:
        if forest.entries[entry]["row"] >= 0:
            at = forest.entries[entry]["row"] * size + offset
            stats[at : at + width] = 0.0
        entry = forest.entries[entry]["next"]


@inlined
def n_dead(forest: Forest, leaf: int) -> int:
    at, n = forest.nodes[leaf]["summary"] * forest.head[0]["row_size"], 0
    for slot in range(n_slots(forest)):
        f = column_in(forest, slot, at)
        n += 1 if is_dead(forest, f, at) else 0
        at += forest.features[f]["capacity"]
    return n


@inlined
def can_replace(forest: Forest, leaf: int, width: int, f: int, x: Array) -> bool:
    """Whether a column is as wide, is present and not the number 0, and new to the leaf."""
    feature = forest.features[f]
    carries = x[f] == x[f] and (x[f] != 0.0 or feature["kind"] != NUMERIC)
    return carries and feature["capacity"] == width and not has_column(forest, leaf, f)


@inlined
def find_replacement(forest: Forest, leaf: int, width: int, first: int, x: Array) -> int:
    """The first column that can, from a given one on and around; -1 if there is none."""
    n_columns = forest.features.size
    for i in range(n_columns):
        f = first + i if first + i < n_columns else first + i - n_columns
        if can_replace(forest, leaf, width, f, x):
            return f
    return -1


@kernel
def exchange_columns(forest: Forest, leaf: int, x: Array) -> None:
    """After an attempt in vain of a leaf that has seen one value at most of more than half of its columns:
    the first of these give way to columns that carry something in this row.
    """
    node, offset, n_exchanged = forest.nodes[leaf], 0, 0
    if has_all_columns(forest) or node["summary"] < 0 or 2 * n_dead(forest, leaf) <= n_slots(forest):
        return
    key, number = round_key(forest.choice[0]["seed"], leaf), int(node["examples"]) * MOST_COLUMNS
    base = node["summary"] * forest.head[0]["row_size"]
    for slot in range(n_slots(forest)):
        f = column_in(forest, slot, base + offset)
        width = forest.features[f]["capacity"]
        if is_dead(forest, f, base + offset):
            drawn = int(uniform(key, LEAF_COLUMN, number + slot) * forest.features.size)
            found = find_replacement(forest, leaf, width, drawn, x)
            n_exchanged += 1
            if found >= 0:
                clear_slot(forest, leaf, offset, width)
                open_slot(forest, found, base + offset)
            if found < 0 or n_exchanged == EXCHANGED:
                return
        offset += width


@kernel
def carry_slots(before: Forest, after: Forest, leaf: int, rows: Array) -> None:
    """Copy a leaf's statistics to where the columns want them now; rows[i] is what row i was before.

    Columns that have joined are taken while there are slots.
    """
    old_size, new_size = before.head[0]["row_size"], after.head[0]["row_size"]
    summary = after.nodes[leaf]["summary"]
    old_base, old, new = rows[summary] * old_size, 0, 0
    for slot in range(n_slots(after)):
        f, width = slot, 0
        if slot < n_slots(before):
            f = column_in(before, slot, old_base + old)
            width = min(before.features[f]["capacity"], after.features[f]["capacity"])
        for i in range(width):
            after.stats[summary * new_size + new + i] = before.stats[old_base + old + i]
        entry = after.nodes[leaf]["first_entry"]
        while entry >= 0:
            row = after.entries[entry]["row"]
            if row >= 0:
                for i in range(width):
                    after.stats[row * new_size + new + i] = before.stats[rows[row] * old_size + old + i]
            entry = after.entries[entry]["next"]
        if width == 0:
            open_slot(after, f, summary * new_size + new)
        else:
            old += before.features[f]["capacity"]
            if not has_all_columns(after):
                after.stats[summary * new_size + new + COLUMN] = f
        new += after.features[f]["capacity"]
