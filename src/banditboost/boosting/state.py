"""What a booster itself keeps, in the form that compiled code reads."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SETTINGS = np.dtype(
    [
        ("n_labels", "i8"),  # k
        ("n_learners", "i8"),  # N
        ("seed", "i8"),
        ("row_start", "i8"),  # where in a memo the row begins
        ("full_information", "i8"),  # 1: the right label is told, not a verdict
        ("estimator", "i8"),  # equation (3) or (4)
        ("rate", "f8"),  # rho; of a schedule, the most that it may be
        ("schedule", "i8"),  # what rho follows from (exploration.py)
        ("least_rate", "f8"),
        ("rate_scale", "f8"),
        ("rate_power", "f8"),
        ("error_memory", "f8"),  # over how many verdicts the recent error is averaged
        ("step", "f8"),  # eta_t = step / sqrt(t), times rho for bandit feedback
        ("edge", "f8"),  # gamma
        ("clip", "f8"),
        ("tie_tolerance", "f8"),
        ("importance_scale", "f8"),
        ("verdicts", "i8"),  # how many were learned
        ("recent_error", "f8"),  # of the greedy label
    ],
    align=True,
)
LEAST_WEIGHT = 1e-10  # an example that weighs less teaches nothing
