"""What OptionBoost keeps and needs beside what GapBoost does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.gap.state import GapLayout, GapScratch, Regressions
from banditboost.memo import MOST_PROBABILITIES, VOTES
from banditboost.trees.layout import Forest
from banditboost.types import Array, Record

CHAIN = 0  # there is one
# Of an id: how often it was shown and heard of, what the chain missed then, and the id's number.
OWN = np.dtype([("count", "f8"), ("sum", "f8"), ("name", "f8")], align=True)
# In a memo, after the probabilities: the number of the shown option's id, and its score without what is
# special to it.
ID, SCORE = VOTES + MOST_PROBABILITIES, VOTES + MOST_PROBABILITIES + 1
N_BETWEEN = MOST_PROBABILITIES + 2


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
    narrow: Regressions
    wide: Regressions
    own: Array  # OWN[places]


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


class OptionState(NamedTuple):
    """OptionBoost as its round reads it."""

    settings: Record
    features: Array
    ledger: Array
    learned: OptionLearned
    layout: GapLayout
    forest: Forest
    learn_trees: Any
    scratch: GapScratch
    offered: Offered


def room_for(n_options: int, width: int) -> Offered:
    """Room for so many options in joint rows of this width."""
    lines = {name: np.zeros(n_options) for name in ("ids", "scores", "alone", "hopes", "probabilities")}
    return Offered(
        number=np.zeros(1, np.int64),
        rows=np.full((n_options, width), np.nan),
        allowed=np.zeros(1 + n_options, np.int64),
        **lines,
    )
