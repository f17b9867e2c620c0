"""Products of two columns of the context and one of options, for the wide regression of OptionBoost.

docs/optionboost.md says what they are for. They are few: all of them, or none.
"""

from __future__ import annotations

import numpy as np

from banditboost.boosting.gap.state import TRIPLE
from banditboost.types import Array

WIDEST_JOINT = 1_024  # slots of a regression of contexts, options and their products


def pairs_of_context(numeric: Array, widths: Array, context: Array) -> tuple[Array, Array, Array]:
    """First and second columns of all pairs of these columns, and how many slots each pair has.

    They come by their second column, then by the first; a number has a pair with itself, with one slot.
    """
    second, first = np.nonzero(np.tri(len(context), dtype=np.bool_))
    kept = (first != second) | numeric[context[first]]
    first, second = context[first[kept]], context[second[kept]]
    return first, second, np.where(first == second, 1, widths[first] * widths[second])


def triples_of(numeric: Array, widths: Array, of_options: Array, n_before: int) -> Array:
    """All of them, if the regression has room for their slots after so many others; else none."""
    context, own = np.flatnonzero(~of_options), np.flatnonzero(of_options)
    if len(context) > WIDEST_JOINT or len(own) > WIDEST_JOINT:
        return np.zeros(0, TRIPLE)
    first, second, slots = pairs_of_context(numeric, widths, context)
    needed = slots[:, np.newaxis] * widths[own]
    if n_before + int(needed.sum()) > WIDEST_JOINT:
        return np.zeros(0, TRIPLE)
    made = np.zeros(needed.size, TRIPLE)
    made["first"], made["second"] = np.repeat(first, len(own)), np.repeat(second, len(own))
    made["third"], ends = np.tile(own, len(first)), np.cumsum(needed)
    made["slot"] = ends - needed.ravel()
    return made


def n_slots_of(triples: Array, widths: Array) -> int:
    """How many slots they have in all."""
    return int(_shapes(triples, widths).prod(axis=1).sum())


def _shapes(triples: Array, widths: Array) -> Array:
    """Values of each one's first, second and third column; those of a number with itself are 1, 1, ..."""
    return np.column_stack([widths[triples[side]] for side in ("first", "second", "third")])


def new_triple_places(before: Array, widths: Array, after: Array, new_widths: Array) -> Array:
    """Where each slot moves when columns or values have joined; -1 if it goes."""
    places = np.full(n_slots_of(before, widths), -1)
    known = {(one["first"], one["second"], one["third"]): one["slot"] for one in after}
    shapes = _shapes(before, widths)
    for one, shape in zip(before, shapes, strict=True):
        start = known.get((one["first"], one["second"], one["third"]))
        if start is not None:
            steps = _shapes(np.array([one]), new_widths)[0]
            i, j, k = np.indices(tuple(shape)).reshape(3, -1)
            places[one["slot"] + np.arange(shape.prod())] = start + (i * steps[1] + j) * steps[2] + k
    return places
