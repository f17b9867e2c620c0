"""The tally of a model (banditboost.kernels.tally says what is in it): a new one, and one that was stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.kernels.tally import BY_LABEL, EXPLORED, INVERSE, RECENT, RIGHT_INVERSE, WINDOW

Array = np.ndarray[Any, Any]
_LARGEST = 1e300


def empty_tally(n_labels: int) -> Array:
    return np.zeros(BY_LABEL + 2 * n_labels)


def arrays_of(tally: Array, verdicts: int) -> dict[str, Array]:
    """What a file keeps of it: of the window only what is in use."""
    recent = tally[RECENT:BY_LABEL].reshape(WINDOW, 2)[: min(verdicts, WINDOW)]
    return {"tally": tally[:RECENT].copy(), "by_label": tally[BY_LABEL:].reshape(-1, 2).copy(), "recent": recent.copy()}


def stored_tally(arrays: dict[str, Array], n_labels: int, verdicts: int) -> Array:
    """The tally in `arrays`, if it could be that of a model after so many verdicts."""
    sums = take_array(arrays, "tally", np.float64, (RECENT,))
    by_label = take_array(arrays, "by_label", np.float64, (n_labels, 2))
    recent = take_array(arrays, "recent", np.float64, (min(verdicts, WINDOW), 2))
    codes, probability = recent[:, 0], recent[:, 1]
    counts = np.concatenate([by_label.ravel(), codes, sums[:1]])
    whole = np.all((counts >= 0.0) & (counts == np.floor(counts)) & (counts < _LARGEST))
    counted = by_label[:, 0].sum() == verdicts and np.all(by_label[:, 1] <= by_label[:, 0]) and sums[EXPLORED] <= verdicts
    possible = np.all(codes < 4 * n_labels) and np.all((probability > 0.0) & (probability <= 1.0))
    summed = np.all((sums >= 0.0) & (sums < _LARGEST)) and sums[RIGHT_INVERSE] <= sums[INVERSE]
    if not (whole and counted and possible and summed):
        raise UnreadableError("the tally of verdicts is not possible; load an intact copy")
    return np.concatenate([sums, recent.ravel(), np.zeros(2 * (WINDOW - len(recent))), by_label.ravel()])
