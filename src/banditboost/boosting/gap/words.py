"""Names without a place of their own, and words: their part of the first stage, and what is learned of them.

See docs/gapboost.md. They share places by a hash. A word counts for more if its claims were right more
often than those of others, whatever label they were for.
"""

from __future__ import annotations

import math
from typing import Any

from banditboost.boosting.gap.experts import MEMORY
from banditboost.boosting.gap.state import FARTHEST, LANES, LEAST_VARIANCE
from banditboost.compiled.compile import inlined, kernel
from banditboost.rows.features import NOMINAL, WORD
from banditboost.rows.sharing import SHARED
from banditboost.types import Array

DOUBT = 2.0  # right claims that a word begins with, as many as expected: so few tell next to nothing


@inlined
def weigh(place: Any, weight: float) -> float:
    """The weight of a word in units of the root mean square at its place, times what its claims are worth."""
    unit = abs(weight)
    if place["squares"] > place["count"] * LEAST_VARIANCE:
        unit = math.sqrt(place["squares"] / place["count"])
    trust = (place["right"] + DOUBT) / (place["expected"] + DOUBT)
    z: float = trust * trust * (weight / unit) if unit > 0.0 else 0.0
    return min(max(z, -FARTHEST), FARTHEST)


@inlined
def list_shared(model: Any, x: Array) -> int:
    """Stage 1, what comes first: names without a place of their own, and words.

    A name counts if it was the last one that was learned at its place. So one that never comes again, such as
    an id, takes no part of a lesson that others would learn more from.
    """
    features, places, slots, values = (
        model.features,
        model.learned.places,
        model.scratch.slots,
        model.scratch.values,
    )
    if places.size == 0:
        return 0
    n = 0
    for c in range(features.size):
        kind = features[c]["kind"]
        if kind == NOMINAL and x[c] >= SHARED:
            slots[n], values[n] = int(x[c]) & (places.size - 1), 1.0
            n += 1 if places[slots[n]]["name"] == x[c] else 0
        elif kind == WORD and x[c] == x[c]:
            slots[n] = int(x[c]) & (places.size - 1)
            values[n] = weigh(places[slots[n]], x[c + 1])
            n += 1
    return n


@kernel
def note_claims(model: Any, group: int, reward: float) -> None:
    """Whose part of a label's score is above 0 claims the row for it. Count the claims that were right, place
    by place, and those that were expected to be: the share of all claims of late.
    """
    scratch, places, claims = model.scratch, model.learned.places, model.learned.claims
    if scratch.bounds[0] == 0:
        return
    weights, lane = model.learned.shared[0, group // LANES], group % LANES
    expected = claims[1] / claims[0] if claims[0] > 0.0 else 0.0
    claims[0] *= 1.0 - 1.0 / MEMORY
    claims[1] *= 1.0 - 1.0 / MEMORY
    for i in range(scratch.bounds[0]):
        slot = scratch.slots[i]
        if scratch.values[i] * weights[slot, lane] > 0.0:
            places[slot]["right"] += reward
            places[slot]["expected"] += expected
            claims[0] += 1.0
            claims[1] += reward


@kernel
def note_shared(features: Array, places: Array, x: Array) -> None:
    """Count what was learned at the places that names and words share."""
    if places.size == 0:
        return
    for c in range(features.size):
        kind = features[c]["kind"]
        if (kind == NOMINAL and x[c] >= SHARED) or (kind == WORD and x[c] == x[c]):
            weight = x[c + 1] if kind == WORD else 1.0
            place = places[int(x[c]) & (places.size - 1)]
            place["count"] += 1.0
            place["squares"] += weight * weight
            if kind == NOMINAL:
                place["name"] = x[c]
