"""Learning curves that begin at the beginning: the window grows until it has its full width."""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.types import Array

_POINTS = 200
_FIRST_SHARE = 0.01  # of the stream: a mean over fewer rounds shows chance alone


def growing_curve(correct: Array, window: float) -> dict[str, Any]:
    """Accuracy over the last `window` share of the stream, or over all rounds so far while these are fewer.

    Args:
        correct: bool[rounds], whether the label that was shown was right.
        window: a share of the stream.

    >>> growing_curve(np.array([False, True, True, True]), window=0.5)["accuracy"]
    [0.0, 0.5, 1.0, 1.0]
    """
    rounds = len(correct)
    width = max(1, int(window * rounds))
    first = max(1, round(_FIRST_SHARE * rounds))
    shown = np.unique(np.linspace(first, rounds, _POINTS).round().astype(np.int64))
    sums = np.concatenate([[0], np.cumsum(correct)])
    begun = np.maximum(0, shown - width)
    accuracy = (sums[shown] - sums[begun]) / (shown - begun)
    return {"window": window, "grows": True, "round": shown.tolist(), "accuracy": accuracy.tolist()}
