"""What GapBoost has learned, how its features are laid out, and what is known of the row at hand: three
things apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost.inspection.changes import Watch
from banditboost.trees.layout import Forest
from banditboost.types import Array, Record

STAGES = 3  # columns, products of pairs, pairs of bins
LANES = 8  # labels whose weights lie side by side
LEAST_VARIANCE = 1e-300  # a column that varies less counts as constant
FARTHEST = 4.0  # standard deviations; bounds a product at 16

# Of a numeric column: how many values it had, Welford's mean and squares, how many of the values were 0, and
# how many rows lacked it since its first one.
STATISTICS = np.dtype(
    [("count", "f8"), ("mean", "f8"), ("squares", "f8"), ("zeros", "f8"), ("missing", "f8")], align=True
)
TRIPLE = np.dtype([("first", "i8"), ("second", "i8"), ("third", "i8"), ("slot", "i8")], align=True)
# Two columns, their first slot, and the number of the next pair with another second column.
PAIR = np.dtype([("first", "i8"), ("second", "i8"), ("slot", "i8"), ("end", "i8")], align=True)
# Of a place that names and words share: how many values were learned there, the sum of their squares, the
# number of the last name, how many of its claims were right, and how many that was expected of.
PLACE = np.dtype(
    [("count", "f8"), ("squares", "f8"), ("name", "f8"), ("right", "f8"), ("expected", "f8")], align=True
)
# Where a stage's slots are: the first one, how many it needs, and how many there are. Fewer than needed are
# shared by a hash.
SPAN = np.dtype([("start", "i8"), ("needed", "i8"), ("room", "i8")], align=True)


class Regressions(NamedTuple):
    """Ridge regressions beside the chains, one for each label that has a chain; without slots if rows are too
    wide for them.
    """

    inverse: Array  # [groups, slots, slots]
    weights: Array  # [groups, slots]
    # Of wide ones, rows that wait to be learned, and what is to be answered to them (late.py). Of others
    late: Array  # [groups, LATE, slots]: products of lessons that the inverse does not hold yet,
    shares: Array  # [groups, LATE]: and how much of their squares is to be taken away from it


class GapLearned(NamedTuple):
    """What GapBoost has learned, besides its trees. All of it is saved."""

    counts: Record
    tally: Array
    losses: Array  # of the experts: prefixes of the chains, then narrow and wide regressions
    groups: (
        Array  # of each label, the number of its chain: group = 8 block + lane; -1 before its first verdict
    )
    weights: Array  # [2, blocks, slots, lanes]: weights of the linear stages, and sums of squared gradients
    norms: Array  # by stage: sum of the squared values of all rows learned
    statistics: Array  # STATISTICS[d], of numeric columns
    shared: Array  # [2, blocks, places, lanes]: weights and sums of squared gradients of names and words
    places: Array  # PLACE[places], what was learned there; no places as long as nothing shares them
    claims: Array  # [2]: recent claims at shared places, and how many of them were right
    narrow: Regressions  # on the slots of stage 1
    wide: Regressions  # on the slots of stages 1 and 2


class GapLayout(NamedTuple):
    """Who has which slots. It follows from the schema, the number of labels and the memory ceiling."""

    columns: Array  # by number of a row: its first slot in stage 1,
    widths: Array  # and how many slots it has
    products: Array  # PAIR: the pairs of columns of stage 2; slots count from the stage's first
    bins: Array  # PAIR: those of stage 3
    spans: Array  # SPAN[3]
    real: Array  # the numbers of a row that are columns, and no words; unsigned, as slots are
    reads: Array  # [2]: how many of the stages narrow and wide regressions read


class GapScratch(NamedTuple):
    """Of the call that is running, and of the row that was looked at last. Nothing here is saved."""

    allowed: Array
    labels: Array
    importance: Array
    lesson: Array
    example: Array
    # the row as a list: slots and values of what is not zero. Slots are unsigned: no index is looked at for a
    # minus sign
    slots: Array
    values: Array
    bounds: Array  # [4]: where each stage's part of the list begins and ends; before them, what is shared
    codes: Array  # by column: the nominal value or the bin; -1 if missing
    numbers: Array  # by column: the standardised value, or 1
    columns: Array  # the row without words, as trees read it; empty if there are no places for words
    telling: Array  # by column, what it tells all labels together; empty where rows are not too wide
    row: Array  # of which the list was made,
    verdicts: Array  # [1] and when: the statistics are those after so many verdicts
    shared_scores: (
        Array  # [8 blocks]: what names and words that share places have added to the scores of the row
    )
    scores: Array  # [3, 8 blocks]: what each stage has added to the scores of the row,
    scored: Array  # [1] of the first so many stages
    listed: Array  # [1] of the list, so many stages are there
    roots: Array  # [2, length of the list]: of a step
    narrow: Array  # [slots], of the last inverse with a row; empty if there are no such regressions
    wide: Array
    late: Array  # [LATE, slots]: products of the last inverse with the rows that it has learned
    used: Array  # [slots]: those that these rows use
    probabilities: Array  # by label, of the last decision
    trust: Array  # in each expert, while a lesson is taught


class GapState(NamedTuple):
    """GapBoost as its round reads it."""

    settings: Record
    features: Array
    ledger: Array
    learned: GapLearned
    watch: Watch
    layout: GapLayout
    forest: Forest
    learn_trees: Any
    scratch: GapScratch
