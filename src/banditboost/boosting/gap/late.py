"""Late lessons: rows of a wide regression wait until there are eight of them, and are learned together.

An inverse is larger than a cache. It is read once for the products of all rows that wait, and read and
written once to take away what they tell; one after the other each would do both.

See docs/gapboost.md.
"""

from __future__ import annotations

from typing import Any

from banditboost.boosting.gap.regression import Reading, add_line, add_lines, four_lines, take_away
from banditboost.compiled.compile import inlined, kernel, summing
from banditboost.types import Array

WAITING_SHARE = 8  # at most so many rows wait, and at most one for so many of the label's verdicts
TOGETHER = 32  # lines of an inverse


@inlined
def n_late(rows: Array) -> int:
    """How many rows wait: slot 0 is the constant 1."""
    n = 0
    while n < rows.shape[0] and rows[n, 0] != 0.0:
        n += 1
    return n


@kernel
def learn_late(model: Any, reading: Reading, group: int, n_verdicts: float, goal: float) -> None:
    """The row waits; if that makes eight of them, or one for every eight of the label's verdicts, all are
    learned.
    """
    regressions = model.learned.wide
    rows, goals = regressions.late[group], regressions.shares[group]
    n = n_late(rows)
    for i in range(reading.slots.size):
        rows[n, reading.slots[i]] = reading.values[i]
    goals[n] = goal
    n += 1
    if n == goals.size or WAITING_SHARE * n >= n_verdicts:
        learn_rows(
            reading.inverse[group],
            reading.weights[group],
            rows[:n],
            goals,
            model.scratch.late,
            model.scratch.used,
        )
        rows[:, :] = 0.0
        goals[:] = 0.0


@inlined
def list_used(row: Array, first: int, end: int, used: Array) -> int:
    """Which of these slots a row uses."""
    n = 0
    for slot in range(first, end):
        used[n] = slot
        n += 1 if row[slot] != 0.0 else 0
    return n


@kernel
def multiply_rows(inverse: Array, rows: Array, used: Array, products: Array) -> None:
    """The inverse times each of the rows. As many of its lines as a cache holds are read for all of them."""
    for row in range(rows.shape[0]):
        products[row] = 0.0
    for first in range(0, inverse.shape[0], TOGETHER):
        for row in range(rows.shape[0]):
            n, values = list_used(rows[row], first, min(first + TOGETHER, inverse.shape[0]), used), rows[row]
            for i in range(0, n // 4 * 4, 4):
                four = values[used[i]], values[used[i + 1]], values[used[i + 2]], values[used[i + 3]]
                add_lines(four, four_lines(inverse, used, i), products[row])
            for i in range(n // 4 * 4, n):
                add_line(values[used[i]], inverse[used[i]], products[row])


@summing
def dot(one: Array, other: Array) -> float:
    total = 0.0
    for i in range(one.size):
        total += one[i] * other[i]
    return total


@kernel
def learn_rows(
    inverse: Array, weights: Array, rows: Array, goals: Array, products: Array, used: Array
) -> None:
    """Sherman and Morrison's formula for one row after the other; the inverse holds them at the end."""
    n = rows.shape[0]
    multiply_rows(inverse, rows, used, products)
    for row in range(n):
        product = products[row]
        share = 1.0 / (1.0 + max(0.0, dot(rows[row], product)))
        add_line(share * (goals[row] - dot(rows[row], weights)), product, weights)
        for later in range(row + 1, n):
            add_line(-share * dot(rows[later], product), product, products[later])
        goals[row] = share
    for row in range(n, products.shape[0]):
        products[row], goals[row] = 0.0, 0.0
    take_away(goals, products, inverse)
