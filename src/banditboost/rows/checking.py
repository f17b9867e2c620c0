"""Whether the numbers of a row, or of a decision that has been in a store, are possible."""

from __future__ import annotations

import math

from banditboost.compiled.compile import inlined, kernel
from banditboost.memo import ROUND, VOTES
from banditboost.rows.features import NUMERIC, WORD
from banditboost.rows.sharing import SHARED
from banditboost.types import Array

_LARGEST = 1e100


@inlined
def is_good(kind: int, n_values: int, value: float) -> bool:
    """Whether a number that is not missing can be this feature's: a code, of a value of its own or a shared
    one, or a number that is not too large.
    """
    if kind == NUMERIC or kind > WORD:
        return abs(value) <= _LARGEST
    if kind == WORD:
        return 0.0 <= value < SHARED and value == math.floor(value)
    own, shared = 0.0 <= value < n_values, SHARED <= value < 2.0 * SHARED
    return (own or shared) and value == math.floor(value)


@kernel
def first_bad_feature(features: Array, memo: Array, start: int) -> int:
    """Check the row memo[start:]: the first number that is too large, or wrong code, or -1."""
    for f in range(min(features.size, memo.size - start)):
        value = memo[start + f]
        if value == value and not is_good(features[f]["kind"], features[f]["n_values"], value):
            return f
    return -1


@kernel
def open_memo(features: Array, row: Array, round_: int, memo: Array, start: int) -> int:
    """Line 4: begin a memo with the round and the row, which is checked; the first bad feature, or -1.

    The copy is what is checked: others may write on the row itself. Of a row that is too long, the first
    number that has no place in the memo is bad.
    """
    memo[ROUND] = round_
    places = memo.size - start
    if row.size > places:
        return places
    for f in range(row.size):
        memo[start + f] = row[f]
    return first_bad_feature(features, memo, start)


@kernel
def fits(memo: Array, row_start: int, n_labels: int, features: Array) -> bool:
    """Whether votes, weights and row of a memo could come from a model with these features; n_labels is 0 if
    votes are scores.
    """
    n = (row_start - VOTES) // 2
    for i in range(VOTES, VOTES + n):
        vote = memo[i]
        if n_labels > 0 and not (0.0 <= vote < n_labels and vote == math.floor(vote)):
            return False
        if not -1.0 <= vote <= max(1.0, n_labels) or not abs(memo[n + i]) <= _LARGEST:
            return False
    for f in range(memo.size - row_start):
        value = memo[row_start + f]
        if value == value and not is_good(features[f]["kind"], features[f]["n_values"], value):
            return False
    return True


@kernel
def first_bad_row(features: Array, matrix: Array) -> tuple[int, int]:
    """Check every row of a matrix as `first_bad_feature` does: row and feature of the first fault, or (-1,
    -1).
    """
    for t in range(matrix.shape[0]):
        bad = first_bad_feature(features, matrix[t], 0)
        if bad >= 0:
            return t, bad
    return -1, -1
