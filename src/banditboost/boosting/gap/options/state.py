"""What OptionBoost keeps and needs beside what GapBoost does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.gap.state import LANES, GapLayout, GapScratch, Regressions
from banditboost.inspection.changes import Watch
from banditboost.memo import MOST_PROBABILITIES, VOTES
from banditboost.trees.layout import Forest
from banditboost.types import Array, Record

CHAIN = 0  # there is one
COLUMNS, PRODUCTS, NARROW, WIDE = range(4)  # sums over the columns of a row: two stages, two regressions
# Of an id: how often it was shown and heard of, what scores missed then, the id's number, and that of its
# line's room, counted from 1; 0 if it has none.
OWN = np.dtype([("count", "f8"), ("sum", "f8"), ("name", "f8"), ("room", "i8")], align=True)
# Of a line: the place of its id, and after how many verdicts it was heard of last.
ROOM = np.dtype([("place", "i8"), ("learned", "f8")], align=True)
# In a memo, after the probabilities: the number of the shown option's id, and its score without what is
# special to it.
ID, SCORE = VOTES + MOST_PROBABILITIES, VOTES + MOST_PROBABILITIES + 1
N_BETWEEN = MOST_PROBABILITIES + 2


class Lines(NamedTuple):
    """Regressions of ids. All of it is saved, but for rooms that nobody has taken yet."""

    regressions: Regressions  # [rooms, slots of the context]
    rooms: Array  # ROOM: the place of the id, and after how many verdicts it was heard of last
    taken: Array  # [1]: the first so many rooms have been taken
    losses: Array  # [2]: recent, of scores with the mean that an id has missed, and with its line


class LineRow(NamedTuple):
    """The context as lines read it. Nothing here is saved."""

    places: Array  # by slot of stage 1: the slot of a line; -1 of options
    pairs: Array  # PAIR: products of two columns of the context
    slots: Array
    values: Array
    size: Array  # [1]: how many these are
    first: Array  # [1]: the squared width of a line that has learned nothing
    product: Array  # [slots of a line]: of the last inverse with a row
    prior: Array  # [slots of a line]: the diagonal that an inverse begins with


class OptionLearned(NamedTuple):
    """What OptionBoost has learned, besides its trees: what GapBoost has, with one chain, and `own`."""

    counts: Record
    tally: Array
    losses: Array
    groups: Array
    weights: Array
    norms: Array
    statistics: Array
    shared: Array
    places: Array
    claims: Array
    narrow: Regressions
    wide: Regressions
    own: Array  # OWN[places]
    lines: Lines


class WideRow(NamedTuple):
    """A row as the wide regression reads it: stages 1 and 2, then triples. Nothing here is saved."""

    triples: Array  # TRIPLE; their slots count from the first one after stage 2
    slots: Array
    values: Array
    product: Array  # [slots of the regression]: of the last inverse with a row; empty if there is none


class Folds(NamedTuple):
    """The context of the running call, folded into what the columns of options are multiplied with.

    A *bundle* is what one unit of an option's slot of stage 1 adds to a row: the slot itself and its products
    with the context. Bundle 0 is the constant and the context itself.
    """

    products: Array  # [slots of stage 1]: what stage 2 adds for one unit there,
    answers: Array  # [slots of stage 1]: and what the regression does
    bundles: Array  # [slots of stage 1]: the bundle of a slot; 0 of those of the context
    sizes: Array  # [bundles]
    slots: Array  # [bundles, most]: of the regression,
    values: Array  # [bundles, most]
    widths: Array  # [bundles, bundles]: products of two bundles with the inverse between them
    line: Array  # [slots of the regression]
    wide_answers: Array  # [slots of stage 1]: what the wide regression adds for one unit there
    bins: Array  # what stage 3 adds for each bin or value of an option's column,
    first_bins: Array  # by number of a row: where the column's begin
    own_bins: Array  # PAIR: those pairs of bins that are not folded, being of two columns of options
    own: Array  # numbers of options' columns in a row, without words
    zeros: Array  # by number of a row: where the values of an option's column begin,
    units: Array  # and their unit
    place_of: Array  # [bundles]: of each one among those that eight options have, -1 if none has it
    used: Array  # [bundles]: these,
    n_used: Array  # [1]: how many,
    block: Array  # [bundles, 8]: and the options' values
    below: Array  # [8]
    squares: Array  # [8]: squared widths
    shared_squares: Array  # [8]: of the listed option's values at shared places
    sums: Array  # [4]: what the context alone adds to each sum


class Offered(NamedTuple):
    """What is offered in the running call. Nothing here is saved."""

    number: Array  # [1]: how many options
    rows: Array  # [room, numbers of a row]: the context and the option
    ids: Array  # [room]: numbers of ids, -1 of those that have none
    scores: Array  # [room]: scores,
    alone: Array  # [room]: and without what is special to an id
    hopes: Array  # [room]
    probabilities: Array  # [room]
    allowed: Array  # [1 + room]
    folds: Folds


class OptionState(NamedTuple):
    """OptionBoost as its round reads it."""

    settings: Record
    features: Array
    ledger: Array
    learned: OptionLearned
    watch: Watch
    layout: GapLayout
    forest: Forest
    learn_trees: Any
    scratch: GapScratch
    offered: Offered
    of_options: Array  # of each number of a row: 1 if it is one of an option's
    wide_row: WideRow
    line_row: LineRow


def room_for(n_options: int, width: int, folds: Folds) -> Offered:
    """Room for so many options in joint rows of this width."""
    lines = {name: np.zeros(n_options) for name in ("ids", "scores", "alone", "hopes", "probabilities")}
    return Offered(
        number=np.zeros(1, np.int64),
        rows=np.full((n_options, width), np.nan),
        allowed=np.zeros(1 + n_options, np.int64),
        folds=folds,
        **lines,
    )


def folds_for(layout: GapLayout, bin_widths: Array, of_options: Array, n_read: int) -> Folds:
    """Room for a context folded into weights, and into a regression of so many slots if there is one."""
    n_slots = int(layout.spans["room"][0])
    owners = np.repeat(of_options, layout.widths)
    bundles = np.zeros(n_slots, np.int64)
    bundles[1:][owners] = 1 + np.arange(owners.sum())
    n_bundles = 1 + int(owners.sum()) if n_read else 0
    most = 1 + max(int((~of_options).sum()), 1)
    return Folds(
        products=np.zeros(n_slots),
        answers=np.zeros(n_slots),
        bundles=bundles,
        sizes=np.zeros(n_bundles, np.int64),
        slots=np.zeros((n_bundles, most), np.int64),
        values=np.zeros((n_bundles, most)),
        widths=np.zeros((n_bundles, n_bundles)),
        line=np.zeros(n_read),
        wide_answers=np.zeros(n_slots),
        bins=np.zeros(int(bin_widths[of_options].sum()) if len(layout.bins) else 0),
        first_bins=np.cumsum(np.where(of_options, bin_widths, 0)) - np.where(of_options, bin_widths, 0),
        own_bins=layout.bins[of_options[layout.bins["first"]] & of_options[layout.bins["second"]]],
        own=np.flatnonzero(of_options),
        zeros=np.zeros(len(of_options)),
        units=np.zeros(len(of_options)),
        place_of=np.full(n_bundles, -1),
        used=np.zeros(n_bundles, np.int64),
        n_used=np.zeros(1, np.int64),
        block=np.zeros((n_bundles, LANES)),
        below=np.zeros(LANES),
        squares=np.zeros(LANES),
        shared_squares=np.zeros(LANES),
        sums=np.zeros(4),
    )


def wide_row_for(n_columns: int, layout: GapLayout, triples: Array, n_slots: int) -> WideRow:
    """Room for what the wide regression reads of a row."""
    longest = 1 + n_columns + len(layout.products) + len(triples) if n_slots else 0
    return WideRow(triples, np.zeros(longest, np.uint32), np.zeros(longest), np.zeros(n_slots))
