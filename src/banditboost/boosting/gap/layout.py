"""Which slots of GapBoost's linear stages belong to which columns.

docs/gapboost.md says what they are for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from banditboost.boosting.gap.chain import BINS, MOVE, pair_draws
from banditboost.boosting.gap.state import LANES, PAIR, SPAN, STAGES, TRIPLE, GapLayout
from banditboost.boosting.gap.triples import WIDEST_JOINT, n_slots_of, triples_of
from banditboost.rows.features import NOMINAL, NUMERIC, WORD, feature_table
from banditboost.rows.schema import Schema
from banditboost.types import Array

MOST_PAIRS = 4_096  # all pairs of up to 89 numeric columns; of more, as many are drawn
MOST_BIN_PAIRS = 400  # of at most 27 columns: drawn from more they did harm
MOST_SLOTS = 16_384  # of stage 2, and of stage 3, for each label: 256 KiB each
_MEMORY_SHARE = 0.5  # of the ceiling, for the slots of stages 2 and 3 of all labels
MOST_PLACES = 1 << 18  # that names and words share: 4 MiB for each label
_SHARED_MEMORY = 0.25  # of the ceiling, for these
_BYTES_A_SLOT = 16  # a weight and a sum of squares
# Slots of a hashed stage. One that needs more begins anew when its slots move: to find them takes seconds.
_MOST_MOVED = 1 << 22
_MOST_DRAWN_FROM = (
    1 << 14
)  # columns, the first ones; to draw from all pairs of all columns takes quadratic time
_DRAWN_AT_ONCE = 1 << 16


def most_slots(n_labels: int, max_memory: int) -> int:
    """The largest power of two with which stages 2 and 3 of all labels stay within their share of the
    ceiling.
    """
    affordable = int(_MEMORY_SHARE * max_memory) // (2 * _BYTES_A_SLOT * n_labels)
    return min(MOST_SLOTS, 1 << max(0, affordable.bit_length() - 1))


def most_places(n_labels: int, max_memory: int) -> int:
    """How many places names and words share: the largest power of two with which those of all labels stay
    within their share of the ceiling.
    """
    affordable = int(_SHARED_MEMORY * max_memory) // (_BYTES_A_SLOT * LANES * -(-n_labels // LANES))
    return min(MOST_PLACES, 1 << max(0, affordable.bit_length() - 1))


class Chosen(NamedTuple):
    """The pairs of columns that have products: all, or those with the smallest keyed draws."""

    numbers: Array  # increasing
    draws: Array
    n_pairs: int  # that they were chosen from


NOTHING_CHOSEN = Chosen(np.zeros(0, np.int64), np.zeros(0), 0)


class Plan(NamedTuple):
    """A layout, and how many slots belong to what."""

    layout: GapLayout
    chosen: Chosen
    widths: Array  # slots of each column in stage 1, and of its share of a product
    bin_widths: Array  # slots of each column in a pair of bins
    prior: Array  # diagonal that inverses over contexts and options begin with; empty if labels have theirs
    triples: Array  # TRIPLE: what the wide one of these reads besides
    most_shared: int  # names and words of a row that share places
    n_columns: int  # numbers of a row that are no words

    @property
    def n_slots(self) -> int:
        return int(self.layout.spans["room"].sum())

    @property
    def draws_pairs(self) -> bool:
        """Whether there are too many pairs of columns for all of them."""
        return self.chosen.n_pairs > MOST_PAIRS

    def is_laid_out_as(self, other: Plan) -> bool:
        """Whether every slot belongs to whom it belongs there."""
        return np.array_equal(self.widths, other.widths)

    def serves(self, schema: Schema) -> bool:
        """Whether this is what `lay_out` would make now: values that have joined have found their slots."""
        same = self.widths.tolist() == [place.n_slots for place in schema.places()]
        return same and (self.most_shared > 0) == schema.shares_places

    @property
    def longest_list(self) -> int:
        """How many slots a row can have."""
        return (
            self.most_shared
            + 1
            + len(self.layout.columns)
            + len(self.layout.products)
            + len(self.layout.bins)
        )


Sides = Callable[[Schema], Array]
"""Says of each number of a coded row whether it is one of an option's."""


