"""The calls that come from Python: arrays one by one, since handing over a named tuple costs three times as much."""

from __future__ import annotations

import math

import numpy as np

from banditboost.kernels.compile import entry, njit
from banditboost.kernels.forest import learn_forest, score_forest, vote_forest
from banditboost.kernels.layout import NOMINAL, ROUND, VOTES, Array, Forest
from banditboost.kernels.rng import round_key

SPACED_ROW = np.zeros((2, 2))[:, 0]  # the numbers of a row may lie apart: a column of a matrix, for example
_LARGEST = 1e100


@entry
def vote(
    head: Array,
    trees: Array,
    steps: Array,
    nodes: Array,
    entries: Array,
    features: Array,
    stats: Array,
    x: Array,
    seed: int,
    round_: int,
    votes: Array,
) -> None:
    vote_forest(Forest(head, trees, steps, nodes, entries, features, stats), x, round_key(seed, round_), votes)


@entry
def score(
    head: Array, trees: Array, steps: Array, nodes: Array, entries: Array, features: Array, stats: Array, x: Array, scores: Array
) -> None:
    score_forest(Forest(head, trees, steps, nodes, entries, features, stats), x, scores)


@entry
def learn(
    head: Array, trees: Array, steps: Array, nodes: Array, entries: Array, features: Array, stats: Array,
    x: Array, labels: Array, weights: Array, first: int, start: int,
) -> int:  # fmt: skip
    return learn_forest(Forest(head, trees, steps, nodes, entries, features, stats), first, x, labels, weights, start)


@njit
def first_bad_feature(features: Array, memo: Array, start: int) -> int:
    """Check the row memo[start:], which came as an array, and clamp what is too large; the first infinite number or wrong code, or -1."""
    for f in range(features.size):
        value = memo[start + f]
        if features[f]["kind"] == NOMINAL:
            if value == value and not (0.0 <= value < features[f]["n_values"] and value == math.floor(value)):
                return f
        elif math.isinf(value):
            return f
        else:
            memo[start + f] = min(max(value, -_LARGEST), _LARGEST) if value == value else value
    return -1


@njit
def open_memo(features: Array, row: Array, round_: int, memo: Array, start: int) -> int:
    """Begin a memo with the round and the row, which is checked; the first bad feature, or -1.

    The copy is what is checked: others may write on the row itself.
    """
    memo[ROUND] = round_
    for f in range(row.size):
        memo[start + f] = row[f]
    return first_bad_feature(features, memo, start)


@entry
def open_once(features: Array, row: Array, round_: int, memo: Array, start: int) -> int:
    return open_memo(features, row, round_, memo, start)


@njit
def fits(memo: Array, row_start: int, n_labels: int, features: Array) -> bool:
    """Whether votes, weights and row of a memo could come from a model with these features; n_labels is 0 if votes are scores."""
    n = (row_start - VOTES) // 2
    for i in range(VOTES, VOTES + n):
        vote = memo[i]
        if n_labels > 0 and not (0.0 <= vote < n_labels and vote == math.floor(vote)):
            return False
        if not -1.0 <= vote <= max(1.0, n_labels) or not abs(memo[n + i]) <= _LARGEST:
            return False
    for f in range(memo.size - row_start):
        value = memo[row_start + f]
        if value == value and not abs(value) <= _LARGEST:
            return False
        if (
            features[f]["kind"] == NOMINAL
            and value == value
            and not (0.0 <= value < features[f]["n_values"] and value == math.floor(value))
        ):
            return False
    return True


@njit
def first_bad_row(features: Array, matrix: Array) -> tuple[int, int]:
    """The same for every row of a matrix: row and feature of the first fault, or (-1, -1)."""
    for t in range(matrix.shape[0]):
        bad = first_bad_feature(features, matrix[t], 0)
        if bad >= 0:
            return t, bad
    return -1, -1
