"""Learning curves that begin at the beginning: the window grows until it has its full width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from banditboost.errors import ParameterError
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_number

_POINTS = 200
_FIRST_SHARE = 0.01  # of the stream: a mean over fewer rounds shows chance alone


def on_common_rounds(curves: Sequence[Mapping[str, Any]]) -> tuple[list[float], list[list[float]]]:
    """The rounds that all of some curves have, and the accuracies of each there.

    Records of earlier versions have curves that begin where the window has its full width. From there on
    those of today are the same, at other rounds.

    >>> late, early = {"round": [2, 4], "accuracy": [0.5, 1.0]}, {"round": [1, 3, 5], "accuracy": [0, 0.5, 1]}
    >>> on_common_rounds([late, early])
    ([2, 4], [[0.5, 1.0], [0.25, 0.75]])
    """
    rounds = max((list(curve["round"]) for curve in curves), key=lambda shown: shown[0])
    return rounds, [
        list(curve["accuracy"])
        if list(curve["round"]) == rounds
        else np.interp(rounds, curve["round"], curve["accuracy"]).tolist()
        for curve in curves
    ]


def growing_curve(correct: Array, window: float) -> dict[str, Any]:
    """Accuracy over the last `window` share of the stream, or over all rounds so far while these are fewer.

    Args:
        correct: bool[rounds], whether the label that was shown was right.
        window: a share of the stream.

    >>> growing_curve(np.array([False, True, True, True]), window=0.5)["accuracy"]
    [0.0, 0.5, 1.0, 1.0]
    """
    if not isinstance(correct, np.ndarray) or correct.ndim != 1 or correct.dtype != bool or not len(correct):
        raise ParameterError(f"correct is {quoted(correct)}; give an array of bools, one for each round")
    check_number("window", window, 0.0, 1.0, open_low=True, hint="a share of the stream")
    rounds = len(correct)
    width = max(1, int(window * rounds))
    first = max(1, round(_FIRST_SHARE * rounds))
    shown = np.unique(np.linspace(first, rounds, _POINTS).round().astype(np.int64))
    sums = np.concatenate([[0], np.cumsum(correct)])
    begun = np.maximum(0, shown - width)
    accuracy = (sums[shown] - sums[begun]) / (shown - begun)
    return {"window": window, "grows": True, "round": shown.tolist(), "accuracy": accuracy.tolist()}