def lay_out(
    schema: Schema,
    seed: int,
    most_slots: int,
    before: Chosen = NOTHING_CHOSEN,
    sides: Sides | None = None,
) -> Plan:
    """Hand out slots to columns, products and pairs of bins.

    It follows from the schema alone; what was chosen before, with fewer columns, only saves time. Where a row
    has two sides, pairs of two columns of the context have no slots: they are alike for all options.
    """
    kinds = feature_table(schema)["kind"]
    real = np.flatnonzero(kinds <= NOMINAL)  # words have no pairs
    numeric = kinds == NUMERIC
    widths = np.array([place.n_slots for place in schema.places()], np.int64)
    bin_widths = np.where(numeric, BINS, widths)
    columns = 1 + np.cumsum(widths) - widths
    of_options = None if sides is None else sides(schema)[real]
    wanted = None if of_options is None else _across(numeric[real], of_options)
    n_pairs = int(_n_pairs_before(numeric[real][:_MOST_DRAWN_FROM])[-1])
    chosen = choose_pairs(n_pairs, seed, before, wanted)
    products = _at(real, _pairs(numeric[real], chosen.numbers))
    products["slot"], needed = _slots(widths[products["first"]] * widths[products["second"]])
    if n_pairs > len(products):  # they are gone through one by one
        products["end"] = np.searchsorted(products["second"], products["second"], side="right")
    bins = _at(real, _bin_pairs(numeric[real], of_options))
    one_bin = np.where(bins["first"] == bins["second"], 1, bin_widths[bins["first"]])
    bins["slot"], bins_needed = _slots(one_bin * bin_widths[bins["second"]])
    spans = np.zeros(STAGES, SPAN)
    spans["needed"] = 1 + int(widths.sum()), needed, bins_needed
    spans["room"] = spans["needed"][0], min(needed, most_slots), min(bins_needed, most_slots)
    spans["start"] = np.cumsum(spans["room"]) - spans["room"]
    n_shared = int((kinds == NOMINAL).sum() + (kinds == WORD).sum()) if schema.shares_places else 0
    reads = np.array([1, 2])
    if sides is not None and spans["room"][1] == needed and int(spans["needed"][:2].sum()) <= WIDEST_JOINT:
        reads[0] = 2
    layout = GapLayout(columns, widths, products, bins, spans, real.astype(np.uint32), reads)
    prior, triples = np.zeros(0), np.zeros(0, TRIPLE)
    if of_options is not None and sides is not None:
        n_products = int(spans["room"][:2].sum())
        if reads[0] == 2:
            triples = triples_of(numeric[real], widths[real], of_options, n_products)
            for side in ("first", "second", "third"):
                triples[side] = real[triples[side]]
        prior = _prior(layout, sides(schema), kinds, triples)
    return Plan(layout, chosen, widths, bin_widths, prior, triples, n_shared, len(real))


def _prior(layout: GapLayout, of_options: Array, kinds: Array, triples: Array) -> Array:
    """What a group of features says has variance 1 at first, however many they are: one over the number of
    columns of the context, of options, of pairs of the two, or of triples.
    """
    real = kinds <= NOMINAL
    n_own, n_others = max(1, int((real & of_options).sum())), max(1, int((real & ~of_options).sum()))
    prior = np.full(int(layout.spans["room"][:2].sum()), 1.0 / (n_own * n_others))
    prior[0] = 1.0
    first = int(layout.spans["room"][0])
    prior[1:first] = np.repeat(np.where(of_options, 1.0 / n_own, 1.0 / n_others), layout.widths)
    of_triples = np.full(n_slots_of(triples, layout.widths), 1.0 / max(1, len(triples)))
    return np.concatenate([prior, of_triples])


def _at(real: Array, pairs: Array) -> Array:
    """Pairs of columns, of which only the ranks were known."""
    for side in ("first", "second"):
        pairs[side] = real[pairs[side]]
    return pairs


def _slots(sizes: Array) -> tuple[Array, int]:
    """Where each of these begins if they come one after the other, and how much that is in all."""
    ends = np.cumsum(sizes)
    return ends - sizes, int(ends[-1]) if len(ends) else 0


# Pairs i <= j are numbered by j, then i, so that those of columns that join come last. Nominal columns have
# no pair with themselves.


def _n_pairs_before(numeric: Array) -> Array:
    """How many pairs have a larger column before j = 0, 1, ..., d."""
    return np.concatenate([[0], np.cumsum(np.arange(len(numeric)) + numeric)])


def _pairs(numeric: Array, numbers: Array) -> Array:
    before = _n_pairs_before(numeric)
    pairs = np.zeros(len(numbers), PAIR)
    pairs["second"] = np.searchsorted(before, numbers, side="right") - 1
    pairs["first"] = numbers - before[pairs["second"]]
    return pairs


Wanted = Callable[[Array], Array]
"""Says of pairs, by their numbers, which may have slots."""


def _across(numeric: Array, of_options: Array) -> Wanted:
    """Pairs of a column of the context and one of options."""

    def wanted(numbers: Array) -> Array:
        pairs = _pairs(numeric, numbers)
        chosen: Array = of_options[pairs["first"]] != of_options[pairs["second"]]
        return chosen

    return wanted


