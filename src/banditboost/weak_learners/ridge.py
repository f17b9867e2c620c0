"""Room for the regressions of GapBoost, two for each label with a chain, where rows are narrow enough. See docs/gapboost.md."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
MOST_PRODUCTS = 1 << 19  # of two features of a row, for all labels: about as many multiplications as a decision makes
WIDEST = 256  # slots of a wide regression: a lesson takes twice as many multiplications as their square
_BYTES_FOR_A_NUMBER = 64  # of the memory ceiling: inverses of either kind take an eighth of it at most


def narrow_slots(spans: Array, n_columns: int, n_labels: int, max_memory: int) -> int:
    """Rows and columns of an inverse on stage 1; 0 if there are to be none."""
    quick = n_labels * (n_columns + 1) * (n_columns + 1) <= MOST_PRODUCTS
    return _if_small(int(spans["room"][0]), n_labels, max_memory) if quick else 0


def wide_slots(spans: Array, n_labels: int, max_memory: int) -> int:
    """The same on stages 1 and 2, unless slots of stage 2 are shared."""
    n_slots = int(spans["needed"][:2].sum())
    fits = n_slots <= WIDEST and spans["needed"][1] == spans["room"][1]
    return _if_small(n_slots, n_labels, max_memory) if fits else 0


def _if_small(n_slots: int, n_labels: int, max_memory: int) -> int:
    return n_slots if n_labels * n_slots * n_slots <= max_memory // _BYTES_FOR_A_NUMBER else 0


def ridge_room(n_groups: int, slots: int) -> tuple[Array, Array]:
    """Inverses and weights of regressions that have seen nothing."""
    inverse = np.zeros((n_groups, slots, slots))
    inverse[:, np.arange(slots), np.arange(slots)] = 1.0
    return inverse, np.zeros((n_groups, slots))


def with_more(inverse: Array, weights: Array, most: int) -> tuple[Array, Array]:
    """Room for twice as many groups, up to so many."""
    inverse_of_all, weights_of_all = ridge_room(min(max(1, 2 * len(weights)), most), weights.shape[1])
    inverse_of_all[: len(weights)], weights_of_all[: len(weights)] = inverse, weights
    return inverse_of_all, weights_of_all


def at_places(inverse: Array, weights: Array, places: Array, slots: int) -> tuple[Array, Array]:
    """The same regressions where slot i has become places[i]; without any if slots is 0."""
    new_inverse, new_weights = ridge_room(len(weights), slots)
    if slots:
        places = places[: weights.shape[1]]
        new_inverse[:, places[:, None], places] = inverse
        new_weights[:, places] = weights
    return new_inverse, new_weights
