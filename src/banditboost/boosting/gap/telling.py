"""Rows of numbers that are too wide for regressions: all labels learn together which columns tell something.

See docs/gapboost.md.
"""

from __future__ import annotations

import math
from typing import Any

from banditboost.boosting.gap.state import FARTHEST, LANES
from banditboost.compiled.compile import inlined, kernel
from banditboost.rows.features import NUMERIC
from banditboost.types import Array

UNTOLD = 0.1  # of a wide row's number, squared, that counts though its column has told nothing yet


@inlined
def sum_telling(weights: Array, slots: Array, features: Array, real: Array, telling: Array) -> float:
    """What each numeric column tells all labels together: the sum of their squared weights, over their mean;
    the mean is returned.
    """
    for i in range(real.size):
        telling[i] = 0.0
    for block in range(weights.shape[0]):
        for i in range(real.size):
            if features[real[i]]["kind"] == NUMERIC:
                line = weights[block, slots[real[i]]]
                for lane in range(LANES):
                    telling[i] += line[lane] * line[lane]
    total, n_numeric = 0.0, 0
    for i in range(real.size):
        total += telling[i]
        n_numeric += 1 if features[real[i]]["kind"] == NUMERIC else 0
    return total / n_numeric if n_numeric > 0 else 0.0


@kernel
def weigh_columns(model: Any, n: int) -> None:
    """Stage 1, in rows too wide for regressions: a number counts for more if its column tells something to
    some label, for then it does to others. The columns' part of the list begins at n.
    """
    features, columns, real = model.features, model.layout.columns, model.layout.real
    scratch, telling = model.scratch, model.scratch.telling
    mean = sum_telling(model.learned.weights[0], columns, features, real, telling)
    if not mean > 0.0:
        return
    for i in range(real.size):
        c = real[i]
        if scratch.codes[c] < 0 or scratch.numbers[c] == 0.0:
            continue
        n += 1
        if features[c]["kind"] == NUMERIC:
            share = math.sqrt(UNTOLD + (1.0 - UNTOLD) * (telling[i] / mean))
            scratch.values[n] = min(max(share * scratch.values[n], -FARTHEST), FARTHEST)