def choose_pairs(n_pairs: int, seed: int, before: Chosen, wanted: Wanted | None = None) -> Chosen:
    """The pairs with the smallest keyed draws, if there are too many for all; of those drawn alike the first.

    Those that were not chosen before are not chosen now, so only new ones are drawn.
    """
    numbers, draws, limit = before.numbers, before.draws, np.inf
    if len(numbers) == MOST_PAIRS:
        limit = draws.max()
    for first in range(before.n_pairs, n_pairs, _DRAWN_AT_ONCE):
        drawn = pair_draws(seed, first, min(first + _DRAWN_AT_ONCE, n_pairs))
        low = np.flatnonzero(drawn < limit)  # after the first ones only few are
        if wanted is not None:
            low = low[wanted(first + low)]
        numbers, draws = np.concatenate([numbers, first + low]), np.concatenate([draws, drawn[low]])
        if len(numbers) > MOST_PAIRS:
            limit = np.partition(draws, MOST_PAIRS - 1)[MOST_PAIRS - 1]
            kept = np.concatenate([np.flatnonzero(draws < limit), np.flatnonzero(draws == limit)])
            kept = np.sort(kept[:MOST_PAIRS])
            numbers, draws = numbers[kept], draws[kept]
    return Chosen(numbers, draws, n_pairs)


def _n_bin_pairs(numeric: Array) -> int:
    """How many pairs have a numeric column."""
    n_numeric = int(numeric.sum())
    return n_numeric * (len(numeric) - n_numeric) + n_numeric * (n_numeric + 1) // 2


def _bin_pairs(numeric: Array, of_options: Array | None) -> Array:
    """Pairs with a numeric column, unless these are too many; of two sides not those within the context."""
    n_pairs = _n_bin_pairs(numeric)
    if of_options is not None:
        n_pairs -= _n_bin_pairs(numeric[~of_options])
    if n_pairs == 0 or n_pairs > MOST_BIN_PAIRS:
        return np.zeros(0, PAIR)
    pairs = _pairs(numeric, np.arange(_n_pairs_before(numeric)[-1]))
    chosen: Array = numeric[pairs["first"]] | numeric[pairs["second"]]
    if of_options is not None:
        chosen &= of_options[pairs["first"]] | of_options[pairs["second"]]
    return pairs[chosen]


def moves(old: Plan, new: Plan) -> Array:
    """What has to be carried from one layout to the next; columns and nominal values have only been added."""
    before, after = old.layout, new.layout
    n_columns = len(before.columns)
    moved = np.zeros(1 + n_columns, MOVE)
    moved["rows"] = 1
    moved["width"][0] = moved["new_width"][0] = 1  # the constant
    moved["before"][1:], moved["after"][1:] = before.columns, after.columns[:n_columns]
    moved["width"][1:], moved["new_width"][1:] = old.widths, new.widths[:n_columns]
    products = _pair_moves(1, before.products, after.products, old.widths, new.widths)
    bins = _pair_moves(2, before.bins, after.bins, old.bin_widths, new.bin_widths)
    parts = (
        part
        for part, span in zip((products, bins), before.spans[1:], strict=True)
        if span["needed"] <= _MOST_MOVED
    )
    return np.concatenate([moved, *parts])


def new_places(moved: Array, before: GapLayout, after: GapLayout, n_stages: int) -> Array:
    """Where each slot of the first stages (1 or 2 of them) moves, -1 if it goes; only of use where slots are
    not shared.
    """
    places = np.full(int(before.spans["needed"][:n_stages].sum()), -1)
    moved = moved[moved["stage"] < n_stages]
    sizes = moved["rows"] * moved["width"]
    each = np.repeat(moved, sizes)
    row, code = np.divmod(np.arange(len(each)) - np.repeat(np.cumsum(sizes) - sizes, sizes), each["width"])
    old = before.spans["start"][each["stage"]] + each["before"] + row * each["width"] + code
    places[old] = after.spans["start"][each["stage"]] + each["after"] + row * each["new_width"] + code
    return places


def _pair_moves(stage: int, before: Array, after: Array, widths: Array, new_widths: Array) -> Array:
    """What has to be carried for the pairs that are in both layouts."""
    key, new_key = (pairs["second"] << 32 | pairs["first"] for pairs in (before, after))
    _, old, new = np.intersect1d(key, new_key, assume_unique=True, return_indices=True)
    moved = np.zeros(len(old), MOVE)
    moved["stage"] = stage
    moved["before"], moved["after"] = before["slot"][old], after["slot"][new]
    first, second = before["first"][old], before["second"][old]
    moved["rows"] = np.where(first == second, 1, widths[first])  # a column with itself has its own slots only
    moved["width"], moved["new_width"] = widths[second], new_widths[second]
    return moved
