"""Numbers of a model that compiled code reads: what it was made with, and what it counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.types import Record

SETTINGS = np.dtype(
    (
        np.record,
        [
            ("n_labels", "i8"),  # k
            ("n_learners", "i8"),  # N
            ("row_start", "i8"),  # where in a memo the row begins
            ("full_information", "i8"),  # 1: the right label is told, not a verdict
            ("estimator", "i8"),  # equation (3) or (4)
            ("rate", "f8"),  # rho; of a schedule, the most that it may be
            ("schedule", "i8"),  # what rho follows from (boosting/exploration.py)
            ("least_rate", "f8"),
            ("rate_scale", "f8"),
            ("rate_power", "f8"),
            ("error_memory", "f8"),  # over how many verdicts the recent error is averaged
            ("step", "f8"),  # eta_t = step / sqrt(t), times rho for bandit feedback
            ("edge", "f8"),  # gamma
            ("largest_weight", "f8"),  # of an example; a field called clip would hide behind NumPy's method
            ("tie_tolerance", "f8"),
            ("importance_scale", "f8"),
            ("restarts", "i8"),  # 1: the learners begin anew when a change is noticed
            ("lesson", "i8"),  # what a tree is taught from a cost vector (boosting/costs.py)
            ("first_round", "i8"),  # with which the ledger begins,
            ("remembered", "i8"),  # how many rounds it tells of,
            ("ring", "i8"),  # and the last of those after which its bits are used again: 2^n - 1
        ],
    )
)
COUNTS = np.dtype(
    (
        np.record,
        [
            ("verdicts", "i8"),  # how many were learned
            ("recent_error", "f8"),  # of the greedy label
            ("rounds", "i8"),  # how many were decided,
            ("logged", "i8"),  # and how many verdicts were of logs (rows/columns.py counts both)
            ("changes", "i8"),  # how many changes of the world were noticed,
            ("began", "i8"),  # and after how many verdicts the last one; 0 before the first
        ],
    )
)
ROUNDS, CHANGES = 2, 4  # their places among them


def new_record(kind: np.dtype[Any]) -> Record:
    """One record with zeros in it. Python and compiled code write to the same memory."""
    return np.zeros(1, kind)[0]


def words_of(record: Record) -> memoryview:
    """A record of counts word by word: Python reads and writes these faster than fields."""
    array: Any = record.base
    return memoryview(array.view(np.int64))


def same_record(record: Record) -> Record:
    """A copy in memory that compiled code can write to; what `copy` and `pickle` make of a record is not."""
    array = np.zeros(1, record.dtype)
    array[0] = record
    return array[0]
