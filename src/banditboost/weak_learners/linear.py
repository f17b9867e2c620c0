"""The linear stages of GapBoost: which slots belong to which columns, and room for the weights. docs/gapboost.md says what they are for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.kernels.layout import NUMERIC
from banditboost.kernels.linear import BINS, COLUMN, LANES, MOVE, PAIR, SPAN, STAGES, Chains, move_weights, pair_draws
from banditboost.schema import Schema
from banditboost.weak_learners.features import feature_table
from banditboost.weak_learners.ridge import at_places, narrow_slots, ridge_room, wide_slots, with_more

Array = np.ndarray[Any, Any]
MOST_PAIRS = 4_096  # all pairs of up to 89 numeric columns; of more, as many are drawn
MOST_BIN_PAIRS = 400  # of at most 27 columns: drawn from more they did harm
MOST_SLOTS = 16_384  # of stage 2, and of stage 3, for each label: 256 KiB each
_MEMORY_SHARE = 0.5  # of the ceiling, for the slots of stages 2 and 3 of all labels
_BYTES_A_SLOT = 16  # a weight and a sum of squares
_MOST_MOVED = 1 << 22  # slots of a hashed stage; one that needs more begins anew when its slots move, since finding them would take seconds
_DRAWN_AT_ONCE = 1 << 20
_LARGEST = 1e300
REGRESSIONS = ("inverse", "ridge", "wide_inverse", "wide_ridge")


class Layout(NamedTuple):
    """Who has which slots."""

    columns: Array
    products: Array
    bins: Array
    spans: Array
    widths: Array  # slots of each column in stage 1, and of its share of a product
    bin_widths: Array  # the same in a pair of bins

    @property
    def n_slots(self) -> int:
        return int(self.spans["room"].sum())


def lay_out(schema: Schema, seed: int, most_slots: int) -> Layout:
    features = feature_table(schema)
    numeric = features["kind"] == NUMERIC
    widths = np.where(numeric, 1, features["n_values"]).astype(np.int64)
    bin_widths = np.where(numeric, BINS, features["n_values"]).astype(np.int64)
    columns = np.zeros(len(features), COLUMN)
    columns["slot"] = 1 + np.cumsum(widths) - widths
    products = _pairs(numeric, _chosen_numbers(_n_pairs_before(numeric)[-1], seed))
    products["slot"], needed = _slots(widths[products["first"]] * widths[products["second"]])
    bins = _bin_pairs(numeric)
    one_bin = np.where(bins["first"] == bins["second"], 1, bin_widths[bins["first"]])
    bins["slot"], bins_needed = _slots(one_bin * bin_widths[bins["second"]])
    spans = np.zeros(STAGES, SPAN)
    spans["needed"] = 1 + int(widths.sum()), needed, bins_needed
    spans["room"] = spans["needed"][0], min(needed, most_slots), min(bins_needed, most_slots)
    spans["start"] = np.cumsum(spans["room"]) - spans["room"]
    return Layout(columns, products, bins, spans, widths, bin_widths)


def _slots(sizes: Array) -> tuple[Array, int]:
    """Where each of these begins if they come one after the other, and how much that is in all."""
    ends = np.cumsum(sizes)
    return ends - sizes, int(ends[-1]) if len(ends) else 0


# Pairs i <= j are numbered by j, then i, so that those of columns that join come last. Nominal columns have no pair with themselves.


def _n_pairs_before(numeric: Array) -> Array:
    """How many pairs have a larger column before j = 0, 1, ..., d."""
    return np.concatenate([[0], np.cumsum(np.arange(len(numeric)) + numeric)])


def _pairs(numeric: Array, numbers: Array) -> Array:
    before = _n_pairs_before(numeric)
    pairs = np.zeros(len(numbers), PAIR)
    pairs["second"] = np.searchsorted(before, numbers, side="right") - 1
    pairs["first"] = numbers - before[pairs["second"]]
    return pairs


def _chosen_numbers(n_pairs: int, seed: int) -> Array:
    """All numbers of pairs, or those with the smallest keyed draws."""
    if n_pairs <= MOST_PAIRS:
        return np.arange(n_pairs)
    numbers, draws = np.zeros(0, np.int64), np.zeros(0)
    for first in range(0, n_pairs, _DRAWN_AT_ONCE):
        end = min(first + _DRAWN_AT_ONCE, n_pairs)
        numbers, draws = np.concatenate([numbers, np.arange(first, end)]), np.concatenate([draws, pair_draws(seed, first, end)])
        smallest = np.argsort(draws, kind="stable")[:MOST_PAIRS]
        numbers, draws = numbers[smallest], draws[smallest]
    return np.sort(numbers)


def _bin_pairs(numeric: Array) -> Array:
    """Pairs with a numeric column, unless these are too many."""
    n_numeric = int(numeric.sum())
    if n_numeric == 0 or n_numeric * (len(numeric) - n_numeric) + n_numeric * (n_numeric + 1) // 2 > MOST_BIN_PAIRS:
        return np.zeros(0, PAIR)
    pairs = _pairs(numeric, np.arange(_n_pairs_before(numeric)[-1]))
    with_numbers: Array = pairs[numeric[pairs["first"]] | numeric[pairs["second"]]]
    return with_numbers


def _moves(before: Layout, after: Layout) -> Array:
    """What has to be carried from one layout to the next; columns have only been added, and nominal values."""
    n_columns = len(before.columns)
    moves = np.zeros(1 + n_columns, MOVE)
    moves["rows"] = 1
    moves["width"][0] = moves["new_width"][0] = 1  # the constant
    moves["before"][1:], moves["after"][1:] = before.columns["slot"], after.columns["slot"][:n_columns]
    moves["width"][1:], moves["new_width"][1:] = before.widths, after.widths[:n_columns]
    products = _pair_moves(1, before.products, after.products, before.widths, after.widths)
    bins = _pair_moves(2, before.bins, after.bins, before.bin_widths, after.bin_widths)
    parts = (part for part, span in zip((products, bins), before.spans[1:], strict=True) if span["needed"] <= _MOST_MOVED)
    return np.concatenate([moves, *parts])


def _new_places(moves: Array, before: Layout, after: Layout) -> Array:
    """Of each slot of stages 1 and 2 that moves; only of use where slots are not shared."""
    places = np.zeros(int(before.spans["needed"][:2].sum()), np.int64)
    for move in moves[moves["stage"] < 2]:
        rows, codes = np.arange(move["rows"])[:, None], np.arange(move["width"])
        old = before.spans["start"][move["stage"]] + move["before"] + rows * move["width"] + codes
        places[old] = after.spans["start"][move["stage"]] + move["after"] + rows * move["new_width"] + codes
    return places


def _pair_moves(stage: int, before: Array, after: Array, widths: Array, new_widths: Array) -> Array:
    """Of the pairs that are in both layouts."""
    key, new_key = (pairs["second"] << 32 | pairs["first"] for pairs in (before, after))
    _, old, new = np.intersect1d(key, new_key, assume_unique=True, return_indices=True)
    moves = np.zeros(len(old), MOVE)
    moves["stage"] = stage
    moves["before"], moves["after"] = before["slot"][old], after["slot"][new]
    first, second = before["first"][old], before["second"][old]
    moves["rows"] = np.where(first == second, 1, widths[first])  # a column with itself has its own slots only
    moves["width"], moves["new_width"] = widths[second], new_widths[second]
    return moves


class LinearStages:
    """Layout and weights, grown by blocks of labels as they get their groups."""

    def __init__(self, n_labels: int, schema: Schema, seed: int, max_memory: int) -> None:
        self._schema = schema
        self._seed = seed
        self._max_memory = max_memory
        self._most_slots = _most_slots(n_labels, max_memory)
        self._layout = lay_out(schema, seed, self._most_slots)
        self._version = schema.version
        self.chains = Chains(
            groups=np.full(n_labels, -1, np.int64),
            weights=np.zeros((2, 0, self._layout.n_slots, LANES)),
            scores=np.zeros((STAGES, 0)),
            norms=np.zeros(STAGES),
            columns=self._layout.columns,
            **self._room_for_a_row(n_labels),
            probabilities=np.zeros(n_labels),
            **_regressions(*(ridge_room(0, slots) for slots in self._regression_slots(n_labels))),
        )

    def _regression_slots(self, n_labels: int) -> tuple[int, int]:
        """Of narrow and of wide ones."""
        spans = self._layout.spans
        narrow = narrow_slots(spans, len(self._layout.columns), n_labels, self._max_memory)
        return narrow, wide_slots(spans, n_labels, self._max_memory)

    def _room_for_a_row(self, n_labels: int) -> dict[str, Array]:
        """What depends on the layout, with no row in it."""
        d, length = len(self._layout.columns), 1 + sum(len(part) for part in self._layout[:3])
        narrow, wide = self._regression_slots(n_labels)
        return {
            "products": self._layout.products,
            "bins": self._layout.bins,
            "spans": self._layout.spans,
            "slots": np.zeros(length, np.uint32),
            "values": np.zeros(length),
            "roots": np.zeros((2, length)),
            "scored": np.zeros(1, np.int64),
            "bounds": np.zeros(STAGES + 1, np.int64),
            "codes": np.zeros(d, np.int64),
            "numbers": np.zeros(d),
            "row": np.zeros(d),
            "verdicts": np.array([-1], np.int64),
            "product": np.zeros(narrow),
            "wide_product": np.zeros(wide),
        }

    def follow_schema(self) -> None:
        """Columns and nominal values have joined."""
        if self._version != self._schema.version:
            self._lay_out_anew()

    def set_labels(self, n_labels: int) -> None:
        """Labels have joined: more of them may have to share slots, and regressions may become too many."""
        chains, more = self.chains, n_labels - len(self.chains.groups)
        groups = np.concatenate([chains.groups, np.full(more, -1, np.int64)])
        self.chains = chains._replace(groups=groups, probabilities=np.zeros(n_labels))
        most_slots = _most_slots(n_labels, self._max_memory)
        if most_slots != self._most_slots or self._regression_slots(n_labels) != (chains.product.size, chains.wide_product.size):
            self._most_slots = most_slots
            self._lay_out_anew()

    def _lay_out_anew(self) -> None:
        """Weights move with what they are about."""
        before, chains = self._layout, self.chains
        self._layout = lay_out(self._schema, self._seed, self._most_slots)
        self._version = self._schema.version
        weights = np.zeros((*chains.weights.shape[:2], self._layout.n_slots, LANES))
        moves = _moves(before, self._layout)
        move_weights(moves, chains.weights, before.spans, weights, self._layout.spans)
        for field in ("count", "mean", "squares"):
            self._layout.columns[field][: len(before.columns)] = chains.columns[field]
        n_labels = len(chains.groups)
        narrow, wide = self._regression_slots(n_labels)
        places = _new_places(moves, before, self._layout) if narrow or wide else np.zeros(0, np.int64)
        regressions = _regressions(
            at_places(chains.inverse, chains.ridge, places, narrow), at_places(chains.wide_inverse, chains.wide_ridge, places, wide)
        )
        self.chains = chains._replace(weights=weights, columns=self._layout.columns, **self._room_for_a_row(n_labels), **regressions)

    @property
    def n_groups(self) -> int:
        return int(self.chains.groups.max()) + 1

    def add_group(self, label: int) -> int:
        """Give a label a chain."""
        group, blocks = self.n_groups, self.chains.weights.shape[1]
        if group == blocks * LANES:
            most = -(-len(self.chains.groups) // LANES)
            more = np.zeros((2, min(max(1, blocks), most - blocks), self._layout.n_slots, LANES))
            scores = np.concatenate([self.chains.scores, np.zeros((STAGES, more.shape[1] * LANES))], axis=1)
            self.chains = self.chains._replace(weights=np.concatenate([self.chains.weights, more], axis=1), scores=scores)
        chains, n_labels = self.chains, len(self.chains.groups)
        if group == len(chains.ridge):
            narrow, wide = with_more(chains.inverse, chains.ridge, n_labels), with_more(chains.wide_inverse, chains.wide_ridge, n_labels)
            self.chains = chains._replace(**_regressions(narrow, wide))
        self.chains.groups[label] = group
        return group

    @property
    def largest_size(self) -> int:
        """Bytes of the weights and regressions once every label has a chain."""
        n_labels = len(self.chains.groups)
        numbers = sum((slots + 1) * slots for slots in (self.chains.product.size, self.chains.wide_product.size))
        return 2 * 8 * self._layout.n_slots * LANES * -(-n_labels // LANES) + 8 * numbers * n_labels

    @property
    def memory_usage(self) -> int:
        return sum(array.nbytes for array in self.chains)

    # Files

    def arrays(self) -> dict[str, Array]:
        chains = self.chains
        statistics = np.stack([chains.columns[field] for field in ("count", "mean", "squares")])
        return {
            "groups": chains.groups,
            "linear": chains.weights,
            "norms": chains.norms,
            "statistics": statistics,
            **{name: getattr(chains, name) for name in REGRESSIONS},
        }

    def restore(self, arrays: dict[str, Array]) -> None:
        """Go on from stored arrays, after a look at each."""
        groups = take_array(arrays, "groups", np.int64, self.chains.groups.shape)
        n_groups = int(np.sum(groups >= 0))
        if not np.array_equal(np.sort(groups), np.concatenate([np.full(len(groups) - n_groups, -1), np.arange(n_groups)])):
            raise UnreadableError("the groups do not fit the labels; load an intact copy")
        weights = take_array(arrays, "linear", np.float64, (2, None, self._layout.n_slots, LANES))
        if not n_groups <= weights.shape[1] * LANES < 2 * max(n_groups, 1) + 2 * LANES:
            raise UnreadableError("the linear weights do not fit the groups; load an intact copy")
        norms = take_array(arrays, "norms", np.float64, (STAGES,))
        statistics = take_array(arrays, "statistics", np.float64, (3, len(self._layout.columns)))
        regressions = self._stored_regressions(arrays)
        if not n_groups <= len(regressions["ridge"]) <= min(2 * n_groups, len(groups)):
            raise UnreadableError("the regressions do not fit the groups; load an intact copy")
        for name, numbers in {"linear": weights, "norms": norms, "statistics": statistics, **regressions}.items():
            if not np.all(np.abs(numbers) <= _LARGEST):
                raise UnreadableError(f"a number of {name!r} is out of range; load an intact copy")
        if np.any(weights[1] < 0.0) or np.any(norms < 0.0) or np.any(statistics[[0, 2]] < 0.0):
            raise UnreadableError("a sum of squares is negative; load an intact copy")
        for field, column in zip(("count", "mean", "squares"), statistics, strict=True):
            self._layout.columns[field] = column
        scores = np.zeros((STAGES, weights.shape[1] * LANES))
        self.chains = self.chains._replace(groups=groups, weights=weights, scores=scores, norms=norms, **regressions)

    def _stored_regressions(self, arrays: dict[str, Array]) -> dict[str, Array]:
        narrow, wide = self.chains.product.size, self.chains.wide_product.size
        inverse = take_array(arrays, "inverse", np.float64, (None, narrow, narrow))
        n = len(inverse)
        shapes = ((n, narrow, narrow), (n, narrow), (n, wide, wide), (n, wide))
        return {name: take_array(arrays, name, np.float64, shape) for name, shape in zip(REGRESSIONS, shapes, strict=True)}


def _regressions(narrow: tuple[Array, Array], wide: tuple[Array, Array]) -> dict[str, Array]:
    return dict(zip(REGRESSIONS, (*narrow, *wide), strict=True))


def _most_slots(n_labels: int, max_memory: int) -> int:
    """The largest power of two with which stages 2 and 3 of all labels stay within their share of the ceiling."""
    affordable = int(_MEMORY_SHARE * max_memory) // (2 * _BYTES_A_SLOT * n_labels)
    return min(MOST_SLOTS, 1 << max(0, affordable.bit_length() - 1))
