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
from banditboost.io.header import MOST_ROUNDS
from banditboost.io.values import demand
from banditboost.memo import GREEDY, LEAST_PROBABILITY, PROBABILITY, SHOWN
from banditboost.types import Array, Record

WINDOW = 1000
HEARD, EXPLORED = 0, 1  # verdicts; those on another label than the greedy one
# Of verdicts on greedy labels, which came with probability p: sums of 1 / p, of 1 / p where right, and of 1 /
# p^2.
INVERSE, RIGHT_INVERSE, SQUARES = 2, 3, 4
RECENT = 5
BY_LABEL = RECENT + 2 * WINDOW
_ROUNDING = 1e-6  # sums of many numbers may be off by this share


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
    _check_sums(sums)
    recent = take_array(arrays, "recent", np.float64, (min(int(heard), WINDOW), 2))
    _check_recent(recent, sums, by_label)
    return np.concatenate([sums, recent.ravel(), np.zeros(2 * (WINDOW - len(recent))), by_label.ravel()])


def _check_sums(sums: Array) -> None:
    """Each verdict on a greedy label adds 1 / p >= 1, and the square of it."""
    greedy, inverse, squares = sums[HEARD] - sums[EXPLORED], sums[INVERSE], sums[SQUARES]
    _demand(greedy <= inverse <= greedy / LEAST_PROBABILITY and 0.0 <= sums[RIGHT_INVERSE] <= inverse)
    _demand(inverse <= squares <= inverse * inverse * (1.0 + _ROUNDING))


def _check_recent(recent: Array, sums: Array, by_label: Array) -> None:
    """The latest verdicts are among all."""
    codes, probability = recent.T
    _demand(_are_counts(codes) and np.all(codes < 4 * len(by_label)))
    _demand(np.all((probability >= LEAST_PROBABILITY) & (probability <= 1.0)))
    shown = codes.astype(np.int64) // 4
    _demand(np.all(np.bincount(shown, minlength=len(by_label)) <= by_label[:, 0]))
    _demand(np.all(np.bincount(shown, codes % 2, len(by_label)) <= by_label[:, 1]))
    _demand(np.sum(codes % 4 >= 2) <= sums[EXPLORED])


def _are_counts(numbers: Array) -> Any:
    return np.all((numbers >= 0.0) & (numbers == np.floor(numbers)) & (numbers <= 2 * MOST_ROUNDS))


def _demand(good: Any) -> None:
    demand(good, "the tally of verdicts is not possible")
