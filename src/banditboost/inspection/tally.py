"""How a model has done so far: for each label how often it was shown and right, what exploring cost, and the
latest verdicts.

One array of numbers:

    HEARD to SQUARES                    sums over all verdicts
    2 x WINDOW numbers from RECENT on   verdict number i (from 0) at i mod WINDOW: what was heard, and with
                                        what probability
    2 x k numbers from BY_LABEL on      of each label: verdicts heard when it was shown, and right ones
"""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.compiled.compile import kernel
from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.memo import GREEDY, PROBABILITY, SHOWN
from banditboost.types import Array, Record

WINDOW = 1000
HEARD, EXPLORED = 0, 1  # verdicts; those on another label than the greedy one
# Of verdicts on greedy labels, which came with probability p: sums of 1 / p, of 1 / p where right, and of 1 /
# p^2.
INVERSE, RIGHT_INVERSE, SQUARES = 2, 3, 4
RECENT = 5
BY_LABEL = RECENT + 2 * WINDOW
_LARGEST = 1e300


@kernel
def note_verdict(settings: Record, tally: Array, memo: Array, feedback: int) -> None:
    """Count a verdict that was just learned. `feedback` is 0 or 1; with full information the right label."""
    shown, probability = int(memo[SHOWN]), memo[PROBABILITY]
    right = feedback == shown if settings.full_information != 0 else feedback != 0
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


def empty_tally(n_labels: int) -> Array:
    return np.zeros(BY_LABEL + 2 * n_labels)


def arrays_of(tally: Array) -> dict[str, Array]:
    """What a file keeps of it: of the window only what is in use."""
    recent = tally[RECENT:BY_LABEL].reshape(WINDOW, 2)[: int(tally[HEARD])]
    return {
        "tally": tally[:RECENT].copy(),
        "by_label": tally[BY_LABEL:].reshape(-1, 2).copy(),
        "recent": recent.copy(),
    }


def stored_tally(arrays: dict[str, Array], n_labels: int, verdicts: int) -> Array:
    """The tally in `arrays`, if it could be that of a model after so many verdicts (fewer are counted if a
    weak learner failed at some).
    """
    sums = take_array(arrays, "tally", np.float64, (RECENT,))
    by_label = take_array(arrays, "by_label", np.float64, (n_labels, 2))
    heard = float(by_label[:, 0].sum())
    _demand(_are_counts(by_label) and np.all(by_label[:, 1] <= by_label[:, 0]))
    _demand(heard == sums[HEARD] <= verdicts and _are_counts(sums[:INVERSE]) and sums[EXPLORED] <= heard)
    _demand(np.all((sums >= 0.0) & (sums < _LARGEST)) and sums[RIGHT_INVERSE] <= sums[INVERSE])
    recent = take_array(arrays, "recent", np.float64, (min(int(heard), WINDOW), 2))
    _demand(_are_counts(recent[:, 0]) and np.all(recent[:, 0] < 4 * n_labels))
    _demand(np.all((recent[:, 1] > 0.0) & (recent[:, 1] <= 1.0)))
    return np.concatenate([sums, recent.ravel(), np.zeros(2 * (WINDOW - len(recent))), by_label.ravel()])


def _are_counts(numbers: Array) -> Any:
    return np.all((numbers >= 0.0) & (numbers == np.floor(numbers)) & (numbers < _LARGEST))


def _demand(good: Any) -> None:
    if not good:
        raise UnreadableError("the tally of verdicts is not possible; load an intact copy")
