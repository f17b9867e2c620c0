"""The tally of a model (banditboost.kernels.tally says what is in it): a new one, and one that was stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.kernels.tally import BY_LABEL, EXPLORED, HEARD, INVERSE, RECENT, RIGHT_INVERSE, WINDOW

Array = np.ndarray[Any, Any]
_LARGEST = 1e300


def empty_tally(n_labels: int) -> Array:
    return np.zeros(BY_LABEL + 2 * n_labels)


def arrays_of(tally: Array) -> dict[str, Array]:
    """What a file keeps of it: of the window only what is in use."""
    recent = tally[RECENT:BY_LABEL].reshape(WINDOW, 2)[: int(tally[HEARD])]
    return {"tally": tally[:RECENT].copy(), "by_label": tally[BY_LABEL:].reshape(-1, 2).copy(), "recent": recent.copy()}


def stored_tally(arrays: dict[str, Array], n_labels: int, verdicts: int) -> Array:
    """The tally in `arrays`, if it could be that of a model after so many verdicts (fewer are counted if a weak learner failed at some)."""
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
