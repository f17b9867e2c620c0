"""Has the world changed? A test on what shown labels earn, reward by reward; docs/gapboost.md specifies it.

Of every reward a model says beforehand what it expects. Where rewards have fallen to lower odds than that,
the logarithm of the likelihood ratio grows. Its sum, begun anew whenever it is below 0 (Page's CUSUM), above
a threshold is an alarm. Rewards may be any numbers in [0, 1]: of those with the expected mean the likelihood
ratio of two coins is at most 1 on average, as it is of verdicts.
"""

from __future__ import annotations

import math
from typing import Any

from banditboost.compiled.compile import inlined, kernel
from banditboost.inspection.changes import (
    EXCESS,
    FALLS,
    HEARD,
    LABEL,
    LEAST_RISE,
    MOST_NOTED,
    RISE,
    THRESHOLD,
    TRIED,
    TRIED_EXCESS,
    VERDICTS,
)
from banditboost.types import Array

SMALL_FALL, LARGE_FALL, LARGE_RISE = 1.5, 3.0, 8.0
CAUTION = 10.0  # rewards without excess that the average begins with
LEAST_EXPECTED = 0.01


@inlined
def evidence(reward: float, expected: float, factor: float) -> float:
    """The logarithm of how much likelier a reward is if the odds have fallen by a factor."""
    return (1.0 - reward) * math.log(factor) - math.log(factor * (1.0 - expected) + expected)


@inlined
def expected_reward(foreseen: float, excess: float) -> float:
    """What was foreseen, and what rewards were beyond that on average; not next to 0 or 1."""
    return min(max(foreseen + excess, LEAST_EXPECTED), 1.0 - LEAST_EXPECTED)


@kernel
def has_fallen(beliefs: Array, line: int, reward: float, foreseen: float) -> bool:
    """Let a reward count in the test; True is an alarm. `foreseen` is what the model expected."""
    belief = beliefs[line]
    expected = expected_reward(foreseen, belief[EXCESS])
    belief[HEARD] += 1.0
    belief[EXCESS] += (reward - foreseen - belief[EXCESS]) / (belief[HEARD] + CAUTION)
    belief[FALLS] = max(0.0, belief[FALLS] + evidence(reward, expected, SMALL_FALL))
    belief[FALLS + 1] = max(0.0, belief[FALLS + 1] + evidence(reward, expected, LARGE_FALL))
    return max(belief[FALLS], belief[FALLS + 1]) > THRESHOLD


@kernel
def has_risen(beliefs: Array, line: int, reward: float, foreseen: float, counts: bool) -> bool:
    """The same for a label that was tried beside the greedy one, and odds that have risen; the sum grows only
    if it counts yet. What is found makes the label begin anew.
    """
    belief = beliefs[line]
    expected = expected_reward(foreseen, belief[TRIED_EXCESS])
    belief[TRIED] += 1.0
    belief[TRIED_EXCESS] += (reward - foreseen - belief[TRIED_EXCESS]) / (belief[TRIED] + CAUTION)
    if counts:
        belief[RISE] = max(0.0, belief[RISE] + evidence(reward, expected, 1.0 / LARGE_RISE))
    if belief[RISE] <= LEAST_RISE:
        return False
    belief[RISE] = 0.0
    return True


@kernel
def note_change(model: Any, label: float) -> None:
    """Write down when and on whose rewards a change was noticed; the test begins anew."""
    counts, noted = model.learned.counts, model.watch.noted
    at = counts.changes % MOST_NOTED
    noted[at, VERDICTS], noted[at, LABEL] = counts.verdicts, label
    counts.changes += 1
    counts.began = counts.verdicts
    model.watch.beliefs[:, :] = 0.0
