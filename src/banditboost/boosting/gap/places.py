"""The places that names and words share in GapBoost's first stage: weights, and what was learned there.

There are none until something shares them. Memory is taken place by place as they are written to, and files
keep only those.
"""

from __future__ import annotations

import copy
import math
from typing import Self

import numpy as np

from banditboost.boosting.gap.chain import LEAST_NORM, LINEAR_STEP
from banditboost.boosting.gap.experts import MEMORY
from banditboost.boosting.gap.layout import MOST_BIN_PAIRS, MOST_PAIRS, most_places
from banditboost.boosting.gap.state import FARTHEST, LANES, PLACE
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.rows.plain import LARGEST
from banditboost.rows.sharing import MOST_WORDS, SHARED
from banditboost.types import Array

_ROUNDING = 1e-6  # sums of many numbers may be off by this share


class SharedPlaces:
    """Weights of names and words, [2, blocks, places, lanes], a PLACE for each, and the recent claims of
    all: how many there were, and how many were right. It is never changed, but by compiled code: what would
    change it makes another one.
    """

    def __init__(self, n_labels: int, max_memory: int) -> None:
        self._max_memory = max_memory
        self._n_labels = n_labels
        self.weights = np.zeros((2, 0, 0, LANES))
        self.places = np.zeros(0, PLACE)
        self.claims = np.zeros(2)

    def _with(self, weights: Array, places: Array) -> Self:
        made = copy.copy(self)
        made.weights, made.places = weights, places
        return made

    def opened(self) -> Self:
        """With places, if there are none."""
        n_places = most_places(self._n_labels, self._max_memory)
        if len(self.places):
            return self
        return self._with(np.zeros((2, self.weights.shape[1], n_places, LANES)), np.zeros(n_places, PLACE))

    def with_blocks(self, n_blocks: int) -> Self:
        """With weights for so many blocks of labels."""
        weights = np.zeros((2, n_blocks, len(self.places), LANES))
        if self.weights.shape[1]:
            used = np.flatnonzero(self.places["count"])
            weights[:, : self.weights.shape[1], used] = self.weights[:, :, used]
        return self._with(weights, self.places)

    def for_labels(self, n_labels: int) -> Self:
        """For so many labels: places may become fewer. Of two that become one, a label keeps the one that has
        learned most.
        """
        made = self._with(self.weights, self.places)
        made._n_labels = n_labels
        n_places = most_places(n_labels, self._max_memory)
        while len(made.places) > n_places:
            made = made._halved()
        return made

    def _halved(self) -> Self:
        half = len(self.places) // 2
        (low, high), squares = np.split(self.weights, 2, axis=2), self.weights[1]
        more = squares[:, half:] > squares[:, :half]
        places = self.places[:half].copy()
        for field in ("count", "squares", "right", "expected"):
            places[field] += self.places[half:][field]
        places["name"] = np.maximum(places["name"], self.places[half:]["name"])
        return self._with(np.where(more, high, low), places)

    @property
    def largest_size(self) -> int:
        """Bytes once every label has a chain, and every place is in use."""
        return len(self.places) * (2 * 8 * LANES * -(-self._n_labels // LANES) + PLACE.itemsize)

    @property
    def memory_usage(self) -> int:
        return int(self.weights.nbytes + self.places.nbytes)

    # Files

    def arrays(self) -> dict[str, Array]:
        """What a file keeps: the places that were written to."""
        if not len(self.places):
            return {}
        used = np.flatnonzero(self.places["count"])
        return {
            "shared_places": used,
            "shared_values": np.stack([self.places[field][used] for field in PLACE.names or ()]),
            "shared_weights": self.weights[:, :, used],
            "shared_claims": self.claims,
        }

    def restored(self, arrays: dict[str, Array], n_blocks: int, n_groups: int, verdicts: int) -> Self:
        """Go on from stored arrays, after a look at each."""
        if not len(self.places):
            return self.with_blocks(n_blocks)
        used = take_array(arrays, "shared_places", np.int64, (None,))
        values = take_array(arrays, "shared_values", np.float64, (None, len(used)))
        demand(len(values) in (2, 3, 5), "the values of shared places are not five for each")
        # Saved when any name counted, or before there were claims: both begin from then on.
        values = np.concatenate([values, np.zeros((5 - len(values), len(used)))])
        claims = (
            take_array(arrays, "shared_claims", np.float64, (2,))
            if "shared_claims" in arrays
            else self.claims
        )
        weights = take_array(arrays, "shared_weights", np.float64, (2, n_blocks, len(used), LANES))
        increasing = bool(np.all(np.diff(used) > 0)) and bool(np.all((used >= 0) & (used < len(self.places))))
        demand(increasing, "the places that words share are not in order")
        _check_values(values, verdicts)
        _check_claims(claims, verdicts)
        _check_names(values[2], used, len(self.places))
        _check_weights(weights, n_groups, verdicts)
        made = self.with_blocks(n_blocks)
        made.claims = claims.copy()
        made.weights[:, :, used] = weights
        for field, column in zip(PLACE.names or (), values, strict=True):
            made.places[field][used] = column
        return made


def _check_values(values: Array, verdicts: int) -> None:
    """Of one row all words may share a place, and each has a weight that is not too large."""
    count, squares, _, right, expected = values
    whole = (count == np.floor(count)) & (count > 0.0) & (count <= 2.0 * MOST_WORDS * verdicts)
    demand(whole, "a count of a shared place is out of range")
    most = LARGEST * LARGEST * (1.0 + _ROUNDING) * count
    demand((squares >= 0.0) & (squares <= most), "the squares of a shared place are out of range")
    for claims in (right, expected):  # each was learned there
        demand(
            (claims >= 0.0) & (claims <= count * (1.0 + _ROUNDING)),
            "the claims of a shared place are out of range",
        )


def _check_claims(claims: Array, verdicts: int) -> None:
    """Of a row each word makes one claim at most, and some of them are right."""
    n_claims, n_right = claims
    most = 2.0 * MOST_WORDS * min(MEMORY, verdicts) * (1.0 + _ROUNDING)
    demand(0.0 <= n_claims <= most, "the number of recent claims is out of range")
    demand(0.0 <= n_right <= n_claims * (1.0 + _ROUNDING), "the number of right claims is out of range")


def _check_names(names: Array, used: Array, n_places: int) -> None:
    """A name is at the place that its number says; 0 if only words were learned there."""
    whole = (names == 0.0) | ((names >= SHARED) & (names < 2 * SHARED) & (names == np.floor(names)))
    demand(whole, "a name of a shared place is out of range")
    demand((names == 0.0) | (names.astype(np.int64) % n_places == used), "a name is not at its place")


def _check_weights(weights: Array, n_groups: int, verdicts: int) -> None:
    """As those of the stages (stored.py): a step moves a weight by its rate at most."""
    longest = 2 * MOST_WORDS + MOST_PAIRS + MOST_BIN_PAIRS
    most = verdicts * LINEAR_STEP / math.sqrt(LEAST_NORM) * longest * (1.0 + _ROUNDING)
    values, squares = weights
    demand(np.abs(values) <= most, "a weight of a shared place is out of range")
    error = 1.0 + longest * FARTHEST * FARTHEST * most
    largest = verdicts * longest * (error * FARTHEST * FARTHEST) ** 2
    demand((squares >= 0.0) & (squares <= largest), "a sum of squares of a shared place is out of range")
    demand((squares > 0.0) | (values == 0.0), "a shared weight has changed without a gradient")
    lanes = np.arange(weights.shape[1] * LANES).reshape(-1, 1, LANES)
    demand((lanes < n_groups) | (squares == 0.0), "a chain that was not made has learned")
