"""Room for the ridge regressions of GapBoost, one for each label with a chain, where rows are narrow enough. See docs/gapboost.md."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
MOST_PRODUCTS = 1 << 19  # of two features of a row, for all labels: about as many multiplications as a decision makes
_BYTES_FOR_A_NUMBER = 64  # of the memory ceiling: inverses take an eighth of it at most


def ridge_slots(n_slots: int, n_columns: int, n_labels: int, max_memory: int) -> int:
    """Rows and columns of an inverse; 0 if there are to be none."""
    small = n_labels * n_slots * n_slots <= max_memory // _BYTES_FOR_A_NUMBER
    quick = n_labels * (n_columns + 1) * (n_columns + 1) <= MOST_PRODUCTS
    return n_slots if small and quick else 0


def ridge_room(n_groups: int, slots: int) -> dict[str, Array]:
    """Regressions that have seen nothing."""
    inverse = np.zeros((n_groups, slots, slots))
    inverse[:, np.arange(slots), np.arange(slots)] = 1.0
    return {"inverse": inverse, "ridge": np.zeros((n_groups, slots))}


def with_more(inverse: Array, ridge: Array, most: int) -> dict[str, Array]:
    """Room for twice as many groups, up to so many."""
    longer = ridge_room(min(max(1, 2 * len(ridge)), most), ridge.shape[1])
    longer["inverse"][: len(ridge)], longer["ridge"][: len(ridge)] = inverse, ridge
    return longer


def at_places(inverse: Array, ridge: Array, places: Array, slots: int) -> dict[str, Array]:
    """The same regressions where slot i has become places[i]; without any if slots is 0."""
    moved = ridge_room(len(ridge), slots)
    if slots:
        moved["inverse"][:, places[:, None], places] = inverse
        moved["ridge"][:, places] = ridge
    return moved
