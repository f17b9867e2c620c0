"""How a model has done so far: for each label how often it was shown and right, what exploring cost, and the latest verdicts.

One array of numbers, since each further array that Python hands to a kernel costs time in every round:

    HEARD to SQUARES                               sums over all verdicts
    2 x WINDOW numbers from RECENT on              verdict number i (from 0) at i mod WINDOW: what was heard, and with what probability
    2 x k numbers from BY_LABEL on                 of each label: verdicts heard when it was shown, and right ones among them
"""

from __future__ import annotations

from banditboost.kernels.compile import entry, njit
from banditboost.kernels.layout import GREEDY, PROBABILITY, SHOWN, Array

WINDOW = 1000
HEARD, EXPLORED = 0, 1  # verdicts; those on another label than the greedy one
# Of verdicts on greedy labels, which came with probability p: sums of 1 / p, of 1 / p where right, and of 1 / p^2.
INVERSE, RIGHT_INVERSE, SQUARES = 2, 3, 4
RECENT = 5
BY_LABEL = RECENT + 2 * WINDOW


@njit
def note_verdict(settings: Array, tally: Array, memo: Array, outcome: int) -> None:
    """Count a verdict that was just learned: `outcome` is 0 or 1, or with full information the right label."""
    shown, probability = int(memo[SHOWN]), memo[PROBABILITY]
    right = outcome == shown if settings[0]["full_information"] != 0 else outcome != 0
    explored = shown != int(memo[GREEDY])
    if explored:
        tally[EXPLORED] += 1.0
    else:
        tally[INVERSE] += 1.0 / probability
        tally[RIGHT_INVERSE] += (1.0 if right else 0.0) / probability
        tally[SQUARES] += 1.0 / (probability * probability)
    at = RECENT + 2 * (int(tally[HEARD]) % WINDOW)
    tally[at] = 4 * shown + (2 if explored else 0) + (1 if right else 0)
    tally[at + 1] = probability
    tally[HEARD] += 1.0
    tally[BY_LABEL + 2 * shown] += 1.0
    tally[BY_LABEL + 2 * shown + 1] += 1.0 if right else 0.0


@entry
def note_once(settings: Array, tally: Array, memo: Array, outcome: int) -> None:
    note_verdict(settings, tally, memo, outcome)
