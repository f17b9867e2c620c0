"""Room for the regressions of GapBoost, two for each label with a chain, where rows are narrow enough.

See docs/gapboost.md.
"""

from __future__ import annotations

import numpy as np

from banditboost.boosting.gap.state import GapLayout, Regressions
from banditboost.types import Array

MOST_PRODUCTS = (
    1 << 19
)  # of two features of a row, for all labels: about as many multiplications as a decision makes
WIDEST = 256  # slots of a wide regression: a lesson takes twice as many multiplications as their square
LATE = 8  # rows that a wide regression learns together: its inverse is larger than caches
_BYTES_FOR_A_NUMBER = 64  # of the memory ceiling: inverses of either kind take an eighth of it at most


def narrow_slots(spans: Array, n_columns: int, n_labels: int, max_memory: int) -> int:
    """Rows and columns of an inverse on stage 1; 0 if there are to be none."""
    quick = n_labels * (n_columns + 1) * (n_columns + 1) <= MOST_PRODUCTS
    return if_small(int(spans["room"][0]), n_labels, max_memory) if quick else 0


def joint_slots(layout: GapLayout, n_columns: int, max_memory: int) -> int:
    """Rows and columns of the inverse over contexts and options; 0 if there is to be none."""
    if layout.reads[0] == 1:
        return narrow_slots(layout.spans, n_columns, 1, max_memory)
    return if_small(int(layout.spans["room"][:2].sum()), 1, max_memory)


def wide_slots(spans: Array, n_labels: int, max_memory: int) -> int:
    """Rows and columns of an inverse on stages 1 and 2; 0 if there are to be none, as where slots of stage 2
    are shared.
    """
    n_slots = int(spans["needed"][:2].sum())
    fits = n_slots <= WIDEST and spans["needed"][1] == spans["room"][1]
    return if_small(n_slots, n_labels, max_memory) if fits else 0


def if_small(n_slots: int, n_labels: int, max_memory: int) -> int:
    """So many slots, if inverses of that size are a small part of the memory; else 0."""
    return n_slots if n_labels * n_slots * n_slots <= max_memory // _BYTES_FOR_A_NUMBER else 0


def ridge_room(n_groups: int, slots: int, n_late: int, prior: Array | None = None) -> Regressions:
    """Regressions that have seen nothing: their inverses are unit matrices, or have this diagonal."""
    inverse = np.zeros((n_groups, slots, slots))
    inverse[:, np.arange(slots), np.arange(slots)] = 1.0 if prior is None else prior[:slots]
    late, shares = np.zeros((n_groups, n_late, slots)), np.zeros((n_groups, n_late))
    return Regressions(inverse, np.zeros((n_groups, slots)), late, shares)


def with_more(given: Regressions, most: int, prior: Array | None = None) -> Regressions:
    """Room for twice as many groups, up to so many."""
    n = len(given.weights)
    made = ridge_room(min(max(1, 2 * n), most), given.weights.shape[1], given.shares.shape[1], prior)
    for more, before in zip(made, given, strict=True):
        more[:n] = before
    return made


def at_places(given: Regressions, places: Array, slots: int, prior: Array | None = None) -> Regressions:
    """Regressions in which slot i has become places[i]; without any if slots is 0.

    Slots that have gone (-1, or beyond the last one) are left out: what is left of an inverse says how unsure
    the other weights are, whatever those are.
    """
    places = places[: given.weights.shape[1]]
    kept = np.flatnonzero((places >= 0) & (places < slots))
    if slots and len(kept) < len(places):
        inverse = given.inverse[:, kept[:, None], kept]
        given = Regressions(inverse, given.weights[:, kept], given.late[:, :, kept], given.shares)
        places = places[kept]
    made = ridge_room(len(given.weights), slots, given.shares.shape[1], prior)
    n = given.weights.shape[1]
    if slots and np.array_equal(places[:n], np.arange(n)):  # only the last ones are new
        made.inverse[:, :n, :n] = given.inverse
    elif slots:
        made.inverse[:, places[:n, None], places[:n]] = given.inverse
    if slots:
        made.weights[:, places[:n]], made.late[:, :, places[:n]] = given.weights, given.late
        made.shares[:] = given.shares
    return made
