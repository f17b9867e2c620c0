"""Can these be the numbers of GapBoost's linear stages and regressions?

Each is held to what learning can make of it (docs/format.md): then no step from here on leads to infinity.
It takes linear time, and for each number of an inverse a third as many multiplications as that has slots.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from banditboost.boosting.gap.chain import LEAST_NORM, LINEAR_STEP
from banditboost.boosting.gap.experts import MEMORY
from banditboost.boosting.gap.layout import MOST_BIN_PAIRS, MOST_PAIRS
from banditboost.boosting.gap.state import FARTHEST, LANES, Regressions
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.rows.features import NUMERIC
from banditboost.rows.plain import LARGEST
from banditboost.types import Array

_ROUNDING = 1e-6  # sums of many numbers may be off by this share
_FIRST_LOSS = 1.0  # the largest loss that an expert begins with
# Of inverses. After 40,000 lessons with columns that were equal, huge or nearly constant they were off by
# 1e-16, and the least eigenvalue was 7e-9.
_MOST_ASYMMETRY, _LEAST_EIGENVALUE = 1e-11, -1e-12


class Learned(NamedTuple):
    """What a file tells of the linear stages and regressions; shapes have been looked at."""

    n_groups: int
    weights: Array  # [2, blocks, slots, lanes]
    norms: Array  # [3]
    statistics: Array  # [5, columns]: counts, means, squares, zeros, missing values
    narrow: Regressions
    wide: Regressions


def stored_statistics(arrays: dict[str, Array], n_columns: int) -> Array:
    """Those of a file, [5, columns].

    Files from before zeros and missing values were counted have three rows: columns whose mean was not
    subtracted then, being within a deviation of 0, begin as if all of their values had been 0.
    """
    given = take_array(arrays, "statistics", np.float64, (None, n_columns))
    demand(len(given) in (3, 5), "the statistics are not count, mean, squares, zeros and missing")
    if len(given) == 5:
        return given
    count, mean, squares = given
    near = np.abs(mean) <= np.sqrt(np.maximum(squares, 0.0) / np.maximum(count, 1.0))
    return np.vstack([given, np.where(near, count, 0.0), np.zeros(n_columns)])


def with_late_lessons(wide: Regressions, arrays: dict[str, Array]) -> Regressions:
    """Regressions of a file from before rows waited: up to seven lessons had been learned that its inverses
    did not hold.
    """
    if "wide_late" not in arrays:
        return wide
    late = take_array(arrays, "wide_late", np.float64, wide.late.shape)
    shares = take_array(arrays, "wide_shares", np.float64, wide.shares.shape)
    demand((shares >= 0.0) & (shares <= 1.0), "the share of a late lesson is out of range")
    most = FARTHEST * FARTHEST * late.shape[2] * (1.0 + _ROUNDING)
    demand(np.abs(late) <= most, "a number of a late lesson is out of range")
    taken = np.swapaxes(late * shares[:, :, None], 1, 2) @ late
    return wide._replace(inverse=wide.inverse - taken)


def check_losses(losses: Array, verdicts: int) -> None:
    """A verdict adds at most 1 to the loss of an expert, and takes away a part in `MEMORY`."""
    most = min(MEMORY, _FIRST_LOSS + verdicts) * (1.0 + _ROUNDING)
    demand((losses >= 0.0) & (losses <= most), "a loss of an expert is out of range")


def check_stages(learned: Learned, features: Array, verdicts: int, waits: bool) -> None:
    """Refuse what so many verdicts on rows with these features cannot have led to; rows may wait for wide
    regressions.
    """
    _check_norms(learned.norms, len(features), verdicts)
    _check_statistics(learned.statistics, features["kind"] == NUMERIC, verdicts)
    _check_weights(learned, len(features), verdicts)
    for regressions in (learned.narrow, learned.wide):
        check_regressions(regressions, learned.n_groups, verdicts)
    _check_late(learned.narrow, learned.n_groups)
    if waits:
        _check_waiting(learned.wide, learned.n_groups, len(features), verdicts)
    else:
        _check_late(learned.wide, learned.n_groups)


def _check_norms(norms: Array, n_columns: int, verdicts: int) -> None:
    """A row has the constant 1, columns of at most 4, products of at most 16, and bins that count 1."""
    square = FARTHEST * FARTHEST
    most = verdicts * np.array([1.0 + square * n_columns, square * square * MOST_PAIRS, MOST_BIN_PAIRS])
    demand((norms >= 0.0) & (norms <= most * (1.0 + _ROUNDING)), "a norm of the rows is out of range")
    demand(norms[0] >= verdicts * (1.0 - _ROUNDING), "the norm of the constant is not that of the verdicts")


def _check_statistics(statistics: Array, numeric: Array, verdicts: int) -> None:
    """Counts are whole, means between the least and the largest number, and squares follow from both."""
    count, mean, squares, zeros, missing = statistics
    whole = (count == np.floor(count)) & (count >= 0.0) & (count <= verdicts)
    demand(whole & (numeric | (count == 0.0)), "a column's count is not that of its values")
    most = LARGEST * (1.0 + _ROUNDING) * (count > 0.0)
    demand(np.abs(mean) <= most, "a column's mean is out of range")
    most = 4.0 * LARGEST * LARGEST * (1.0 + _ROUNDING) * np.where(count > 1.0, count, 0.0)
    demand((squares >= 0.0) & (squares <= most), "a column's squares are out of range")
    whole = (zeros == np.floor(zeros)) & (zeros >= 0.0) & (zeros <= count)
    demand(whole, "a column's zeros are not some of its values")
    whole = (missing == np.floor(missing)) & (missing >= 0.0) & (missing <= verdicts - count)
    demand(whole & ((count > 0.0) | (missing == 0.0)), "a column's missing values are too many")


def _most_of_weights(verdicts: int, longest: int) -> float:
    """The largest weight after so many steps with rows of so many features."""
    return verdicts * LINEAR_STEP / math.sqrt(LEAST_NORM) * math.sqrt(longest) * (1.0 + _ROUNDING)


def _check_weights(learned: Learned, n_columns: int, verdicts: int) -> None:
    """A step moves a weight by its rate at most, times a root where slots are shared; squares grow by errors,
    which are scores.
    """
    longest = 1 + n_columns + MOST_PAIRS + MOST_BIN_PAIRS
    most = _most_of_weights(verdicts, longest)
    weights, squares = learned.weights
    demand(np.abs(weights) <= most, "a number of 'linear' is out of range")
    value = FARTHEST * FARTHEST
    error = 1.0 + longest * value * most
    largest = verdicts * longest * (error * value) ** 2
    demand((squares >= 0.0) & (squares <= largest), "a sum of squares is out of range")
    demand((squares > 0.0) | (weights == 0.0), "a weight has changed without a gradient")
    lanes = np.arange(learned.weights.shape[1] * LANES).reshape(-1, 1, LANES)
    demand((lanes < learned.n_groups) | (squares == 0.0), "a chain that was not made has learned")


def check_regressions(regressions: Regressions, n_groups: int, verdicts: int) -> None:
    """Ridge regressions on signs: an inverse is symmetric, positive and at most 1; no weight is above half
    the root of the number of lessons, of which little is lost by rounding. After a change of the world
    lessons may add to weights once more.
    """
    inverse, weights = regressions.inverse, regressions.weights
    slots = weights.shape[1]
    demand(
        np.abs(weights) <= 1000.0 * (1.0 + math.sqrt(verdicts)), "a weight of a regression is out of range"
    )
    demand(np.abs(inverse) <= 1.0 + _ROUNDING, "a number of an inverse is out of range")
    fresh = (inverse[n_groups:] == np.eye(slots)).all() and not weights[n_groups:].any()
    demand(fresh, "a regression that was not made has learned")
    for one in inverse[:n_groups]:
        demand(_is_inverse(one), "the inverse of a regression is not symmetric and positive")


def _check_late(regressions: Regressions, n_groups: int) -> None:
    """Lessons that an inverse does not hold yet come one after the other, and leave room for one more."""
    inverse, _, late, shares = regressions
    is_late = shares > 0.0
    demand(is_late == (shares != 0.0), "the share of a late lesson is out of range")
    demand(shares <= 1.0, "the share of a late lesson is out of range")
    in_order = (is_late[:, 1:] <= is_late[:, :-1]).all() and not is_late[:, -1:].any()
    demand(in_order and not shares[n_groups:].any(), "late lessons are not one after the other")
    most = FARTHEST * FARTHEST * late.shape[2] * (1.0 + _ROUNDING) * is_late[:, :, None]
    demand(np.abs(late) <= most, "a number of a late lesson is out of range")
    for group in np.flatnonzero(is_late.any(axis=1)):
        whole = inverse[group] - (late[group].T * shares[group]) @ late[group]
        demand(_is_inverse(whole), "late lessons take too much away from the inverse of a regression")


def _check_waiting(wide: Regressions, n_groups: int, n_columns: int, verdicts: int) -> None:
    """Rows that wait come one after the other, and leave room for one more; each has the constant 1. Their
    goals are y without what is said of names and words.
    """
    rows, goals = wide.late, wide.shares
    if not rows.shape[2]:
        return
    waits: Array = np.asarray(rows[:, :, 0] != 0.0)
    demand(rows[:, :, :1] == waits[:, :, None], "a row that waits lacks the constant")
    in_order = (waits[:, 1:] <= waits[:, :-1]).all() and not waits[:, -1:].any()
    demand(in_order and not waits[n_groups:].any(), "rows that wait are not one after the other")
    most = FARTHEST * FARTHEST * (1.0 + _ROUNDING) * waits[:, :, None]
    demand(np.abs(rows) <= most, "a number of a row that waits is out of range")
    said = n_columns * FARTHEST * _most_of_weights(verdicts, n_columns)
    demand(np.abs(goals) <= (1.0 + said) * waits, "the goal of a row that waits is out of range")


def _is_inverse(matrix: Array) -> bool:
    """Whether all eigenvalues are above the least, next to 0: then a Cholesky factor can be computed."""
    if np.any(np.abs(matrix - matrix.T) > _MOST_ASYMMETRY):
        return False
    raised = matrix - _LEAST_EIGENVALUE * np.eye(len(matrix))
    try:
        np.linalg.cholesky(raised)
    except np.linalg.LinAlgError:
        return False
    return True
