"""What is special to an id: how much better or worse than its score options with this id have done, shrunken
towards 0.

Ids have places by their numbers. If two have one place, it belongs to the one that was learned there last,
which begins anew.
"""

from __future__ import annotations

import numpy as np

from banditboost.boosting.gap.options.state import OWN
from banditboost.compiled.compile import inlined
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.types import Array

SHRINKAGE = 20.0  # verdicts that nothing was special in, before the first
MOST_IDS = 1 << 17  # places: 3 MiB
_MEMORY_SHARE = 64  # part of the ceiling, about
_BYTES = 24  # of a place, as they were before lines had rooms: files tell places by their number
_ROUNDING = 1e-6
_KEPT = ("count", "sum", "name")


def places_for(max_memory: int) -> int:
    """How many places there are: a power of two."""
    affordable = max_memory // (_MEMORY_SHARE * _BYTES)
    return min(MOST_IDS, 1 << (affordable.bit_length() - 1))


@inlined
def place_of(own: Array, number: float) -> int:
    """Where an id is; -1 if its place keeps another one, or it has no number."""
    if number < 0.0:
        return -1
    place = int(number) & (own.size - 1)
    return place if own[place]["name"] == number and own[place]["count"] > 0.0 else -1


@inlined
def mean_missed(own: Array, number: float) -> float:
    """What scores of an id have missed in the mean, shrunken."""
    place = place_of(own, number)
    if place < 0:
        return 0.0
    mean: float = own[place]["sum"] / (own[place]["count"] + SHRINKAGE)
    return mean


@inlined
def note_own(own: Array, number: float, missed: float) -> None:
    """Let an id learn what its score has missed."""
    if number < 0.0:
        return
    place = own[int(number) & (own.size - 1)]
    if place["name"] != number:
        place["name"], place["count"], place["sum"] = number, 0.0, 0.0
    place["count"] += 1.0
    place["sum"] += missed


def arrays_of(own: Array) -> dict[str, Array]:
    """What a file keeps: the places that were written to."""
    used = np.flatnonzero(own["count"])
    return {"own_places": used, "own_values": np.stack([own[field][used] for field in _KEPT])}


def stored_own(arrays: dict[str, Array], n_places: int, verdicts: int) -> Array:
    """Those of a file, after a look at each: what a score in [-1, 1] misses is 2 at most."""
    used = take_array(arrays, "own_places", np.int64, (None,))
    values = take_array(arrays, "own_values", np.float64, (3, len(used)))
    count, total, name = values
    in_order = bool(np.all(np.diff(used) > 0)) and bool(np.all((used >= 0) & (used < n_places)))
    demand(in_order, "the places of ids are not in order")
    demand((count >= 1.0) & (count == np.floor(count)), "a count of an id is out of range")
    demand(float(count.sum()) <= verdicts, "the counts of ids are not those of the verdicts")
    demand(np.abs(total) <= 2.0 * count * (1.0 + _ROUNDING), "a sum of an id is out of range")
    demand((name >= 0.0) & (name < 2.0**32) & (name == np.floor(name)), "the number of an id is out of range")
    demand(name.astype(np.int64) % n_places == used, "an id is not at its place")
    made = np.zeros(n_places, OWN)
    for field, column in zip(_KEPT, values, strict=True):
        made[field][used] = column
    return made
